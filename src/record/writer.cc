// SPDX-License-Identifier: Apache-2.0
#include "record/writer.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>

#include "journal/definitions.h"
#include "journal/live_header.h"
#include "record/system_calls.h"

namespace goodput::record {

constinit thread_local Seat thread_seats[kSeats] __attribute__((tls_model("initial-exec")));

namespace {

using journal::Counter;
using journal::kSlotBytes;

/// Of a seat that a call of this thread is changing: no handler that interrupts that call may touch it.
constexpr uint64_t kChanging = ~uint64_t{0};

/// Makes the seat, in which `writer_id` is seen, this call's to change. False when a call that was interrupted is
/// changing it, or a handler did so meanwhile.
bool begin_change(Seat& seat, uint64_t writer_id) {
  return writer_id != kChanging &&
         seat.writer_id.compare_exchange_strong(writer_id, kChanging, std::memory_order_relaxed);
}

/// Gives back what a seat holds that is being changed.
void let_go(Seat& seat, uint64_t writer_id) {
  if (writer_id == 0 || !seat.table->is_ours(writer_id)) return;
  seat.table->give_back(*seat.lane);
  seat.table->let_go();
}

void leave_seat(Seat& seat) {
  const uint64_t writer_id = seat.writer_id.load(std::memory_order_relaxed);
  if (!begin_change(seat, writer_id)) return;
  let_go(seat, writer_id);
  seat.writer_id.store(0, std::memory_order_relaxed);
}

/// Thread-specific storage, only for its destructor: it gives a thread's lanes back when the thread ends. Should a
/// later destructor record, the lane is taken again and given back in the next round.
class ThreadExit {
 public:
  ThreadExit() {
    made_ = pthread_key_create(&key_, [](void*) {
              for (Seat& seat : thread_seats) leave_seat(seat);
            }) == 0;
  }
  void arm() const {
    if (made_) pthread_setspecific(key_, thread_seats);
  }

 private:
  pthread_key_t key_{};
  bool made_ = false;
};

// Made when the library is loaded, so that its number is low: glibc stores the first 32 without allocating.
const ThreadExit thread_exit;

std::atomic<uint64_t> next_writer_id{1};

/// errno is the caller's: signal handlers record too.
class ErrnoKept {
 public:
  ErrnoKept() : errno_(errno) {}
  ~ErrnoKept() { errno = errno_; }
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;

 private:
  int errno_;
};

Counter cause_of(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Counter::kNoSpace;
    case EACCES:
    case EPERM:
    case EROFS:
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return Counter::kNoAccess;
    case ENOBUFS:
      return Counter::kFellBehind;
    default:
      return Counter::kIoError;
  }
}

}  // namespace

bool Writer::open(NameTable& names) {
  names_ = &names;
  id_ = next_writer_id.fetch_add(1, std::memory_order_relaxed);
  seat_ = static_cast<uint32_t>(id_ % kSeats);
  clock_.choose();
  can_quiesce_ = prepare_barrier();
  lanes_ = LaneTable::make(id_);
  return lanes_ != nullptr && chain_.open();
}

Writer::~Writer() {
  if (is_ours()) lanes_->leave();
}

void Writer::on_need(void (*wake)(void*), void* argument) {
  wake_argument_ = argument;
  wake_ = wake;
}

void Writer::record_slowly(event::Kind kind, uint8_t flags, uint64_t value) {
  journal::LiveEvent event;
  event.kind = kind;
  event.flags = flags;
  event.value = static_cast<int64_t>(value);
  record(event);
}

void Writer::record(journal::LiveEvent event) {
  const ErrnoKept errno_kept;
  if (!is_ours()) return;
  if (closed_.load(std::memory_order_relaxed)) return count_closed();
  if (event.boot_ns == 0) event.boot_ns = clock_.now_ns();
  Lane* own = own_lane();
  // A handler that interrupts a call of its own thread leaves that call's lane alone when it is full: the call may be
  // about to move on itself. It borrows another.
  if (own != nullptr && own->busy.load(std::memory_order_relaxed) == 0) {
    const LaneUse use(*own);
    write_event(*own, event);
    return;
  }
  Lane* borrowed = lanes_->claim();
  if (borrowed == nullptr) {
    const Pin pin(*this);
    count(Counter::kTooManyThreads);
    return;
  }
  {
    const LaneUse use(*borrowed);
    write_event(*borrowed, event);
  }
  lanes_->give_back(*borrowed);
}

Lane* Writer::own_lane() {
  Seat& seat = thread_seats[seat_];
  const uint64_t seated = seat.writer_id.load(std::memory_order_relaxed);
  if (seated == id_) return seat.lane;
  if (!begin_change(seat, seated)) return nullptr;
  // While the other recorder exists it keeps its seat: this may be a handler that has interrupted a call of that one
  // just before the call marked its lane as busy.
  if (seated != 0 && seat.table->is_ours(seated) && !seat.table->is_left()) {
    seat.writer_id.store(seated, std::memory_order_relaxed);
    return nullptr;
  }
  let_go(seat, seated);
  Lane* lane = lanes_->claim();
  if (lane == nullptr) {
    seat.writer_id.store(0, std::memory_order_relaxed);
    return nullptr;
  }
  lanes_->hold();
  seat.lane = lane;
  seat.table = lanes_;
  std::atomic_signal_fence(std::memory_order_release);
  seat.writer_id.store(id_, std::memory_order_relaxed);
  thread_exit.arm();
  return lane;
}

bool Writer::write_event(Lane& lane, journal::LiveEvent& event) {
  // Each round ends in a run of another segment or in the event; more than a few mean that definitions fill segments
  // faster than they are made.
  constexpr int kMaxRounds = 8;
  std::array<journal::Slot, journal::kMaxEventSlots> slots;
  for (int round = 0; round < kMaxRounds; ++round) {
    const unsigned count = journal::encode_event(event, slots);
    const uint64_t bytes = uint64_t{count} * kSlotBytes;
    const uint64_t limit = lane.limit.load(std::memory_order_relaxed);
    if (lane.cursor.load(std::memory_order_relaxed) + bytes > limit) {
      skip_rest(lane, limit);
      if (!refill(lane)) return false;
      continue;
    }
    if (!define_names(*lane.segment, event)) {
      lane.segment->close();
      retire_run(lane);
      continue;
    }
    uint64_t at = lane.take(count);
    if (at + bytes > limit) {
      for (; at + kSlotBytes <= limit; at += kSlotBytes) {
        store_slot(lane, at, journal::pack_head(journal::kSkippedSlot, 0, 0, 0), 0, [] { return 0; });
      }
      continue;
    }
    for (unsigned i = 0; i + 1 < count; ++i, at += kSlotBytes) store_attached_slot(lane, at, slots[i]);
    store_slot(lane, at, slots[count - 1].head, slots[count - 1].value, [&event] { return event.boot_ns; });
    return true;
  }
  this->count(Counter::kIoError);
  return false;
}

void Writer::skip_rest(Lane& lane, uint64_t limit) {
  while (lane.cursor.load(std::memory_order_relaxed) + kSlotBytes <= limit) {
    const uint64_t at = lane.take(1);
    if (at + kSlotBytes > limit) break;
    store_slot(lane, at, journal::pack_head(journal::kSkippedSlot, 0, 0, 0), 0, [] { return 0; });
  }
}

bool Writer::define_names(LiveSegment& segment, const journal::LiveEvent& event) {
  if (!define_name(segment, event.name, names_->text_of(event.name))) return false;
  if (event.kind != event::Kind::kDisruption) return true;
  const auto text = static_cast<uint16_t>(event.value);
  return define_name(segment, text, names_->text_of(text));
}

void Writer::retire_run(Lane& lane) {
  lane.limit.store(0, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const uint64_t end = std::min(lane.cursor.load(std::memory_order_relaxed), lane.run_start + journal::kRunBytes);
  lane.next_number += (end - lane.run_start) / kSlotBytes;
  lane.run_start = 0;
  lane.cursor.store(0, std::memory_order_relaxed);
}

bool Writer::refill(Lane& lane) {
  retire_run(lane);
  if (closed_.load(std::memory_order_relaxed)) {
    count_closed();
    return false;
  }
  const Run run = chain_.take_run();
  if (run.prepared_here) count(Counter::kPreparedByCaller);
  if (run.segment == nullptr) {
    count(cause_of(chain_.failure()));
    return false;
  }
  if ((run.was_last_spare || run.prepared_here) && wake_ != nullptr) wake_(wake_argument_);

  const LiveSegment& segment = *run.segment;
  const auto start = reinterpret_cast<uint64_t>(segment.run_start(run.index));
  lane.run_start = start;
  lane.place_bias = journal::pack_place(static_cast<uint16_t>(lane.id), lane.next_number) - start / kSlotBytes;
  lane.index_bias = static_cast<uint32_t>((start - reinterpret_cast<uint64_t>(segment.base)) / kSlotBytes) -
                    static_cast<uint32_t>(start / kSlotBytes);
  lane.seed = segment.seed;
  lane.segment = run.segment;
  lane.cursor.store(start, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);  // handlers see no room until all of it stands
  lane.limit.store(start + journal::kRunBytes, std::memory_order_relaxed);
  return true;
}

uint16_t Writer::name_id(std::string_view text) {
  const std::string_view cut = journal::cut_text(text, journal::kMaxDefinitionBytes);
  const uint16_t id = names_->id_of(cut);
  if (!is_ours() || (cut.size() == text.size() && id != journal::kMoreNames)) return id;
  const Pin pin(*this);
  if (cut.size() != text.size()) count(Counter::kCutText);
  if (id == journal::kMoreNames) count(Counter::kTooManyNames);
  return id;
}

void Writer::count(Counter counter, uint64_t by) {
  store_count(counter, counts_[static_cast<size_t>(counter)].fetch_add(by, std::memory_order_relaxed) + by);
}

void Writer::count_closed() { counts_[static_cast<size_t>(Counter::kClosed)].fetch_add(1, std::memory_order_relaxed); }

void Writer::store_count(Counter counter, uint64_t count) {
  for (;;) {
    LiveSegment* segment = chain_.current();
    if (segment == nullptr) return;  // publish_counts() will
    store_counter(*segment, counter, count);
    if (chain_.current() == segment) return;
  }
}

journal::CounterValues Writer::counts() const {
  journal::CounterValues values;
  for (size_t i = 0; i < counts_.size(); ++i) values.counts[i] = counts_[i].load(std::memory_order_relaxed);
  return values;
}

}  // namespace goodput::record
