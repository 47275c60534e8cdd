// Addresses, filters, entries and places in a log, as text.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/cloud_logging/log_address.h"
#include "store/cloud_logging/log_cursor.h"
#include "store/cloud_logging/log_entries.h"
#include "store/cloud_logging/log_filter.h"
#include "store/cloud_logging/partial_errors.h"

namespace goodput::store {
namespace {

using event::Event;
using event::Kind;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'767'225'600 * kSecond;

TEST(LogAddress, NamesAProjectAndALog) {
  const Result<LogAddress> address = parse_log_address("cloud-logging://my-project/goodput_a/b.c-d");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->project, "my-project");
  EXPECT_EQ(address->log, "goodput_a/b.c-d");
  EXPECT_EQ(log_name(*address), "projects/my-project/logs/goodput_a%2Fb.c-d");
  for (const std::string& url : {std::string("gs://p/l"), std::string("cloud-logging://p"),
                                 std::string("cloud-logging:///l"), std::string("cloud-logging://p/"),
                                 std::string("cloud-logging://p/a b"), "cloud-logging://p/" + std::string(512, 'x')}) {
    EXPECT_EQ(parse_log_address(url).status().code(), StatusCode::kInvalidArgument) << url;
  }
}

TEST(LogFilter, BoundsAreExplicitAndValuesQuoted) {
  LogQuestion question{.log = {.project = "p", .log = "l"}, .job = "a\"b\\c\n", .from_ns = 0, .to_ns = kNow};
  EXPECT_EQ(
      filter_of(question),
      R"(logName="projects/p/logs/l" AND jsonPayload.job_name="a\"b\\c\n" AND timestamp>="1970-01-01T00:00:00.000000000Z")"
      R"( AND timestamp<="2026-01-01T00:00:00.000000000Z")");
  question.news_from_ns = kNow - kSecond;
  EXPECT_THAT(filter_of(question), testing::EndsWith(R"( AND (receiveTimestamp>="2025-12-31T23:59:59.000000000Z" OR )"
                                                     R"(timestamp>="2025-12-31T23:59:59.000000000Z"))"));
  EXPECT_EQ(quoted_for_filter("\xFF"), "\"\xEF\xBF\xBD\"");
}

Event step(int64_t number, uint64_t major, uint64_t minor) {
  return {.time_ns = kNow, .position = {major, minor}, .step = number, .kind = Kind::kStepStart};
}

TEST(LogEntries, IdIncreasesWithThePlaceAndTellsJobsApart) {
  const uint64_t job = job_hash("j", "");
  const std::string first = insert_id(step(1, 9, 5), job);
  EXPECT_LT(first, insert_id(step(1, 9, 6), job));
  EXPECT_LT(insert_id(step(1, 9, ~0ULL), job), insert_id(step(1, 10, 0), job));
  EXPECT_EQ(first, insert_id(step(7, 9, 5), job));
  EXPECT_NE(first, insert_id(step(1, 9, 5), job_hash("j", "run")));
  EXPECT_NE(job_hash("ab", "c"), job_hash("a", "bc"));
}

TEST(LogEntries, EntryStandsAtTheTimeOfItsRecording) {
  EntryBatch batch("j", "", "{\"entries\":[");
  EXPECT_EQ(batch.add(step(5, static_cast<uint64_t>(kNow + kSecond), 0)), EntryBatch::Added::kYes);
  EXPECT_EQ(batch.add(step(6, 0, 3)), EntryBatch::Added::kYes);  // of an imported log
  const std::string body = batch.body();
  EXPECT_THAT(body, testing::HasSubstr(R"("timestamp":"2026-01-01T00:00:01.000000000Z")"));
  EXPECT_THAT(body, testing::HasSubstr(R"("timestamp":"2026-01-01T00:00:00.000000000Z")"));
  EXPECT_THAT(body, testing::EndsWith("}}]}"));
  batch.clear();
  EXPECT_EQ(batch.body(), "{\"entries\":[]}");
}

TEST(LogEntries, BatchIsFullAtItsBounds) {
  EntryBatch batch("j", "", "{\"entries\":[");
  for (size_t i = 0; i < kMaxEntries; ++i) ASSERT_EQ(batch.add(step(1, 1, i)), EntryBatch::Added::kYes);
  EXPECT_EQ(batch.add(step(1, 1, 0)), EntryBatch::Added::kFull);
  EXPECT_EQ(batch.size(), kMaxEntries);

  EntryBatch large("j", "", "{\"entries\":[");
  const std::string name(200'000, 'x');
  Event custom = step(0, 1, 1);
  custom.kind = Kind::kCustomStart;
  custom.name = name;
  size_t added = 0;
  while (large.add(custom) == EntryBatch::Added::kYes) ++added;
  EXPECT_EQ(added, 24U);
  EXPECT_LE(large.body().size(), kMaxRequestBytes);
  const std::string longer(kMaxEntryBytes, 'x');
  custom.name = longer;
  EXPECT_EQ(large.add(custom), EntryBatch::Added::kTooLong);
}

TEST(LogCursor, GivesEachEntryOnceAndForgetsWhatIsNotAskedForAgain) {
  LogCursor cursor;
  cursor.begin_pass(kNow);
  EXPECT_FALSE(cursor.news_from_ns().has_value());
  EXPECT_TRUE(cursor.take(kNow - 900 * kSecond, kNow - 899 * kSecond, "a"));
  EXPECT_FALSE(cursor.take(kNow - 900 * kSecond, kNow - 899 * kSecond, "a"));
  EXPECT_TRUE(cursor.take(kNow - 900 * kSecond, kNow - 899 * kSecond, "b"));
  EXPECT_TRUE(cursor.take(kNow - 10 * kSecond, kNow - 9 * kSecond, "a"));
  cursor.end_pass();
  EXPECT_EQ(cursor.news_from_ns(), kNow - 9 * kSecond - kOverlapNs);
  EXPECT_EQ(cursor.remembered(), 1U);
  EXPECT_EQ(cursor.pass_from_ns(), 0);
}

TEST(LogCursor, PassThatTakesLongAsksAgainFromItsBeginning) {
  LogCursor cursor;
  cursor.begin_pass(kNow);
  cursor.take(kNow - 5000 * kSecond, kNow + 4000 * kSecond, "late, and found at the end of a pass of an hour");
  cursor.end_pass();
  EXPECT_EQ(cursor.news_from_ns(), kNow - kOverlapNs);
}

TEST(LogCursor, BrokenPassGoesOnWhereItWas) {
  LogCursor cursor;
  cursor.begin_pass(kNow);
  const auto at = [](int64_t minute) { return kNow - (1000 - minute) * 60 * kSecond; };
  for (int64_t minute = 0; minute < 100; ++minute) cursor.take(at(minute), at(minute), "x");
  cursor.forget();
  EXPECT_EQ(cursor.remembered(), 6U);  // of the last five minutes, both ends
  Result<LogCursor> again = LogCursor::parse(cursor.text());
  ASSERT_TRUE(again.ok());
  again->begin_pass(kNow + 60 * kSecond);
  EXPECT_EQ(again->pass_from_ns(), at(99));
  EXPECT_FALSE(again->take(at(99), at(99), "x"));
  EXPECT_TRUE(again->take(at(100), at(100), "x"));
  EXPECT_EQ(again->text(), LogCursor::parse(again->text())->text());
}

TEST(LogCursor, WhatIsNoneOfOursIsRefused) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"version":2})", R"({"version":1,"news_from_ns":"x"})",
       R"({"version":1,"news_from_ns":null,"pass_began_ns":null,"pass_at_ns":0,"newest_received_ns":1,"given":[[1,2]]})"}) {
    EXPECT_EQ(LogCursor::parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(PartialErrors, AreReadByIndexAndSortedByWhetherTheyPass) {
  gcp::ApiError error;
  error.details = R"([7,{"@type":"x"},{"@type":"type.googleapis.com/google.logging.v2.WriteLogEntriesPartialErrors",
      "logEntryErrors":{"3":{"code":3,"message":"bad"},"0":{"code":14},"9":{"code":3},"x":{},"2":7}}])";
  const std::vector<EntryRefusal> refusals = read_partial_errors(error, 5);
  ASSERT_EQ(refusals.size(), 3U);
  EXPECT_EQ(refusals[0].index, 0U);
  EXPECT_TRUE(refusals[0].may_pass_later);
  EXPECT_EQ(refusals[1].index, 2U);
  EXPECT_EQ(refusals[2].index, 3U);
  EXPECT_EQ(refusals[2].cause, "bad");
  EXPECT_FALSE(refusals[2].may_pass_later);
  error.details = "garbage";
  EXPECT_TRUE(read_partial_errors(error, 5).empty());
}

}  // namespace
}  // namespace goodput::store
