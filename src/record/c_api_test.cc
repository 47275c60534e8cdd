// SPDX-License-Identifier: Apache-2.0
#include <goodput/goodput.h>
#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "record/read_journals.h"

extern "C" int64_t record_in_c(const char* directory);

namespace goodput::record {
namespace {

using event::Kind;

TEST(CApiTest, WhatACProgramRecordsIsRead) {
  setenv("GOODPUT_QUIET", "1", 1);
  const TemporaryFolder folder;
  EXPECT_EQ(record_in_c(folder.path().c_str()), 1);
  const WrittenJournal journal = read_journals(folder.path()).at(0);
  EXPECT_EQ(journal.header.job, "from C");
  EXPECT_EQ(journal.header.process_index, 3);
  EXPECT_EQ(journal.header.labels[1], (std::pair<std::string, std::string>("owner", "ada")));
  EXPECT_EQ(journal.steps(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(journal.events[2].event.flops, 1e15);
  EXPECT_EQ(journal.first(Kind::kCustomStart)->name, "eval");
  EXPECT_EQ(journal.first(Kind::kCustomStart)->event.wall_ns, 1'767'225'600'000'000'000);
  EXPECT_FALSE(journal.first(Kind::kCustomEnd)->event.has_wall_time);
  EXPECT_EQ(journal.first(Kind::kCheckpointSaveStart)->name, "gs://ckpt");
  EXPECT_EQ(journal.first(Kind::kCheckpointRestore)->event.flags, event::kUntimed | event::kEmergency);
  EXPECT_EQ(journal.first(Kind::kDisruption)->text, "out of memory");
  EXPECT_EQ(journal.first(Kind::kProcessExit)->event.flags, event::kSignal);
  EXPECT_EQ(journal.first(Kind::kJobEnd)->event.flags, event::kFailed);
  EXPECT_EQ(journal.events.size(), 12U);
}

TEST(CApiTest, WithoutAJobThereIsNoRecorder) {
  setenv("GOODPUT_QUIET", "1", 1);
  unsetenv("GOODPUT_JOB");
  EXPECT_EQ(goodput_open(nullptr), nullptr);
  goodput_options options = GOODPUT_OPTIONS;
  options.job = "j";
  options.disabled = 1;
  EXPECT_EQ(goodput_open(&options), nullptr);
}

TEST(CApiTest, OlderCallersShorterOptionsDo) {
  setenv("GOODPUT_QUIET", "1", 1);
  const TemporaryFolder folder;
  goodput_options options = GOODPUT_OPTIONS;
  options.job = "j";
  options.directory = folder.path().c_str();
  options.labels = reinterpret_cast<const char*>(1);  // beyond what such a caller has
  options.size = offsetof(goodput_options, labels);
  goodput_recorder* recorder = goodput_open(&options);
  EXPECT_EQ(goodput_is_recording(recorder), 1);
  goodput_close(recorder);
}

}  // namespace
}  // namespace goodput::record
