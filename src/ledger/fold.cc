// SPDX-License-Identifier: Apache-2.0
#include "ledger/fold.h"

#include <algorithm>
#include <utility>

#include "ledger/limits.h"

namespace goodput::ledger {

using event::Event;
using event::Kind;

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool mentions_scale_up(std::string_view type) {
  constexpr std::string_view kWanted = "scale_up";
  return std::search(type.begin(), type.end(), kWanted.begin(), kWanted.end(),
                     [](char a, char b) { return lower(a) == b; }) != type.end();
}

TimeClass class_of(Kind start, std::string_view elastic_type) {
  switch (start) {
    case Kind::kAcceleratorInitStart:
      return TimeClass::kAcceleratorInitialization;
    case Kind::kTrainingPrepStart:
      return TimeClass::kTrainingPrep;
    case Kind::kDataLoadingStart:
      return TimeClass::kDataLoadingSync;
    case Kind::kCheckpointSaveStart:
      return TimeClass::kCheckpointSave;
    case Kind::kCheckpointRestoreStart:
      return TimeClass::kCheckpointRestore;
    case Kind::kCustomStart:
      return TimeClass::kCustomBadputEvents;
    case Kind::kCompilationStart:
      return TimeClass::kProgramStartup;
    case Kind::kElasticWaitStart:
      return mentions_scale_up(elastic_type) ? TimeClass::kElasticScaleUp : TimeClass::kElasticSliceDown;
    case Kind::kElasticReinitStart:
      return TimeClass::kElasticReinitialization;
    default:
      return TimeClass::kOther;
  }
}

bool is_elastic_entry(Kind kind) { return kind >= Kind::kElasticWaitStart && kind <= Kind::kElasticReinitEnd; }

}  // namespace

Fold::Fold(const FoldState& state, Names& names, const LogOrder& order)
    : names_(names),
      order_(order),
      open_(state.open),
      slices_(state.slices),
      annotation_(state.annotation),
      last_record_(state.last_record),
      typical_(state.typical),
      segment_steady_(state.segment_steady),
      spacing_ns_(state.spacing_ns),
      previous_segment_ns_(state.previous_segment_ns),
      segment_first_step_(state.segment_first_step),
      segment_intervals_(state.segment_intervals) {
  region_.begin_ns = state.begin_ns;
  region_.slices_before = state.slices;
  region_.record_before = state.last_record;
  region_.continued_intervals = state.segment_intervals;
  region_.continued_first_step = state.segment_first_step;
  region_.records = state.recent;
  records_at_elastic_ = state.recent.size() - std::min<size_t>(state.recent.size(), state.records_since_elastic);
  if (state.attempt.has_value()) {
    AttemptSpan span;
    span.start_ns = state.attempt->start_ns;
    span.continues = true;
    span.state = *state.attempt;
    if (!state.recent.empty()) {
      const auto last = static_cast<uint32_t>(state.recent.size() - 1);
      region_.segments.push_back({.attempt = 0, .begin = last, .end = last + 1});
      region_.continues_segment = true;
      span.segment_end = 1;
    }
    region_.attempts.push_back(std::move(span));
  }
  for (const HeldInterval& held : state.held) {
    region_.claims.push_back({.start_ns = held.start_ns,
                              .end_ns = held.end_ns,
                              .sequence = sequence_++,
                              .attempt = 0,
                              .time_class = held.time_class,
                              .custom = held.custom});
  }
  for (OpenEvent& open : open_) open.sequence = sequence_++;
}

void Fold::add(const Event& event, const Key& key) {
  const int64_t ns = key.ns;
  can_cut_ = false;
  last_ns_ = ns;
  ++region_.events;
  const Kind kind = event.kind;
  if (kind == Kind::kDisruption) {  // explains, and accounts nothing
    on_disruption(event, ns);
    return;
  }
  if (event.origin != own_origin_ && !belongs(event, key)) return;
  if (kind == Kind::kJobStart) {
    on_job_start(event, ns);
    return;
  }
  if (!in_attempt()) open_attempt(event, ns, false);
  if (is_elastic_entry(kind)) records_at_elastic_ = region_.records.size();
  if (kind == Kind::kStepStart) {
    on_step(event, ns);
    return;
  }
  AttemptState& attempt = current().state;
  const int64_t end_ns = ns + event.duration_ns;
  attempt.last_ns = std::max(attempt.last_ns, end_ns);
  switch (kind) {
    case Kind::kStepEnd:
      if (has_records() && event.step == region_.records.back().step && ns > region_.records.back().ns) {
        current().step_ends_ns.push_back(ns);
      }
      break;
    case Kind::kJobEnd:
      (event.has(event::kFailed) ? attempt.failed_ns : attempt.completed_ns) = ns;
      break;
    case Kind::kProcessExit:
      on_exit(event, ns);
      break;
    case Kind::kHeartbeat:
      attempt.last_heartbeat_ns = ns;
      break;
    case Kind::kCheckpointSave:
    case Kind::kCheckpointRestore:
      if (event.duration_ns > 0) {
        region_.claims.push_back(
            {.start_ns = ns,
             .end_ns = end_ns,
             .sequence = sequence_++,
             .attempt = static_cast<uint32_t>(region_.attempts.size() - 1),
             .time_class = kind == Kind::kCheckpointSave ? TimeClass::kCheckpointSave : TimeClass::kCheckpointRestore,
             .custom = 0});
      }
      break;
    case Kind::kSliceCounts:
      if (event.detail != nullptr) {
        slices_ = SliceCounts{event.detail->active_slices, event.detail->total_slices, event.detail->available_slices};
        region_.slices.push_back({ns, *slices_});
      }
      break;
    default:
      if (event::is_start(kind)) {
        on_start(event, ns);
      } else if (event::is_end(kind)) {
        on_end(event, ns);
      }
      break;
  }
  // Before the first step record all is decided as long as nothing is open and nothing told of an end, which may turn
  // out to have been the attempt's death.
  const AttemptState& now = current().state;
  can_cut_ = can_cut_ || (!has_records() && open_.empty() && !now.completed_ns.has_value() &&
                          !now.failed_ns.has_value() && !now.exit.has_value() && !now.exit_zero.has_value());
}

bool Fold::belongs(const Event& event, const Key& key) {
  if (event.process_index() != 0) return true;  // checkpoint statistics of another rank: of whichever attempt runs
  if (event.origin == nullptr || event.origin->attempt_id.empty()) return true;
  const std::string_view id = event.origin->attempt_id;
  if (in_attempt() && current().state.id == id) {
    own_origin_ = event.origin;
    return true;
  }
  if (!event.origin->role.empty() || event.kind == Kind::kHeartbeat) return false;  // only a trainer opens an attempt
  if (in_attempt() && current().state.id.empty() && event.kind != Kind::kJobStart) {
    current().state.id = id;
    current().state.host = event.origin->host;
    return true;
  }
  // Of an attempt that began before and is not the current one: another has followed.
  if (const std::optional<Key> opening = order_.opening_of(id); opening.has_value() && *opening < key) return false;
  if (event.kind == Kind::kJobStart && (!in_attempt() || current().state.id.empty())) return true;
  open_attempt(event, key.ns, event.kind == Kind::kJobStart);
  return event.kind != Kind::kJobStart;
}

void Fold::on_job_start(const Event& event, int64_t ns) {
  if (in_attempt() && !has_records() && !current().state.first_step.has_value()) {
    AttemptState& attempt = current().state;
    const bool same_id = event.origin != nullptr && !attempt.id.empty() && attempt.id == event.origin->attempt_id;
    if (attempt.opened_ns == kNoTime && (same_id || ns - attempt.start_ns < kStrayBeforeStartNs)) {
      attempt.opened_ns = ns;
      attempt.last_ns = std::max(attempt.last_ns, ns);
      if (event.origin != nullptr && attempt.id.empty()) {
        attempt.id = event.origin->attempt_id;
        attempt.host = event.origin->host;
      }
      return;
    }
    if (attempt.opened_ns != kNoTime && ns - attempt.opened_ns < kSameStartNs) {
      region_.findings[static_cast<size_t>(FindingKind::kTwoWriters)].add(ns);
      return;
    }
  }
  open_attempt(event, ns, true);
}

void Fold::open_attempt(const Event& event, int64_t ns, bool by_job_start) {
  if (in_attempt()) close_attempt(ns);
  own_origin_ = nullptr;
  annotation_.reset();
  AttemptSpan span;
  span.start_ns = ns;
  span.segment_begin = span.segment_end = static_cast<uint32_t>(region_.segments.size());
  span.state.start_ns = span.state.last_ns = ns;
  if (by_job_start) span.state.opened_ns = ns;
  if (event.origin != nullptr && event.process_index() == 0) {
    span.state.id = event.origin->attempt_id;
    span.state.host = event.origin->host;
  }
  region_.attempts.push_back(std::move(span));
  attempt_records_ = records_at_elastic_ = region_.records.size();
  spacing_ns_ = 0;
  previous_segment_ns_ = kNoTime;
  segment_intervals_ = 0;
  segment_steady_ = {};
  can_cut_ = true;
}

void Fold::on_step(const Event& event, int64_t ns) {
  auto& records = region_.records;
  const bool first = !has_records();
  if (!first && is_second_writer(event.step, ns)) {
    region_.findings[static_cast<size_t>(FindingKind::kTwoWriters)].add(ns);
    return;
  }
  AttemptSpan& attempt = current();
  AttemptState& state = attempt.state;
  state.last_ns = std::max(state.last_ns, ns);
  state.completed_ns.reset();
  state.failed_ns.reset();
  state.exit.reset();
  state.exit_zero.reset();
  if (!attempt.step_ends_ns.empty()) attempt.step_ends_ns.clear();
  if (!attempt.late_loads.empty()) {
    for (const auto& [start_ns, end_ns] : attempt.late_loads) region_.overlapped_loads_ns += end_ns - start_ns;
    attempt.late_loads.clear();
  }
  const bool rolled_back = !first && event.step <= records.back().step;
  if (first || rolled_back) {
    if (rolled_back) previous_segment_ns_ = records.back().ns;
    if (first) state.first_step = event.step;
    spacing_ns_ = 0;
    segment_intervals_ = 0;
    segment_steady_ = {};
    segment_first_step_ = event.step;
    const auto at = static_cast<uint32_t>(records.size());
    if (rolled_back && annotation_.has_value()) {
      region_.rollback_annotations.emplace_back(static_cast<uint32_t>(region_.segments.size()), *annotation_);
    }
    region_.segments.push_back({static_cast<uint32_t>(region_.attempts.size() - 1), at, at});
    attempt.segment_end = static_cast<uint32_t>(region_.segments.size());
  } else {
    spacing_ns_ = ns - records.back().ns;
    if (segment_intervals_ < kSettledIntervals) ++segment_intervals_;
  }
  records.push_back({event.step, ns});
  last_record_ = records.back();
  annotation_.reset();
  region_.segments.back().end = static_cast<uint32_t>(records.size());
  if (!undecided_.empty() || !open_.empty()) {
    decide_loads(rolled_back);
    forget_old_starts();
  }
  can_cut_ = rolled_back || segment_intervals_ == kSettledIntervals;
}

bool Fold::is_second_writer(int64_t step, int64_t ns) const {
  const auto& records = region_.records;
  // Beyond a second only the record before can be in reach: half an interval does not reach over a whole one.
  if (step > records.back().step && (previous_segment_ns_ == kNoTime || ns - previous_segment_ns_ >= kSecondWriterNs)) {
    return false;
  }
  const int64_t twice_reach_ns = std::max(2 * kSecondWriterNs, spacing_ns_);
  uint32_t looked_at = 0;
  for (size_t i = records.size(); i-- > attempt_records_ && looked_at + 1 < kSecondWriterRecords; ++looked_at) {
    if (2 * (ns - records[i].ns) >= twice_reach_ns) return false;
    if (records[i].step == step) return i >= records_at_elastic_;
  }
  return false;
}

void Fold::on_exit(const Event& event, int64_t ns) {
  AttemptState& attempt = current().state;
  const Exit seen{ns, event.exit_value, event.flags};
  if (event.has(event::kCode) && event.exit_value == 0) {
    if (!attempt.exit_zero.has_value()) attempt.exit_zero = seen;
  } else {
    attempt.exit = seen;
  }
}

void Fold::on_disruption(const Event& event, int64_t ns) {
  Annotation written{.ns = ns, .cause = "unknown", .text = {}, .source = "user", .planned = false};
  if (event.detail != nullptr) {
    if (!event.detail->cause.empty()) written.cause = event.detail->cause;
    written.text = event.detail->text;
  }
  if (event.origin != nullptr && !event.origin->role.empty()) {
    written.source = event.origin->role == "launcher" ? "launcher" : "platform";
  }
  written.planned = written.cause == "planned" || (annotation_.has_value() && annotation_->planned);
  annotation_ = std::move(written);
}

void Fold::on_start(const Event& event, int64_t ns) {
  OpenEvent open{.kind = event.kind, .start_ns = ns, .time_class = class_of(event.kind, event.name)};
  if (event.kind == Kind::kCustomStart) {
    const CustomName name = names_.find_or_add(event.name);
    open.name = name.identity;
    open.custom = name.index;
  } else if (event.kind == Kind::kElasticWaitStart) {
    open.name = identity_of(event.name);
  } else if (event.kind == Kind::kDataLoadingStart) {
    const bool sync = event.has(event::kBlocking) || !has_records();
    open.load = sync ? LoadKind::kSync : LoadKind::kUndecided;
  }
  open.sequence = sequence_++;
  if (open_.size() >= kMaxOpenEvents) {
    region_.findings[static_cast<size_t>(FindingKind::kOpenEventsLimit)].add(ns);
    claim(open_.front(), ns);
    drop_open(0);
  }
  open_.push_back(open);
}

void Fold::on_end(const Event& event, int64_t ns) {
  const Kind start = event::start_of(event.kind);
  uint64_t name = 0;
  if (start == Kind::kCustomStart) {
    name = names_.find_or_add(event.name).identity;
  } else if (start == Kind::kElasticWaitStart) {
    name = identity_of(event.name);
  }
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].kind == start && open_[i].name == name) {
      claim(open_[i], ns);
      drop_open(i);
      return;
    }
  }
}

void Fold::claim(const OpenEvent& open, int64_t end_ns) {
  if (open.start_ns >= end_ns) return;
  if (open.load == LoadKind::kAsync) {
    current().late_loads.emplace_back(open.start_ns, end_ns);
    return;
  }
  // Filled in where it stands: a copy of what has just been written field by field waits for the stores.
  Claim& made = (open.load == LoadKind::kUndecided ? undecided_ : region_.claims).emplace_back();
  made.start_ns = open.start_ns;
  made.end_ns = end_ns;
  made.sequence = open.sequence;
  made.attempt = static_cast<uint32_t>(region_.attempts.size() - 1);
  made.time_class = open.time_class;
  made.custom = open.custom;
}

void Fold::drop_open(size_t index) {
  if (cut_.has_value() && index < open_at_cut_) --open_at_cut_;
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
}

void Fold::decide_loads(bool rolled_back) {
  for (const Claim& load : undecided_) {
    if (rolled_back) {
      region_.claims.push_back(load);
    } else {
      region_.overlapped_loads_ns += load.end_ns - load.start_ns;
    }
  }
  undecided_.clear();
  for (OpenEvent& open : open_) {
    if (open.load == LoadKind::kUndecided) open.load = rolled_back ? LoadKind::kSync : LoadKind::kAsync;
  }
}

void Fold::forget_old_starts() {
  for (size_t i = open_.size(); i-- > 0;) {
    if (++open_[i].records_since < kOpenRecords) continue;
    region_.findings[static_cast<size_t>(FindingKind::kUnclosedEvent)].add(open_[i].start_ns);
    drop_open(i);
  }
}

void Fold::close_attempt(int64_t death_limit_ns) {
  AttemptSpan& attempt = current();
  AttemptState& state = attempt.state;
  region_.last_event_ns = std::max(region_.last_event_ns, state.last_ns);
  if (!state.completed_ns.has_value() && !state.failed_ns.has_value() && state.exit_zero.has_value()) {
    state.completed_ns = state.exit_zero->ns;
  }
  if (state.completed_ns.has_value()) {
    attempt.death_ns = *state.completed_ns;
  } else if (state.failed_ns.has_value()) {
    attempt.death_ns = *state.failed_ns;
  } else {
    const bool outlives = !state.id.empty() && order_.outlives_successor(state.id);
    attempt.death_ns = state.exit.has_value() ? state.exit->ns : outlives ? death_limit_ns : state.last_ns;
  }
  attempt.death_ns = std::min(attempt.death_ns, death_limit_ns);
  attempt.closed = attempt.followed = true;
  attempt.next_start_ns = death_limit_ns;
  attempt.annotation = annotation_;
  end_claims(attempt.death_ns);
}

void Fold::end_claims(int64_t closing_ns) {
  AttemptSpan& attempt = current();
  for (const Claim& load : undecided_) attempt.late_loads.emplace_back(load.start_ns, load.end_ns);
  undecided_.clear();
  // An event that began after the last step record runs to the end; a step record after it shows that it was over.
  std::vector<OpenEvent> left = std::exchange(open_, {});
  open_at_cut_ = 0;
  for (OpenEvent& open : left) {
    if (open.records_since > 0) {
      region_.findings[static_cast<size_t>(FindingKind::kUnclosedEvent)].add(open.start_ns);
      continue;
    }
    if (open.load == LoadKind::kUndecided) open.load = LoadKind::kAsync;
    claim(open, closing_ns);
  }
}

void Fold::cut() {
  FoldState state;
  if (in_attempt()) region_.last_event_ns = std::max(region_.last_event_ns, current().state.last_ns);
  state.begin_ns = last_ns_;
  if (in_attempt()) state.attempt = current().state;
  const auto& records = region_.records;
  if (has_records()) {
    size_t begin = records.size() - 1;
    while (begin > attempt_records_ && records.size() - begin < kSecondWriterRecords &&
           last_ns_ - records[begin - 1].ns < kSecondWriterNs) {
      --begin;
    }
    state.recent.assign(records.begin() + static_cast<std::ptrdiff_t>(begin), records.end());
    state.records_since_elastic = static_cast<uint32_t>(records.size() - std::max(begin, records_at_elastic_));
    state.spacing_ns = spacing_ns_;
    state.segment_intervals = segment_intervals_;
    state.segment_first_step = segment_first_step_;
    if (previous_segment_ns_ != kNoTime && last_ns_ - previous_segment_ns_ < kSecondWriterNs) {
      state.previous_segment_ns = previous_segment_ns_;
    }
  }
  state.open = open_;
  for (const Claim& held : region_.claims) {
    if (held.end_ns > last_ns_ && held.attempt + 1 == region_.attempts.size()) {
      state.held.push_back({held.start_ns, held.end_ns, held.time_class, held.custom});
    }
  }
  state.slices = slices_;
  state.annotation = annotation_;
  state.last_record = last_record_;
  state.typical = typical_;
  state.segment_steady = segment_steady_;
  region_.end_ns = last_ns_;
  region_.records_end = static_cast<uint32_t>(records.size());
  region_.segments_end = static_cast<uint32_t>(region_.segments.size());
  region_.attempts_end = static_cast<uint32_t>(region_.attempts.size());
  open_at_cut_ = static_cast<uint32_t>(open_.size());
  cut_ = std::move(state);
  counted_at_cut_ = {region_.overlapped_loads_ns, region_.findings, region_.events, region_.last_event_ns,
                     region_.slices.size()};
}

Region Fold::take() {
  if (cut_.has_value()) {  // what was read ahead is counted by the next region
    region_.overlapped_loads_ns = counted_at_cut_.overlapped_loads_ns;
    region_.findings = counted_at_cut_.findings;
    region_.events = counted_at_cut_.events;
    region_.last_event_ns = counted_at_cut_.last_event_ns;
    region_.slices.resize(counted_at_cut_.slices);
  }
  return std::move(region_);
}

int64_t Fold::close(int64_t now_ns, int64_t dead_after_ns, int64_t last_event_ns) {
  if (in_attempt()) region_.last_event_ns = std::max(region_.last_event_ns, current().state.last_ns);
  int64_t end_ns = std::max({now_ns, last_event_ns, region_.last_event_ns});
  if (in_attempt()) {
    AttemptSpan& attempt = current();
    AttemptState& state = attempt.state;
    if (!state.completed_ns.has_value() && !state.failed_ns.has_value() && state.exit_zero.has_value()) {
      state.completed_ns = state.exit_zero->ns;
    }
    attempt.closed = true;
    attempt.annotation = annotation_;
    if (state.completed_ns.has_value() || state.failed_ns.has_value()) {
      end_ns = attempt.death_ns = state.completed_ns.has_value() ? *state.completed_ns : *state.failed_ns;
    } else if (state.exit.has_value()) {
      attempt.death_ns = state.exit->ns;
      attempt.dead = true;
    } else {
      attempt.death_ns = state.last_ns;
      attempt.dead = state.last_heartbeat_ns != kNoTime && end_ns - attempt.death_ns > dead_after_ns;
    }
    end_claims(attempt.dead ? attempt.death_ns : end_ns);
  }
  region_.end_ns = end_ns;
  region_.is_last = true;
  region_.records_end = static_cast<uint32_t>(region_.records.size());
  region_.segments_end = static_cast<uint32_t>(region_.segments.size());
  region_.attempts_end = static_cast<uint32_t>(region_.attempts.size());
  return end_ns;
}

}  // namespace goodput::ledger
