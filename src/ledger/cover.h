// Gives out a region's time in order: what events own to their class, the rest as told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "ledger/ownership.h"
#include "ledger/tally.h"

namespace goodput::ledger {

/// Spans must come in time order. Copying one lets a caller look ahead with another tally.
class Cover {
 public:
  Cover(std::span<const Owned> owned, Tally& tally) : owned_(owned), tally_(&tally) {}

  /// [from, to): unowned time to `rest`.
  void put(int64_t from_ns, int64_t to_ns, TimeClass rest) {
    advance(from_ns);
    if (next_ == owned_.size() || owned_[next_].start_ns >= to_ns) {
      tally_->add(from_ns, to_ns, rest);
      return;
    }
    put_head(from_ns, to_ns, 0, rest, rest, false);
  }

  /// The first `head_ns` unowned nanoseconds to `head`, the rest to `rest`; owned time to its class, or to waste.
  void put_head(int64_t from_ns, int64_t to_ns, int64_t head_ns, TimeClass head, TimeClass rest, bool owned_is_waste) {
    advance(from_ns);
    int64_t at_ns = from_ns;
    const auto unowned = [&](int64_t until_ns) {
      const int64_t split_ns = at_ns + std::min(head_ns, until_ns - at_ns);
      tally_->add(at_ns, split_ns, head);
      tally_->add(split_ns, until_ns, rest);
      head_ns -= split_ns - at_ns;
      at_ns = until_ns;
    };
    for (size_t i = next_; i < owned_.size() && owned_[i].start_ns < to_ns; ++i) {
      const Owned& owned = owned_[i];
      if (owned.end_ns <= at_ns) continue;
      if (owned.start_ns > at_ns) unowned(owned.start_ns);
      const int64_t until_ns = std::min(owned.end_ns, to_ns);
      if (owned_is_waste) {
        tally_->add(at_ns, until_ns, TimeClass::kWastedProgress);
      } else {
        tally_->add(at_ns, until_ns, owned.time_class, owned.custom);
      }
      at_ns = until_ns;
    }
    if (at_ns < to_ns) unowned(to_ns);
  }

  /// All of [from, to), owned or not.
  void put_all(int64_t from_ns, int64_t to_ns, TimeClass time_class) { tally_->add(from_ns, to_ns, time_class); }

  [[nodiscard]] int64_t unowned_ns(int64_t from_ns, int64_t to_ns) {
    advance(from_ns);
    int64_t unowned = to_ns - from_ns;
    for (size_t i = next_; i < owned_.size() && owned_[i].start_ns < to_ns; ++i) {
      unowned -= std::min(owned_[i].end_ns, to_ns) - std::max(owned_[i].start_ns, from_ns);
    }
    return unowned;
  }

  void use(Tally& tally) { tally_ = &tally; }

 private:
  void advance(int64_t from_ns) {
    while (next_ < owned_.size() && owned_[next_].end_ns <= from_ns) ++next_;
  }

  std::span<const Owned> owned_;
  size_t next_ = 0;
  Tally* tally_;
};

}  // namespace goodput::ledger
