// SPDX-License-Identifier: Apache-2.0
#include "report/testing/job_script.h"

#include <algorithm>
#include <utility>

#include "report/cost.h"
#include "report/rates.h"
#include "report/words.h"

namespace goodput::report::testing {
namespace {

constexpr std::string_view kCustomPrefix = "custom:";
constexpr size_t kListed = 1000;
constexpr int kBuckets = 160;

int64_t to_ns(double seconds) { return static_cast<int64_t>(seconds * 1e9); }

std::string_view class_of(std::string_view name) { return name.starts_with(kCustomPrefix) ? kCustomBadput : name; }

template <typename T>
int64_t keep_latest(std::vector<T>& list) {
  if (list.size() <= kListed) return 0;
  const auto omitted = static_cast<int64_t>(list.size() - kListed);
  list.erase(list.begin(), list.begin() + omitted);
  return omitted;
}

}  // namespace

JobScript::JobScript(std::string job, int64_t start_ns) : now_ns_(start_ns) {
  report_.job = std::move(job);
  report_.start_ns = start_ns;
}

JobScript& JobScript::begin_attempt(std::string host) {
  Attempt attempt{.index = static_cast<int64_t>(report_.attempts.size()), .host = std::move(host), .start_ns = now_ns_};
  attempt.id = "a" + std::to_string(attempt.index);
  if (died_) {
    death_.index = static_cast<int64_t>(report_.disruption_records.size());
    death_.attempt = attempt.index;
    report_.disruption_records.push_back(std::exchange(death_, {}));
    recovering_ = &report_.disruption_records.back();
    died_ = false;
  }
  report_.attempts.push_back(std::move(attempt));
  in_attempt_ = true;
  return *this;
}

void JobScript::count_recovery(std::string_view name, double seconds) {
  Disruption* disruption = died_ ? &death_ : recovering_;
  if (disruption == nullptr) return;
  if (name == kProductive) {
    disruption->recovery_seconds = disruption->recovery_seconds.value_or(0);
    recovering_ = nullptr;
    return;
  }
  disruption->recovery_by_class_seconds[std::string(class_of(name))] += seconds;
  disruption->recovery_seconds = disruption->recovery_seconds.value_or(0) + seconds;
}

JobScript& JobScript::spend(std::string_view name, double seconds) {
  count_recovery(name, seconds);
  pieces_.push_back({std::string(name), seconds});
  now_ns_ += to_ns(seconds);
  report_.elapsed_seconds += seconds;
  if (name == kProductive) {
    report_.goodput_seconds += seconds;
  } else if (name.starts_with(kCustomPrefix)) {
    report_.custom_badput_seconds[std::string(name.substr(kCustomPrefix.size()))] += seconds;
  } else {
    report_.badput_seconds[std::string(name)] += seconds;
  }
  if (!in_attempt_) return *this;
  Attempt& attempt = report_.attempts.back();
  attempt.elapsed_seconds += seconds;
  attempt.end_ns = now_ns_;
  if (name == kProductive) {
    attempt.goodput_seconds += seconds;
  } else {
    attempt.badput_seconds[std::string(class_of(name))] += seconds;
  }
  return *this;
}

JobScript& JobScript::waste(double seconds, int64_t steps) {
  pending_waste_seconds_ = seconds;
  pending_waste_steps_ = steps;
  return spend("WASTED_PROGRESS", seconds);
}

JobScript& JobScript::steps(int64_t first, int64_t last) {
  Attempt& attempt = report_.attempts.back();
  attempt.first_step = first;
  attempt.last_step = last;
  report_.last_step = last;
  report_.max_productive_step = last;
  if (!report_.disruption_records.empty() && report_.disruption_records.back().attempt == attempt.index) {
    report_.disruption_records.back().resume_step = first;
  }
  return *this;
}

JobScript& JobScript::die(int signal, std::string cause, std::string detail, bool planned) {
  Attempt& attempt = report_.attempts.back();
  attempt.status = AttemptStatus::kDied;
  if (signal != 0) attempt.exit_signal = signal;
  attempt.end_ns = now_ns_;
  death_ = {.time_ns = now_ns_, .planned = planned, .cause = std::move(cause), .detail = std::move(detail)};
  death_.cause_source = death_.cause == "unknown" ? "none" : "launcher";
  death_.last_step = attempt.last_step;
  death_.wasted_seconds = std::exchange(pending_waste_seconds_, 0);
  death_.steps_wasted = std::exchange(pending_waste_steps_, 0);
  recovering_ = nullptr;
  died_ = true;
  in_attempt_ = false;
  return *this;
}

JobScript& JobScript::complete() {
  report_.attempts.back().status = AttemptStatus::kCompleted;
  report_.attempts.back().exit_code = 0;
  in_attempt_ = false;
  return *this;
}

Timeline JobScript::timeline() const {
  Timeline timeline{.start_ns = report_.start_ns, .end_ns = now_ns_};
  if (report_.elapsed_seconds <= 0) return timeline;
  timeline.buckets.resize(kBuckets);
  const double bucket_seconds = report_.elapsed_seconds / kBuckets;
  double at = 0;
  for (const Piece& piece : pieces_) {
    const double end = at + piece.seconds;
    for (auto i = static_cast<size_t>(at / bucket_seconds); i < kBuckets; ++i) {
      const double from = std::max(at, static_cast<double>(i) * bucket_seconds);
      const double to = std::min(end, static_cast<double>(i + 1) * bucket_seconds);
      if (to <= from) break;
      timeline.buckets[i][std::string(class_of(piece.name))] += to - from;
    }
    at = end;
  }
  return timeline;
}

Report JobScript::finish(JobStatus status) {
  Report report = report_;
  report.status = status;
  report.provisional = status != JobStatus::kCompleted && status != JobStatus::kFailed;
  report.end_ns = report.as_of_ns = now_ns_;
  report.goodput_percent = percent(report.goodput_seconds, report.elapsed_seconds);
  report.disruptions = static_cast<int64_t>(report.disruption_records.size());
  double down = 0, recovered = 0;
  int64_t recoveries = 0;
  if (const auto found = report.badput_seconds.find(std::string(kInfrastructureRecovery));
      found != report.badput_seconds.end()) {
    down = found->second;
  }
  for (const Disruption& disruption : report.disruption_records) {
    report.unplanned_disruptions += disruption.planned ? 0 : 1;
    recoveries += disruption.recovery_seconds ? 1 : 0;
    recovered += disruption.recovery_seconds.value_or(0);
  }
  report.mtbf_seconds = mean(report.elapsed_seconds - down, report.unplanned_disruptions);
  report.mtbf_interval_seconds = mtbf_interval(report.elapsed_seconds - down, report.unplanned_disruptions);
  report.mttr_seconds = mean(recovered, recoveries);
  report.timeline = timeline();
  report.attempts_omitted = keep_latest(report.attempts);
  report.disruption_records_omitted = keep_latest(report.disruption_records);
  return report;
}

}  // namespace goodput::report::testing
