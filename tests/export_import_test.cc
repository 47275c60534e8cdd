// What one command exports another reads: the same events, in the same order.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "event/export/jsonl_export.h"
#include "event/random_event_for_test.h"
#include "importers/imported_log.h"
#include "importers/temporary_file_for_test.h"
#include "simulate/simulation.h"

namespace goodput {
namespace {

using event::Event;

class ExportImportTest : public ::testing::Test {
 protected:
  void add(std::span<const Event> events) {
    if (text_.empty()) lines_.begin(text_);
    lines_.append(events, text_);
    for (const Event& e : events) exported_.push_back(described(e));
  }

  /// Every event of the file, in the order of the log.
  std::vector<std::string> imported(importers::ImportOptions options = {}) {
    lines_.finish(text_);
    const importers::TemporaryFile file(text_);
    auto log = importers::import_log(file.path(), options);
    EXPECT_TRUE(log.ok()) << log.status().message();
    if (!log.ok()) return {};
    EXPECT_TRUE((*log)->losses().empty());
    EXPECT_TRUE((*log)->has_sequences());
    EXPECT_EQ((*log)->job(), "the job");
    std::vector<std::string> read;
    EXPECT_TRUE((*log)
                    ->for_each_in_log_order([&](std::span<const Event> events) {
                      for (const Event& e : events) read.push_back(described(e));
                      return true;
                    })
                    .ok());
    return read;
  }

  event::JsonlExport lines_{"the job"};
  std::string text_;
  std::vector<std::string> exported_;
};

TEST_F(ExportImportTest, EventsOfEveryKindComeBackInTheOrderOfTheirPositions) {
  event::RandomEvents random(11);
  std::vector<Event> events;
  for (int i = 0; i < 20'000; ++i) events.push_back(random.make());
  add(events);
  std::ranges::stable_sort(events, {}, &Event::position);
  exported_.clear();
  for (const Event& e : events) exported_.push_back(described(e));
  EXPECT_EQ(imported(), exported_);
}

TEST_F(ExportImportTest, ASimulatedJobComesBackWhole) {
  simulate::Simulation job({.steps = 4'000,
                            .ranks = 3,
                            .tokens_per_step = 1e6,
                            .statistics = true,
                            .eval_every = 100,
                            .heartbeat_seconds = 10,
                            .mtbf_seconds = 200});
  job.run([&](std::span<const Event> events) {
    add(events);
    return true;
  });
  EXPECT_GT(exported_.size(), 40'000U);
  EXPECT_EQ(imported(), exported_);
}

TEST_F(ExportImportTest, SoItDoesThroughATemporaryFile) {
  event::RandomEvents random(12);
  std::vector<Event> events;
  for (int i = 0; i < 5'000; ++i) events.push_back(random.make());
  std::ranges::stable_sort(events, {}, &Event::position);
  add(events);
  EXPECT_EQ(imported({.memory_bytes = 1'000}), exported_);
}

}  // namespace
}  // namespace goodput
