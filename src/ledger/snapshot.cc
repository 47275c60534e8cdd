// A ledger's settled part as bytes. What is not settled is read from the source again.
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <string>

#include "base/checksum.h"
#include "ledger/codec.h"
#include "ledger/engine.h"

namespace goodput::ledger {

namespace {

// Raise it when anything written here, or what it means, changes: snapshots are a cache and are made anew.
constexpr uint64_t kSnapshotVersion = 3;
constexpr int kBinShift = 38;  // the middle of a bin has no bits below
constexpr uint64_t kSnapshotMagic = 0x676f6f64'736e6170;

uint64_t checksum_of(std::string_view bytes) { return crc32c(std::as_bytes(std::span(bytes))); }

}  // namespace

template <typename Archive>
void fields(Archive& archive, SegmentPart& value) {
  visit_all(archive, value.warmup, value.steady);
}
template <typename Archive>
void fields(Archive& archive, FirstSteady& value) {
  visit_all(archive, value.times, value.size);
  if (value.size > value.times.size()) value.size = 0;
}
template <typename Archive>
void fields(Archive& archive, SliceSums& value) {
  visit_all(archive, value.known_ns, value.stepping, value.available);
}
template <typename Archive>
void fields(Archive& archive, FindingCount& value) {
  visit_all(archive, value.count, value.ns, value.first_ns);
}
template <typename Archive>
void fields(Archive& archive, Waste& value) {
  visit_all(archive, value.ns, value.steps);
}
template <typename Archive>
void fields(Archive& archive, DisruptionFacts& value) {
  visit_all(archive, value.rollback, value.ns, value.attempt, value.completed_end, value.last_step, value.resume_step,
            value.annotation, value.exit, value.stalled_ns, value.recovery_ns, value.recovery, value.waiting,
            value.carries_waste, value.waste, value.resume_before);
}
template <typename Archive>
void fields(Archive& archive, DisruptionEntry& value) {
  visit_all(archive, value.facts, value.waste_is_stale, value.waste);
}
template <typename Archive>
void fields(Archive& archive, AttemptEntry& value) {
  visit_all(archive, value.continues, value.ended, value.dead, value.start_ns, value.end_ns, value.state,
            value.last_step, value.totals);
}
template <typename Archive>
void fields(Archive& archive, Stretch& value) {
  visit_all(archive, value.end_key, value.settled_key, value.begin_ns, value.end_ns, value.end_state, value.resume_step,
            value.totals, value.disruptions, value.planned, value.unlisted_recovered, value.unlisted_recovery_ns,
            value.attempts_begun, value.max_productive_step, value.preserved_steps, value.overlapped_loads_ns,
            value.entering, value.leaving, value.running_steady, value.one_segment, value.runs_on, value.is_sensitive,
            value.sensitive_below, value.first_record, value.lead, value.step_times, value.is_counted,
            value.used_steady_before, value.steady_before, value.used_later, value.later, value.later_other,
            value.is_stale, value.steady, value.first_steady, value.first_continued, value.lowest_first_step,
            value.highest_step, value.open_tail, value.slices, value.findings, value.events, value.last_event_ns,
            value.attempts, value.disruption_entries, value.interval_times);
}
template <typename Archive>
void fields(Archive& archive, Options& value) {
  visit_all(archive, value.dead_after_ns, value.stall_factor.millionths, value.stall_floor_ns);
}

/// The strings and details of an event that outlives its log's text.
template <typename Archive>
void fields(Archive& archive, event::Event& value) {
  visit_all(archive, value.time_ns, value.position, value.fingerprint, value.step, value.duration_ns, value.kind,
            value.flags);
}

template <typename Archive>
void LogOrder::visit_fields(Archive& archive) {
  size_t markers = archive.size(markers_.size());
  markers_.resize(markers);
  for (Marker& marker : markers_) {
    visit_all(archive, marker.position, marker.fingerprint, marker.ns, marker.shift_ns, marker.high_ns, marker.untimed);
  }
  labelled_.resize(archive.size(labelled_.size()));
  for (auto& attempt : labelled_) {
    if constexpr (Archive::reading()) attempt = std::make_unique<Labelled>();
    visit_all(archive, attempt->id, attempt->host, attempt->first_ns, attempt->first_position, attempt->first_is_start,
              attempt->last_ns, attempt->last_position, attempt->outlives, attempt->last_step_ns, attempt->shift_ns);
    if constexpr (Archive::reading()) labelled_by_id_.emplace(attempt->id, attempt.get());
  }
  for (std::vector<OwnedEvent>* list : {&untimed_log_, &untimed_}) {
    const size_t size = archive.size(list->size());
    for (size_t i = 0; i < size; ++i) {
      event::Event event = Archive::reading() ? event::Event{} : (*list)[i].event();
      Key key = Archive::reading() ? Key{} : (*list)[i].key();
      visit_all(archive, event, key);
      if constexpr (Archive::reading()) list->emplace_back(event, key);
    }
  }
  std::vector<std::pair<std::string, std::pair<int64_t, event::Position>>> unopened(unopened_.begin(), unopened_.end());
  visit(archive, unopened);
  if constexpr (Archive::reading()) unopened_.insert(unopened.begin(), unopened.end());
  std::vector<event::Position> dropped(dropped_.begin(), dropped_.end());
  visit_all(archive, dropped, shifts_, any_, last_position_, raw_low_ns_, raw_high_ns_, high_ns_, must_rebuild_);
  if constexpr (Archive::reading()) dropped_.insert(dropped.begin(), dropped.end());
}

template <typename Archive>
void fields(Archive& archive, LogOrder& value) {
  value.visit_fields(archive);
}

int64_t Ledger::Engine::settled_before_ns() const {
  // An attempt on another host may have been moved forward: its events carry earlier times in the source.
  return stretches_.empty() ? std::numeric_limits<int64_t>::min() : stretches_.back().end_ns - kHostShiftMostNs;
}

std::string Ledger::Engine::snapshot() {
  // What is late or out of order is folded in first; where that fails, the reader of the snapshot starts from nothing.
  leave_bulk();
  if (order_.must_rebuild() || must_rebuild_) {
    if (!rebuild().ok()) return {};
  }
  if (!late_.empty() && !refold().ok()) return {};
  std::string out;
  Writer writer(out);
  uint64_t magic = kSnapshotMagic;
  uint64_t version = kSnapshotVersion;
  std::vector<std::string> names = names_.kept();
  visit_all(writer, magic, version, options_, order_, names, stretches_, newest_key_, late_name_, too_late_,
            too_late_first_ns_);
  std::vector<std::pair<int64_t, int64_t>> bins;
  int64_t before = 0;
  for (const StepTimeBins::Bin& bin : bins_.bins()) {
    const auto bits = std::bit_cast<int64_t>(bin.ns) >> kBinShift;
    bins.emplace_back(bits - before, bin.count);
    before = bits;
  }
  visit(writer, bins);
  uint64_t checksum = checksum_of(out);
  visit(writer, checksum);
  return out;
}

bool Ledger::Engine::restore(std::string_view snapshot) {
  Reader reader(std::as_bytes(std::span(snapshot)));
  uint64_t magic = 0;
  uint64_t version = 0;
  visit_all(reader, magic, version);
  if (reader.failed() || magic != kSnapshotMagic || version != kSnapshotVersion) return false;
  Options options;
  std::vector<std::string> names;
  std::vector<std::pair<int64_t, int64_t>> bins;
  visit_all(reader, options, order_, names, stretches_, newest_key_, late_name_, too_late_, too_late_first_ns_, bins);
  const size_t length = snapshot.size() - reader.rest().size();
  uint64_t checksum = 0;
  visit(reader, checksum);
  if (reader.failed() || !(options == options_) || checksum != checksum_of(snapshot.substr(0, length))) return false;
  names_.restore(std::move(names));
  int64_t bits = 0;
  for (const auto& [distance, count] : bins) {
    bits += distance;
    bins_.add(std::bit_cast<double>(bits << kBinShift), count);
  }
  for (const Stretch& stretch : stretches_) {
    settled_totals_.add(stretch.totals);
    settled_key_ = std::max(settled_key_, stretch.settled_key);
  }
  if (!stretches_.empty()) {
    std::span<const std::byte> in = std::as_bytes(std::span(stretches_.back().end_state));
    if (!FoldState::decode(in, state_)) return false;
  }
  must_load_tail_ = true;
  return true;
}

}  // namespace goodput::ledger
