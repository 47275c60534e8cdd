// SPDX-License-Identifier: Apache-2.0
#include "report/build.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "report/findings.h"
#include "report/rates.h"

namespace goodput::report {
namespace {

using ledger::TimeClass;
using ledger::Totals;

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

/// Classes with time but PRODUCTIVE; the sum of custom events too where `with_custom`.
SecondsByName badput_of(const Totals& totals, bool with_custom) {
  SecondsByName out;
  for (size_t c = 0; c < ledger::kTimeClasses; ++c) {
    const auto time_class = static_cast<TimeClass>(c);
    if (time_class == TimeClass::kProductive || totals.ns[c] == 0) continue;
    if (time_class == TimeClass::kCustomBadputEvents && !with_custom) continue;
    out.emplace(name_of(time_class), seconds(totals.ns[c]));
  }
  return out;
}

SecondsByName all_classes(const Totals& totals) {
  SecondsByName out = badput_of(totals, true);
  const int64_t productive_ns = totals.of(TimeClass::kProductive);
  if (productive_ns != 0) out.emplace(name_of(TimeClass::kProductive), seconds(productive_ns));
  return out;
}

SecondsByName custom_of(const Totals& totals, const ledger::Ledger& ledger) {
  SecondsByName out;
  for (const auto& [name, ns] : totals.custom_ns) out.emplace(ledger.custom_name(name), seconds(ns));
  return out;
}

JobStatus status_of(ledger::JobState state) {
  switch (state) {
    case ledger::JobState::kRunning:
      return JobStatus::kRunning;
    case ledger::JobState::kStalled:
      return JobStatus::kStalled;
    case ledger::JobState::kCompleted:
      return JobStatus::kCompleted;
    case ledger::JobState::kFailed:
      return JobStatus::kFailed;
    case ledger::JobState::kDead:
      return JobStatus::kDown;
  }
  return JobStatus::kRunning;
}

AttemptStatus status_of(const ledger::AttemptEntry& entry) {
  if (entry.state.completed_ns.has_value()) return AttemptStatus::kCompleted;
  if (entry.state.failed_ns.has_value()) return AttemptStatus::kFailed;
  return entry.dead ? AttemptStatus::kDied : AttemptStatus::kRunning;
}

Attempt attempt_of(const ledger::AttemptAnswer& answer) {
  const ledger::AttemptEntry& entry = answer.entry;
  Attempt out;
  out.index = answer.index;
  out.id = entry.state.id;
  out.host = entry.state.host;
  out.start_ns = entry.start_ns;
  out.end_ns = entry.end_ns;
  out.status = status_of(entry);
  const auto& exit = entry.state.exit.has_value() ? entry.state.exit : entry.state.exit_zero;
  if (exit.has_value() && (exit->flags & event::kCode) != 0) out.exit_code = exit->value;
  if (exit.has_value() && (exit->flags & event::kSignal) != 0) out.exit_signal = exit->value;
  out.first_step = entry.state.first_step;
  out.last_step = entry.last_step;
  out.elapsed_seconds = seconds(entry.totals.sum());
  out.goodput_seconds = seconds(entry.totals.of(TimeClass::kProductive));
  out.badput_seconds = badput_of(entry.totals, true);
  return out;
}

/// The cause that was written down, else what was seen of the process' end.
void set_cause(const ledger::DisruptionFacts& facts, Disruption& out) {
  if (facts.annotation.has_value()) {
    out.planned = facts.annotation->planned;
    out.cause = out.planned ? "planned" : facts.annotation->cause;
    out.cause_source = facts.annotation->source;
    out.detail = facts.annotation->text;
    return;
  }
  if (!facts.exit.has_value()) return;
  const bool by_signal = (facts.exit->flags & event::kSignal) != 0;
  if (!by_signal && (facts.exit->flags & event::kCode) == 0) return;
  out.cause = by_signal ? "signal" : "exit";
  out.cause_source = "launcher";
  if (by_signal) {
    const char* name = sigabbrev_np(facts.exit->value);
    out.detail = name == nullptr ? "signal " + std::to_string(facts.exit->value) : std::string("SIG") + name;
  } else {
    out.detail = "exit code " + std::to_string(facts.exit->value);
  }
}

Disruption disruption_of(const ledger::DisruptionAnswer& answer) {
  const ledger::DisruptionFacts& facts = answer.facts;
  Disruption out;
  out.index = answer.index;
  out.kind = facts.rollback ? DisruptionKind::kRollback : DisruptionKind::kRestart;
  out.time_ns = facts.ns;
  out.attempt = answer.attempt;
  set_cause(facts, out);
  out.completed_end = facts.completed_end;
  out.last_step = facts.last_step;
  out.resume_step = facts.resume_step;
  out.steps_wasted = answer.waste.steps;
  out.wasted_seconds = seconds(answer.waste.ns);
  out.stalled_seconds = seconds(facts.stalled_ns);
  if (!facts.waiting) {
    out.recovery_seconds = seconds(facts.recovery_ns);
    out.recovery_by_class_seconds = all_classes(facts.recovery);
  }
  return out;
}

std::optional<SliceEfficiency> slice_efficiency_of(const ledger::SliceSums& slices) {
  if (slices.known_ns <= 0) return std::nullopt;
  const double whole = static_cast<double>(slices.known_ns) * ledger::SliceSums::kUnit;
  return SliceEfficiency{.stepping = static_cast<double>(slices.stepping) / whole,
                         .available = static_cast<double>(slices.available) / whole};
}

void set_span(const ledger::AccountedSpan& span, const ledger::Ledger& ledger, Report& out) {
  out.elapsed_seconds = seconds(span.elapsed_ns);
  out.goodput_seconds = seconds(span.totals.of(TimeClass::kProductive));
  out.goodput_percent = percent(out.goodput_seconds, out.elapsed_seconds);
  out.badput_seconds = badput_of(span.totals, false);
  out.custom_badput_seconds = custom_of(span.totals, ledger);
  out.slice_efficiency = slice_efficiency_of(span.slices);
}

Window window_of(const ledger::AccountedSpan& span, const ledger::Ledger& ledger, int64_t length_ns) {
  Window out;
  out.window_seconds = seconds(length_ns);
  out.start_ns = span.from_ns;
  out.end_ns = span.to_ns;
  out.elapsed_seconds = seconds(span.elapsed_ns);
  out.goodput_seconds = seconds(span.totals.of(TimeClass::kProductive));
  out.goodput_percent = percent(out.goodput_seconds, out.elapsed_seconds);
  out.badput_seconds = badput_of(span.totals, false);
  out.custom_badput_seconds = custom_of(span.totals, ledger);
  out.disruptions = span.disruptions;
  out.slice_efficiency = slice_efficiency_of(span.slices);
  return out;
}

Status set_steps(ledger::Ledger& ledger, const ledger::Overview& overview, int64_t now_ns, Report& out) {
  if (const auto& typical = overview.typical_step_ns; typical.has_value() && typical->num > 0) {
    out.steps_per_second =
        static_cast<double>(1e9L * static_cast<long double>(typical->den) / static_cast<long double>(typical->num));
  }
  ASSIGN_OR_RETURN(const std::optional<ledger::StepFigures> steps, ledger.step_figures(now_ns));
  if (!steps.has_value()) return {};
  out.ideal_step_time_seconds = steps->ideal_ns / 1e9;
  out.step_time_deviation_seconds = steps->deviation_ns / 1e9;
  out.step_time_percentiles_seconds = StepTimePercentiles{
      .p50 = steps->p50_ns / 1e9, .p90 = steps->p90_ns / 1e9, .p99 = steps->p99_ns / 1e9, .max = steps->max_ns / 1e9};
  out.ideal_goodput_percent = percent(static_cast<double>(overview.preserved_steps) * steps->ideal_ns,
                                      static_cast<double>(overview.whole.elapsed_ns));
  return {};
}

Status set_disruptions(ledger::Ledger& ledger, const ledger::Overview& overview, int64_t now_ns, Report& out) {
  ASSIGN_OR_RETURN(const std::vector<ledger::DisruptionAnswer> records, ledger.disruptions(now_ns));
  int64_t recovered = overview.unlisted_recovered;
  int64_t recovery_ns = overview.unlisted_recovery_ns;
  for (const ledger::DisruptionAnswer& record : records) {
    out.disruption_records.push_back(disruption_of(record));
    if (record.facts.waiting) continue;
    ++recovered;
    recovery_ns += record.facts.recovery_ns;
  }
  out.disruptions = overview.whole.disruptions;
  out.disruption_records_omitted = out.disruptions - static_cast<int64_t>(records.size());
  out.unplanned_disruptions = out.disruptions - overview.planned_disruptions;
  const double up_seconds =
      seconds(overview.whole.elapsed_ns - overview.whole.totals.of(TimeClass::kInfrastructureRecovery));
  out.mtbf_seconds = mean(up_seconds, out.unplanned_disruptions);
  out.mtbf_interval_seconds = mtbf_interval(up_seconds, out.unplanned_disruptions);
  out.mttr_seconds = mean(seconds(recovery_ns), recovered);
  return {};
}

Status set_timeline(ledger::Ledger& ledger, int64_t now_ns, Report& out) {
  ASSIGN_OR_RETURN(const std::vector<Totals> buckets, ledger.timeline(now_ns, kMaxTimelineBuckets));
  Timeline timeline{.start_ns = out.start_ns, .end_ns = out.end_ns};
  for (const Totals& bucket : buckets) timeline.buckets.push_back(all_classes(bucket));
  out.timeline = std::move(timeline);
  return {};
}

}  // namespace

Result<Report> build(ledger::Ledger& ledger, const Question& question) {
  const int64_t now_ns = question.now_ns;
  ASSIGN_OR_RETURN(const ledger::Overview overview, ledger.overview(now_ns));
  Report out;
  out.job = question.job;
  out.run_id = question.run_id;
  out.labels = question.labels;
  out.status = status_of(overview.state);
  out.provisional = out.status != JobStatus::kCompleted && out.status != JobStatus::kFailed;
  out.start_ns = overview.start_ns;
  out.end_ns = overview.end_ns;
  out.as_of_ns = now_ns;
  out.async_data_loading_seconds = static_cast<double>(overview.overlapped_loads_ns) / 1e9;
  out.max_productive_step = overview.max_productive_step;
  out.last_step = overview.last_step;
  RETURN_IF_ERROR(set_steps(ledger, overview, now_ns, out));
  RETURN_IF_ERROR(set_disruptions(ledger, overview, now_ns, out));
  out.clipped = question.from_ns.has_value() || question.to_ns.has_value();
  if (out.clipped || !question.exclusions.empty()) {
    ASSIGN_OR_RETURN(const ledger::AccountedSpan span,
                     ledger.account(now_ns, {question.from_ns, question.to_ns, question.exclusions}));
    set_span(span, ledger, out);
    if (out.clipped) out.disruptions = span.disruptions;
  } else {
    set_span(overview.whole, ledger, out);
  }
  ASSIGN_OR_RETURN(const std::vector<ledger::AttemptAnswer> attempts, ledger.attempts(now_ns));
  for (const ledger::AttemptAnswer& attempt : attempts) out.attempts.push_back(attempt_of(attempt));
  out.attempts_omitted = overview.attempts - static_cast<int64_t>(attempts.size());
  for (const int64_t length_ns : question.windows_ns) {
    ASSIGN_OR_RETURN(const ledger::AccountedSpan span,
                     ledger.account(now_ns, {overview.end_ns - length_ns, std::nullopt, question.exclusions}));
    out.windows.push_back(window_of(span, ledger, length_ns));
  }
  if (question.with_timeline) RETURN_IF_ERROR(set_timeline(ledger, now_ns, out));
  out.exclusions = question.exclusions;
  out.ranks = question.ranks;
  out.first_stopped_rank = question.first_stopped_rank;
  out.findings = findings_of(overview, attempts, question.job);
  out.findings.insert(out.findings.end(), question.findings.begin(), question.findings.end());
  if (auto empty = empty_exclusions(question.exclusions)) out.findings.push_back(std::move(*empty));
  out.accelerators = question.accelerators;
  out.accelerator_type = question.accelerator_type;
  set_accelerator_hours(out);
  if (question.price.has_value()) set_cost(out, *question.price);
  return out;
}

}  // namespace goodput::report
