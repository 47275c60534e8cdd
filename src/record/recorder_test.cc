// SPDX-License-Identifier: Apache-2.0
#include "goodput/recorder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <thread>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "record/read_journals.h"
#include "record/writer.h"

namespace goodput::record {
namespace {

using event::Kind;

class RecorderTest : public testing::Test {
 protected:
  void SetUp() override { setenv("GOODPUT_QUIET", "1", 1); }

  Recorder open(RecorderOptions options = {}) {
    if (options.job.empty()) options.job = "llama-7b";
    options.directory = folder_.path();
    return Recorder::open(options);
  }
  [[nodiscard]] std::vector<WrittenJournal> read() const { return read_journals(folder_.path()); }
  /// Of the only journal.
  [[nodiscard]] WrittenJournal read_one() const {
    std::vector<WrittenJournal> journals = read();
    CHECK(journals.size() == 1);
    return journals[0];
  }

  const TemporaryFolder folder_;
};

TEST_F(RecorderTest, WhatIsRecordedIsReadWhileItStillRuns) {
  auto recorder = open();
  for (int64_t step = 0; step < 10; ++step) recorder.step(step);
  EXPECT_EQ(read_one().steps(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(RecorderTest, HeaderSaysWhoRecords) {
  auto recorder = open({.job = "a/../b\"ü",
                        .run_id = "r1",
                        .role = "launcher",
                        .process_index = 7,
                        .attempt_id = "77.0",
                        .labels = {{"team", "nlp"}},
                        .accelerators = 1024,
                        .accelerator_type = "H100"});
  const journal::LiveHeader header = read_one().header;
  EXPECT_EQ(header.job, "a/../b\"ü");
  EXPECT_EQ(header.run_id, "r1");
  EXPECT_EQ(header.role, "launcher");
  EXPECT_EQ(header.process_index, 7);
  EXPECT_EQ(header.attempt_id, "77.0");
  EXPECT_EQ(header.labels[0], (std::pair<std::string, std::string>("team", "nlp")));
  EXPECT_EQ(header.accelerators, 1024);
  EXPECT_EQ(header.accelerator_type, "H100");
  EXPECT_EQ(header.pid, getpid());
  EXPECT_EQ(header.boot_id, read_boot_id());
  EXPECT_NEAR(static_cast<double>(header.open_wall_ns), static_cast<double>(wall_time_ns()), 60e9);
}

TEST_F(RecorderTest, EveryKindIsWrittenWithWhatItCarries) {
  const int64_t before_ns = boot_time_ns();
  {
    auto recorder = open();
    auto job = recorder.scope(Event::kJob);
    { auto init = recorder.scope(Event::kAcceleratorInit); }
    { auto prep = recorder.scope(Event::kTrainingPrep); }
    { auto compile = recorder.scope(Event::kCompilation); }
    { auto load = recorder.data_loading(true); }
    { auto load = recorder.data_loading(false); }
    { auto step = recorder.step_scope(5, {.tokens = 4096, .flops = 1e15}); }
    { auto save = recorder.checkpoint_save(5, "gs://ckpt"); }
    { auto restore = recorder.checkpoint_restore(4); }
    { auto eval = recorder.custom("eval"); }
    { auto wait = recorder.elastic_wait("scale_up"); }
    { auto wait = recorder.elastic_wait(""); }
    { auto reinit = recorder.scope(Event::kElasticReinit); }
    recorder.checkpoint_statistics(
        {.start_ns = 1'700'000'000'000'000'000, .duration_ns = 250, .step = 5, .location = "gs://b"});
    recorder.checkpoint_statistics({.event = Event::kCheckpointRestore, .duration_ns = 99, .emergency = true});
    recorder.slice_counts(3, 4, 5);
    recorder.disruption("preempted", "spot market");
    recorder.heartbeat();
    recorder.process_exit({.code = 3});
    recorder.process_exit({.signal = 9});
    recorder.process_exit({});
  }
  const WrittenJournal journal = read_one();
  ASSERT_EQ(journal.events.size(), 12U * 2 + 2 + 8);
  EXPECT_EQ(journal.count(Kind::kJobStart), 1U);
  EXPECT_EQ(journal.first(Kind::kJobEnd)->event.flags, 0);
  for (const Kind kind : {Kind::kAcceleratorInitStart, Kind::kAcceleratorInitEnd, Kind::kTrainingPrepStart,
                          Kind::kTrainingPrepEnd, Kind::kCompilationStart, Kind::kCompilationEnd,
                          Kind::kElasticReinitStart, Kind::kElasticReinitEnd, Kind::kHeartbeat}) {
    EXPECT_EQ(journal.count(kind), 1U) << static_cast<int>(kind);
  }
  EXPECT_EQ(journal.count(Kind::kDataLoadingStart), 2U);
  EXPECT_EQ(journal.first(Kind::kDataLoadingStart)->event.flags, event::kBlocking);
  const journal::LiveEvent& step = journal.first(Kind::kStepStart)->event;
  EXPECT_EQ(step.value, 5);
  EXPECT_EQ(step.tokens, 4096);
  EXPECT_TRUE(std::isnan(step.samples));
  EXPECT_EQ(step.flops, 1e15);
  EXPECT_EQ(journal.first(Kind::kStepEnd)->event.value, 5);
  for (const Kind kind : {Kind::kCheckpointSaveStart, Kind::kCheckpointSaveEnd}) {
    EXPECT_EQ(journal.first(kind)->name, "gs://ckpt");
    EXPECT_EQ(journal.first(kind)->event.value, 5);
    EXPECT_EQ(journal.first(kind)->event.flags, event::kHasStep);
  }
  EXPECT_EQ(journal.first(Kind::kCheckpointRestoreStart)->name, "");
  EXPECT_EQ(journal.first(Kind::kCustomStart)->name, "eval");
  EXPECT_EQ(journal.first(Kind::kCustomEnd)->name, "eval");
  EXPECT_EQ(journal.first(Kind::kElasticWaitEnd)->name, "scale_up");
  EXPECT_EQ(journal.count(Kind::kElasticWaitStart), 2U);
  const WrittenEvent& save = *journal.first(Kind::kCheckpointSave);
  EXPECT_EQ(save.event.wall_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(save.event.duration_ns, 250);
  EXPECT_EQ(save.name, "gs://b");
  const WrittenEvent& restore = *journal.first(Kind::kCheckpointRestore);
  EXPECT_EQ(restore.event.flags, event::kUntimed | event::kEmergency);
  EXPECT_FALSE(restore.event.has_wall_time);
  EXPECT_EQ(restore.event.duration_ns, 99);
  EXPECT_EQ(journal::unpack_slices(journal.first(Kind::kSliceCounts)->event.value).available, 5);
  EXPECT_EQ(journal.first(Kind::kDisruption)->name, "preempted");
  EXPECT_EQ(journal.first(Kind::kDisruption)->text, "spot market");
  EXPECT_EQ(journal.first(Kind::kProcessExit)->event.value, 3);
  EXPECT_EQ(journal.first(Kind::kProcessExit)->event.flags, event::kCode);
  EXPECT_EQ(journal.count(Kind::kProcessExit), 3U);
  int64_t last_ns = before_ns;
  for (const WrittenEvent& written : journal.events) {
    EXPECT_GE(written.event.boot_ns, last_ns);
    last_ns = written.event.boot_ns;
  }
  EXPECT_LE(last_ns, boot_time_ns());
  EXPECT_TRUE(journal.losses.empty());
}

TEST_F(RecorderTest, EventsCarryTimesOfTheirOwn) {
  auto recorder = open();
  const int64_t when = 1'767'225'600'000'000'123;
  recorder.begin(Event::kJob, {.time_ns = when});
  recorder.begin(Event::kStep, {.step = 1, .work = {.samples = 8}, .time_ns = when + 1});
  recorder.end(Event::kCustom, {.name = "eval", .time_ns = when + 2});
  const WrittenJournal journal = read_one();
  ASSERT_EQ(journal.events.size(), 3U);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(journal.events[i].event.wall_ns, when + static_cast<int64_t>(i));
  EXPECT_EQ(journal.events[1].event.samples, 8);
}

TEST_F(RecorderTest, JobLeftByAnExceptionIsMarkedFailed) {
  auto recorder = open();
  try {
    const Scope job = recorder.scope(Event::kJob);           // NOLINT: they end by the exception
    const Scope load = recorder.scope(Event::kDataLoading);  // NOLINT
    throw std::runtime_error("training diverged");
  } catch (const std::runtime_error&) {
    auto second = recorder.scope(Event::kJob);  // opened and closed inside a handler: not failed
  }
  recorder.scope(Event::kJob).fail();
  std::vector<uint8_t> flags;
  for (const WrittenEvent& written : read_one().events) {
    if (written.event.kind == Kind::kJobEnd) flags.push_back(written.event.flags);
    if (written.event.kind == Kind::kDataLoadingEnd) {
      EXPECT_EQ(written.event.flags, 0);
    }
  }
  EXPECT_EQ(flags, (std::vector<uint8_t>{event::kFailed, 0, event::kFailed}));
}

TEST_F(RecorderTest, BadValuesAreDroppedAndCounted) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  {
    auto recorder = open();
    recorder.step((int64_t{1} << 53) + 1);
    recorder.step(std::numeric_limits<int64_t>::min(), {.tokens = 1});
    recorder.begin(Event::kStep, {});
    recorder.begin(Event::kJob, {.time_ns = -1});
    recorder.end(Event::kJob, {.time_ns = std::numeric_limits<int64_t>::max()});
    recorder.begin(Event::kCustom, {.name = ""});
    recorder.checkpoint_statistics({.duration_ns = -1});
    recorder.checkpoint_statistics({.event = Event::kJob});
    recorder.slice_counts(-1, 2, 3);
    recorder.drop_bad_value();
    recorder.step(7, {.tokens = std::numeric_limits<double>::infinity(), .samples = nan});
    EXPECT_EQ(recorder.counts().lost_bad_value, 10U);
    EXPECT_EQ(recorder.counts().lost_events, 10U);
  }
  const WrittenJournal journal = read_one();
  EXPECT_EQ(journal.counters[journal::Counter::kBadValue], 10U);
  ASSERT_EQ(journal.steps(), std::vector<int64_t>{7}) << "work that is not finite is left out, the step stands";
  EXPECT_FALSE(journal.events[0].event.has_work());
}

TEST_F(RecorderTest, SegmentsSwitchWithoutLosingAnEvent) {
  constexpr int64_t kSteps = 100'000;
  {
    auto recorder = open();
    for (int64_t step = 0; step < kSteps; ++step) {
      recorder.step(step);
      if (step % 1000 == 0) recorder.custom("eval " + std::to_string(step % 7000)).end();
      if (step % 501 == 0) recorder.step(-step - 1, {.tokens = 1});
    }
    EXPECT_EQ(recorder.counts().lost_events, 0U);
  }
  const WrittenJournal journal = read_one();
  std::vector<int64_t> steps = journal.steps();
  EXPECT_EQ(std::erase_if(steps, [](int64_t step) { return step < 0; }), 200U);
  ASSERT_EQ(steps.size(), static_cast<size_t>(kSteps));
  for (int64_t step = 0; step < kSteps; ++step) ASSERT_EQ(steps[static_cast<size_t>(step)], step);
  EXPECT_EQ(journal.count(Kind::kCustomEnd), 100U);
  EXPECT_EQ(journal.first(Kind::kCustomEnd)->name, "eval 0");
  EXPECT_TRUE(journal.losses.empty());
}

TEST_F(RecorderTest, NamesFillASegmentBeforeItsSlotsDo) {
  constexpr int kNames = 2000;
  {
    auto recorder = open();
    for (int i = 0; i < kNames; ++i)
      recorder.begin(Event::kCustom, {.name = std::string(200, 'n') + std::to_string(i)});
  }
  const WrittenJournal journal = read_one();
  ASSERT_EQ(journal.count(Kind::kCustomStart) + journal.counters.lost_events(), static_cast<size_t>(kNames));
  ASSERT_EQ(journal.counters.lost_events(), 0U);
  int i = 0;
  for (const WrittenEvent& written : journal.events)
    EXPECT_EQ(written.name, std::string(200, 'n') + std::to_string(i++));
  EXPECT_TRUE(journal.losses.empty());
}

TEST_F(RecorderTest, LongNamesAreCutAndCounted) {
  {
    auto recorder = open();
    recorder.begin(Event::kCustom, {.name = std::string(5000, 'x')});
  }
  const WrittenJournal journal = read_one();
  EXPECT_EQ(journal.events.at(0).name, std::string(2000, 'x'));
  EXPECT_EQ(journal.counters[journal::Counter::kCutText], 1U);
}

TEST_F(RecorderTest, ThreadsRecordSideBySide) {
  constexpr int kThreads = 8;
  constexpr int64_t kSteps = 20'000;
  {
    auto recorder = open();
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&recorder, t] {
        for (int64_t i = 0; i < kSteps; ++i) recorder.step(t * kSteps + i);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(recorder.counts().lost_events, 0U);
  }
  const WrittenJournal journal = read_one();
  std::vector<int64_t> steps = journal.steps();
  std::sort(steps.begin(), steps.end());
  ASSERT_EQ(steps.size(), static_cast<size_t>(kThreads * kSteps));
  for (size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i], static_cast<int64_t>(i));
  EXPECT_TRUE(journal.losses.empty());
}

TEST_F(RecorderTest, TenThousandThreadsOfOneEventFitOneSegment) {
  {
    auto recorder = open();
    for (int i = 0; i < 10'000; ++i) std::thread([&recorder, i] { recorder.step(i); }).join();
  }
  const WrittenJournal journal = read_one();
  EXPECT_EQ(journal.steps().size(), 10'000U);
  EXPECT_TRUE(journal.losses.empty());
  EXPECT_LE(journal.files.size(), 12U) << "a thread that ends hands its run on";
}

TEST_F(RecorderTest, RecordersOfOneRankShareAJournal) {
  auto first = open();
  auto second = open();
  auto other_rank = open({.process_index = 1});
  auto other_run = open({.run_id = "again"});
  EXPECT_EQ(first.journal_id(), second.journal_id());
  EXPECT_NE(first.journal_id(), other_rank.journal_id());
  EXPECT_NE(first.journal_id(), other_run.journal_id());
  first.step(1);
  first.close();
  second.step(2);
  EXPECT_EQ(second.counts().lost_events, 0U);
  EXPECT_EQ(read().size(), 3U);
  second.close();
  auto third = open();
  EXPECT_NE(third.journal_id(), first.journal_id()) << "a closed journal is not opened again";
}

TEST_F(RecorderTest, ManyRecordersInOneThread) {
  std::vector<Recorder> recorders;
  recorders.reserve(9);
  for (int i = 0; i < 9; ++i) recorders.push_back(open({.process_index = i}));
  for (int64_t step = 0; step < 1000; ++step) {
    for (Recorder& recorder : recorders) recorder.step(step);
  }
  recorders.clear();
  for (const WrittenJournal& journal : read()) {
    EXPECT_EQ(journal.steps().size(), 1000U);
    EXPECT_TRUE(journal.losses.empty());
  }
}

TEST_F(RecorderTest, SeatOfAThreadIsTakenOnlyFromARecorderThatIsGone) {
  const auto owners = [] {
    std::vector<uint64_t> ids;
    for (const Seat& seat : thread_seats) ids.push_back(seat.writer_id);
    return ids;
  };
  std::vector<Recorder> recorders;
  for (int i = 0; i < 4; ++i) recorders.push_back(open({.process_index = i}));
  for (Recorder& recorder : recorders) recorder.step(1);
  const std::vector<uint64_t> first_four = owners();
  Recorder fifth = open({.process_index = 4});
  fifth.step(1);
  EXPECT_EQ(owners(), first_four);
  recorders.clear();
  fifth.step(2);
  EXPECT_NE(owners(), first_four);
  fifth.close();
  for (const WrittenJournal& journal : read()) {
    EXPECT_EQ(journal.steps().size(), journal.header.process_index == 4 ? 2U : 1U);
    EXPECT_TRUE(journal.losses.empty());
  }
}

TEST_F(RecorderTest, RestartUnderTheSameNameIsAnotherJournal) {
  open().step(1);
  open().step(2);
  const std::vector<WrittenJournal> journals = read();
  ASSERT_EQ(journals.size(), 2U);
  EXPECT_EQ(journals[0].steps(), std::vector<int64_t>{1});
  EXPECT_EQ(journals[1].steps(), std::vector<int64_t>{2});
  EXPECT_NE(journals[0].header.attempt_id, journals[1].header.attempt_id);
}

TEST_F(RecorderTest, OpeningSaysWhatIsRecordedWhere) {
  unsetenv("GOODPUT_QUIET");
  testing::internal::CaptureStderr();
  {
    auto rank0 = open({.attempt_id = "77.0"});
    auto rank1 = open({.process_index = 1, .attempt_id = "77.0"});
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "goodput: recording job \"llama-7b\", attempt 77.0, in " + folder_.path() + "\n");
  testing::internal::CaptureStderr();
  const auto nowhere = Recorder::open({.job = "j", .directory = "/proc/goodput"});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "goodput: cannot record job \"j\" in /proc/goodput: No such file or directory; training goes on, and so do "
            "attempts to record\n");
  setenv("GOODPUT_QUIET", "1", 1);
  testing::internal::CaptureStderr();
  open().step(1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(RecorderTest, DisabledRecorderDoesNothing) {
  auto recorder = open({.enabled = false});
  auto job = recorder.scope(Event::kJob);
  recorder.step(1);
  recorder.disruption("oom");
  EXPECT_FALSE(recorder.is_recording());
  EXPECT_TRUE(read().empty());
  EXPECT_EQ(recorder.journal_id(), "");
}

TEST_F(RecorderTest, ClosedRecorderDropsAndCounts) {
  auto recorder = open();
  recorder.step(1);
  recorder.close();
  recorder.close();
  recorder.step(2);
  EXPECT_EQ(recorder.counts().lost_events, 1U);
  EXPECT_FALSE(recorder.is_recording());
  EXPECT_EQ(read_one().steps(), std::vector<int64_t>{1});
}

TEST_F(RecorderTest, ThreadsMayRecordWhileItCloses) {
  for (int round = 0; round < 10; ++round) {
    const TemporaryFolder folder("/dev/shm");  // at full speed there are a hundred segments to sync
    auto recorder = Recorder::open({.job = "j", .directory = folder.path()});
    recorder.step(0);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> recorded{1};
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!stop) {
          recorder.step(1);
          if (++recorded % 200 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      });
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    recorder.close();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    const WrittenJournal journal = read_journals(folder.path()).at(0);
    EXPECT_EQ(journal.steps().size() + recorder.counts().lost_events, recorded.load());
    EXPECT_TRUE(journal.losses.empty());
  }
}

TEST_F(RecorderTest, UnusedSegmentsAreRemovedAtTheEnd) {
  open().step(1);
  EXPECT_EQ(read_one().files, (std::vector<std::string>{"00000001.sealed", "lock"}));
}

TEST_F(RecorderTest, FilesAreForTheOwnerAlone) {
  auto recorder = open();
  const std::string folder = read_one().folder;
  struct stat facts;
  ASSERT_EQ(stat(folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);
  ASSERT_EQ(stat((folder + "/00000001.live").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(RecorderTest, LivenessIsThereFromTheStartAndGoesOn) {
  auto recorder = open();
  const journal::ClockSlots first = read_one().clock;
  EXPECT_EQ(first.pairs, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  const journal::ClockSlots second = read_one().clock;
  EXPECT_GE(second.pairs, 2);
  EXPECT_NEAR(static_cast<double>(second.latest.boot_ns - first.latest.boot_ns),
              static_cast<double>(second.pairs - 1) * 1e9, 0.4e9);
  EXPECT_EQ(second.step_count, 0U);
}

TEST_F(RecorderTest, SlowStepNumberIsCountedAndKeepsTheEarlierTime) {
  auto recorder = open();
  const int64_t early_ns = recorder.clock_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  recorder.step_since(early_ns, 3);
  recorder.step_since(recorder.clock_ns(), 4);
  const WrittenJournal journal = read_one();
  EXPECT_EQ(journal.first(Kind::kStepStart)->event.boot_ns, early_ns);
  EXPECT_EQ(journal.counters[journal::Counter::kSlowStepNumber], 1U);
}

TEST_F(RecorderTest, MovedRecorderRecordsAndTheEmptyOneDoesNot) {
  auto first = open();
  Recorder second = std::move(first);
  first.step(1);  // NOLINT: that a recorder that was moved from does nothing is the point
  second.step(2);
  first = std::move(second);
  first.step(3);
  EXPECT_EQ(read_one().steps(), (std::vector<int64_t>{2, 3}));
}

}  // namespace
}  // namespace goodput::record
