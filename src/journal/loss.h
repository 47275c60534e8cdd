// What a reader could not give back, as a value: losses are part of what was read, never a reason to stop.
//
//   for (const Loss& loss : segment.losses) {
//     std::printf("%s%llu events: %s\n", loss.at_most ? "up to " : "", loss.events, describe(loss.reason));
//   }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace goodput::journal {

/// Stored in sealed segments: never renumber.
enum class LossReason : uint8_t {
  kDamagedSlot = 1,    ///< a slot of a live segment, or what is attached to one, does not check
  kDamagedBlock = 2,   ///< a block of a sealed segment does not check
  kCutShort = 3,       ///< the file ends, or is all zero, before its segment does
  kMissingNumber = 4,  ///< a lane counts slots that are nowhere: zeroed, or being written when the process died
  kDamagedName = 5,    ///< both copies of a name: events refer to it, nothing says it
  kDamagedHeader = 6,  ///< both copies of a header: who wrote it is known from the folder, or not at all
  kUnknownKind = 7,    ///< events of a newer program
};

constexpr std::string_view describe(LossReason reason) {
  switch (reason) {
    case LossReason::kDamagedSlot:
      return "damaged slot of a live segment";
    case LossReason::kDamagedBlock:
      return "damaged block of a sealed segment";
    case LossReason::kCutShort:
      return "segment cut short";
    case LossReason::kMissingNumber:
      return "slots that were counted are not there";
    case LossReason::kDamagedName:
      return "damaged name";
    case LossReason::kDamagedHeader:
      return "damaged header";
    case LossReason::kUnknownKind:
      return "written by a newer program";
  }
  return "unknown";
}

struct Loss {
  LossReason reason = LossReason::kDamagedSlot;
  bool at_most = false;  ///< `events` is an upper bound: nothing tells how much stood there
  uint64_t events = 0;
  uint64_t names = 0;
  uint64_t bytes = 0;
  friend bool operator==(const Loss&, const Loss&) = default;
};

/// Adds `loss` to the one with its reason: a list holds each reason once. Nothing lost adds nothing.
inline void add_loss(std::vector<Loss>& losses, const Loss& loss) {
  if (loss.events == 0 && loss.names == 0 && loss.bytes == 0) return;
  for (Loss& known : losses) {
    if (known.reason != loss.reason) continue;
    known.events += loss.events;
    known.names += loss.names;
    known.bytes += loss.bytes;
    known.at_most = known.at_most || loss.at_most;
    return;
  }
  losses.push_back(loss);
}

}  // namespace goodput::journal
