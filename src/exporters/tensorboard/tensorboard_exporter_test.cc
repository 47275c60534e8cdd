// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/tensorboard_exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <map>

#include "base/temporary_folder.h"
#include "exporters/tensorboard/read_records.h"

namespace goodput::exporters {
namespace {

using testing::ElementsAre;
using testing::Pair;

class TensorBoard : public testing::Test {
 protected:
  std::unique_ptr<TensorBoardExporter> open() {
    return std::move(TensorBoardExporter::open(folder_.path() + "/runs", "test")).value();
  }
  static Update update_of(int64_t from, int64_t to, double seconds = 0.5) {
    Update update;
    update.report.goodput_percent = 87.5;
    update.report.elapsed_seconds = 100;
    update.report.badput_seconds = {{"CHECKPOINT_SAVE", 5}, {"STALLED", 2}, {"OTHER", 1}};
    update.report.custom_badput_seconds = {{"EVAL", 4.5}};
    update.report.async_data_loading_seconds = 3;
    update.report.ideal_step_time_seconds = 0.25;
    update.report.max_productive_step = to - 1;
    update.report.windows = {{.window_seconds = 3600, .goodput_percent = 75}};
    for (int64_t step = from; step < to; ++step) update.steps.push_back({step, seconds});
    return update;
  }
  /// Steps and values of a tag over all files, as they come.
  std::vector<std::pair<int64_t, float>> points(const std::string& wanted) const {
    std::map<std::string, bool> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/runs/goodput")) {
      if (entry.path().filename().string().starts_with("events.")) files[entry.path().string()] = true;
    }
    std::vector<std::pair<int64_t, float>> out;
    for (const auto& [path, is_file] : files) {
      read_records(path, [&](const ReadValue& read) {
        if (read.tag == wanted) out.emplace_back(read.step, read.value);
      });
    }
    return out;
  }

  TemporaryFolder folder_;
};

TEST_F(TensorBoard, TotalsCarryTheIncumbentsNamesAndPercents) {
  ASSERT_TRUE(open()->send(update_of(0, 10)).ok());
  EXPECT_THAT(points("goodput/goodput"), ElementsAre(Pair(9, 87.5F)));
  EXPECT_THAT(points("badput/unproductive_checkpoint_save_time"), ElementsAre(Pair(9, 5.0F)));
  EXPECT_THAT(points("badput/other"), ElementsAre(Pair(9, 3.0F)));
  EXPECT_THAT(points("badput/data_loading_async"), ElementsAre(Pair(9, 3.0F)));
  EXPECT_THAT(points("badput/tpu_initialization"), ElementsAre(Pair(9, 0.0F)));
  EXPECT_THAT(points("badput/custom_badput_events/eval"), ElementsAre(Pair(9, 4.5F)));
  EXPECT_THAT(points("rolling_goodput/1h"), ElementsAre(Pair(9, 75.0F)));
}

TEST_F(TensorBoard, EachStepIsWrittenOnce) {
  const auto board = open();
  ASSERT_TRUE(board->send(update_of(0, 3)).ok());
  ASSERT_TRUE(board->send(update_of(1, 5)).ok());
  EXPECT_THAT(points("step_deviation"),
              ElementsAre(Pair(0, 0.25F), Pair(1, 0.25F), Pair(2, 0.25F), Pair(3, 0.25F), Pair(4, 0.25F)));
}

TEST_F(TensorBoard, OnlyTheFiguresThatAreAskedForAreWritten) {
  const auto board = open();
  Update update = update_of(0, 3);
  update.figures = {.badput = false, .windows = false, .steps = false};
  ASSERT_TRUE(board->send(update).ok());
  EXPECT_THAT(points("goodput/goodput"), ElementsAre(Pair(2, 87.5F)));
  EXPECT_THAT(points("badput/other"), ElementsAre());
  EXPECT_THAT(points("rolling_goodput/1h"), ElementsAre());
  EXPECT_THAT(points("step_time_seconds"), ElementsAre());
  update.figures = {.goodput = false, .badput = false, .ideal_step_seconds = 0.375};
  ASSERT_TRUE(board->send(update).ok());
  EXPECT_THAT(points("goodput/goodput"), ElementsAre(Pair(2, 87.5F)));
  EXPECT_THAT(points("rolling_goodput/1h"), ElementsAre(Pair(2, 75.0F)));
  EXPECT_THAT(points("step_deviation"), ElementsAre(Pair(0, 0.125F), Pair(1, 0.125F), Pair(2, 0.125F)));
}

TEST_F(TensorBoard, StepsDoneAgainAreWrittenAgain) {
  const auto board = open();
  ASSERT_TRUE(board->send(update_of(0, 4)).ok());
  ASSERT_TRUE(board->send(update_of(2, 4, 0.75)).ok());
  EXPECT_THAT(points("step_time_seconds"),
              ElementsAre(Pair(0, 0.5F), Pair(1, 0.5F), Pair(2, 0.5F), Pair(3, 0.5F), Pair(2, 0.75F), Pair(3, 0.75F)));
}

TEST_F(TensorBoard, AnExporterThatStartsAgainGoesOnInALaterFile) {
  ASSERT_TRUE(open()->send(update_of(0, 3)).ok());
  ASSERT_TRUE(open()->send(update_of(0, 5)).ok());
  EXPECT_THAT(points("step_time_seconds"),
              ElementsAre(Pair(0, 0.5F), Pair(1, 0.5F), Pair(2, 0.5F), Pair(3, 0.5F), Pair(4, 0.5F)));
}

TEST_F(TensorBoard, ARecordThatWasCutIsWrittenAgain) {
  ASSERT_TRUE(open()->send(update_of(0, 3)).ok());
  std::filesystem::path file;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path() + "/runs/goodput")) {
    if (entry.path().filename().string().starts_with("events.")) file = entry.path();
  }
  size_t offset_of_step_two = 0;  // found by cutting until the last step is gone
  for (size_t size = std::filesystem::file_size(file); points("step_time_seconds").size() == 3; --size) {
    std::filesystem::resize_file(file, size);
    offset_of_step_two = size;
  }
  ASSERT_GT(offset_of_step_two, 0U);
  ASSERT_TRUE(open()->send(update_of(0, 3)).ok());
  EXPECT_THAT(points("step_time_seconds"), ElementsAre(Pair(0, 0.5F), Pair(1, 0.5F), Pair(2, 0.5F)));
}

// A limit on the size of files fails as a full disk does.
TEST_F(TensorBoard, WhatADiskDidNotTakeWaitsAndDoesNotGrow) {
  const auto board = open();
  ASSERT_TRUE(board->send(update_of(0, 3)).ok());
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = 1;
  setrlimit(RLIMIT_FSIZE, &full);
  std::vector<StatusCode> codes;
  for (int i = 0; i < 100; ++i) codes.push_back(board->send(update_of(3, 5)).code());
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(codes, std::vector<StatusCode>(100, StatusCode::kUnavailable));
  ASSERT_TRUE(board->send(update_of(3, 5)).ok());
  EXPECT_THAT(points("step_time_seconds"),
              ElementsAre(Pair(0, 0.5F), Pair(1, 0.5F), Pair(2, 0.5F), Pair(3, 0.5F), Pair(4, 0.5F)));
  // Once before, once when the disk was full, once after.
  EXPECT_EQ(points("goodput/goodput").size(), 3U);
}

TEST_F(TensorBoard, ASecondWriterIsRefusedAndToldWhoTheFirstIs) {
  const auto first = open();
  const auto second = TensorBoardExporter::open(folder_.path() + "/runs", "another");
  ASSERT_EQ(second.status().code(), StatusCode::kAlreadyExists);
  EXPECT_THAT(second.status().message(), testing::HasSubstr("test (process " + std::to_string(getpid()) + " on "));
}

TEST_F(TensorBoard, AFolderThatCannotBeMadeIsUnavailable) {
  const Status status = TensorBoardExporter::open("/proc/nowhere", "test").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "making the TensorBoard folder /proc/nowhere/goodput: No such file or directory");
}

TEST_F(TensorBoard, DisruptionsAreToldOnceTheirCostIsKnown) {
  const auto board = open();
  Update update = update_of(0, 1);
  update.report.disruption_records = {{.index = 0, .cause = "signal", .detail = "SIGKILL", .steps_wasted = 4}};
  ASSERT_TRUE(board->send(update).ok());
  EXPECT_THAT(points("disruptions"), ElementsAre());
  update.report.disruption_records[0].recovery_seconds = 12;
  ASSERT_TRUE(board->send(update).ok());
  ASSERT_TRUE(board->send(update).ok());
  EXPECT_THAT(points("disruptions"), ElementsAre(Pair(0, 0.0F)));
}

TEST_F(TensorBoard, ADisruptionThatNothingCameAfterIsToldWhenTheJobHasEnded) {
  const auto board = open();
  Update update = update_of(0, 1);
  update.report.disruption_records = {{.index = 0, .cause = "signal"}};
  update.report.status = report::JobStatus::kFailed;
  ASSERT_TRUE(board->send(update).ok());
  EXPECT_THAT(points("disruptions"), ElementsAre(Pair(0, 0.0F)));
}

TEST_F(TensorBoard, WhatAnotherRunWroteIntoTheFolderHidesNothing) {
  Update first = update_of(0, 50'000);
  first.report.job = "7b";
  first.report.disruption_records = {{.index = 0, .recovery_seconds = 1}, {.index = 1, .recovery_seconds = 1}};
  ASSERT_TRUE(open()->send(first).ok());
  Update second = update_of(0, 3);
  second.report.job = "7b";
  second.report.run_id = "again";
  second.report.disruption_records = {{.index = 0, .recovery_seconds = 1}};
  const auto before = points("step_time_seconds").size();
  ASSERT_TRUE(open()->send(second).ok());
  EXPECT_EQ(points("step_time_seconds").size(), before + 3);
  EXPECT_THAT(points("disruptions"), ElementsAre(Pair(0, 0.0F), Pair(1, 0.0F), Pair(0, 0.0F)));
  ASSERT_TRUE(open()->send(second).ok());
  EXPECT_EQ(points("step_time_seconds").size(), before + 3);
}

TEST_F(TensorBoard, AJobThatBeginsAgainFromTheStartIsWrittenAgain) {
  const auto board = open();
  ASSERT_TRUE(board->send(update_of(0, 50'000)).ok());
  ASSERT_TRUE(board->send(update_of(0, 3)).ok());
  EXPECT_EQ(points("step_time_seconds").size(), 50'003U);
}

TEST_F(TensorBoard, OfManyCustomEventsTheShortestAreOneTag) {
  Update update = update_of(0, 1);
  for (int i = 0; i < 100; ++i) update.report.custom_badput_seconds["SHARD" + std::to_string(i)] = 100 + i;
  ASSERT_TRUE(open()->send(update).ok());
  EXPECT_EQ(points("badput/custom_badput_events/shard99").size(), 1U);
  EXPECT_EQ(points("badput/custom_badput_events/shard0").size(), 0U);
  EXPECT_EQ(points("badput/custom_badput_events/other").size(), 1U);
}

TEST(WrittenSteps, OfWhatWasWrittenBeforeUsOldStepsBeyondWhatIsKnownCountAsWritten) {
  WrittenSteps written;
  for (int64_t step = 0; step < 50'000; ++step) written.add({step, 1});
  EXPECT_FALSE(written.is_new({0, 2}));
  EXPECT_TRUE(written.is_new({49'000, 2}));
  EXPECT_FALSE(written.is_new({49'000, 1}));
  EXPECT_TRUE(written.is_new({50'000, 1}));
  written.history_is_over();
  EXPECT_TRUE(written.is_new({0, 2}));
}

}  // namespace
}  // namespace goodput::exporters
