// A log that is imported answers as the log itself does.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/testing/capture.h"
#include "event/export/jsonl_export.h"
#include "event/random_event_for_test.h"
#include "importers/imported_log.h"
#include "journal/import_log.h"
#include "journal/job_log.h"
#include "reference/histories.h"
#include "simulate/simulation.h"

namespace goodput {
namespace {

using cli::testing::Outcome;
using event::Event;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();

/// Everything of an event that a ledger may look at. An untimed one is given a time to stand at.
std::string all_of(Event event) {
  if (event.has(event::kUntimed)) event.time_ns = 0;
  return described(event) + " fingerprint " + std::to_string(event.fingerprint);
}

class ImportedJob : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  Outcome run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--dir", path("journals"), "--config", "/dev/null"});
    return cli::testing::run_captured(arguments, cli::commands());
  }
  static std::string lines_of(std::span<const Event> events, const std::string& job, bool with_position) {
    event::JsonlExport lines(job, {.with_position = with_position});
    std::string text;
    lines.append(events, text);
    return text;
  }
  /// Of a report: all that does not tell from where its events came; findings as kinds and counts.
  json figures(const Outcome& outcome) const {
    json report = json::parse(outcome.out, nullptr, false);
    if (!report.is_object()) return outcome.err;
    report.erase("run_id");
    std::map<std::string, int64_t> findings;
    for (const json& finding : report.at("data_quality").at("findings")) {
      findings[finding.at("kind").get<std::string>()] += finding.at("count").get<int64_t>();
    }
    report["data_quality"] = findings;
    return report;
  }
  /// Imports the file, and holds the report of the job against that of the file.
  void expect_same_reports(const std::string& file, const std::string& job, const std::string& now) {
    std::filesystem::remove_all(path("journals"));
    const Outcome imported = run({"import", file, "--job", job});
    const std::vector<std::string> question = {"--json", "--now", now, "--window", "100", "--window", "900"};
    std::vector<std::string> of_file = {"report", "--input", file, "--job", job};
    std::vector<std::string> of_job = {"report", job};
    of_file.insert(of_file.end(), question.begin(), question.end());
    of_job.insert(of_job.end(), question.begin(), question.end());
    const Outcome expected = run(of_file);
    if (imported.code != 0) {
      EXPECT_EQ(imported.code, expected.code) << imported.err << expected.err;
      return;
    }
    const Outcome got = run(of_job);
    EXPECT_EQ(got.code, expected.code) << got.err << expected.err;
    if (expected.code == 0) {
      EXPECT_EQ(json::diff(figures(got), figures(expected)), json::array()) << file;
      // Again, from what the first report kept.
      EXPECT_EQ(json::diff(figures(run(of_job)), figures(expected)), json::array()) << file;
    }
    EXPECT_THAT(run({"import", file, "--job", job}).out, HasSubstr("nothing added"));
  }

  TemporaryFolder folder_{"/dev/shm"};  // hundreds of imports, each of which syncs
};

class ImportedGoldenCase : public ImportedJob, public ::testing::WithParamInterface<std::string> {};

TEST_P(ImportedGoldenCase, ReportOfTheImportIsTheReportOfTheLog) {
  for (const auto& entry : std::filesystem::directory_iterator(GetParam())) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const json golden = json::parse(text.str());
    // As it is written: numbers are not to go through another JSON library.
    const std::string whole = text.str();
    const size_t events = whole.find('[', whole.find("\"events\": ["));
    const std::string file = write("log.json", whole.substr(events, whole.rfind(']') + 1 - events));
    expect_same_reports(file, golden.at("job_name"), golden.at("now").dump());
  }
}

INSTANTIATE_TEST_SUITE_P(Folders, ImportedGoldenCase, ::testing::Values("tests/golden/conformance", "tests/golden/own"),
                         [](const auto& folder) { return std::filesystem::path(folder.param).filename().string(); });

TEST_F(ImportedJob, SoItIsOfRandomHistories) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const reference::History history = reference::random_history(seed);
    const std::string file = write("log.jsonl", lines_of(history.events, "the job", seed % 2 == 0));
    expect_same_reports(file, "the job", std::to_string(history.now_ns / 1'000'000'000));
  }
}

TEST_F(ImportedJob, SoItIsOfASimulatedJobInSeveralSegments) {
  simulate::Simulation job(
      {.steps = 30'000, .ranks = 2, .statistics = true, .heartbeat_seconds = 30, .mtbf_seconds = 900});
  std::string text;
  job.run([&](std::span<const Event> events) {
    text += lines_of(events, "the job", false);
    return true;
  });
  expect_same_reports(write("log.jsonl", text), "the job", "1768000000");
}

TEST_F(ImportedJob, EventsOfEveryKindAreKeptWithAllThatTheyCarry) {
  event::RandomEvents random(17);
  std::vector<Event> events;
  for (int i = 0; i < 20'000; ++i) events.push_back(random.make());
  const std::string file = write("log.jsonl", lines_of(events, "the job", true));
  const auto log = importers::import_log(file, {});
  ASSERT_TRUE(log.ok());
  const std::vector<journal::Root> roots = {{.path = path("journals")}};
  const Result<journal::ImportOutcome> done = journal::import_log(
      posix_file_system(), roots, {.job = "the job", .log = log->get(), .each_in_log_order = [&](auto sink) {
                                     return (*log)->for_each_in_log_order(sink);
                                   }});
  ASSERT_TRUE(done.ok()) << done.status().message();
  EXPECT_EQ(done->added, 20'000U);

  const auto job = journal::JobLog::open(posix_file_system(), roots, "the job", "", system_clock());
  ASSERT_TRUE(job.ok());
  std::vector<std::string> expected, got;
  const auto add_to = [](std::vector<std::string>& all) {
    return [&all](std::span<const Event> some) {
      for (const Event& event : some) all.push_back(all_of(event));
      return true;
    };
  };
  ASSERT_TRUE((*log)->for_each_in_log_order(add_to(expected)).ok());
  ASSERT_TRUE((*job)->poll(add_to(got)).ok());
  std::sort(expected.begin(), expected.end());
  std::sort(got.begin(), got.end());
  EXPECT_TRUE(expected == got);
  for (const auto& [from_ns, to_ns] : std::vector<std::pair<int64_t, int64_t>>{
           {0, kAlways}, {0, 0}, {event::kMaxTimeNs / 3, event::kMaxTimeNs / 2}, {event::kMaxTimeNs / 2, kAlways}}) {
    expected.clear();
    got.clear();
    ASSERT_TRUE((*log)->read(from_ns, to_ns, add_to(expected)).ok());
    ASSERT_TRUE((*job)->read(from_ns, to_ns, add_to(got)).ok());
    EXPECT_TRUE(expected == got) << from_ns;
  }
}

TEST_F(ImportedJob, WhatALongerLogRepeatsIsAddedOnce) {
  simulate::Simulation job({.steps = 500, .origins = false, .statistics = true, .mtbf_seconds = 60});
  std::vector<std::string> lines;
  job.run([&](std::span<const Event> events) {
    for (const Event& event : events) lines.push_back(lines_of({&event, 1}, "the job", false));
    return true;
  });
  std::string half, whole;
  for (size_t i = 0; i < lines.size(); ++i) (i < lines.size() / 2 ? half : whole) += lines[i];
  whole = half + whole;
  const std::string first = write("half.jsonl", half), second = write("whole.jsonl", whole);
  EXPECT_EQ(run({"import", first}).out, "the job: " + std::to_string(lines.size() / 2) + " events added\n");
  EXPECT_EQ(run({"import", second}).out, "the job: " + std::to_string(lines.size() - lines.size() / 2) +
                                             " events added, " + std::to_string(lines.size() / 2) +
                                             " were there already\n");
  EXPECT_EQ(run({"import", first}).out,
            "the job: nothing added, " + std::to_string(lines.size() / 2) + " were there already\n");
  const Outcome expected = run({"report", "--input", second, "--json", "--now", "1768000000"});
  EXPECT_EQ(json::diff(figures(run({"report", "the job", "--json", "--now", "1768000000"})), figures(expected)),
            json::array());
}

TEST_F(ImportedJob, AJobThatWasRecordedHereIsNotMixedWithAnImport) {
  const std::string file = write("log.jsonl", "{\"job_name\":\"j\",\"job_start_time\":1767225600.0}\n");
  {
    const cli::testing::ScopedEnvironment quiet("GOODPUT_QUIET", "1");
    Recorder recorder = Recorder::open({.job = "j", .directory = path("journals")});
    recorder.step(1);
  }
  const Outcome refused = run({"import", file});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("was recorded here"));
  const json told = json::parse(run({"import", file, "--run-id", "elsewhere", "--json"}).out, nullptr, false);
  EXPECT_EQ(told.at("run_id"), "elsewhere");
  EXPECT_EQ(told.at("added"), 1);
  EXPECT_EQ(told.at("journal_id").get<std::string>().size(), 32U);
}

TEST_F(ImportedJob, RunIdsAndBadLinesAreTold) {
  const std::string file = write("log.jsonl",
                                 "{\"job_name\":\"j\",\"run_id\":\"r\",\"job_start_time\":1767225600.0}\n"
                                 "{\"job_name\":\"j\",\"run_id\":\"r\",\"step_start_time\":\"no\",\"step_count\":1}\n"
                                 "broken\n");
  const Outcome imported = run({"import", file, "--format", "payload"});
  EXPECT_EQ(imported.out, "j@r: 1 event added\n");
  EXPECT_THAT(imported.err, HasSubstr("line 2"));
  EXPECT_THAT(imported.err, HasSubstr("line 3"));
  const json report = json::parse(run({"report", "j@r", "--json"}).out, nullptr, false);
  EXPECT_EQ(report.at("data_quality").at("findings").at(0).at("kind"), "malformed_entry");
  EXPECT_EQ(report.at("data_quality").at("findings").at(0).at("count"), 2);
}

TEST_F(ImportedJob, WhatCannotBeImportedIsSaid) {
  EXPECT_EQ(run({"import", path("none")}).code, 3);
  EXPECT_EQ(run({"import", write("empty", "")}).code, 1);
  EXPECT_EQ(run({"report", "--input", path("empty")}).code, 1);
  const std::string nameless = write("nameless", "{\"job_start_time\":1767225600.0}\n");
  EXPECT_EQ(run({"import", nameless}).code, 2);
  EXPECT_EQ(run({"import", nameless, "--job", "j"}).out, "j: 1 event added\n");
  EXPECT_EQ(run({"import", nameless, "--job", "j", "--format", "csv"}).code, 2);
}

}  // namespace
}  // namespace goodput
