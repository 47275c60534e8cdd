// `goodput recover` as it is typed.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/testing/recorded_job.h"

namespace goodput::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::kBoot;
using testing::kSecond;
using testing::Outcome;
using testing::run_captured;

class RecoverCommand : public testing::RecordedJob {
 protected:
  /// 600 steps: a sealed segment, a live one.
  Journal two_segments() {
    Journal journal(folder_.path(), {.attempt_id = "slurm.7", .id = 1});
    steps(journal, 0, 300, kBoot);
    journal.rotate();
    steps(journal, 300, 600, kBoot + 300 * kSecond);
    journal.write();
    EXPECT_TRUE(journal.seal(1).ok());
    return journal;
  }
  static void flip(const std::string& file, int64_t offset) {
    std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
    bytes.seekg(offset);
    const int byte = bytes.get();
    bytes.seekp(offset);
    bytes.put(static_cast<char>(byte ^ 4));
  }
  json answer(std::vector<std::string> arguments, int code) {
    arguments.insert(arguments.begin(), "recover");
    arguments.emplace_back("--json");
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    const json answered = json::parse(outcome.out, nullptr, false);
    EXPECT_EQ(answered.at("schema"), "goodput.recover/1");
    return answered.at("journals");
  }
  static std::string bytes_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  TemporaryFolder out_;
};

TEST_F(RecoverCommand, IntactJournalsLoseNothing) {
  const Journal journal = two_segments();
  const json journals = answer({journal.path()}, kDone);
  ASSERT_EQ(journals.size(), 1U);
  EXPECT_EQ(journals.at(0).at("job"), "llama-7b");
  EXPECT_EQ(journals.at(0).at("attempt_id"), "slurm.7");
  EXPECT_EQ(journals.at(0).at("events"), 600);
  EXPECT_EQ(journals.at(0).at("losses"), json::array());
  EXPECT_EQ(journals.at(0).at("files").at(0).at("form"), "sealed");
  EXPECT_EQ(journals.at(0).at("files").at(1).at("form"), "live");
  const Outcome page = run({"recover", journal.path() + "/00000002.live"});
  EXPECT_EQ(page.code, kDone);
  EXPECT_EQ(page.out, "  llama-7b, attempt slurm.7, rank 0 on node-3\n    " + journal.path() +
                          "/00000002.live  300 events intact\n    nothing is lost\n");
}

TEST_F(RecoverCommand, LossesAreToldByReason) {
  const Journal journal = two_segments();
  const int64_t slot = journal::live_layout(journal::kMinSegmentBytes).runs_offset + 10 * journal::kSlotBytes;
  flip(journal.path() + "/00000002.live", slot);
  uint32_t front_bytes = 0;  // behind them the events begin
  std::memcpy(&front_bytes, bytes_of(journal.path() + "/00000001.sealed").data() + 20, sizeof(front_bytes));
  flip(journal.path() + "/00000001.sealed", int64_t{front_bytes} + 25);
  const json journals = answer({journal.path()}, kAnswerIsNo);
  const json& losses = journals.at(0).at("losses");
  ASSERT_EQ(losses.size(), 2U);
  EXPECT_EQ(losses.at(0).at("reason"), "damaged_block");
  EXPECT_EQ(losses.at(1).at("reason"), "damaged_slot");
  EXPECT_EQ(losses.at(1).at("events"), 1);
  EXPECT_EQ(losses.at(0).at("events").get<int>() + 1 + journals.at(0).at("events").get<int>(), 600);
  EXPECT_THAT(run({"recover", journal.path() + "/00000002.live"}).out,
              HasSubstr("    lost:\n      1 event: damaged slot of a live segment\n"));
}

TEST_F(RecoverCommand, WhatIsIntactIsWrittenWhereAReportFindsIt) {
  const Journal journal = two_segments();
  const std::string live = journal.path() + "/00000002.live";
  flip(live, journal::live_layout(journal::kMinSegmentBytes).runs_offset);
  const std::string before = bytes_of(live);
  const std::string saved = out_.path() + "/saved";
  EXPECT_EQ(run({"recover", journal.path(), "--output", saved}).code, kAnswerIsNo);
  EXPECT_EQ(bytes_of(live), before);
  EXPECT_FALSE(std::filesystem::exists(journal.path() + "/00000002.sealed"));

  const Outcome report = run_captured({"report", "llama-7b", "--dir", saved, "--json"}, commands());
  const json read = json::parse(report.out, nullptr, false);
  EXPECT_EQ(read.at("last_step"), 599);
  EXPECT_EQ(read.at("data_quality").at("findings").at(0).at("kind"), "events_lost");
  EXPECT_EQ(read.at("data_quality").at("findings").at(0).at("count"), 1);

  const Outcome again = run({"recover", journal.path(), "--output", saved});
  EXPECT_EQ(again.code, kCannot);
  EXPECT_THAT(again.err, HasSubstr("it is there already"));
  EXPECT_EQ(run({"recover", journal.path(), "--output", folder_.path()}).code, kCannot) << "the original's own place";
}

TEST_F(RecoverCommand, ALostHeaderIsTakenFromWhatLiesBeside) {
  const Journal journal = two_segments();
  const std::string live = journal.path() + "/00000002.live";
  for (const int64_t header : {int64_t{20}, int64_t{journal::kMinSegmentBytes - journal::kPageBytes + 20}})
    flip(live, header);
  const json journals = answer({journal.path()}, kAnswerIsNo);
  EXPECT_EQ(journals.at(0).at("job"), "llama-7b");
  EXPECT_EQ(journals.at(0).at("events"), 600);
  EXPECT_EQ(journals.at(0).at("losses").at(0).at("reason"), "damaged_header");
  EXPECT_EQ(run({"recover", journal.path(), "-o", out_.path()}).code, kAnswerIsNo);
  const Outcome report = run_captured({"report", "llama-7b", "--dir", out_.path(), "--json"}, commands());
  EXPECT_EQ(json::parse(report.out, nullptr, false).at("last_step"), 599);
}

TEST_F(RecoverCommand, WhatIsNoJournalIsSaidAndTheRestIsRead) {
  const Journal journal = two_segments();
  const std::string garbage = out_.path() + "/garbage";
  std::ofstream(garbage) << "no journal";
  const Outcome mixed = run({"recover", garbage, out_.path() + "/none", out_.path(), journal.path()});
  EXPECT_EQ(mixed.code, kCannot);
  EXPECT_THAT(mixed.err, HasSubstr("recovering " + garbage));
  EXPECT_THAT(mixed.err, HasSubstr("none"));
  EXPECT_THAT(mixed.err, HasSubstr("no segment of a journal lies in this folder"));
  EXPECT_THAT(mixed.out, HasSubstr("nothing is lost"));
  EXPECT_EQ(run({"recover", garbage}).out, "");
  EXPECT_EQ(run({"recover"}).code, kUsage);
}

}  // namespace
}  // namespace goodput::cli
