// The limits of the accounting rules, each from docs/semantics.md, in one place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "event/event.h"

namespace goodput::ledger {

using event::kNanosecondsPerSecond;

// Reading a log.
constexpr int64_t kClockBehindNs = 10 * kNanosecondsPerSecond;       ///< a start earlier than this is a clock behind
constexpr int64_t kSameStartNs = 1 * kNanosecondsPerSecond;          ///< a second writer's job start
constexpr int64_t kStrayBeforeStartNs = 10 * kNanosecondsPerSecond;  ///< entries just before the first job start
constexpr int64_t kSecondWriterNs = 1 * kNanosecondsPerSecond;
constexpr uint32_t kSecondWriterRecords = 4096;
constexpr uint64_t kUntimedRedeliveryEntries = 16384;
constexpr int64_t kHostShiftLeastNs = 10 * kNanosecondsPerSecond;  ///< an attempt on another host: 10 s to 10 min
constexpr int64_t kHostShiftMostNs = 600 * kNanosecondsPerSecond;

// Rule 6.
constexpr uint32_t kOpenRecords = 16;  ///< step records after which an open start is forgotten
constexpr size_t kMaxOpenEvents = 4096;

// Rule 9.
constexpr uint32_t kWarmupIntervals = 5;
constexpr uint32_t kReferenceIntervals = 3;  ///< intervals 6, 7 and 8
constexpr uint32_t kSettledIntervals = kWarmupIntervals + kReferenceIntervals;
constexpr size_t kLaterIntervals = 3;

// Typical step time.
constexpr size_t kTypicalIntervals = 101;
constexpr size_t kLeastTypicalIntervals = 5;

// Step figures.
constexpr size_t kExactStepTimes = 10'000;
constexpr size_t kRecentStepTimes = 100;
constexpr size_t kEarlierStepTimes = 1'000;

// What a ledger keeps.
constexpr size_t kMaxStretches = 512;
constexpr size_t kListed = 1'000;  ///< attempts and disruptions kept one by one

}  // namespace goodput::ledger
