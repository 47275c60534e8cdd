// SPDX-License-Identifier: Apache-2.0
#include "ledger/stretch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ledger/partition.h"

namespace goodput::ledger {

namespace {

/// What the segment that runs on from `stretch` has in it.
SegmentPart& running_part(Stretch& stretch) { return stretch.one_segment ? stretch.entering : stretch.leaving; }

/// A segment that began in `first` ended in `second`: its start-up time can be taken out now.
void close_segment(Stretch& first, const SegmentPart& part) {
  if (part.steady.empty()) {
    first.is_stale = true;  // its mean is another segment's
    return;
  }
  const int64_t excess_ns = startup_excess_ns(part.warmup, part.steady);
  const auto take_out = [&](Totals& totals) {
    totals.add(TimeClass::kProgramStartup, 0, excess_ns);
    totals.add(TimeClass::kProductive, 0, -excess_ns);
  };
  take_out(first.totals);
  if (!first.attempts.empty()) take_out(first.attempts.back().totals);  // the attempt that the segment ran on in
}

void join_segments(Stretch& first, Stretch& second) {
  const bool goes_on = first.runs_on;  // into `second`
  FirstSteady more = second.first_continued;
  if (first.one_segment) {
    first.first_continued.push(more);
    more = {};
  }
  first.first_steady.push(more);
  first.first_steady.push(second.first_steady);
  if (goes_on && second.one_segment) {
    running_part(first).add(second.entering);
    first.running_steady.add(second.running_steady);
    return;
  }
  if (goes_on && first.one_segment) {
    first.entering.add(second.entering);
    first.is_stale = first.is_stale || first.entering.warmup.steps > 0;
  } else if (goes_on && first.leaving.warmup.steps > 0) {
    SegmentPart whole = first.leaving;
    whole.add(second.entering);
    close_segment(first, whole);
  }
  first.one_segment = false;
  first.running_steady = second.running_steady;
  first.leaving = second.leaving;
  first.runs_on = second.runs_on;
}

void join_disruptions(Stretch& first, Stretch& second) {
  for (DisruptionEntry& entry : first.disruption_entries) {
    if (!entry.facts.waiting) continue;
    entry.facts.recovery.add(second.first_record.has_value() ? second.lead : second.totals);
    if (second.first_record.has_value()) {
      entry.facts.waiting = false;
      entry.facts.resume_step = second.first_record->step;
      entry.facts.recovery_ns = second.first_record->ns - entry.facts.ns;
      entry.waste_is_stale = true;
    } else {
      entry.facts.recovery_ns = second.end_ns - entry.facts.ns;
    }
  }
  for (DisruptionEntry& entry : second.disruption_entries) {
    entry.facts.attempt += static_cast<uint32_t>(first.attempts_begun);
    entry.waste_is_stale = true;
    first.disruption_entries.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<AttemptEntry> attempt_entries(const Region& region, const RegionAccount& account) {
  std::vector<AttemptEntry> out;
  for (uint32_t a = 0; a < region.attempts_end; ++a) {
    const AttemptSpan& span = region.attempts[a];
    AttemptEntry entry;
    entry.continues = span.continues;
    entry.ended = region.ends_in(a);
    entry.dead = entry.ended && (span.dead || span.followed);
    entry.start_ns = span.start_ns;
    entry.end_ns = account.attempts[a].end_ns;
    entry.state = span.state;
    entry.last_step = account.attempts[a].last_step;
    entry.totals = account.attempts[a].totals;
    out.push_back(std::move(entry));
  }
  return out;
}

void append_attempts(std::vector<AttemptEntry>& out, std::vector<AttemptEntry>&& more) {
  for (AttemptEntry& entry : more) {
    if (!entry.continues || out.empty()) {
      out.push_back(std::move(entry));
      continue;
    }
    AttemptEntry& begun = out.back();
    begun.ended = entry.ended;
    begun.dead = entry.dead;
    begun.end_ns = entry.end_ns;
    begun.state = std::move(entry.state);
    if (entry.last_step.has_value()) begun.last_step = entry.last_step;
    begun.totals.add(entry.totals);
  }
}

void adopt(Stretch& stretch, RegionAccount&& account, const Surroundings& around, const Region& region) {
  stretch.resume_step = around.resume_step;
  stretch.totals = std::move(account.totals);
  stretch.disruptions = account.disruptions;
  stretch.planned = account.planned;
  stretch.unlisted_recovered = stretch.unlisted_recovery_ns = 0;
  stretch.max_productive_step = account.max_productive_step;
  stretch.preserved_steps = account.preserved_steps;
  stretch.overlapped_loads_ns = account.overlapped_loads_ns;
  stretch.entering = account.entering;
  stretch.leaving = account.leaving;
  stretch.running_steady = account.running_steady;
  stretch.one_segment = account.one_segment;
  stretch.runs_on = account.runs_on;
  stretch.is_sensitive = account.is_sensitive;
  stretch.sensitive_below = account.sensitive_below;
  stretch.first_record = account.first_record;
  stretch.lead = account.lead;
  stretch.step_times = static_cast<int64_t>(account.interval_times.size());
  stretch.interval_times = account.interval_times;
  stretch.used_steady_before = account.used_steady_before;
  stretch.steady_before = around.steady_before;
  stretch.used_later = account.used_later;
  stretch.later = around.later;
  stretch.later_other = around.later_other;
  stretch.is_stale = false;
  stretch.steady = account.steady;
  stretch.first_steady = account.first_steady;
  stretch.first_continued = account.first_continued;
  stretch.lowest_first_step = account.lowest_first_step;
  stretch.highest_step = account.highest_step;
  stretch.open_tail = account.open_tail;
  stretch.slices = slice_sums(region, region.begin_ns, region.end_ns);
  stretch.findings = region.findings;
  stretch.events = region.events;
  stretch.last_event_ns = region.last_event_ns;
  stretch.attempts = attempt_entries(region, account);
  stretch.attempts_begun = static_cast<int64_t>(stretch.attempts.size());
  if (!stretch.attempts.empty() && stretch.attempts.front().continues) --stretch.attempts_begun;
  // A disruption that was paid for once stays so: what it wasted is a matter of its moment.
  std::vector<DisruptionEntry> before = std::move(stretch.disruption_entries);
  stretch.disruption_entries.clear();
  for (size_t i = 0; i < account.disruption_facts.size(); ++i) {
    DisruptionEntry entry;
    entry.facts = std::move(account.disruption_facts[i]);
    entry.facts.attempt += stretch.attempts.front().continues ? 0 : 1;
    if (before.size() == account.disruption_facts.size()) entry.waste = before[i].waste;
    stretch.disruption_entries.push_back(std::move(entry));
  }
}

bool agree(const Stretch& first, const Stretch& second) {
  const int64_t resume_step = std::min(second.resume_step, second.lowest_first_step);
  return resume_step == first.resume_step ||
         (resume_step < first.resume_step && !(first.is_sensitive && resume_step < first.sensitive_below));
}

void join(Stretch& first, Stretch&& second) {
  first.is_stale = first.is_stale || !agree(first, second);
  join_disruptions(first, second);
  join_segments(first, second);
  append_attempts(first.attempts, std::move(second.attempts));
  first.end_key = second.end_key;
  first.settled_key = std::max(first.settled_key, second.settled_key);
  first.end_ns = second.end_ns;
  first.end_state = std::move(second.end_state);
  first.resume_step = second.resume_step;
  if (!first.first_record.has_value()) {
    first.lead.add(second.first_record.has_value() ? second.lead : second.totals);
    first.first_record = second.first_record;
  }
  first.totals.add(second.totals);
  first.disruptions += second.disruptions;
  first.planned += second.planned;
  first.unlisted_recovered += second.unlisted_recovered;
  first.unlisted_recovery_ns += second.unlisted_recovery_ns;
  first.attempts_begun += second.attempts_begun;
  first.max_productive_step = std::max(first.max_productive_step, second.max_productive_step);
  first.preserved_steps += second.preserved_steps;
  first.overlapped_loads_ns += second.overlapped_loads_ns;
  if (second.is_sensitive) {
    first.sensitive_below =
        first.is_sensitive ? std::max(first.sensitive_below, second.sensitive_below) : second.sensitive_below;
    first.is_sensitive = true;
  }
  first.step_times += second.step_times;
  first.is_counted = first.is_counted && second.is_counted;
  if (first.interval_times.has_value() && second.interval_times.has_value()) {
    first.interval_times->insert(first.interval_times->end(), second.interval_times->begin(),
                                 second.interval_times->end());
  } else {
    first.interval_times.reset();
  }
  first.used_steady_before = first.used_steady_before || second.used_steady_before;
  // What served as a mean for the first may stand in the second now.
  first.is_stale = first.is_stale || (first.used_later && !first.later.full());
  first.used_later = first.used_later || second.used_later;
  first.later = second.later;
  first.later_other = second.later_other;
  first.is_stale = first.is_stale || second.is_stale;
  first.steady.add(second.steady);
  first.lowest_first_step = std::min(first.lowest_first_step, second.lowest_first_step);
  if (second.highest_step != std::numeric_limits<int64_t>::min()) first.open_tail = second.open_tail;
  first.highest_step = std::max(first.highest_step, second.highest_step);
  first.slices.add(second.slices);
  for (size_t i = 0; i < first.findings.size(); ++i) first.findings[i].add(second.findings[i]);
  first.events += second.events;
  first.last_event_ns = std::max(first.last_event_ns, second.last_event_ns);
}

}  // namespace goodput::ledger
