// Cuts a file into entries: the lines of JSON Lines, or the elements of JSON arrays, whichever stands there.
//
// Nothing is taken for granted: text between entries is an entry of its own (that no parser will accept), a broken line
// costs that line, a broken element of a pretty-printed array that element. Memory is bounded by the longest entry
// allowed.
//
//   EntryReader reader(input, kMaxEntryBytes);
//   for (Entry entry;;) {
//     ASSIGN_OR_RETURN(const bool more, reader.next(entry));
//     if (!more) break;
//     …
//   }
//
// One thread. The input must outlive the reader.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "importers/input_file.h"

namespace goodput::importers {

/// Longer entries are skipped. A log entry of Cloud Logging has at most 256 KiB.
constexpr size_t kMaxEntryBytes = 64UL << 20;

struct Entry {
  std::string_view text;  ///< without blanks around; valid until the next call
  uint64_t line = 0;      ///< where it begins, from 1
  bool too_long = false;  ///< it was skipped, `text` is empty
};

class EntryReader {
 public:
  EntryReader(InputFile& input, size_t max_entry_bytes);

  /// The next entry that is not blank. False at the end of the file.
  Result<bool> next(Entry& entry);

  /// The file ended inside an array.
  [[nodiscard]] bool ended_inside_array() const { return inside_array_ && at_end_ && begin_ == end_; }

 private:
  /// What the bytes of an element so far leave open.
  struct Nesting {
    int64_t depth = 0;
    bool in_string = false;
    bool escaped = false;
  };

  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };

  Status start();
  Status fill();
  Status grow();
  Status skip_blanks(bool& found);
  Status starts_array(bool& starts);
  Status take_line(Entry& entry);
  Status take_element(Entry& entry);
  Status take_until_separator(Entry& entry);
  bool scan_element(Nesting& nesting);
  bool next_line_begins_element() const;
  void deliver(size_t end, uint64_t lines, Entry& entry);
  uint64_t lines_up_to(size_t end) const;

  InputFile& input_;
  size_t max_entry_bytes_;
  std::unique_ptr<char[], Free> buffer_;  // of malloc(), which can grow it without touching what it does not hold yet
  size_t capacity_ = 0;
  size_t begin_ = 0;  // of what has not been given out
  size_t scan_ = 0;   // of what has not been looked at
  size_t end_ = 0;
  uint64_t line_ = 1;     // of begin_
  size_t indent_ = 0;     // blanks before the element, where it begins a line
  bool own_line_ = true;  // only blanks stand before it on its line
  bool started_ = false;
  bool at_end_ = false;
  bool inside_array_ = false;
  bool too_long_ = false;
  uint64_t lines_dropped_ = 0;
};

}  // namespace goodput::importers
