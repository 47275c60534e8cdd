// SPDX-License-Identifier: Apache-2.0
#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/time_text.h"

namespace goodput::report {
namespace {

using ledger::FindingCount;
using ledger::FindingKind;

struct Words {
  FindingKind kind;
  std::string_view name;
  Severity severity;
  std::string_view one, many;  ///< what was seen; {} is the number
  std::string_view fix;
};

constexpr Words kWords[] = {
    {FindingKind::kMalformedEntry, "malformed_entry", Severity::kWarning,
     "A checkpoint entry has no start time and no entry stands before it.",
     "{} checkpoint entries have no start time and no entry stands before them.",
     "Record the start of checkpoints, or keep the log's first entries."},
    {FindingKind::kUnclosedEvent, "unclosed_event", Severity::kWarning,
     "An event was started and never ended; it counts for nothing.",
     "{} events were started and never ended; they count for nothing.",
     "End every event, also where an exception leaves its block: use the recorder's with-blocks."},
    {FindingKind::kTwoWriters, "two_writers", Severity::kWarning,
     "A step or job start was recorded by a second writer and left out.",
     "{} steps or job starts were recorded by a second writer and left out.",
     "Let only process 0 record into this job's log, or give each process its index."},
    {FindingKind::kClockSkew, "clock_skew", Severity::kWarning,
     "An attempt began before what was there: its host's clock is behind, and it was moved forward.",
     "{} attempts began before what was there: their hosts' clocks are behind, and they were moved forward.",
     "Synchronise the clocks of the hosts (chrony or NTP)."},
    {FindingKind::kOverlappingAttempts, "overlapping_attempts", Severity::kWarning,
     "An attempt recorded on after its successor had begun; what it recorded then is left out.",
     "{} attempts recorded on after their successors had begun; what they recorded then is left out.",
     "See that the old processes are gone before the job is started again."},
    {FindingKind::kOpenEventsLimit, "open_events_limit", Severity::kWarning,
     "More than 4,096 events were open at once; the earliest was ended.",
     "More than 4,096 events were open at once; the {} earliest were ended.", "End every event that is started."},
    {FindingKind::kTooLate, "too_late", Severity::kWarning,
     "An event came for a time whose events are gone from disk, and was left out.",
     "{} events came for a time whose events are gone from disk, and were left out.",
     "Raise the disk budget of the journal folder."},
};

Finding finding(const Words& words, const FindingCount& count) {
  Finding out;
  out.kind = words.name;
  out.severity = words.severity;
  out.count = count.count;
  if (count.ns != 0) out.seconds = static_cast<double>(count.ns) / 1e9;
  if (count.first_ns != ledger::kNoTime) out.first_ns = count.first_ns;
  out.message = count.count == 1 ? std::string(words.one) : fmt::format(fmt::runtime(words.many), count.count);
  out.fix = words.fix;
  return out;
}

/// A fresh run under the name of one that was completed: it begins at or below that run's first step.
std::optional<Finding> name_reused(const std::vector<ledger::AttemptAnswer>& attempts, const std::string& job) {
  Finding out;
  std::optional<int64_t> first_step;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const ledger::AttemptEntry& entry = attempts[i].entry;
    const bool after_completion = i > 0 && attempts[i - 1].entry.state.completed_ns.has_value();
    if (after_completion && first_step.has_value() && entry.state.first_step.has_value() &&
        *entry.state.first_step <= *first_step) {
      ++out.count;
      if (!out.first_ns.has_value()) out.first_ns = entry.start_ns;
    }
    if (!first_step.has_value()) first_step = entry.state.first_step;
  }
  if (out.count == 0) return std::nullopt;
  out.kind = "name_reused";
  out.severity = Severity::kWarning;
  out.message = "The job was completed and then begun again from its first step: a run name was used twice.";
  out.fix = fmt::format("goodput split '{}' --at {} makes two runs of it; give each run a run_id.", job,
                        format_time(*out.first_ns));
  return out;
}

}  // namespace

std::vector<Finding> findings_of(const ledger::Overview& overview, const std::vector<ledger::AttemptAnswer>& attempts,
                                 const std::string& job) {
  std::vector<Finding> out;
  for (const Words& words : kWords) {
    const FindingCount& count = overview.findings[static_cast<size_t>(words.kind)];
    if (count.count > 0) out.push_back(finding(words, count));
  }
  if (std::optional<Finding> reused = name_reused(attempts, job)) out.push_back(std::move(*reused));
  if (overview.coarse_before_ns.has_value()) {
    out.push_back({.kind = "coarse_windows",
                   .severity = Severity::kInfo,
                   .count = 1,
                   .first_ns = overview.coarse_before_ns,
                   .message = "Events before this time are gone from disk: windows that begin there are interpolated.",
                   .fix = "Raise the disk budget of the journal folder."});
  }
  return out;
}

std::optional<Finding> empty_exclusions(const std::vector<std::pair<int64_t, int64_t>>& exclusions) {
  const auto count = std::count_if(exclusions.begin(), exclusions.end(),
                                   [](const auto& interval) { return interval.second <= interval.first; });
  if (count == 0) return std::nullopt;
  return Finding{.kind = "empty_exclusion",
                 .severity = Severity::kWarning,
                 .count = count,
                 .message = fmt::format("{} of the exclusions end before they begin and exclude nothing.", count),
                 .fix = "Give exclusions as START/END with START before END."};
}

}  // namespace goodput::report
