// What a block's events are predicted to be from those before them: shared by the encoder and the decoder of columns.
//
//   TimePredictor times(kinds);
//   residual = delta - times.expected(before, kind);      // encoder
//   delta = residual + times.expected(before, kind);      // decoder
//   times.learn(before, kind, delta);                     // both
//
// All arithmetic wraps: any times whatever come back as they were.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/varint.h"
#include "event/event.h"
#include "journal/live_event.h"

namespace goodput::journal {

constexpr int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t wrapping_subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

/// The running mean of the time from an event of one kind to the next event of its lane, by both kinds.
class TimePredictor {
 public:
  /// Kinds are numbered within the block: `kinds` of them, and one number more for "no event before".
  explicit TimePredictor(size_t kinds) : kinds_(kinds), means_((kinds + 1) * kinds) {}

  struct Mean {
    int64_t scaled = 0;  // by 2^kFraction
    int shift = 0;
    [[nodiscard]] int64_t expected() const { return scaled >> kFraction; }
    void learn(int64_t delta) {
      const auto target = static_cast<int64_t>(static_cast<uint64_t>(delta) << kFraction);
      scaled = wrapping_add(scaled, wrapping_subtract(target, scaled) >> shift);
      shift = std::min(shift + 1, kMemory);
    }
  };
  /// The means of all kinds after a kind: row(before)[kind].
  [[nodiscard]] Mean* row(size_t before) { return means_.data() + before * kinds_; }

 private:
  // A mean over some 2^3 deltas: steps that jitter by 1 % take 3.19 bytes with it, 3.34 when predicted by the last
  // delta alone, 3.18 with 2^4, which follows a change of pace later.
  static constexpr int kMemory = 3;
  static constexpr int kFraction = 8;

  size_t kinds_;
  std::vector<Mean> means_;
};

/// A value of its kind: the last one plus the last difference.
struct ValuePredictor {
  int64_t last = 0;
  int64_t difference = 0;
  int64_t seen = 0;  ///< all ones once there was a value: before that there is no difference
  [[nodiscard]] int64_t expected() const { return wrapping_add(last, difference); }
  void learn(int64_t value) {
    difference = wrapping_subtract(value, last) & seen;
    seen = -1;
    last = value;
  }
};

/// Numbers kinds by their first appearance among a block's shapes.
class KindNumbers {
 public:
  KindNumbers() { numbers_.fill(kAbsent); }
  uint8_t number(event::Kind kind) {
    uint8_t& number = numbers_[static_cast<uint8_t>(kind)];
    if (number == kAbsent) number = count_++;
    return number;
  }
  [[nodiscard]] size_t count() const { return count_; }

 private:
  static constexpr uint8_t kAbsent = 0xff;
  std::array<uint8_t, 256> numbers_;
  uint8_t count_ = 0;
};

/// Where a lane stands within a block.
struct LaneState {
  uint16_t lane = 0;
  size_t before = 0;  // number of the last event's kind
  int64_t boot_ns = 0;
};

inline LaneState& state_of(std::vector<LaneState>& lanes, uint16_t lane, size_t no_kind, int64_t base_ns) {
  for (LaneState& state : lanes) {
    if (state.lane == lane) return state;
  }
  return lanes.emplace_back(LaneState{.lane = lane, .before = no_kind, .boot_ns = base_ns});
}

/// Attached values, each predicted to be the one before; the two parts of an imported position, to go on as they did.
struct AttachmentPredictor {
  using ImportedResiduals = std::array<uint64_t, 4>;

  int64_t ahead_ns = 0;  // wall time less boot time
  int64_t duration_ns = 0;
  std::array<uint64_t, 3> work{};
  ValuePredictor major, minor;
  uint16_t origin = kNoName;

  [[nodiscard]] ImportedResiduals residuals(const ImportedFacts& facts) const {
    const auto difference = [](uint64_t part, const ValuePredictor& before) {
      return zigzag(wrapping_subtract(static_cast<int64_t>(part), before.expected()));
    };
    return {difference(facts.position.major, major), difference(facts.position.minor, minor), facts.fingerprint,
            uint64_t{facts.origin} ^ origin};
  }
  [[nodiscard]] ImportedFacts imported(const ImportedResiduals& residuals) const {
    const auto part = [](uint64_t residual, const ValuePredictor& before) {
      return static_cast<uint64_t>(wrapping_add(unzigzag(residual), before.expected()));
    };
    return {.position = {.major = part(residuals[0], major), .minor = part(residuals[1], minor)},
            .fingerprint = residuals[2],
            .origin = static_cast<uint16_t>(residuals[3] ^ origin)};
  }
  void learn(const ImportedFacts& facts) {
    major.learn(static_cast<int64_t>(facts.position.major));
    minor.learn(static_cast<int64_t>(facts.position.minor));
    origin = facts.origin;
  }
};

/// Doubles that repeat cost nothing; whole ones have zeros at the low end, which the swap brings to the top.
inline uint64_t double_residual(uint64_t bits, uint64_t before) { return __builtin_bswap64(bits ^ before); }
inline uint64_t double_bits(uint64_t residual, uint64_t before) { return __builtin_bswap64(residual) ^ before; }

}  // namespace goodput::journal
