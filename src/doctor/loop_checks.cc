// Whether the training loop is instrumented so that its time can be told apart.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "doctor/checks.h"
#include "report/rates.h"
#include "report/terminal/human.h"

namespace goodput::doctor {
namespace {

using event::Kind;

// Before the first checkpoint is due, and while the first step is still being compiled, nothing follows from absence.
constexpr double kTooEarlySeconds = 600;
// A record that is missing now and then costs nothing; more hides stalls and the step in flight.
constexpr double kWidePercent = 5;
// Of the time of steps: what takes less is not worth a line of code.
constexpr double kRegularPercent = 1;
// Of the time of steps: from a tenth on goodput is visibly too high, from half on it is about something else.
constexpr double kInputPercent = 10, kInputIsMostPercent = 50;
// Loads in fewer steps are those of an epoch's beginning.
constexpr double kLoadsPercent = 50;
constexpr int64_t kLeastLoads = 10;

double share(int64_t part, int64_t whole) {
  return report::percent(static_cast<double>(part), static_cast<double>(whole)).value_or(0);
}

bool is_early(const report::Report& report) { return report.elapsed_seconds < kTooEarlySeconds; }

/// Events of earlier times are gone from disk: what is not among the rest may have been there.
bool has_lost_history(const report::Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const report::Finding& finding) {
    return finding.kind == "coarse_windows" || finding.kind == "history_dropped";
  });
}

bool has_resumed(const report::Report& report) {
  return std::any_of(
      report.disruption_records.begin(), report.disruption_records.end(), [](const report::Disruption& disruption) {
        return disruption.kind == report::DisruptionKind::kRestart && disruption.resume_step.value_or(0) > 0;
      });
}

}  // namespace

Opinion check_checkpoints(const Facts& facts) {
  const report::Report& report = facts.job->report;
  const Survey& survey = facts.job->survey;
  const int64_t saves = survey.count(Kind::kCheckpointSaveStart) + survey.count(Kind::kCheckpointSave);
  const int64_t restores = survey.count(Kind::kCheckpointRestoreStart) + survey.count(Kind::kCheckpointRestore);
  if (saves == 0 && (is_early(report) || has_lost_history(report))) {
    return {.seen = "No save is recorded; it is too early to tell whether one should be."};
  }
  if (saves == 0) {
    return {Verdict::kYellow, "No save is recorded: checkpoint time is not measured, and counts as productive.",
            "Record saves: `with rec.checkpoint_save(step):`, goodput.integrations for Orbax and others, or MaxText's "
            "enable_checkpoint_cloud_logger."};
  }
  if (restores == 0 && has_resumed(report) && !has_lost_history(report)) {
    return {Verdict::kYellow, "The job resumed from a checkpoint, and no restore is recorded.",
            "Record restores: `with rec.checkpoint_restore(step):`."};
  }
  return {.seen = fmt::format("{} saves and {} restores are recorded.", report::human_count(saves),
                              report::human_count(restores))};
}

Opinion check_job_start(const Facts& facts) {
  const int64_t starts = facts.job->survey.count(Kind::kJobStart);
  if (starts > 0 || has_lost_history(facts.job->report)) return {.seen = "Recorded."};
  return {Verdict::kYellow,
          "No job start is recorded: what came before the first event counts for nothing, and restarts show late.",
          "Put `with rec.job():` around the whole run (record_job_start_time() in the drop-in), first of all."};
}

Opinion check_steps(const Facts& facts) {
  const report::Report& report = facts.job->report;
  const Survey& survey = facts.job->survey;
  if (!report.last_step.has_value()) {
    if (is_early(report)) return {.seen = "No step yet; the job is young."};
    return {Verdict::kRed,
            fmt::format("No step was recorded in {}: nothing counts as progress.",
                        report::human_duration(report.elapsed_seconds)),
            "Call `rec.record_step(step)` at the start of each step."};
  }
  if (share(survey.wide_intervals, survey.step_intervals) < kWidePercent) {
    return {.seen = fmt::format("Recorded one by one, up to step {}.", report::human_count(*report.last_step))};
  }
  return {Verdict::kYellow,
          fmt::format("{} of {} step records come more than one step after the one before, up to {} steps: stalls and "
                      "slow steps between them do not show.",
                      report::human_count(survey.wide_intervals), report::human_count(survey.step_intervals),
                      report::human_count(survey.widest_interval)),
          "Record every step: it costs about as much as reading the clock."};
}

Opinion check_regular_stalls(const Facts& facts) {
  const auto& stall = facts.job->regular_stall;
  const double step_seconds = static_cast<double>(facts.job->survey.intervals_ns) / 1e9;
  const double lost = stall ? report::percent(stall->total_seconds, step_seconds).value_or(0) : 0;
  if (lost < kRegularPercent) return {.seen = "No step is long at regular intervals."};
  return {Verdict::kYellow,
          fmt::format(
              "Every {} steps (from step {} on, {} times) a step takes {} longer than others, {} of the steps' time: "
              "the loop does something there that nobody records.",
              report::human_count(stall->period), report::human_count(stall->first_step), stall->count,
              report::human_duration(stall->mean_seconds), report::human_percent(lost)),
          "Record it: `with rec.custom(\"eval\"):` around an evaluation, `rec.checkpoint_save(step)` around a save."};
}

Opinion check_input(const Facts& facts) {
  const Survey& survey = facts.job->survey;
  const double filled = share(survey.loads_before_steps_ns, survey.intervals_ns);
  const bool is_each_step = survey.loads_before_steps >= kLeastLoads &&
                            share(survey.loads_before_steps, survey.step_intervals) >= kLoadsPercent;
  if (!is_each_step || filled < kInputPercent) return {.seen = "Loads leave steps their time."};
  return {filled < kInputIsMostPercent ? Verdict::kYellow : Verdict::kRed,
          fmt::format("Loads right before each step take {} of the steps' time, and count as overlapped: goodput is "
                      "too high if the loop waits for them.",
                      report::human_percent(filled)),
          "Mark them: `with rec.data_loading(blocking=True):`; then prefetch more batches, or add loader workers."};
}

}  // namespace goodput::doctor
