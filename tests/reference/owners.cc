// Rules 6 to 8: which event owns which instant of its attempt.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "base/upper.h"
#include "reference/job.h"

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

constexpr size_t kOpenSteps = 16;
constexpr size_t kOpenEvents = 4'096;
constexpr size_t kCustomNames = 256;
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

std::string_view class_of(const Event& start) {
  switch (start.kind) {
    case Kind::kAcceleratorInitStart:
      return "ACCELERATOR_INITIALIZATION";
    case Kind::kTrainingPrepStart:
      return "TRAINING_PREP";
    case Kind::kDataLoadingStart:
      return start.has(event::kBlocking) ? kDataLoadingSync : kDataLoading;
    case Kind::kCheckpointSaveStart:
    case Kind::kCheckpointSave:
      return "CHECKPOINT_SAVE";
    case Kind::kCheckpointRestoreStart:
    case Kind::kCheckpointRestore:
      return "CHECKPOINT_RESTORE";
    case Kind::kCustomStart:
      return kCustomEvents;
    case Kind::kCompilationStart:
      return kProgramStartup;
    case Kind::kElasticReinitStart:
      return "ELASTIC_REINITIALIZATION";
    default:
      break;
  }
  std::string type(start.name);  // kElasticWaitStart
  for (char& c : type) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return type.find("scale_up") != std::string::npos ? "ELASTIC_SCALE_UP" : "ELASTIC_SLICE_DOWN";
}

/// The first 256 names in time order are kept apart.
std::map<std::string, std::string> custom_names(const Job& job) {
  std::map<std::string, std::string> shown;
  for (const Attempt& attempt : job.attempts) {
    for (const Entry& entry : attempt.entries) {
      if (event::start_of(entry.event->kind) != Kind::kCustomStart) continue;
      const std::string name = upper(entry.event->name);
      shown.emplace(name, shown.size() < kCustomNames ? name : "(MORE)");
    }
  }
  return shown;
}

/// Pairs the entries of one attempt.
class Pairing {
 public:
  Pairing(Attempt& attempt, const std::map<std::string, std::string>& names, Findings& findings)
      : attempt_(attempt), names_(names), findings_(findings) {}

  void run(int64_t closing_ns) {
    for (const Entry& entry : attempt_.entries) {
      const Kind kind = entry.event->kind;
      if (kind == Kind::kStepStart) {
        ++steps_;
        last_step_rank_ = entry.rank;
      } else if (event::is_start(kind)) {
        start(entry);
      } else if (event::is_end(kind)) {
        end(entry);
      } else if (kind == Kind::kCheckpointSave || kind == Kind::kCheckpointRestore) {
        own({entry, key_of(entry), 0}, entry.time_ns + entry.event->duration_ns);
      }
    }
    for (const Open& open : open_) never_ended(open, closing_ns);
    for (const Open& open : forgotten_) never_ended(open, closing_ns);
  }

 private:
  using Key = std::pair<Kind, std::string>;
  struct Open {
    Entry entry;
    Key key;
    size_t steps_before;
  };

  static Key key_of(const Entry& entry) {
    const Kind kind = event::start_of(entry.event->kind);
    if (kind == Kind::kCustomStart) return {kind, upper(entry.event->name)};
    return {kind, kind == Kind::kElasticWaitStart ? std::string(entry.event->name) : ""};
  }

  void own(const Open& open, int64_t end_ns) {
    if (open.entry.time_ns >= end_ns) return;
    OwnedTime owned{class_of(*open.entry.event), "", open.entry.time_ns, end_ns, open.entry.rank};
    if (owned.class_name == kCustomEvents) owned.custom_name = names_.at(open.key.second);
    attempt_.events.push_back(std::move(owned));
  }

  /// An open start is forgotten once 16 step records have followed it.
  void forget() {
    const auto old = std::stable_partition(open_.begin(), open_.end(),
                                           [&](const Open& open) { return steps_ - open.steps_before < kOpenSteps; });
    forgotten_.insert(forgotten_.end(), old, open_.end());
    open_.erase(old, open_.end());
  }

  void start(const Entry& entry) {
    forget();
    if (open_.size() >= kOpenEvents) {
      ++findings_.too_many_open_events;
      own(open_.front(), entry.time_ns);
      open_.erase(open_.begin());
    }
    open_.push_back({entry, key_of(entry), steps_});
  }

  void end(const Entry& entry) {
    forget();
    const Key key = key_of(entry);
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& open) { return open.key == key; });
    if (found == open_.rend()) return;
    own(*found, entry.time_ns);
    open_.erase(std::next(found).base());
  }

  void never_ended(const Open& open, int64_t closing_ns) {
    if (last_step_rank_ && *last_step_rank_ > open.entry.rank) {
      ++findings_.unclosed_events;
    } else {
      own(open, closing_ns);
    }
  }

  Attempt& attempt_;
  const std::map<std::string, std::string>& names_;
  Findings& findings_;
  std::vector<Open> open_, forgotten_;  ///< in time order
  size_t steps_ = 0;
  std::optional<size_t> last_step_rank_;
};

/// Rule 7: a load overlaps a step when it starts between the first step record of a segment and its last; the last
/// segment of an attempt goes on for ever.
bool overlaps_a_step(const Job& job, size_t attempt, const OwnedTime& load) {
  for (size_t k = 0; k < job.segments.size(); ++k) {
    const Segment& segment = job.segments[k];
    if (segment.attempt != attempt || load.rank < segment.steps.front().rank) continue;
    if (job.last_of_attempt(k) || load.rank < segment.steps.back().rank) return true;
  }
  return false;
}

/// Greater is the owner: elastic events first, reinitialisation before waits; then the innermost.
auto precedence(const OwnedTime& event) {
  const bool reinit = event.class_name == "ELASTIC_REINITIALIZATION";
  const bool elastic = reinit || event.class_name == "ELASTIC_SCALE_UP" || event.class_name == "ELASTIC_SLICE_DOWN";
  return std::make_tuple(elastic, reinit, event.start_ns, event.rank);
}

}  // namespace

void pair_events(Job& job, Findings& findings) {
  const std::map<std::string, std::string> names = custom_names(job);
  for (size_t k = 0; k < job.attempts.size(); ++k) {
    Attempt& attempt = job.attempts[k];
    Pairing(attempt, names, findings).run(job.closing_ns(k));
    for (OwnedTime& owned : attempt.events) {
      if (owned.class_name == kDataLoading) {
        owned.class_name = overlaps_a_step(job, k, owned) ? kDataLoadingAsync : kDataLoadingSync;
      }
    }
  }
}

Owners::Owners(const std::vector<OwnedTime>& events) {
  std::vector<int64_t> cuts = {kNever, kForever};
  for (const OwnedTime& event : events) {
    if (event.class_name == kDataLoadingAsync) continue;
    cuts.push_back(event.start_ns);
    cuts.push_back(event.end_ns);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (size_t k = 0; k + 1 < cuts.size(); ++k) slices_.push_back({cuts[k], cuts[k + 1], nullptr});
  for (const OwnedTime& event : events) {
    if (event.class_name == kDataLoadingAsync) continue;
    const auto first = std::lower_bound(cuts.begin(), cuts.end(), event.start_ns) - cuts.begin();
    for (size_t k = static_cast<size_t>(first); slices_[k].start < event.end_ns; ++k) {
      const OwnedTime*& owner = slices_[k].owner;
      if (owner == nullptr || precedence(*owner) < precedence(event)) owner = &event;
    }
  }
}

size_t Owners::slice_after(const Rational& instant) const {
  const auto after = std::upper_bound(slices_.begin(), slices_.end(), instant,
                                      [](const Rational& at, const Slice& slice) { return at < slice.end; });
  return static_cast<size_t>(after - slices_.begin());
}

const OwnedTime* Owners::at(const Rational& instant) const { return slices_[slice_after(instant)].owner; }

Rational Owners::unowned_time(const Rational& from, const Rational& to) const {
  Rational total = 0;
  for (size_t k = slice_after(from); k < slices_.size() && slices_[k].start < to; ++k) {
    if (slices_[k].owner == nullptr) {
      total += std::min(to, Rational(slices_[k].end)) - std::max(from, Rational(slices_[k].start));
    }
  }
  return total;
}

Owners::Taken Owners::take(const Rational& from, const Rational& to, Rational amount) const {
  Taken taken;
  for (size_t k = slice_after(from); k < slices_.size() && slices_[k].start < to; ++k) {
    if (slices_[k].owner != nullptr) continue;
    const Rational start = std::max(from, Rational(slices_[k].start));
    const Rational end = std::min(to, Rational(slices_[k].end));
    const Rational cut = amount > 0 ? std::min(end, Rational(start + amount)) : start;
    if (cut > start) taken.head.push_back({start, cut});
    if (cut < end) taken.rest.push_back({cut, end});
    amount -= cut - start;
  }
  return taken;
}

}  // namespace goodput::reference
