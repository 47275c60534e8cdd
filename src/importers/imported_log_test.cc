// SPDX-License-Identifier: Apache-2.0
#include "importers/imported_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "importers/log_entry.h"
#include "importers/temporary_file_for_test.h"

namespace goodput::importers {
namespace {

using event::Event;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ImportTest : public ::testing::Test {
 protected:
  Status import(std::string_view content) {
    const TemporaryFile file(content);
    return import_path(file.path());
  }

  Status import_path(const std::string& path) {
    Result<std::unique_ptr<ImportedLog>> log = import_log(path, options_);
    if (!log.ok()) return log.status();
    log_ = std::move(*log);
    return {};
  }

  /// Seconds of every event, as read.
  std::vector<int64_t> in_log_order() {
    std::vector<int64_t> seconds;
    EXPECT_TRUE(log_->for_each_in_log_order(collect(seconds)).ok());
    return seconds;
  }
  std::vector<int64_t> by_time(int64_t from_s = 0, int64_t to_s = 4'000'000'001) {
    std::vector<int64_t> seconds;
    EXPECT_TRUE(log_->read(from_s * kSecond, to_s * kSecond, collect(seconds)).ok());
    return seconds;
  }
  std::vector<std::string> losses() {
    std::vector<std::string> lines;
    for (const ImportLoss& loss : log_->losses()) {
      lines.push_back(std::to_string(loss.count) + " from line " + std::to_string(loss.first_line) + ": " +
                      loss.reason);
    }
    return lines;
  }

  static constexpr int64_t kSecond = event::kNanosecondsPerSecond;
  ImportOptions options_;
  std::unique_ptr<ImportedLog> log_;

 private:
  struct Collector {
    std::vector<int64_t>& seconds;
    bool operator()(std::span<const Event> events) const {
      for (const Event& e : events) seconds.push_back(e.time_ns / kSecond);
      return true;
    }
  };
  /// Lives as long as the test: a Sink only refers to it.
  Collector& collect(std::vector<int64_t>& seconds) {
    collectors_.push_back(std::make_unique<Collector>(Collector{seconds}));
    return *collectors_.back();
  }
  std::vector<std::unique_ptr<Collector>> collectors_;
};

std::string beat(int64_t second, const std::string& more = "") {
  return R"({"job_name":"j","heartbeat_time":)" + std::to_string(second) + more + "}\n";
}

std::string log_entry(int64_t second, const std::string& stamp, const std::string& id,
                      const std::string& log = "projects/p/logs/l") {
  return R"({"insertId":")" + id + R"(","jsonPayload":{"job_name":"j","heartbeat_time":)" + std::to_string(second) +
         R"(},"logName":")" + log + R"(","severity":"INFO","timestamp":")" + stamp + "\"}";
}

TEST_F(ImportTest, EventsComeInLogOrderAndByTime) {
  ASSERT_TRUE(import(beat(10) + beat(30) + beat(20) + beat(20, R"(,"x":1)")).ok());
  EXPECT_EQ(log_->job(), "j");
  EXPECT_EQ(log_->events(), 4U);
  EXPECT_FALSE(log_->in_time_order());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 30, 20, 20));
  EXPECT_THAT(by_time(), ElementsAre(10, 20, 20, 30));
  EXPECT_THAT(by_time(10, 20), ElementsAre(10));
  EXPECT_THAT(by_time(11, 31), ElementsAre(20, 20, 30));
  EXPECT_THAT(by_time(31, 40), IsEmpty());
  EXPECT_THAT(losses(), IsEmpty());
}

TEST_F(ImportTest, PositionsAreTheNumbersOfTheEntriesBlankLinesApart) {
  ASSERT_TRUE(import(beat(10) + "\n" + "{\"junk\":1}\n" + R"({"job_name":"j","sequence":"7-1","heartbeat_time":15})" +
                     "\n" + beat(20))
                  .ok());
  std::vector<event::Position> positions;
  auto collect = [&](std::span<const Event> events) {
    for (const Event& e : events) positions.push_back(e.position);
    return true;
  };
  ASSERT_TRUE(log_->for_each_in_log_order(collect).ok());
  EXPECT_FALSE(log_->has_sequences());
  EXPECT_THAT(positions, ElementsAre(event::Position{0, 0}, event::Position{0, 2}, event::Position{0, 3}));
}

TEST_F(ImportTest, SequencesThatEveryEntryHasAreThePositions) {
  ASSERT_TRUE(
      import(beat(10, R"(,"sequence":"5-2")") + beat(20, R"(,"sequence":"5-10")") + beat(30, R"(,"sequence":"4-99")"))
          .ok());
  EXPECT_TRUE(log_->has_sequences());
  EXPECT_THAT(in_log_order(), ElementsAre(30, 10, 20));
  EXPECT_THAT(by_time(), ElementsAre(10, 20, 30));
}

TEST_F(ImportTest, MalformedEntriesAreCountedByReasonWithTheirFirstLine) {
  ASSERT_TRUE(import(beat(10) + "garbage\n" + R"({"job_name":"j","heartbeat_time":null})" + "\n" +
                     R"({"job_name":"k","heartbeat_time":null})" + "\n" + R"({"job_name":"j","heartbeat_time":-5})" +
                     "\n" + R"({"job_name":"j","step_start_time":5})" + "\n{\"torn\":")
                  .ok());
  EXPECT_THAT(losses(), ElementsAre("2 from line 2: it is not a JSON object",
                                    "2 from line 3: its time is missing, not a number or out of range",
                                    "1 from line 6: its step number is missing, not an integer or out of range"));
  options_.job = "j";
  ASSERT_TRUE(import(beat(10) + R"({"job_name":"k","heartbeat_time":null})" + "\n").ok());
  EXPECT_THAT(losses(), IsEmpty());
}

TEST_F(ImportTest, OnlyTheJobAskedForIsTakenAndEntriesWithoutAName) {
  const std::string content = beat(10) + R"({"job_name":"k","heartbeat_time":20})" + "\n" + R"({"heartbeat_time":30})" +
                              "\n" + R"({"job_name":null,"heartbeat_time":40})" + "\n";
  options_.job = "j";
  ASSERT_TRUE(import(content).ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 30));
  options_.job = "k";
  ASSERT_TRUE(import(content).ok());
  EXPECT_THAT(in_log_order(), ElementsAre(20, 30));
  EXPECT_EQ(log_->job(), "k");
}

TEST_F(ImportTest, SeveralJobsAndNoneAskedForIsRefusedWithTheirNames) {
  const Status status = import(beat(10) + R"({"job_name":"a\nb","heartbeat_time":20})" + "\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("several jobs, one must be named: \"a\nb\", \"j\""));
}

TEST_F(ImportTest, AJobThatIsNotThereIsToldWithThoseThatAre) {
  options_.job = "x";
  const Status status = import(beat(10));
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("no event of job \"x\", its jobs are \"j\""));
}

TEST_F(ImportTest, ASingleNamelessJobIsTaken) {
  ASSERT_TRUE(import(R"({"heartbeat_time":30})").ok());
  EXPECT_EQ(log_->job(), "");
  EXPECT_EQ(log_->events(), 1U);
}

TEST_F(ImportTest, InputsThatAreNoLogsSayWhatTheyAre) {
  struct Row {
    const char* content;
    StatusCode code;
    const char* message;
  };
  const std::vector<Row> table = {
      {"", StatusCode::kNotFound, "it is empty"},
      {"\n\n", StatusCode::kNotFound, "it is empty"},
      {"hello\nworld\n", StatusCode::kUnreadable, "it is no event log, none of its 2 entries is a JSON object"},
      {"\x7f"
       "ELF\x02\x01",
       StatusCode::kUnreadable, "it is no event log, none of its 1 entry is a JSON object"},
      {"{\"a\":1}\n", StatusCode::kNotFound, "it has no event"},
      {"[]\n", StatusCode::kNotFound, "it is empty"},
      {"{\"job_start_time\":null}\n", StatusCode::kNotFound,
       "it has no event that can be used; line 1: its time is missing"},
  };
  for (const Row& row : table) {
    const Status status = import(row.content);
    EXPECT_EQ(status.code(), row.code) << row.content;
    EXPECT_THAT(status.message(), HasSubstr(row.message)) << row.content;
  }
}

TEST_F(ImportTest, PathsThatCannotBeReadSayWhy) {
  EXPECT_EQ(import_path("/tmp").message(), "reading /tmp: Is a directory");
  EXPECT_EQ(import_path("/tmp").code(), StatusCode::kUnreadable);
  EXPECT_EQ(import_path("/nonexistent").message(), "opening /nonexistent: No such file or directory");
  EXPECT_EQ(import_path("/nonexistent").code(), StatusCode::kUnreadable);
}

TEST_F(ImportTest, AFileThatMayNotBeReadSaysSo) {
  const TemporaryFile file(beat(1));
  ASSERT_EQ(::chmod(file.path().c_str(), 0), 0);
  const uid_t user = ::geteuid();
  if (user == 0) {  // root reads everything
    ASSERT_EQ(::seteuid(65'534), 0);
  }
  const Status status = import_path(file.path());
  if (user == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(status.code(), StatusCode::kPermissionDenied);
  EXPECT_EQ(status.message(), "opening " + file.path() + ": Permission denied");
}

TEST_F(ImportTest, BytesThatAreNoUtf8LoseNothing) {
  ASSERT_TRUE(import(beat(10) + "{\"job_name\":\"j\",\"heartbeat_time\":20,\"x\":\"\xff\"}\n" + beat(30)).ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 20, 30));
  EXPECT_THAT(losses(), ElementsAre("1 from line 2: it held bytes that are not UTF-8, which were replaced"));
  EXPECT_FALSE(log_->losses()[0].skipped);
}

TEST_F(ImportTest, ALineTooLongIsSkippedAndCounted) {
  options_.max_entry_bytes = 1 << 20;
  ASSERT_TRUE(import(beat(10) + std::string(3 << 20, 'x') + "\n" + beat(20)).ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 20));
  EXPECT_THAT(losses(), ElementsAre("1 from line 2: it is longer than 1 MiB"));
}

TEST_F(ImportTest, UntimedEntriesStandApart) {
  const std::string untimed = R"({"job_name":"j","event_type":"save","checkpoint_manager_blocking_duration_secs":3})"
                              "\n";
  ASSERT_TRUE(import(beat(10) + untimed + beat(20) + untimed).ok());
  EXPECT_TRUE(log_->in_time_order());
  EXPECT_EQ(log_->untimed_events(), 2U);
  EXPECT_THAT(by_time(), ElementsAre(10, 20));
  EXPECT_EQ(in_log_order().size(), 4U);
  std::vector<uint64_t> ordinals;
  auto collect = [&](std::span<const Event> events) {
    for (const Event& e : events) ordinals.push_back(e.position.minor);
    return true;
  };
  ASSERT_TRUE(log_->for_each_untimed(collect).ok());
  EXPECT_THAT(ordinals, ElementsAre(1, 3));
}

TEST_F(ImportTest, AnExportIsPutInOrderAndItsRepetitionsDropped) {
  const std::string newest = log_entry(40, "2026-01-01T00:00:03.000000002Z", "b");
  ASSERT_TRUE(import("[\n" + newest + ",\n" + newest + ",\n" + log_entry(30, "2026-01-01T00:00:03.000000001Z", "z") +
                     ",\n" + log_entry(20, "2026-01-01T00:00:02Z", "b") + ",\n" +
                     log_entry(10, "2026-01-01T00:00:02Z", "a") + ",\n" +
                     log_entry(50, "2026-01-01T00:00:02Z", "b", "projects/p/logs/other") + "]\n")
                  .ok());
  std::vector<int64_t> seconds = in_log_order();
  ASSERT_EQ(seconds.size(), 5U);
  std::sort(seconds.begin() + 1, seconds.begin() + 3);  // equal but for the log: either way round
  EXPECT_THAT(seconds, ElementsAre(10, 20, 50, 30, 40));
  EXPECT_THAT(by_time(), ElementsAre(10, 20, 30, 40, 50));
}

TEST_F(ImportTest, EntriesWithoutAnInsertIdAreNotRepetitions) {
  ASSERT_TRUE(import(R"([{"jsonPayload":{"job_name":"j","heartbeat_time":20},"timestamp":"2026-01-01T00:00:02Z"},)"
                     R"({"jsonPayload":{"job_name":"j","heartbeat_time":10},"timestamp":"2026-01-01T00:00:01Z"},)"
                     R"({"jsonPayload":{"job_name":"j","heartbeat_time":21},"timestamp":"2026-01-01T00:00:02Z"}])")
                  .ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 20, 21));
}

TEST_F(ImportTest, LogEntriesOneToALineAreAnExportToo) {
  ASSERT_TRUE(import(log_entry(20, "2026-01-01T00:00:02Z", "b") + "\n" + log_entry(10, "2026-01-01T00:00:01Z", "a") +
                     "\n" + R"({"textPayload":"hello","timestamp":"2026-01-01T00:00:01Z"})" + "\n")
                  .ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10, 20));
  EXPECT_THAT(losses(), IsEmpty());
}

TEST_F(ImportTest, PubSubMessagesAreOpened) {
  // {"jsonPayload":{"job_name":"j","heartbeat_time":10},"timestamp":"2026-01-01T00:00:01Z","insertId":"a"}
  const std::string encoded =
      "eyJqc29uUGF5bG9hZCI6eyJqb2JfbmFtZSI6ImoiLCJoZWFydGJlYXRfdGltZSI6MTB9LCJ0aW1lc3RhbXAiOiIyMDI2LTAxLTAxVDAwOjAwOjAx"
      "WiIsImluc2VydElkIjoiYSJ9";
  ASSERT_TRUE(import(R"({"message":{"data":")" + encoded + R"(","messageId":"1"},"subscription":"s"})" + "\n" +
                     R"({"data":")" + encoded + R"(","messageId":"2"})" + "\n" + R"({"data":"%%%","messageId":"3"})" +
                     "\n")
                  .ok());
  EXPECT_THAT(in_log_order(), ElementsAre(10));  // the same entry twice
  EXPECT_THAT(losses(), ElementsAre("1 from line 3: what it wraps cannot be read"));
}

TEST_F(ImportTest, WhoRecordedIsKeptOnceEach) {
  ASSERT_TRUE(import(beat(10, R"(,"attempt_id":"a","process_index":1)") + beat(20) +
                     beat(30, R"(,"attempt_id":"a","process_index":1)") + beat(40, R"(,"attempt_id":"b")"))
                  .ok());
  std::vector<const event::Origin*> origins;
  auto collect = [&](std::span<const Event> events) {
    for (const Event& e : events) origins.push_back(e.origin);
    return true;
  };
  ASSERT_TRUE(log_->for_each_in_log_order(collect).ok());
  ASSERT_EQ(origins.size(), 4U);
  EXPECT_EQ(origins[1], nullptr);
  EXPECT_EQ(origins[0], origins[2]);
  EXPECT_EQ(origins[0]->attempt_id, "a");
  EXPECT_EQ(origins[3]->attempt_id, "b");
}

TEST_F(ImportTest, TheAnswersAreTheSameWithoutMemory) {
  std::mt19937_64 random(3);
  std::string content;
  std::vector<int64_t> want;
  for (int i = 0; i < 50'000; ++i) {
    want.push_back(static_cast<int64_t>(random() % 10'000));
    content += beat(want.back(), R"(,"x":)" + std::to_string(i));
  }
  const std::vector<int64_t> log_order = want;
  std::ranges::sort(want);
  for (const size_t memory : {size_t{64} << 20, size_t{0}}) {
    options_.memory_bytes = memory;
    ASSERT_TRUE(import(content).ok());
    EXPECT_EQ(in_log_order(), log_order);
    EXPECT_EQ(by_time(), want);
    const auto from = std::ranges::lower_bound(want, 5'000);
    const auto to = std::ranges::lower_bound(want, 5'100);
    EXPECT_EQ(by_time(5'000, 5'100), std::vector<int64_t>(from, to));
  }
}

TEST_F(ImportTest, ReadingStopsWhenTheSinkHasEnough) {
  std::string content;
  for (int i = 0; i < 2'000; ++i) content += beat(i);
  ASSERT_TRUE(import(content).ok());
  int calls = 0;
  auto once = [&](std::span<const Event>) { return ++calls < 1; };
  ASSERT_TRUE(log_->read(0, event::kMaxTimeNs, once).ok());
  EXPECT_EQ(calls, 1);
}

TEST_F(ImportTest, ProgressReachesTheSizeOfTheFile) {
  std::string content;
  for (int i = 0; i < 100'000; ++i) content += beat(i);
  uint64_t latest = 0;
  int calls = 0;
  options_.progress = [&](uint64_t done, uint64_t total) {
    EXPECT_EQ(total, content.size());
    EXPECT_GT(done, latest);
    latest = done;
    ++calls;
  };
  ASSERT_TRUE(import(content).ok());
  EXPECT_EQ(latest, content.size());
  EXPECT_GT(calls, 3);
}

TEST(Base64, BothAlphabetsWithAndWithoutPadding) {
  const auto decoded = [](std::string_view text) {
    std::string out;
    return append_from_base64(out, text) ? out : "refused";
  };
  EXPECT_EQ(decoded(""), "");
  EXPECT_EQ(decoded("e30="), "{}");
  EXPECT_EQ(decoded("e30"), "{}");
  EXPECT_EQ(decoded("YQ=="), "a");
  EXPECT_EQ(decoded("+/+/"), decoded("-_-_"));
  EXPECT_EQ(decoded("e"), "refused");
  EXPECT_EQ(decoded("e30=="), "{}");
  EXPECT_EQ(decoded("e3=0"), "refused");
  EXPECT_EQ(decoded("e 30"), "refused");
}

}  // namespace
}  // namespace goodput::importers
