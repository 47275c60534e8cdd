// SPDX-License-Identifier: Apache-2.0
#include "report/testing/samples.h"

#include <csignal>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/status.h"
#include "report/cost.h"
#include "report/rates.h"
#include "report/testing/job_script.h"

namespace goodput::report::testing {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

void set_steps(Report& report, double step_seconds) {
  report.steps_per_second = 1 / step_seconds;
  report.ideal_step_time_seconds = step_seconds * 0.99;
  report.step_time_deviation_seconds = step_seconds * 0.013;
  report.step_time_percentiles_seconds = {step_seconds, step_seconds * 1.04, step_seconds * 1.31, step_seconds * 7.9};
  report.ideal_goodput_percent = report.goodput_percent.value_or(0) * 0.978;
}

void set_price(Report& report, int64_t accelerators, std::string type, double price) {
  report.accelerators = accelerators;
  report.accelerator_type = std::move(type);
  set_accelerator_hours(report);
  set_cost(report, {.per_accelerator_hour = price, .currency = "USD"});
}

void start_up(JobScript& story, bool restore) {
  story.spend("ACCELERATOR_INITIALIZATION", 38).spend("TRAINING_PREP", 21);
  if (restore) story.spend("CHECKPOINT_RESTORE", 64);
  story.spend("DATA_LOADING_SYNC", 9).spend("PROGRAM_STARTUP", 92);
}

Report empty() {
  JobScript story("not-started-yet", kStartNs);
  return story.finish(JobStatus::kRunning);
}

Report starting() {
  JobScript story("llama-7b", kStartNs);
  story.begin_attempt("node-17")
      .spend("ACCELERATOR_INITIALIZATION", 31)
      .spend("TRAINING_PREP", 12.5)
      .spend("OTHER", 3.2);
  return story.finish(JobStatus::kRunning);
}

Report completed() {
  JobScript story("resnet50-imagenet", kStartNs);
  story.begin_attempt("node-3");
  start_up(story, false);
  for (int i = 0; i < 12; ++i) story.spend("PRODUCTIVE", 598).spend("CHECKPOINT_SAVE", 2.4);
  story.steps(0, 71'999).complete();
  Report report = story.finish(JobStatus::kCompleted);
  set_steps(report, 0.0996);
  return report;
}

Report three() {
  JobScript story("llama-7b", kStartNs);
  story.begin_attempt("node-17");
  start_up(story, false);
  for (int i = 0; i < 20; ++i) story.spend("PRODUCTIVE", 1790).spend("CHECKPOINT_SAVE", 11).spend("custom:EVAL", 42);
  story.steps(0, 4'474).waste(1'120, 140).die(SIGKILL, "oom", "the cgroup's memory limit of 64 GiB was reached");
  story.spend("INFRASTRUCTURE_RECOVERY", 734);
  story.begin_attempt("node-17");
  start_up(story, true);
  for (int i = 0; i < 9; ++i) story.spend("PRODUCTIVE", 1790).spend("CHECKPOINT_SAVE", 12).spend("custom:EVAL", 41);
  story.steps(4'335, 6'348)
      .spend("STALLED", 5'400)
      .waste(610, 76)
      .die(SIGTERM, "preempted", "node drained for maintenance", true);
  story.spend("INFRASTRUCTURE_RECOVERY", 212);
  story.begin_attempt("node-22");
  start_up(story, true);
  for (int i = 0; i < 14; ++i) story.spend("PRODUCTIVE", 1790).spend("CHECKPOINT_SAVE", 11).spend("custom:EVAL", 43);
  story.steps(6'273, 9'405).spend("OTHER", 4.1);
  Report report = story.finish(JobStatus::kRunning);
  report.run_id = "lr3e-4";
  report.labels = {{"team", "nlp"}, {"slurm_job_id", "482193"}};
  set_steps(report, 8.0);
  set_price(report, 64, "H100", 2.49);
  report.async_data_loading_seconds = 9'300;
  report.findings = {
      {.kind = "unclosed_event",
       .severity = Severity::kWarning,
       .count = 2,
       .first_ns = kStartNs + 3'600 * kSecondNs,
       .message = "Two data loading events never ended; they were left out.",
       .fix = "Record data loading with `with rec.data_loading():`, which also ends it when an exception passes."}};
  return report;
}

Report many(int attempts, double productive_seconds) {
  static const std::vector<std::pair<const char*, const char*>> causes = {{"oom", ""},
                                                                          {"preempted", "spot capacity was reclaimed"},
                                                                          {"signal", "SIGSEGV in libnccl"},
                                                                          {"unknown", ""},
                                                                          {"host_lost", ""},
                                                                          {"hang", "NCCL watchdog"}};
  JobScript story("gpt-neo-125m-sweep-7", kStartNs);
  uint64_t random = 88172645463325252ULL;  // xorshift64: the gallery never changes by itself
  const auto next = [&random] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<double>(random % 10'000) / 10'000;
  };
  int64_t step = 0;
  for (int i = 0; i < attempts; ++i) {
    story.begin_attempt("node-" + std::to_string(i % 7));
    start_up(story, i > 0);
    const double worked = productive_seconds * (0.2 + 1.6 * next());
    for (int part = 0; part < 4; ++part) {
      story.spend("PRODUCTIVE", worked / 4).spend("CHECKPOINT_SAVE", 7).spend("custom:EVAL", 12);
    }
    story.spend("custom:EXPORT WEIGHTS", 3);
    story.steps(step, step + static_cast<int64_t>(worked / 2));
    step += static_cast<int64_t>(worked / 2) - 40;
    if (i + 1 == attempts) break;
    const auto& [cause, detail] = causes[static_cast<size_t>(next() * 6)];
    story.waste(80 + 400 * next(), 120).die(SIGKILL, cause, detail, i % 9 == 8);
    story.spend("INFRASTRUCTURE_RECOVERY", 60 + 900 * next());
  }
  Report report = story.finish(JobStatus::kRunning);
  set_steps(report, 2.0);
  return report;
}

Report thirty() {
  Report report = many(30, 9'000);
  set_price(report, 1'024, "H100", 2.10);
  report.slice_efficiency = {0.9731, 0.9894};
  for (const auto& [hours, share] : {std::pair{1, 0.97}, {24, 0.861}, {24 * 7, 0.8}}) {
    Window window{.window_seconds = hours * 3600.0, .end_ns = report.end_ns};
    window.elapsed_seconds = std::min(window.window_seconds, report.elapsed_seconds);
    window.start_ns = report.end_ns - static_cast<int64_t>(window.elapsed_seconds * 1e9);
    window.goodput_seconds = share * window.elapsed_seconds;
    window.goodput_percent = 100 * share;
    window.badput_seconds["INFRASTRUCTURE_RECOVERY"] = (1 - share) * window.elapsed_seconds;
    window.disruptions = hours / 6;
    report.windows.push_back(window);
  }
  for (int i = 1; i < 128; ++i) {
    report.ranks.push_back({.process_index = i,
                            .host = "node-" + std::to_string(i / 8),
                            .last_heartbeat_ns = report.end_ns - (i == 37 ? 312 : i % 3) * kSecondNs,
                            .lateness_p90_seconds = i == 37 ? 0.412 : 0.002 + 0.0001 * (i % 11),
                            .lateness_p99_seconds = i == 37 ? 1.731 : 0.008 + 0.0003 * (i % 13)});
  }
  report.first_stopped_rank = 37;
  report.findings = {{.kind = "clock_skew",
                      .severity = Severity::kWarning,
                      .count = 1,
                      .seconds = 12.0,
                      .first_ns = kStartNs + 86'400 * kSecondNs,
                      .message = "The clock of node-5 stood 12.0 s behind; attempt 12 was moved forward.",
                      .fix = "Run chrony or ntpd on node-5."},
                     {.kind = "malformed_entry",
                      .severity = Severity::kError,
                      .count = 1'204,
                      .first_ns = kStartNs,
                      .message = "1,204 entries could not be read and were skipped: step_count is missing.",
                      .fix = "Look at line 88 of the input."},
                     {.kind = "two_writers",
                      .severity = Severity::kInfo,
                      .count = 3,
                      .message = "Three step records came from a second writer and were left out.",
                      .fix = "Record steps on rank 0 only."}};
  return report;
}

Report failed() {
  JobScript story("bloom-176b-finetune", kStartNs);
  story.begin_attempt("node-9");
  for (int i = 0; i < 4; ++i) {
    start_up(story, i > 0);
    story.die(i == 3 ? SIGABRT : SIGSEGV, "signal", "SIGSEGV").spend("INFRASTRUCTURE_RECOVERY", 1 << i);
    if (i < 3) story.begin_attempt("node-9");
  }
  Report report = story.finish(JobStatus::kFailed);
  report.attempts.back().status = AttemptStatus::kFailed;
  return report;
}

Report stalled() {
  JobScript story("t5-xxl", kStartNs);
  story.begin_attempt("node-1");
  start_up(story, false);
  story.spend("PRODUCTIVE", 7'200).steps(0, 1'799).spend("STALLED", 30'600);
  Report report = story.finish(JobStatus::kStalled);
  set_steps(report, 4.0);
  set_price(report, 256, "TPU v5p", 4.20);
  report.first_stopped_rank = 5;
  report.ranks = {{.process_index = 5, .host = "node-2", .last_heartbeat_ns = kStartNs + 7'300 * kSecondNs}};
  return report;
}

Report hostile() {
  JobScript story("\x1b]0;owned\x07‮evil‬/../名前の長いジョブ-\xff\xfe-" + std::string(120, 'x'), kStartNs);
  story.begin_attempt(
      "host\nwith\rbreaks\t\x9b"
      "31m");
  start_up(story, false);
  story.spend("PRODUCTIVE", 3'000).spend("custom:\x1b[31mRED\x1b[0m", 300).spend("custom:評価", 200);
  story.spend("custom:" + std::string(90, 'W'), 100).steps(0, 99);
  story.die(SIGKILL, "signal", "line one\nline two\x1b[2J \xe2\x80\xae desrever").spend("INFRASTRUCTURE_RECOVERY", 300);
  story.begin_attempt("ok").spend("PRODUCTIVE", 60).steps(100, 101);
  Report report = story.finish(JobStatus::kRunning);
  report.run_id = "run\x7f";
  report.labels = {{"a\x1b[1m", "b\x08"}, {"é", "👩‍🚀"}};
  report.findings = {{.kind = "orphan_rank\x1b",
                      .count = 1,
                      .message = "Rank 3 of \x1b[5mblink belongs to no attempt.",
                      .fix = "Set\nGOODPUT_ATTEMPT_ID."}};
  return report;
}

Report clipped() {
  Report report = three();
  report.clipped = true;
  report.elapsed_seconds = 7'200;
  report.goodput_seconds = 6'600;
  report.goodput_percent = percent(6'600, 7'200);
  report.badput_seconds = {{"CHECKPOINT_SAVE", 430}};
  report.custom_badput_seconds = {{"EVAL", 170}};
  report.disruptions = 0;
  report.exclusions = {{kStartNs, kStartNs + 600 * kSecondNs}};
  set_price(report, 64, "H100", 2.49);
  return report;
}

}  // namespace

std::vector<Sample> samples() {
  return {{"empty", empty()},    {"starting", starting()}, {"completed", completed()},
          {"three", three()},    {"thirty", thirty()},     {"thousand", many(1'400, 3'000)},
          {"failed", failed()},  {"stalled", stalled()},   {"hostile", hostile()},
          {"clipped", clipped()}};
}

Report sample(std::string_view name) {
  for (Sample& candidate : samples()) {
    if (candidate.name == name) return std::move(candidate.report);
  }
  CHECK(false);
  std::abort();
}

}  // namespace goodput::report::testing
