// Command lines in, meaning out: of commands whose options stand apart from what they do.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "cli/help.h"
#include "cli/job_options.h"
#include "cli/monitor_options.h"
#include "cli/move_options.h"
#include "cli/report_options.h"
#include "cli/run_options.h"
#include "cli/testing/capture.h"

namespace goodput::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::ScopedEnvironment;

constexpr int64_t kNowNs = 1'767'225'600'000'000'000;
constexpr int64_t kHourNs = 3'600'000'000'000;

// The message of the command line's own complaint, or empty.
template <typename Options>
std::string parse(void (*add)(CLI::App&, Options&), Options& options, std::vector<std::string> words, CLI::App& app) {
  add(app, options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

Result<ReportQuery> query_of(const std::vector<std::string>& words) {
  CLI::App app;
  ReportOptions options;
  const std::string complaint = parse(add_report_options, options, words, app);
  if (!complaint.empty()) return Status(StatusCode::kInvalidArgument, complaint);
  return resolve(options, kNowNs);
}

Result<RunPlan> plan_of(const std::vector<std::string>& words) {
  CLI::App app;
  RunOptions options;
  const std::string complaint = parse(add_run_options, options, words, app);
  if (!complaint.empty()) return Status(StatusCode::kInvalidArgument, complaint);
  return resolve(options, run_command_of(app));
}

TEST(JobRefs, AreCutAtTheLastAtThatHasSomethingOnBothSides) {
  EXPECT_EQ(parse_job("llama"), (JobRef{"llama", std::nullopt}));
  EXPECT_EQ(parse_job("llama@run-3"), (JobRef{"llama", "run-3"}));
  EXPECT_EQ(parse_job("a@b@c"), (JobRef{"a@b", "c"}));
  EXPECT_EQ(parse_job("@a"), (JobRef{"@a", std::nullopt}));
  EXPECT_EQ(parse_job("a@"), (JobRef{"a@", std::nullopt}));
  EXPECT_EQ(parse_job("../x/'\"@r"), (JobRef{"../x/'\"", "r"}));
}

TEST(ReportOptionsTest, TimesAreRelativeToNow) {
  const Result<ReportQuery> query =
      query_of({"llama", "--now", "2026-01-01T01:00:00Z", "--from", "-2h", "--to=1767225600.5"});
  ASSERT_TRUE(query.ok()) << query.status().message();
  EXPECT_EQ(query->job, "llama");
  EXPECT_EQ(query->now_ns, kNowNs + kHourNs);
  EXPECT_EQ(query->from_ns, kNowNs - kHourNs);
  EXPECT_EQ(query->to_ns, kNowNs + 500'000'000);
  EXPECT_EQ(query_of({"llama", "--from", "-2h"})->from_ns, kNowNs - 2 * kHourNs);
}

TEST(ReportOptionsTest, WindowsAndExclusionsRepeatWithoutEatingTheJob) {
  const Result<ReportQuery> query =
      query_of({"--window", "1h", "--window", "24h", "--exclude", "-2h/-1h", "--exclude", "0/1767225600", "llama"});
  ASSERT_TRUE(query.ok()) << query.status().message();
  EXPECT_EQ(query->job, "llama");
  EXPECT_THAT(query->windows_ns, ElementsAre(kHourNs, 24 * kHourNs));
  EXPECT_THAT(query->exclusions_ns, ElementsAre(Pair(kNowNs - 2 * kHourNs, kNowNs - kHourNs), Pair(0, kNowNs)));
}

TEST(ReportOptionsTest, ReversedExclusionsAreKeptForTheReportToFind) {
  EXPECT_THAT(query_of({"j", "--exclude", "-1h/-2h"})->exclusions_ns,
              ElementsAre(Pair(kNowNs - kHourNs, kNowNs - 2 * kHourNs)));
}

TEST(ReportOptionsTest, ExclusionFilesHoldOneIntervalALine) {
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("goodput_exclusions_{}", getpid())).string();
  std::ofstream(path) << "# maintenance\n\n -2h/-1h \r\n0/1";
  const Result<ReportQuery> query = query_of({"j", "--exclude-file", path});
  ASSERT_TRUE(query.ok()) << query.status().message();
  EXPECT_THAT(query->exclusions_ns, ElementsAre(Pair(kNowNs - 2 * kHourNs, kNowNs - kHourNs), Pair(0, 1'000'000'000)));
  std::ofstream(path) << "0/1\nrubbish\n";
  EXPECT_THAT(query_of({"j", "--exclude-file", path}).status().message(),
              HasSubstr("line 2: \"rubbish\" is not TIME/TIME"));
  std::filesystem::remove(path);
  const Status missing = query_of({"j", "--exclude-file", path}).status();
  EXPECT_EQ(missing.code(), StatusCode::kUnreadable);
  EXPECT_THAT(missing.message(), HasSubstr("No such file"));
  EXPECT_EQ(query_of({"j", "--exclude-file", "/"}).status().code(), StatusCode::kUnreadable);
}

TEST(ReportOptionsTest, NumbersAndDurationsAreRead) {
  const Result<ReportQuery> query = query_of({"--input", "-", "--job", "j", "--price", "2.49", "--currency", "EUR",
                                              "--dead-after", "90", "--stall-factor", "0", "--stall-floor", "1.5m"});
  ASSERT_TRUE(query.ok()) << query.status().message();
  EXPECT_EQ(query->input, "-");
  EXPECT_EQ(query->job, "j");
  EXPECT_EQ(query->price.price, 2.49);
  EXPECT_EQ(query->price.currency, "EUR");
  EXPECT_EQ(query->dead_after_ns, 90'000'000'000);
  EXPECT_EQ(query->stall_factor, 0);
  EXPECT_EQ(query->stall_floor_ns, 90'000'000'000);
  EXPECT_FALSE(query_of({"j"})->price.price.has_value());
}

TEST(ReportOptionsTest, MistakesNameTheOption) {
  struct Case {
    std::vector<std::string> words;
    const char* message;
  };
  for (const Case& c : {
           Case{{}, "name a job, or a log with --input"},
           Case{{"j", "--input", "f"}, "JOB and --input exclude each other"},
           Case{{"j", "--job", "k"}, "--job goes with --input"},
           Case{{"j", "--from", "yesterday"}, "--from: "},
           Case{{"j", "--window", "0"}, "--window: a window is longer than nothing"},
           Case{{"j", "--window", "-1h"}, "--window: "},
           Case{{"j", "--price", "cheap"}, "--price: \"cheap\" is not a number from 0 on"},
           Case{{"j", "--price", "nan"}, "--price: "},
           Case{{"j", "--stall-factor", "-1"}, "--stall-factor: "},
           Case{{"j", "--exclude", "1"}, "--exclude: \"1\" is not TIME/TIME"},
       }) {
    const Result<ReportQuery> query = query_of(c.words);
    ASSERT_FALSE(query.ok()) << c.message;
    EXPECT_EQ(query.status().code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(query.status().message(), HasSubstr(c.message));
  }
}

std::optional<double> amount_of(const std::vector<std::string>& words, const Config& config, const char* type) {
  const std::optional<report::Price> price = price_for(query_of(words)->price, config, type);
  if (!price) return std::nullopt;
  EXPECT_EQ(price->currency, "USD");
  return price->per_accelerator_hour;
}

TEST(MonitorOptionsTest, TheSameWindowTwiceIsOne) {
  MonitorOptions options;
  options.job = "llama";
  options.tensorboard = "runs";
  options.windows = {"1h", "24h,60m", "3600"};
  const Result<MonitorPlan> plan = resolve(options);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT(plan->windows_ns, ElementsAre(kHourNs, 24 * kHourNs));
}

TEST(Prices, FlagStandsOverTheTable) {
  const Config config = *parse_config("[prices]\nH100 = 2\n", "c.toml");
  EXPECT_EQ(amount_of({"j"}, config, "H100"), 2);
  EXPECT_EQ(amount_of({"j", "--price", "3"}, config, "H100"), 3);
  EXPECT_EQ(amount_of({"j"}, config, "A100"), std::nullopt);
  const ScopedEnvironment price("GOODPUT_PRICE", "4.5");
  EXPECT_EQ(amount_of({"j"}, config, "H100"), 4.5);
}

TEST(SplitOptionsTest, ATimeIsNeeded) {
  EXPECT_EQ(*split_time({.job = "j", .at = "-1h"}, kNowNs), kNowNs - kHourNs);
  EXPECT_THAT(split_time({.job = "j", .at = ""}, kNowNs).status().message(), HasSubstr("--at TIME"));
}

TEST(MoveOptions, FormatsAreOneOfAFewWords) {
  CLI::App app;
  ExportOptions options;
  EXPECT_EQ(parse(add_export_options, options, {"j", "--format", "trace"}, app), "");
  EXPECT_EQ(options.format, "trace");
  CLI::App other;
  EXPECT_EQ(parse(add_export_options, options, {"j", "--format", "xml"}, other),
            "--format: `xml` is none of jsonl|csv|trace");
  CLI::App without_job;
  EXPECT_THAT(parse(add_export_options, options, {}, without_job), HasSubstr("required"));
}

TEST(Help, PagesShowWhatValuesLookLikeAndNothingOfValidators) {
  CLI::App root("", "goodput");
  RunOptions run;
  ReportOptions report;
  CLI::App* run_app = root.add_subcommand("run", "launch");
  CLI::App* report_app = root.add_subcommand("report", "ask");
  add_run_options(*run_app, run);
  add_report_options(*report_app, report);
  const report::TerminalStyle style{.columns = 100};
  EXPECT_THAT(render_help(*run_app, style), HasSubstr("--max-restarts NUMBER     in a row"));
  EXPECT_THAT(render_help(*run_app, style), HasSubstr("Usage: goodput run [OPTION]… -- COMMAND…"));
  EXPECT_THAT(render_help(*report_app, style), HasSubstr("Usage: goodput report [JOB] [OPTION]…"));
  EXPECT_THAT(render_help(*report_app, style), HasSubstr("DURATION                  seconds, or a number"));
}

TEST(MoveOptions, SimulateTakesNoNegativeNumbers) {
  CLI::App app;
  SimulateOptions options;
  EXPECT_EQ(parse(add_simulate_options, options, {"--steps", "7", "--seed", "9", "--ranks", "4", "--journals"}, app),
            "");
  EXPECT_EQ(options.steps, 7);
  EXPECT_EQ(options.seed, 9U);
  EXPECT_TRUE(options.journals);
  CLI::App other;
  EXPECT_NE(parse(add_simulate_options, options, {"--ranks", "0"}, other), "");
}

TEST(RunOptionsTest, WhatFollowsIsTheCommandWithItsOwnOptions) {
  for (const std::vector<std::string>& words : {
           std::vector<std::string>{"--job", "j", "--", "python", "train.py", "--job", "x", "-h", "--", "y"},
           std::vector<std::string>{"--job", "j", "python", "train.py", "--job", "x", "-h", "--", "y"},
       }) {
    const Result<RunPlan> plan = plan_of(words);
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    EXPECT_EQ(plan->job, "j");
    EXPECT_THAT(plan->command, ElementsAre("python", "train.py", "--job", "x", "-h", "--", "y"));
  }
}

TEST(RunOptionsTest, DefaultsAreThoseOfTheDocument) {
  const Result<RunPlan> plan = plan_of({"--job", "j", "--", "true"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->max_restarts, 3);
  EXPECT_EQ(plan->grace_ns, 30'000'000'000);
  EXPECT_FALSE(plan->accelerators.has_value());
  EXPECT_TRUE(plan->restarts);
  EXPECT_FALSE(plan_of({"--job", "j", "--no-restart", "--", "true"})->restarts);
}

TEST(RunOptionsTest, SignalsLabelsAndAcceleratorsAreRead) {
  const Result<RunPlan> plan = plan_of({"--job",
                                        "j",
                                        "--preempt-signal",
                                        "SIGUSR1",
                                        "--preempt-signal",
                                        "term",
                                        "--label",
                                        "team=nlp",
                                        "--label",
                                        "a=b=c",
                                        "--accelerators",
                                        "1024",
                                        "--accelerator-type",
                                        "H100",
                                        "--max-restarts",
                                        "9",
                                        "--grace",
                                        "2m",
                                        "--",
                                        "true"});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT(plan->preempt_signals, ElementsAre(SIGUSR1, SIGTERM));
  EXPECT_THAT(plan->labels, ElementsAre(Pair("a", "b=c"), Pair("team", "nlp")));
  EXPECT_EQ(plan->accelerators, 1024);
  EXPECT_EQ(plan->max_restarts, 9);
  EXPECT_EQ(plan->grace_ns, 120'000'000'000);
}

TEST(RunOptionsTest, EnvironmentNamesJobAndLabels) {
  const ScopedEnvironment job("GOODPUT_JOB", "of-environment");
  const ScopedEnvironment labels("GOODPUT_LABELS", "a=1,b=2");
  const Result<RunPlan> plan = plan_of({"--", "true"});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ(plan->job, "of-environment");
  EXPECT_THAT(plan->labels, ElementsAre(Pair("a", "1"), Pair("b", "2")));
}

TEST(RunOptionsTest, MistakesNameTheOption) {
  struct Case {
    std::vector<std::string> words;
    const char* message;
  };
  for (const Case& c : {
           Case{{"--", "true"}, "--job: name the job"},
           Case{{"--job", "j"}, "the command to launch stands after `--`"},
           Case{{"--job", "j", "--grace", "soon", "--", "true"}, "--grace: "},
           Case{{"--job", "j", "--preempt-signal", "SIGFOO", "--", "true"}, "\"SIGFOO\" is no signal"},
           Case{{"--job", "j", "--preempt-signal", "9", "--", "true"}, "\"9\" is no signal"},
           Case{{"--job", "j", "--label", "team", "--", "true"}, "--label: \"team\" is not KEY=VALUE"},
           Case{{"--job", "j", "--accelerators", "many", "--", "true"}, "--accelerators: "},
           Case{{"--job", "j", "--max-restarts", "-1", "--", "true"}, "--max-restarts"},
       }) {
    const Result<RunPlan> plan = plan_of(c.words);
    ASSERT_FALSE(plan.ok()) << c.message;
    EXPECT_THAT(plan.status().message(), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace goodput::cli
