// For tests: everything that the recorders of a folder have written, read back from its files as they lie.
//
//   const std::vector<WrittenJournal> journals = read_journals(root);
//   EXPECT_EQ(journals.at(0).steps(), (std::vector<int64_t>{1, 2, 3}));
//
// Stops the process where a folder or file cannot be read at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "journal/recover.h"

namespace goodput::record {

struct WrittenEvent {
  journal::LiveEvent event;
  std::string name;
  std::string text;  ///< of a disruption
};

struct WrittenJournal {
  journal::LiveHeader header;
  std::vector<WrittenEvent> events;  ///< by recording time
  std::vector<journal::Loss> losses;
  journal::CounterValues counters;
  journal::ClockSlots clock;  ///< of its newest segment
  std::vector<std::string> files;
  std::string folder;

  [[nodiscard]] std::vector<int64_t> steps() const;
  [[nodiscard]] size_t count(event::Kind kind) const;
  [[nodiscard]] const WrittenEvent* first(event::Kind kind) const;
};

/// By opening time.
std::vector<WrittenJournal> read_journals(const std::string& root);

}  // namespace goodput::record
