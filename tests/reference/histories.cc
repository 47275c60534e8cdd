// How a random history comes about: attempts one after the other, then what the log does to them.
// SPDX-License-Identifier: Apache-2.0
#include "reference/histories.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "reference/log_faults.h"

namespace goodput::reference {
namespace {

using event::Event;
using event::Kind;

constexpr double kSecondNs = 1e9;

/// What a whole history has in common.
struct Character {
  double base_seconds = 1;       ///< an ordinary step
  int64_t resolution_ns = 1;     ///< of its time stamps
  double heartbeat_seconds = 0;  ///< 0: none
  bool loads = false, blocking_loads = false, step_ends = false, early_step_ends = false;
  bool elastic = false, other_ranks = false, second_writer = false;
  double second_writer_seconds = 0;
  double incident_share = 0.05;  ///< of steps
  size_t steps_at_most = 60;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : chance_(seed * 0x9E3779B97F4A7C15u + 1), seed_(seed) {}

  History run();

 private:
  // The clock and the log.
  void pass(double seconds) { now_ns_ += std::max<int64_t>(0, std::llround(seconds * kSecondNs)); }
  [[nodiscard]] int64_t stamp(double offset_seconds) const;
  Event& put(Kind kind, double offset_seconds = 0);
  std::string_view keep(std::string text) { return history_.strings.emplace_back(std::move(text)); }
  const event::Origin* origin(int64_t process_index, bool anonymous = false);
  void put_pair(Kind start, double from, double length, double unclosed, std::string_view name = {});

  // The life of a job.
  void choose_character();
  void stray_entries();
  void attempt();
  void begin_attempt();
  void prepare();
  void train();
  void step(size_t index, bool first);
  void incidents(double length);
  void checkpoints(double length);
  void elastic(double length);
  void annotate();
  void end_attempt();
  void next_attempt();
  void name_many();
  void open_many();
  void flood();

  void step_clocks();

  Chance chance_;
  uint64_t seed_;
  History history_;
  Character character_;
  int64_t now_ns_ = 0;
  int64_t clock_offset_ns_ = 0;
  int64_t step_ = 0, stride_ = 1;
  size_t attempt_index_ = 0;
  std::string_view attempt_id_, host_;
};

int64_t Writer::stamp(double offset_seconds) const {
  const int64_t time_ns = now_ns_ + clock_offset_ns_ + std::llround(offset_seconds * kSecondNs);
  return time_ns / character_.resolution_ns * character_.resolution_ns;
}

const event::Origin* Writer::origin(int64_t process_index, bool anonymous) {
  const std::string_view id = history_.attempt_ids && !anonymous ? attempt_id_ : std::string_view();
  if (id.empty() && process_index == 0) return nullptr;
  for (const event::Origin& known : history_.origins) {
    if (known.attempt_id == id && known.process_index == process_index && known.host == host_) return &known;
  }
  event::Origin& made = history_.origins.emplace_back();
  made.attempt_id = id;
  made.host = host_;
  made.process_index = process_index;
  return &made;
}

Event& Writer::put(Kind kind, double offset_seconds) {
  Event& event = history_.events.emplace_back();
  event.kind = kind;
  event.time_ns = stamp(offset_seconds);
  event.fingerprint = Chance(seed_ * 1'000'003 + history_.events.size()).next() | 1;
  event.origin = origin(0);
  return event;
}

void Writer::put_pair(Kind start, double from, double length, double unclosed, std::string_view name) {
  put(start, from).name = name;
  if (chance_.happens(unclosed)) return;
  put(static_cast<Kind>(static_cast<int>(start) + 1), from + length).name = name;
}

void Writer::choose_character() {
  Character& c = character_;
  c.base_seconds = chance_.one_of({0.002, 0.05, 0.4, 1.0, 1.3, 3.0, 30.0, 90.0});
  c.resolution_ns = chance_.one_of<int64_t>({1, 1, 1'000, 1'000, 1'000, 1'000, 1'000'000, 1'000'000'000});
  if (chance_.happens(0.3)) c.heartbeat_seconds = chance_.one_of({0.7, 5.0, 20.0});
  c.loads = chance_.happens(0.4);
  c.blocking_loads = chance_.happens(0.3);
  c.step_ends = chance_.happens(0.25);
  c.early_step_ends = chance_.happens(0.3);
  c.elastic = chance_.happens(0.2);
  c.other_ranks = chance_.happens(0.3);
  c.second_writer = chance_.happens(0.08);
  c.second_writer_seconds = chance_.one_of({0.0, 0.3, 0.9, 0.4 * c.base_seconds, 0.6 * c.base_seconds});
  c.incident_share = chance_.one_of({0.0, 0.03, 0.08, 0.3});
  c.steps_at_most = chance_.one_of<size_t>({8, 20, 40, 60, 100});
  history_.attempt_ids = chance_.happens(0.25);
  now_ns_ = 1'750'000'000 * event::kNanosecondsPerSecond + static_cast<int64_t>(chance_.below(1'000'000'000'000));
  host_ = keep("host-0");
}

/// The first entries of a log belong to the job start that follows within 10 s, unless a step record is among them.
void Writer::stray_entries() {
  if (chance_.happens(0.3)) put(Kind::kCheckpointSave).flags = event::kUntimed;
  put(Kind::kAcceleratorInitStart);
  const int64_t first_ns = now_ns_;
  pass(chance_.real() * 3);
  if (chance_.happens(0.5)) put(Kind::kHeartbeat);
  if (chance_.happens(0.5)) put(Kind::kAcceleratorInitEnd);
  if (chance_.happens(0.15)) put(Kind::kStepStart).step = step_;
  now_ns_ =
      std::max(now_ns_, first_ns + static_cast<int64_t>(chance_.one_of({3.0, 9.5, 10.0, 10.0, 40.0}) * kSecondNs));
}

void Writer::begin_attempt() {
  attempt_id_ = keep("attempt-" + std::to_string(attempt_index_));
  if (history_.attempt_ids && chance_.happens(0.2)) put(Kind::kHeartbeat, -chance_.real() * 20);
  if (history_.attempt_ids && character_.other_ranks && chance_.happens(0.3)) {
    Event& early = put(Kind::kCheckpointRestore, -chance_.real() * 5);
    early.duration_ns = 2 * event::kNanosecondsPerSecond;
    early.origin = origin(1);
  }
  if (attempt_index_ > 0 ? chance_.happens(0.97) : chance_.happens(0.9)) put(Kind::kJobStart);
  if (!history_.attempt_ids && chance_.happens(0.05)) put(Kind::kJobStart, chance_.one_of({0.0, 0.5, 0.999, 1.0, 1.5}));
  if (chance_.happens(0.7)) {
    const double length = chance_.real() * 20;
    put_pair(Kind::kAcceleratorInitStart, 0, length, 0.1);
    pass(length);
  }
}

void Writer::prepare() {
  pass(chance_.real() * chance_.one_of({0.0, 3.0}));
  const bool prep = chance_.happens(0.7);
  if (prep) put(Kind::kTrainingPrepStart);
  pass(chance_.real() * 5);
  if (chance_.happens(0.5)) {
    Event& restore = put(Kind::kCheckpointRestore);
    restore.step = step_;
    restore.flags = event::kHasStep;
    restore.duration_ns = std::llround(chance_.real() * 1e10) / character_.resolution_ns * character_.resolution_ns;
    if (chance_.happens(0.1)) restore.flags |= event::kUntimed;
    pass(static_cast<double>(restore.duration_ns) / kSecondNs);
  }
  if (chance_.happens(0.2)) {
    const double length = chance_.real() * 6;
    put_pair(Kind::kCheckpointRestoreStart, 0, length, 0.1);
    pass(length);
  }
  if (chance_.happens(0.2)) put_pair(Kind::kCompilationStart, 0, chance_.real() * 15, 0.1);
  pass(chance_.real() * 5);
  if (prep && chance_.happens(0.9)) put(Kind::kTrainingPrepEnd);
  if (chance_.happens(0.6)) {
    const double length = chance_.real() * 4;
    put_pair(Kind::kDataLoadingStart, 0, length, 0.05);
    pass(length * chance_.one_of({1.0, 1.0, 0.5}));
  }
}

/// The first 256 custom names are kept apart.
void Writer::name_many() {
  for (size_t k = 0; k < 250 + chance_.below(20); ++k) {
    put_pair(Kind::kCustomStart, 0, 0.2, 0.01, keep("name " + std::to_string(k)));
    pass(0.1);
  }
}

/// A second writer is looked for among the latest 4,096 records.
void Writer::flood() {
  const int64_t first = step_;
  for (size_t k = 0; k < 4'094 + chance_.below(4); ++k) {
    put(Kind::kStepStart).step = step_++;
    pass(0.000'1);
  }
  put(Kind::kStepStart).step = first;
}

/// 4,096 events may be open at an instant.
void Writer::open_many() {
  const std::string_view name = keep("many");
  for (size_t k = 0; k < 4'096 + chance_.below(10); ++k) {
    put(Kind::kCustomStart).name = name;
    pass(0.001);
  }
  for (size_t k = chance_.below(9); k > 0; --k) put(Kind::kCustomEnd, chance_.real()).name = name;
}

void Writer::checkpoints(double length) {
  if (chance_.happens(0.4)) {
    const double save = chance_.real() * 2 * character_.base_seconds;
    const uint64_t hosts = character_.other_ranks ? 1 + chance_.below(3) : 1;
    for (uint64_t host = 0; host < hosts; ++host) {
      Event& entry =
          put(Kind::kCheckpointSave, length * 0.3 + 0.01 * character_.base_seconds * static_cast<double>(host));
      entry.step = step_;
      entry.flags = event::kHasStep;
      entry.duration_ns = std::llround(save * kSecondNs) / character_.resolution_ns * character_.resolution_ns;
      entry.origin = origin(static_cast<int64_t>(host), chance_.happens(0.3));
      if (chance_.happens(0.15)) entry.flags |= event::kUntimed;
    }
    pass(save);
  }
  if (chance_.happens(0.2)) {
    const double save = chance_.real() * 2 * character_.base_seconds;
    put_pair(Kind::kCheckpointSaveStart, length * 0.2, save, 0.15);
    pass(save);
  }
}

void Writer::elastic(double length) {
  const std::string_view type = chance_.one_of<std::string_view>(
      {"elastic_scale_up", "elastic_slice_down", "unknown", "Elastic_Scale_UP", "down"});
  put_pair(Kind::kElasticWaitStart, length * 0.2, length * 0.3, 0.1, type);
  if (chance_.happens(0.5)) {
    put_pair(Kind::kElasticReinitStart, length * chance_.one_of({0.1, 0.4}), length * 0.4, 0.1);
  }
  if (chance_.happens(0.6)) {
    event::Detail& detail = history_.details.emplace_back();
    detail.total_slices = static_cast<int64_t>(chance_.below(5));
    detail.active_slices = static_cast<int64_t>(chance_.below(5));
    detail.available_slices = static_cast<int64_t>(chance_.below(5));
    put(Kind::kSliceCounts, length * 0.5).detail = &detail;
  }
  if (chance_.happens(0.3)) pass(length * 3);
}

void Writer::annotate() {
  event::Detail& detail = history_.details.emplace_back();
  detail.cause = chance_.one_of<std::string_view>({"planned", "preempted", "oom", "planned"});
  Event& event = put(Kind::kDisruption, chance_.one_of({-1.0, 0.0, 0.5}));
  event.detail = &detail;
  event.origin = origin(0, chance_.happens(0.5));
}

/// Whatever interrupts a step of that length; some of it makes the step longer.
void Writer::incidents(double length) {
  const double base = character_.base_seconds;
  if (chance_.happens(0.5)) {
    const auto name = chance_.one_of<std::string_view>({"eval", "Eval", "EVAL", "sdc check", "\xC3\xBC\x62\x65r"});
    const double eval = chance_.real() * 3 * base;
    put_pair(Kind::kCustomStart, length * 0.6, eval, 0.1, name);
    if (chance_.happens(0.3)) put_pair(Kind::kCustomStart, length * 0.6 + eval * 0.2, eval * 0.5, 0.1, "inner");
    if (chance_.happens(0.1)) put_pair(Kind::kCustomStart, length * 0.6, 0, 0, "instant");
    if (chance_.happens(0.1)) put_pair(Kind::kCustomStart, length * 0.5, base * 20 * chance_.real(), 0, "long");
    if (chance_.happens(0.5)) pass(eval);
  }
  if (chance_.happens(0.5)) checkpoints(length);
  if (chance_.happens(0.2)) {
    const double compile = chance_.real() * 4 * base;
    put_pair(Kind::kCompilationStart, length * 0.1, compile, 0.1);
    if (chance_.happens(0.5)) pass(compile);
  }
  if (character_.elastic && chance_.happens(0.5)) elastic(length);
  if (chance_.happens(0.05)) annotate();
  if (chance_.happens(0.04)) put(Kind::kJobEnd, length * 0.5).flags = chance_.happens(0.5) ? event::kFailed : 0;
  if (chance_.happens(0.04)) {
    Event& exit = put(Kind::kProcessExit, length * 0.5);
    exit.flags = event::kCode;
    exit.exit_value = static_cast<int32_t>(chance_.below(2));
  }
}

void Writer::step(size_t index, bool first) {
  const double base = character_.base_seconds;
  put(Kind::kStepStart).step = step_;
  if (character_.second_writer && chance_.happens(0.5)) {
    put(Kind::kStepStart, character_.second_writer_seconds).step = step_;
  }
  if (character_.other_ranks && chance_.happens(0.3)) {
    Event& other = put(Kind::kStepStart, chance_.real() * 0.1 * base);
    other.step = step_;
    other.origin = origin(1 + static_cast<int64_t>(chance_.below(3)));
  }
  const double jitter = 0.9 + 0.2 * chance_.real();
  double length = base * static_cast<double>(stride_) * jitter;
  if (chance_.happens(0.03)) length = base * chance_.one_of({0.0, 0.3, 1.9, 2.1, 4.0, 9.9, 30.0, 100.0, 3'000.0});
  if (first) length += chance_.one_of({0.0, 10 * base, 40.0});
  if (index < 5 && chance_.happens(0.2)) length *= chance_.one_of({0.1, 3.0, 8.0});
  if (character_.loads) {
    put(Kind::kDataLoadingStart, length * 0.1).flags = character_.blocking_loads ? event::kBlocking : 0;
    if (chance_.happens(0.97)) put(Kind::kDataLoadingEnd, length * chance_.one_of({0.1, 0.15, 0.5, 1.5}));
  }
  if (chance_.happens(character_.incident_share)) incidents(length);
  if (character_.step_ends && chance_.happens(0.9)) {
    put(Kind::kStepEnd, length * (character_.early_step_ends ? 0.01 : 0.95)).step = step_;
  }
  if (character_.heartbeat_seconds > 0 && chance_.happens(0.3)) put(Kind::kHeartbeat, length * chance_.real());
  pass(length);
}

void Writer::train() {
  stride_ = chance_.one_of<int64_t>({1, 1, 1, 1, 1, 1, 10, 3});
  const size_t steps = chance_.one_of<size_t>({0, 1, 2, 5, 9, 12, character_.steps_at_most, character_.steps_at_most});
  for (size_t k = 0; k < steps; ++k) {
    step(k, k == 0);
    step_ += stride_;
    if (chance_.happens(0.01)) step_ += chance_.one_of<int64_t>({1, 7, 1'000'000'000'000});
    if (chance_.happens(0.015)) {  // rollback, or a repetition
      step_ -= std::min<int64_t>(step_ + 2, static_cast<int64_t>(chance_.below(12)));
      pass(chance_.real() * 10 * character_.base_seconds);
      if (chance_.happens(0.5)) put_pair(Kind::kCheckpointRestoreStart, -0.5, 0.4, 0.1);
      if (chance_.happens(0.5)) put_pair(Kind::kDataLoadingStart, -0.3, 0.2, 0.1);
    }
  }
}

void Writer::end_attempt() {
  const double base = character_.base_seconds;
  for (int k = 0; character_.heartbeat_seconds > 0 && k < 3; ++k) {
    pass(character_.heartbeat_seconds);
    put(Kind::kHeartbeat).origin = origin(0, chance_.happens(0.2));
  }
  if (chance_.happens(0.2)) pass(chance_.one_of({base * 5, base * 12 + 61, 4'000.0}));  // a hang
  if (chance_.happens(0.4)) {
    pass(chance_.real() * base);
    put(Kind::kJobEnd).flags = chance_.happens(0.3) ? event::kFailed : 0;
    if (chance_.happens(0.15)) put(Kind::kJobEnd, chance_.real() * 5).flags = chance_.happens(0.5) ? event::kFailed : 0;
  }
  if (chance_.happens(0.3)) {
    pass(chance_.real() * 3);
    Event& exit = put(Kind::kProcessExit);
    exit.origin = origin(0, chance_.happens(0.5));
    exit.flags = chance_.one_of<uint8_t>({event::kCode, event::kCode, event::kSignal, 0});
    exit.exit_value = chance_.one_of<int32_t>({0, 1, 9, 137});
  }
  if (chance_.happens(0.05)) put_pair(Kind::kCustomStart, 0, 30, 0.5, "after the end");
  if (chance_.happens(0.15)) annotate();
}

void Writer::next_attempt() {
  ++attempt_index_;
  pass(chance_.one_of({0.0, 0.5, 3.0, 30.0, 600.0}));
  if (history_.attempt_ids && chance_.happens(0.2)) now_ns_ -= std::llround(chance_.real() * 20e9);  // an overlap
  const int64_t back = static_cast<int64_t>(chance_.below(40));
  step_ = chance_.one_of<int64_t>({step_, step_, std::max<int64_t>(0, step_ - back), 0, step_ + 3, step_ - 1});
  step_clocks();
}

/// The next attempt may run on another host, whose clock is ahead or behind.
void Writer::step_clocks() {
  if (!chance_.happens(0.3)) return;
  const double seconds =
      chance_.one_of({-0.5, -4.0, -9.9, -10.0, -10.1, -45.0, -300.0, -599.0, -620.0, -4'000.0, 2.0, 50.0, 0.0});
  clock_offset_ns_ = std::llround(seconds * kSecondNs);
  host_ = keep("host-" + std::to_string(attempt_index_));
}

void Writer::attempt() {
  begin_attempt();
  prepare();
  if (chance_.happens(0.0015)) open_many();
  if (chance_.happens(0.0015)) flood();
  if (chance_.happens(0.006)) name_many();
  train();
  end_attempt();
}

History Writer::run() {
  choose_character();
  if (chance_.happens(0.1)) stray_entries();
  size_t attempts = chance_.one_of<size_t>({1, 1, 2, 2, 3, 3, 5});
  if (chance_.happens(0.02)) attempts = 30;
  if (chance_.happens(0.01)) character_.steps_at_most = chance_.one_of<size_t>({600, 1'200});
  for (size_t k = 0; k < attempts; ++k) {
    if (k > 0) next_attempt();
    attempt();
  }
  if (chance_.happens(0.2)) redeliver(history_, chance_);
  if (chance_.happens(0.3)) disorder(history_, chance_);
  number(history_, chance_);
  pass(chance_.one_of({0.0, 0.0, 5.0, 60.0, 62.0, 2'000.0}));
  history_.now_ns = now_ns_ - (chance_.happens(0.1) ? static_cast<int64_t>(chance_.below(100'000'000'000)) : 0);
  return std::move(history_);
}

}  // namespace

uint64_t Chance::next() {
  state_ += 0x9E3779B97F4A7C15u;  // splitmix64
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

History random_history(uint64_t seed) { return Writer(seed).run(); }

std::vector<event::Event> shuffled(const std::vector<event::Event>& events, uint64_t seed) {
  std::vector<event::Event> arrival = events;
  Chance chance(seed);
  for (size_t k = arrival.size(); k > 1; --k) std::swap(arrival[k - 1], arrival[chance.below(k)]);
  return arrival;
}

}  // namespace goodput::reference
