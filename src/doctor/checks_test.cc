// Each check by tables: what is there, and what it says to that.
// SPDX-License-Identifier: Apache-2.0
#include "doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace goodput::doctor {
namespace {

using event::Kind;
using ::testing::HasSubstr;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'800'000'000 * kSecond;
constexpr uint64_t kMebibyte = uint64_t{1} << 20;

/// A job to which nothing can be objected, an hour old.
Facts healthy() {
  Facts facts;
  facts.now_ns = kNow;
  facts.google = {.project = "project-1", .identity = "service account trainer@project-1"};
  facts.folder = {.path = "/var/lib/goodput",
                  .is_there = true,
                  .kind = "ext4",
                  .maps_in_place = true,
                  .free_bytes = 100 * 1024 * kMebibyte,
                  .free_files = 1'000'000,
                  .budget_bytes = 2 * 1024 * kMebibyte};
  JobFacts& job = facts.job.emplace();
  job.name = "llama-7b";
  job.has_lead = true;
  job.journal_bytes = 10 * kMebibyte;
  job.report.elapsed_seconds = 3600;
  job.report.last_step = 1000;
  job.report.attempts.push_back({.host = "node-3"});
  MonitorFacts& monitor = job.monitors.emplace_back();
  monitor.health = monitor::MonitorHealth::kRunning;
  monitor.status.host = "node-3";
  monitor.status.pid = 4711;
  monitor.status.updated_ns = kNow - 20 * kSecond;
  monitor.status.sinks.push_back({.name = "prometheus 0.0.0.0:9464", .counters = {}});
  job.survey.events_by_kind[static_cast<size_t>(Kind::kJobStart)] = 1;
  job.survey.events_by_kind[static_cast<size_t>(Kind::kCheckpointSaveStart)] = 12;
  job.survey.step_intervals = 1000;
  job.survey.widest_interval = 1;
  job.survey.intervals_ns = 3500 * kSecond;
  return facts;
}

void add_finding(Facts& facts, const char* kind, report::Severity severity = report::Severity::kWarning) {
  facts.job->report.findings.push_back(
      {.kind = kind, .severity = severity, .count = 1, .message = std::string(kind) + " was seen.", .fix = "Mend it."});
}

Line line_of(const Facts& facts, std::string_view check) {
  for (Line& line : examine(facts)) {
    if (line.check == check) return line;
  }
  ADD_FAILURE() << check << " does not apply";
  return {};
}

JobFacts& job_of(Facts& facts) { return *facts.job; }

struct Case {
  const char* what;
  const char* check;
  std::function<void(Facts&)> change;
  Verdict verdict;
  const char* seen;
};

void PrintTo(const Case& given, std::ostream* out) { *out << given.what; }

void load_each_step(Facts& facts, int64_t percent) {
  job_of(facts).survey.loads_before_steps = 990;
  job_of(facts).survey.loads_before_steps_ns = job_of(facts).survey.intervals_ns / 100 * percent;
}

void stall(Facts& facts, double total_seconds) {
  job_of(facts).regular_stall = {
      .period = 500, .first_step = 499, .count = 6, .mean_seconds = total_seconds / 6, .total_seconds = total_seconds};
}

void forget(Facts& facts, Kind kind) { job_of(facts).survey.events_by_kind[static_cast<size_t>(kind)] = 0; }

void lose_lead(Facts& facts) {
  job_of(facts).has_lead = false;
  job_of(facts).absence = "looking for job \"llama-7b\": nothing is recorded of it";
}

void set_scopes(Facts& facts, const std::vector<std::string>& names) {
  facts.google->machine_scopes.emplace();
  for (const std::string& name : names) {
    facts.google->machine_scopes->push_back("https://www.googleapis.com/auth/" + name);
  }
}

monitor::MonitorStatus& monitor_of(Facts& facts) { return facts.job->monitors[0].status; }

const Case kCases[] = {
    {"no token", "credentials", [](Facts& facts) { facts.google->credentials_trouble = "asking for a token: refused"; },
     Verdict::kRed, "asking for a token: refused."},
    {"no project", "credentials", [](Facts& facts) { facts.google->project.clear(); }, Verdict::kYellow,
     "no project is known"},
    {"credentials", "credentials", [](Facts&) {}, Verdict::kGreen,
     "service account trainer@project-1, for project project-1."},
    {"everything granted", "permissions", [](Facts&) {}, Verdict::kGreen, "Everything that is needed"},
    {"writing series not granted", "permissions",
     [](Facts& facts) {
       facts.google->missing_permissions = {"monitoring.timeSeries.create", "storage.objects.get"};
     },
     Verdict::kRed, "Not granted in project project-1: monitoring.timeSeries.create, storage.objects.get."},
    {"storage not granted", "permissions",
     [](Facts& facts) { facts.google->missing_permissions = {"storage.objects.create"}; }, Verdict::kYellow,
     "Only gs:// folders need it"},
    {"nobody tells", "permissions", [](Facts& facts) { facts.google->permissions_trouble = "it is off"; },
     Verdict::kYellow, "could not be asked for: it is off."},
    {"a key file", "scopes", [](Facts&) {}, Verdict::kGreen, "are not the machine's"},
    {"all scopes", "scopes", [](Facts& facts) { set_scopes(facts, {"cloud-platform"}); }, Verdict::kGreen,
     "They allow"},
    {"the usual scopes of a node pool", "scopes",
     [](Facts& facts) {
       set_scopes(facts, {"logging.write", "monitoring", "devstorage.read_only"});
     },
     Verdict::kYellow, "do not allow storage,"},
    {"reading scopes", "scopes",
     [](Facts& facts) {
       set_scopes(facts, {"logging.read", "devstorage.full_control"});
     },
     Verdict::kRed, "do not allow logging and monitoring,"},
    {"APIs that are on", "apis", [](Facts&) {}, Verdict::kGreen, "Logging and Monitoring are enabled."},
    {"an API that is off", "apis", [](Facts& facts) { facts.google->disabled_apis = {"monitoring.googleapis.com"}; },
     Verdict::kRed, "Not enabled in project project-1: monitoring.googleapis.com."},
    {"an API that does not answer", "apis", [](Facts& facts) { facts.google->apis_trouble = "no route"; },
     Verdict::kGreen, "None is known to be off: no route."},
    {"sinks", "exports", [](Facts&) {}, Verdict::kGreen, "To prometheus 0.0.0.0:9464."},
    {"a monitor without sinks", "exports", [](Facts& facts) { monitor_of(facts).sinks.clear(); }, Verdict::kYellow,
     "exports nowhere"},
    {"no monitor on Google Cloud", "exports", [](Facts& facts) { job_of(facts).monitors.clear(); }, Verdict::kYellow,
     "No monitor was started"},
    {"no monitor elsewhere", "exports",
     [](Facts& facts) {
       job_of(facts).monitors.clear();
       facts.google.reset();
     },
     Verdict::kGreen, "No monitor was started"},
    {"a monitor that was killed", "monitor",
     [](Facts& facts) { job_of(facts).monitors[0].health = monitor::MonitorHealth::kStale; }, Verdict::kRed,
     "The monitor on node-3 (process 4711) looked last 20.0s ago"},
    {"a monitor that was killed after the job", "monitor",
     [](Facts& facts) {
       job_of(facts).monitors[0].health = monitor::MonitorHealth::kStale;
       job_of(facts).report.status = report::JobStatus::kCompleted;
     },
     Verdict::kGreen, "0 of 1 running"},
    {"a monitor that reads nothing", "monitor", [](Facts& facts) { monitor_of(facts).failure = "no such job"; },
     Verdict::kYellow, "finds nothing out: no such job."},
    {"an exporter that fails", "monitor",
     [](Facts& facts) { monitor_of(facts).sinks[0].counters.last_failure = "refused"; }, Verdict::kYellow,
     "prometheus 0.0.0.0:9464: refused."},
    {"a monitor", "monitor", [](Facts&) {}, Verdict::kGreen, "1 of 1 running"},
    {"nobody recorded", "lead", lose_lead, Verdict::kRed, "nothing is recorded of it."},
    {"only other ranks recorded", "lead",
     [](Facts& facts) {
       lose_lead(facts);
       job_of(facts).has_others = job_of(facts).has_launcher = true;
     },
     Verdict::kRed, "process 0 did not"},
    {"only a launcher recorded", "lead",
     [](Facts& facts) {
       lose_lead(facts);
       job_of(facts).has_launcher = true;
     },
     Verdict::kRed, "`goodput run` launched this job"},
    {"an open journal without events", "lead", [](Facts& facts) { job_of(facts).absence = "no events"; },
     Verdict::kYellow, "recorded nothing yet"},
    {"another program's log", "lead", [](Facts& facts) { job_of(facts).has_lead = false; }, Verdict::kGreen,
     "somebody else's"},
    {"a lead", "lead", [](Facts&) {}, Verdict::kGreen, "Process 0 recorded on node-3; the job is running."},
    {"a name used again", "run_name", [](Facts& facts) { add_finding(facts, "name_reused"); }, Verdict::kYellow,
     "name_reused was seen."},
    {"no saves", "checkpoints", [](Facts& facts) { forget(facts, Kind::kCheckpointSaveStart); }, Verdict::kYellow,
     "not measured"},
    {"no saves yet", "checkpoints",
     [](Facts& facts) {
       forget(facts, Kind::kCheckpointSaveStart);
       job_of(facts).report.elapsed_seconds = 599;
     },
     Verdict::kGreen, "too early"},
    {"saves in what was dropped, perhaps", "checkpoints",
     [](Facts& facts) {
       forget(facts, Kind::kCheckpointSaveStart);
       add_finding(facts, "coarse_windows", report::Severity::kInfo);
     },
     Verdict::kGreen, "too early"},
    {"Orbax's statistics", "checkpoints",
     [](Facts& facts) {
       forget(facts, Kind::kCheckpointSaveStart);
       job_of(facts).survey.events_by_kind[static_cast<size_t>(Kind::kCheckpointSave)] = 3;
     },
     Verdict::kGreen, "3 saves and 0 restores"},
    {"resumed without a restore", "checkpoints",
     [](Facts& facts) { job_of(facts).report.disruption_records.push_back({.resume_step = 500}); }, Verdict::kYellow,
     "no restore is recorded"},
    {"begun again from step 0", "checkpoints",
     [](Facts& facts) { job_of(facts).report.disruption_records.push_back({.resume_step = 0}); }, Verdict::kGreen,
     "12 saves"},
    {"no job start", "job_start", [](Facts& facts) { forget(facts, Kind::kJobStart); }, Verdict::kYellow,
     "No job start"},
    {"a job start that was dropped, perhaps", "job_start",
     [](Facts& facts) {
       forget(facts, Kind::kJobStart);
       add_finding(facts, "history_dropped");
     },
     Verdict::kGreen, "Recorded"},
    {"no step in an hour", "steps", [](Facts& facts) { job_of(facts).report.last_step.reset(); }, Verdict::kRed,
     "No step was recorded in 1h"},
    {"no step in a minute", "steps",
     [](Facts& facts) {
       job_of(facts).report.last_step.reset();
       job_of(facts).report.elapsed_seconds = 60;
     },
     Verdict::kGreen, "No step yet"},
    {"every tenth step", "steps",
     [](Facts& facts) {
       job_of(facts).survey.step_intervals = job_of(facts).survey.wide_intervals = 100;
       job_of(facts).survey.widest_interval = 10;
     },
     Verdict::kYellow, "100 of 100 step records"},
    {"one lost record", "steps", [](Facts& facts) { job_of(facts).survey.wide_intervals = 1; }, Verdict::kGreen,
     "one by one, up to step 1,000"},
    {"two writers", "writers", [](Facts& facts) { add_finding(facts, "two_writers"); }, Verdict::kYellow,
     "two_writers was seen."},
    {"a clock behind", "clocks", [](Facts& facts) { add_finding(facts, "clock_skew"); }, Verdict::kYellow,
     "clock_skew was seen."},
    {"a clock that was set", "clocks",
     [](Facts& facts) { add_finding(facts, "wall_clock_step", report::Severity::kInfo); }, Verdict::kGreen,
     "wall_clock_step was seen."},
    {"an event without end", "open_events", [](Facts& facts) { add_finding(facts, "unclosed_event"); },
     Verdict::kYellow, "unclosed_event was seen."},
    {"a long step each 500", "regular_stalls", [](Facts& facts) { stall(facts, 350); }, Verdict::kYellow,
     "Every 500 steps (from step 499 on, 6 times) a step takes 58.3s longer than others, 10.0% of the steps' time"},
    {"a long step that takes nothing", "regular_stalls", [](Facts& facts) { stall(facts, 34); }, Verdict::kGreen,
     "No step is long"},
    {"loads of a third of the step", "input", [](Facts& facts) { load_each_step(facts, 33); }, Verdict::kYellow,
     "33.0%"},
    {"loads of most of the step", "input", [](Facts& facts) { load_each_step(facts, 90); }, Verdict::kRed, "90.0%"},
    {"short loads", "input", [](Facts& facts) { load_each_step(facts, 9); }, Verdict::kGreen, "leave steps"},
    {"a load now and then", "input",
     [](Facts& facts) {
       load_each_step(facts, 90);
       job_of(facts).survey.loads_before_steps = 400;
     },
     Verdict::kGreen, "leave steps"},
    {"lost events", "losses",
     [](Facts& facts) {
       add_finding(facts, "texts_cut", report::Severity::kInfo);
       add_finding(facts, "events_lost", report::Severity::kError);
     },
     Verdict::kRed, "events_lost was seen. 1 more"},
    {"a finding of a newer version", "losses", [](Facts& facts) { add_finding(facts, "brand_new"); }, Verdict::kYellow,
     "brand_new was seen."},
    {"a folder that cannot be written", "folder", [](Facts& facts) { facts.folder.obstacle = "Permission denied"; },
     Verdict::kRed, "/var/lib/goodput: Permission denied."},
    {"a folder to be made", "folder", [](Facts& facts) { facts.folder.is_there = false; }, Verdict::kGreen,
     "can be made"},
    {"a full disk", "disk", [](Facts& facts) { facts.folder.free_bytes = 63 * kMebibyte; }, Verdict::kRed, "63 MiB"},
    {"no room for files", "disk", [](Facts& facts) { facts.folder.free_files = 999; }, Verdict::kRed, "999 files"},
    {"a disk that counts no files", "disk", [](Facts& facts) { facts.folder.free_files.reset(); }, Verdict::kGreen,
     "100.0 GiB free; a run may take 2.0 GiB."},
    {"a disk that fills up", "disk", [](Facts& facts) { facts.folder.free_bytes = 900 * kMebibyte; }, Verdict::kYellow,
     "900 MiB are left"},
    {"a budget that is used up", "disk", [](Facts& facts) { job_of(facts).journal_bytes = 2000 * kMebibyte; },
     Verdict::kYellow, "take 2.0 GiB of a budget of 2.0 GiB"},
    {"no budget", "disk",
     [](Facts& facts) {
       facts.folder.budget_bytes = 0;
       job_of(facts).journal_bytes = 90 * 1024 * kMebibyte;
     },
     Verdict::kGreen, "any amount"},
    {"a network file system", "file_system",
     [](Facts& facts) { facts.folder.maps_in_place = false, facts.folder.staging = "/dev/shm/goodput-staging-0"; },
     Verdict::kYellow, "staged in /dev/shm/goodput-staging-0"},
    {"nowhere to stage", "file_system", [](Facts& facts) { facts.folder.maps_in_place = false; }, Verdict::kRed,
     "no place to stage"},
};

class CheckTable : public ::testing::TestWithParam<Case> {};

TEST_P(CheckTable, SaysSo) {
  Facts facts = healthy();
  GetParam().change(facts);
  const Line line = line_of(facts, GetParam().check);
  EXPECT_EQ(line.opinion.verdict, GetParam().verdict) << line.opinion.seen;
  EXPECT_THAT(line.opinion.seen, HasSubstr(GetParam().seen));
  EXPECT_EQ(line.opinion.fix.empty(), line.opinion.verdict == Verdict::kGreen) << line.opinion.fix;
}

INSTANTIATE_TEST_SUITE_P(Checks, CheckTable, ::testing::ValuesIn(kCases));

TEST(Checks, AHealthyJobIsGreenThroughout) {
  const std::vector<Line> lines = examine(healthy());
  EXPECT_EQ(lines.size(), checks().size());
  for (const Line& line : lines) EXPECT_EQ(line.opinion.verdict, Verdict::kGreen) << line.check;
  EXPECT_EQ(worst_of(lines), Verdict::kGreen);
}

TEST(Checks, ThoseOfAJobNeedOne) {
  Facts facts = healthy();
  facts.job->absence = "nothing recorded";
  EXPECT_EQ(examine(facts).size(), 8U);
  facts.job.reset();
  EXPECT_EQ(examine(facts).size(), 7U);
  facts.google->project.clear();
  EXPECT_EQ(examine(facts).size(), 4U);
  facts.google.reset();
  EXPECT_EQ(examine(facts).size(), 3U);
}

TEST(Checks, TheGuideHasASectionForEachInTheirOrder) {
  std::ifstream guide("docs/guides/troubleshooting.md");
  ASSERT_TRUE(guide.good());
  std::vector<std::string> sections;
  for (std::string line; std::getline(guide, line);) {
    if (line.starts_with("## ")) sections.push_back(line.substr(3));
  }
  std::vector<std::string> titles;
  for (const Check& check : checks()) titles.emplace_back(check.title);
  for (std::string& title : titles) title[0] = static_cast<char>(std::toupper(title[0]));
  EXPECT_EQ(sections, titles);
}

}  // namespace
}  // namespace goodput::doctor
