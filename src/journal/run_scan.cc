// SPDX-License-Identifier: Apache-2.0
#include "journal/run_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace goodput::journal {
namespace {

enum class SlotState : uint8_t {
  kBlank,  ///< never committed: word 0 is zero; or a spare with a single flipped bit
  kDamaged,
  kBrokenSkip,  ///< a skipped place with a single flipped bit: no event stood there
  kHead,        ///< an intact event or skipped place
  kAttached,    ///< intact, belongs to the head after it
};

bool is_attached_kind(uint8_t kind) { return kind >= kFirstSlotKind && kind != kSkippedSlot; }

/// A spare in which one bit flipped was no event: a committed slot has dozens of bits set.
bool is_damaged_spare(const Slot& slot) {
  return std::popcount(slot.head) + std::popcount(slot.boot_ns) + std::popcount(slot.value) +
             std::popcount(slot.place) ==
         1;
}

class Scanner {
 public:
  Scanner(std::span<const std::byte> run, uint32_t first_index, uint32_t seed, RunScan& scan)
      : count_(static_cast<uint32_t>(std::min<size_t>(run.size() / kSlotBytes, kRunSlots))),
        first_index_(first_index),
        seed_(seed),
        scan_(&scan) {
    std::memcpy(slots_.data(), run.data(), size_t{count_} * kSlotBytes);
  }

  void run(const RunScanOptions& options) {
    const uint32_t end = classify(options);
    next_ = options.from;
    for (uint32_t i = options.from; i < end; ++i) {
      if (states_[i] == SlotState::kHead) take(i);
    }
    scan_->consumed = next_;
    if (options.final) take_tail(end);
  }

 private:
  /// Fills states_ and returns the end of what may be taken: past the last head; while the run is being written, past
  /// the last head before the first slot that is still to come.
  uint32_t classify(const RunScanOptions& options) {
    uint32_t end = options.from;
    bool may_end = false;
    for (uint32_t i = options.from; i < count_; ++i) {
      states_[i] = state_of(i);
      if (states_[i] == SlotState::kBlank && !options.final) may_end = true;
      const bool is_head = states_[i] == SlotState::kHead;
      if (is_head && !options.final && static_cast<int64_t>(slots_[i].boot_ns) >= options.before_boot_ns)
        may_end = true;
      if (is_head && !may_end) end = i + 1;
    }
    for (uint32_t i = options.from; i < end; ++i) scan_->damaged = scan_->damaged || states_[i] == SlotState::kDamaged;
    return options.final ? last_head(options.from) : end;
  }

  [[nodiscard]] SlotState state_of(uint32_t i) const {
    const Slot& slot = slots_[i];
    if (slot.head == 0) return SlotState::kBlank;
    if (is_intact(seed_, first_index_ + i, slot)) {
      return is_attached_kind(head_kind(slot.head)) ? SlotState::kAttached : SlotState::kHead;
    }
    if (is_damaged_spare(slot)) return SlotState::kBlank;
    return is_broken_skip(first_index_ + i, slot) ? SlotState::kBrokenSkip : SlotState::kDamaged;
  }

  [[nodiscard]] bool is_broken_skip(uint32_t index, const Slot& slot) const {
    if (std::popcount(static_cast<unsigned>(head_kind(slot.head) ^ kSkippedSlot)) > 1) return false;
    for (unsigned bit = 0; bit < 8 * kSlotBytes; ++bit) {
      std::array<uint64_t, 4> words = {slot.head, slot.boot_ns, slot.value, slot.place};
      words[bit / 64] ^= uint64_t{1} << (bit % 64);
      const Slot repaired{words[0], words[1], words[2], words[3]};
      if (head_kind(repaired.head) == kSkippedSlot && is_intact(seed_, index, repaired)) return true;
    }
    return false;
  }

  [[nodiscard]] uint32_t last_head(uint32_t from) const {
    uint32_t end = count_;
    while (end > from && states_[end - 1] != SlotState::kHead) --end;
    return end;
  }

  void take(uint32_t i) {
    const Slot& head = slots_[i];
    const unsigned attachments = head_kind(head.head) == kSkippedSlot ? 0 : head_attachments(head.head);
    const uint32_t begin = i - next_ < attachments ? next_ : i - attachments;
    account(begin, i);

    const uint8_t kind = head_kind(head.head);
    bool whole = i - begin == attachments;
    for (uint32_t k = begin; k < i; ++k) whole = whole && states_[k] == SlotState::kAttached;
    if (kind == kSkippedSlot) {
      // Holds a place, is no event.
    } else if (!whole) {
      lose(LossReason::kDamagedSlot, 1, i + 1 - begin, false);
    } else if (kind > static_cast<uint8_t>(event::kLastKind)) {
      lose(LossReason::kUnknownKind, 1, i + 1 - begin, false);
    } else {
      StoredEvent& stored = scan_->events.emplace_back();
      stored.slot = first_index_ + i;
      decode_event(head, std::span(slots_).subspan(begin, i - begin), stored.event);
    }
    next_ = i + 1;
  }

  /// The slots between the last head and [begin, head]: states what is lost there, and enters the numbers.
  void account(uint32_t begin, uint32_t head) {
    const uint16_t lane = place_lane(slots_[head].place);
    const uint64_t number = place_number(slots_[head].place);
    const uint64_t own = head - begin + 1;
    const uint32_t between = begin - next_;
    const bool in_one_lane = has_lane_ && lane == lane_ && number - number_ == uint64_t{head} - (next_ - 1);
    const uint64_t damaged = count_state(next_, begin, SlotState::kDamaged);
    const uint64_t blank = count_state(next_, begin, SlotState::kBlank);
    lose(LossReason::kDamagedSlot, damaged, damaged, damaged > 1);
    if (in_one_lane) {
      // Numbers and places agree: whatever is between was taken by this lane.
      lose(LossReason::kMissingNumber, blank, blank, true);
      scan_->lanes.add(lane, number + 1 - own - between, number + 1, own + between);
    } else {
      scan_->lanes.add(lane, number + 1 < own ? 0 : number + 1 - own, number + 1, own);
      scan_->lanes.add_unattributed(between - blank);
    }
    has_lane_ = true;
    lane_ = lane;
    number_ = number;
  }

  /// What does not check after the last head: the lane's next slots, if they were any.
  void take_tail(uint32_t end) {
    uint32_t last = count_;
    while (last > end && states_[last - 1] != SlotState::kDamaged && states_[last - 1] != SlotState::kBrokenSkip)
      --last;
    if (last == end) return;
    const uint64_t damaged = count_state(end, last, SlotState::kDamaged);
    const uint64_t blank = count_state(end, last, SlotState::kBlank);
    scan_->damaged = true;
    lose(LossReason::kDamagedSlot, damaged, damaged, damaged > 1);
    if (has_lane_ && blank == 0) {
      scan_->lanes.add(lane_, number_ + 1, number_ + 1 + last - end, last - end);
    } else {
      scan_->lanes.add_unattributed(last - end - blank);
    }
  }

  [[nodiscard]] uint64_t count_state(uint32_t from, uint32_t to, SlotState state) const {
    return static_cast<uint64_t>(std::count(states_.begin() + from, states_.begin() + to, state));
  }

  void lose(LossReason reason, uint64_t events, uint64_t slots, bool at_most) {
    if (events == 0) return;
    add_loss(scan_->losses, {.reason = reason, .at_most = at_most, .events = events, .bytes = slots * kSlotBytes});
  }

  std::array<Slot, kRunSlots> slots_;
  std::array<SlotState, kRunSlots> states_{};
  uint32_t count_;
  uint32_t first_index_;
  uint32_t seed_;
  RunScan* scan_;
  uint32_t next_ = 0;  // after the last head taken
  bool has_lane_ = false;
  uint16_t lane_ = 0;
  uint64_t number_ = 0;  // of the last head taken
};

}  // namespace

void scan_run(std::span<const std::byte> run, uint32_t first_index, uint32_t seed, const RunScanOptions& options,
              RunScan& scan) {
  Scanner(run, first_index, seed, scan).run(options);
}

}  // namespace goodput::journal
