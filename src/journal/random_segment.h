// A segment with all that a segment may hold, drawn at random; for tests.
//
//   std::mt19937_64 random(seed);
//   SegmentFixture live = random_live_segment(random, 64 * 1024);
//   Segment segment = random_segment(random, 64 * 1024);             // the same, recovered, with a few losses stated
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

#include "journal/recover.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {

inline LiveEvent random_event(std::mt19937_64& random, int64_t& boot_ns, int64_t& step) {
  using event::Kind;
  constexpr Kind kKinds[] = {
      Kind::kStepStart,        Kind::kStepStart,         Kind::kStepStart,        Kind::kStepEnd,
      Kind::kDataLoadingStart, Kind::kDataLoadingEnd,    Kind::kCustomStart,      Kind::kCustomEnd,
      Kind::kCheckpointSave,   Kind::kCheckpointRestore, Kind::kSliceCounts,      Kind::kDisruption,
      Kind::kProcessExit,      Kind::kHeartbeat,         Kind::kElasticWaitStart, Kind::kJobStart};
  const auto chance = [&](unsigned one_in) { return random() % one_in == 0; };
  boot_ns += static_cast<int64_t>(random() % (chance(50) ? 100'000'000'000 : 3'000'000));
  LiveEvent event{
      .kind = kKinds[random() % std::size(kKinds)], .boot_ns = boot_ns, .lane = static_cast<uint16_t>(random() % 3)};
  if (event.kind == Kind::kStepStart) event.value = ++step;
  if (chance(40)) event.value = static_cast<int64_t>(random());
  if (chance(8)) event.flags = static_cast<uint8_t>(random());
  if (event.kind >= Kind::kCustomStart || chance(9)) event.name = static_cast<uint16_t>(1 + random() % 20);
  if (event.kind == Kind::kDisruption) event.value = static_cast<int64_t>(1 + random() % 20);
  if (event.kind == Kind::kCheckpointSave || event.kind == Kind::kCheckpointRestore || chance(20)) {
    event.duration_ns = static_cast<int64_t>(1 + random() % 40'000'000'000);
    event.has_wall_time = !chance(3);
    if (event.has_wall_time)
      event.wall_ns = 1'767'225'600'000'000'000 + boot_ns - static_cast<int64_t>(random() % 5'000'000'000);
  }
  if (chance(6)) {
    event.tokens = 4096;
    event.flops = chance(2) ? 2.5e15 : static_cast<double>(random());
  }
  return event;
}

/// Three lanes, twenty names, clock pairs and steps, counters; filled between an eighth and all of it.
inline SegmentFixture random_live_segment(std::mt19937_64& random, uint32_t segment_bytes, uint32_t number = 1) {
  SegmentFixture live(SegmentFixture::header(number, segment_bytes));
  for (uint16_t id = 1; id <= 20; ++id) live.define(id, "name " + std::to_string(id) + std::string(random() % 60, '.'));
  int64_t boot_ns = 5'000'000'000, step = static_cast<int64_t>(random() % 1'000'000);
  live.alive_at({boot_ns, 1'767'225'600'000'000'000}, 1);
  live.alive_at({boot_ns + 1, 1'767'225'600'000'000'001}, 2);
  live.put_clock_slot(2, make_clock_step(live.live_header().seed(), 2, {boot_ns + 2, 7}, -3'600'000'000'000));
  live.put_counter(Counter::kNoSpace, 1 + random() % 1000);
  live.put_counter(Counter::kSlowStepNumber, 2);
  const size_t slots = size_t{live.layout().runs} * kRunSlots;
  const size_t wanted = slots / 8 + random() % slots;
  for (size_t i = 0; i < wanted; ++i) {
    if (!live.append(random_event(random, boot_ns, step))) break;
  }
  return live;
}

inline Segment random_segment(std::mt19937_64& random, uint32_t segment_bytes) {
  Segment segment = recover_live(random_live_segment(random, segment_bytes).bytes()).value();
  add_loss(segment.losses, {.reason = LossReason::kDamagedSlot, .at_most = true, .events = 3, .bytes = 96});
  // What only sealed segments hold.
  for (StoredEvent& stored : segment.events) {
    if (random() % 64 != 0) continue;
    stored.event.is_imported = true;
    stored.event.imported = {.position = {.major = random() % 2 == 0 ? 0 : random(), .minor = stored.slot},
                             .fingerprint = random(),
                             .origin = static_cast<uint16_t>(random() % 21)};
  }
  return segment;
}

}  // namespace goodput::journal
