// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/testing/samples.h"

namespace goodput::report {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using testing::sample;
using testing::samples;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

// The first line in which two texts differ; empty when they are the same. (A diff of two megabytes is no help.)
std::string first_difference(const std::string& a, const std::string& b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() && in_b == b.end()) return "";
  const auto line = [](const std::string& text, auto at) {
    const size_t start = text.rfind('\n', static_cast<size_t>(at - text.begin()));
    return text.substr(start == std::string::npos ? 0 : start + 1, 120);
  };
  return line(a, in_a) + " instead of " + line(b, in_b);
}

TEST(ReportJson, KeysAreThoseOfTheDocumentInItsOrder) {
  const Json object = Json::parse(to_json(sample("thirty")));
  EXPECT_THAT(
      keys(object),
      ElementsAre("schema", "semantics", "job", "run_id", "labels", "status", "provisional", "clipped", "start", "end",
                  "as_of", "elapsed_seconds", "goodput_seconds", "goodput_percent", "badput_seconds",
                  "custom_badput_seconds", "async_data_loading_seconds", "max_productive_step", "last_step",
                  "steps_per_second", "ideal_step_time_seconds", "step_time_deviation_seconds", "ideal_goodput_percent",
                  "step_time_percentiles_seconds", "slice_efficiency", "disruptions", "unplanned_disruptions",
                  "mtbf_seconds", "mtbf_interval_seconds", "mttr_seconds", "accelerators", "accelerator_type",
                  "accelerator_hours", "cost", "currency", "attempts", "disruption_records", "omitted", "windows",
                  "exclusions", "ranks", "first_stopped_rank", "data_quality", "timeline"));
  EXPECT_THAT(keys(object["attempts"][0]),
              ElementsAre("index", "id", "host", "start", "end", "status", "exit_code", "exit_signal", "first_step",
                          "last_step", "elapsed_seconds", "goodput_seconds", "badput_seconds"));
  EXPECT_THAT(keys(object["disruption_records"][0]),
              ElementsAre("index", "kind", "time", "attempt", "planned", "cause", "cause_source", "detail",
                          "completed_end", "last_step", "resume_step", "steps_wasted", "wasted_seconds",
                          "stalled_seconds", "recovery_seconds", "recovery_by_class_seconds"));
  EXPECT_THAT(keys(object["windows"][0]),
              ElementsAre("window_seconds", "start", "end", "elapsed_seconds", "goodput_seconds", "goodput_percent",
                          "badput_seconds", "custom_badput_seconds", "disruptions"));
  EXPECT_THAT(keys(object["ranks"][0]), ElementsAre("process_index", "host", "last_heartbeat", "lateness_seconds"));
  EXPECT_THAT(keys(object["data_quality"]["findings"][0]),
              ElementsAre("kind", "severity", "count", "seconds", "first", "message", "fix"));
}

TEST(ReportJson, AbsentAnswersAreNullNeverZero) {
  const Json object = Json::parse(to_json(sample("empty")));
  for (const char* key : {"goodput_percent", "last_step", "steps_per_second", "ideal_step_time_seconds",
                          "step_time_deviation_seconds", "ideal_goodput_percent", "step_time_percentiles_seconds",
                          "slice_efficiency", "mtbf_seconds", "mtbf_interval_seconds", "mttr_seconds", "accelerators",
                          "accelerator_hours", "cost", "first_stopped_rank", "timeline"}) {
    EXPECT_TRUE(object[key].is_null()) << key;
  }
  EXPECT_EQ(object["elapsed_seconds"], 0.0);
  EXPECT_EQ(object["attempts"], Json::array());
}

TEST(ReportJson, ReadsBackWhatItWrote) {
  for (const testing::Sample& s : samples()) {
    if (s.name == "hostile") continue;  // bytes that are not UTF-8 do not come back
    const std::string text = to_json(s.report, JsonForm::kIndented);
    const Result<Report> read = parse_report(text);
    ASSERT_TRUE(read.ok()) << s.name << ": " << read.status().message();
    EXPECT_EQ(first_difference(to_json(*read, JsonForm::kIndented), text), "") << s.name;
    EXPECT_EQ(read->attempts.size(), s.report.attempts.size());
    EXPECT_EQ(read->timeline.buckets.size(), s.report.timeline.buckets.size());
  }
}

TEST(ReportJson, BytesThatAreNotUtf8BecomeReplacementCharacters) {
  const std::string text = to_json(sample("hostile"));
  EXPECT_TRUE(Json::accept(text));
  EXPECT_THAT(text, HasSubstr("\xef\xbf\xbd"));
  EXPECT_THAT(text, HasSubstr("\\u001b]0;owned"));
}

// Ten digits of seconds as a double have more noise than a nanosecond: the sums must hold all the same.
TEST(ReportJson, PrintedPartsSumToElapsedWithinAMicrosecond) {
  for (const double scale : {1.0, 1e3, 1e6, 3e7, 9e8}) {
    Report report;
    for (int i = 0; i < 300; ++i) {
      const double part = scale * (0.1 + 0.0031 * i) / 300 + 0.1234567;
      (i % 2 == 0 ? report.badput_seconds : report.custom_badput_seconds)["N" + std::to_string(i)] = part;
      report.elapsed_seconds += part;
    }
    report.goodput_seconds = scale / 3;
    report.elapsed_seconds += report.goodput_seconds;
    const Json object = Json::parse(to_json(report));
    long double sum = object["goodput_seconds"].get<double>();
    for (const char* key : {"badput_seconds", "custom_badput_seconds"}) {
      for (const auto& [name, value] : object[key].items()) sum += value.get<double>();
    }
    const double elapsed = object["elapsed_seconds"].get<double>();
    EXPECT_NEAR(static_cast<double>(sum - elapsed), 0, scale < 1e8 ? 1e-6 : 1e-5) << scale;
  }
}

TEST(ReportJson, NumbersCarryNoNoiseOfBinaryFractions) {
  Report report;
  report.elapsed_seconds = 0.1 + 0.2;
  report.goodput_seconds = 12'345'678.1 + 1e-9;
  report.goodput_percent = 100.0 / 3;
  report.steps_per_second = 1.0 / 3;
  const std::string text = to_json(report);
  EXPECT_THAT(text, HasSubstr("\"elapsed_seconds\":0.3,"));
  EXPECT_THAT(text, HasSubstr("\"goodput_seconds\":12345678.1,"));
  EXPECT_THAT(text, HasSubstr("\"goodput_percent\":33.333333,"));
  EXPECT_THAT(text, HasSubstr("\"steps_per_second\":0.333333333333,"));
}

TEST(ReportJson, MistakesAreNamedByField) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : {
           Case{"{", "reading a report: the text is not JSON"},
           Case{"[]", "is not an object"},
           Case{R"({"schema": "goodput.report/2"})", "its schema is \"goodput.report/2\""},
           Case{R"({"schema": "goodput.report/1", "job": 3})", "job is not a string"},
           Case{R"({"schema": "goodput.report/1", "status": "asleep"})", "status is not one of its words"},
           Case{R"({"schema": "goodput.report/1", "disruptions": 1.5})", "disruptions is not an integer"},
           Case{R"({"schema": "goodput.report/1", "start": "yesterday"})", "start is not an RFC 3339 time"},
           Case{R"({"schema": "goodput.report/1", "attempts": [{}, {"exit_code": 4294967296}]})",
                "attempts[1].exit_code is not an integer"},
           Case{R"({"schema": "goodput.report/1", "mtbf_interval_seconds": [1]})", "is not a pair of numbers"},
           Case{R"({"schema": "goodput.report/1", "timeline": {"buckets": 1000000}})", "timeline.buckets is not"},
           Case{R"({"schema": "goodput.report/1", "timeline": {"buckets": 2, "seconds": {"OTHER": [1]}}})",
                "timeline.seconds.OTHER is not a value per bucket"},
       }) {
    const Result<Report> read = parse_report(c.text);
    ASSERT_FALSE(read.ok()) << c.text;
    EXPECT_THAT(read.status().message(), HasSubstr(c.message));
  }
}

std::string document() {
  std::ifstream in("docs/formats/report.md");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(ReportDocument, ExampleIsWhatIsWritten) {
  const std::string text = document();
  const size_t start = text.find("```json\n") + 8;
  ASSERT_NE(start, std::string::npos + 8);
  const std::string example = text.substr(start, text.find("```", start) - start);
  const Result<Report> read = parse_report(example);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(first_difference(to_json(*read, JsonForm::kIndented), example), "");
}

// The names of all members, however deep, but for those of maps, whose keys are classes and names of users.
void collect_keys(const Json& value, std::set<std::string>& found) {
  for (const Json& element : value.is_array() ? value : Json::array()) collect_keys(element, found);
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const bool is_name = key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") != std::string::npos;
    if (!is_name) found.insert(key);
    if (key != "labels") collect_keys(member, found);
  }
}

TEST(ReportDocument, NamesEveryKey) {
  std::set<std::string> found;
  const Report report = sample("thirty");
  collect_keys(Json::parse(to_json(report)), found);
  collect_keys(Json::parse(jobs_to_json(std::vector<JobSummary>{summarize(report)})), found);
  EXPECT_GT(found.size(), 80U);
  const std::string text = document();
  for (const std::string& key : found) EXPECT_THAT(text, HasSubstr("`" + key + "`"));
}

TEST(ReportJson, ListsCarryTheirSchemaAndWhatTheyOmit) {
  const Report report = sample("thousand");
  const Json attempts = Json::parse(attempts_to_json(report));
  EXPECT_THAT(keys(attempts), ElementsAre("schema", "job", "run_id", "attempts", "omitted"));
  EXPECT_EQ(attempts["schema"], "goodput.attempts/1");
  EXPECT_EQ(attempts["attempts"].size(), 1'000U);
  EXPECT_EQ(attempts["omitted"], 400);
  EXPECT_EQ(Json::parse(disruptions_to_json(report))["omitted"], 399);
  EXPECT_EQ(Json::parse(ranks_to_json(sample("thirty")))["ranks"].size(), 127U);
  const std::vector<JobSummary> jobs = {summarize(report), summarize(sample("three"))};
  const Json listed = Json::parse(jobs_to_json(jobs));
  EXPECT_EQ(listed["jobs"][0]["attempts"], 1'400);
  EXPECT_EQ(listed["jobs"][1]["job"], "llama-7b");
  EXPECT_EQ(listed["jobs"][0]["cost"], nullptr);
}

TEST(ReportFlat, NumbersAreNamedByTheirPath) {
  const Report report = sample("thirty");
  const std::map<std::string, double> numbers = flat(report);
  EXPECT_NEAR(numbers.at("goodput_percent"), report.goodput_percent.value_or(0), 1e-6);
  EXPECT_NEAR(numbers.at("badput_seconds.CHECKPOINT_SAVE"), report.badput_seconds.at("CHECKPOINT_SAVE"), 1e-9);
  EXPECT_NEAR(numbers.at("custom_badput_seconds.EXPORT WEIGHTS"), 90, 1e-9);
  EXPECT_DOUBLE_EQ(numbers.at("windows.86400.goodput_percent"), 86.1);
  EXPECT_DOUBLE_EQ(numbers.at("data_quality.clock_skew.seconds"), 12);
  EXPECT_DOUBLE_EQ(numbers.at("data_quality.malformed_entry.count"), 1'204);
  EXPECT_DOUBLE_EQ(numbers.at("first_stopped_rank"), 37);
  EXPECT_LT(numbers.at("mtbf_interval_seconds.low"), numbers.at("mtbf_interval_seconds.high"));
  EXPECT_LT(numbers.size(), 120U);
}

TEST(ReportFlat, AbsentAnswersHaveNoName) {
  const std::map<std::string, double> numbers = flat(sample("empty"));
  EXPECT_THAT(numbers, Not(Contains(Key("goodput_percent"))));
  EXPECT_THAT(numbers, Not(Contains(Key("mtbf_seconds"))));
  EXPECT_THAT(numbers, Contains(Key("elapsed_seconds")));
}

}  // namespace
}  // namespace goodput::report
