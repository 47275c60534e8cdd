// SPDX-License-Identifier: Apache-2.0
#include "exporters/pipe/pipe.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace goodput::exporters {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

// A state that changed at each look is told for half a day.
constexpr size_t kMaxStatusChanges = 1'000;
// A sink that asks for more is asked again anyway.
constexpr int64_t kMostPatienceNs = 600'000'000'000;
// An HTTP client sees that it is cancelled within a second.
constexpr int64_t kCancelNs = 1'500'000'000;
// What a call takes that nothing is wrong with. Of the usual ten seconds 6.5 are then over, and the strictest sink
// there is, Cloud Monitoring, takes a point every five.
constexpr int64_t kLastCallNs = 2'000'000'000;

template <typename T>
size_t drop_oldest(std::vector<T>& all, size_t limit) {
  const size_t over = all.size() - std::min(all.size(), limit);
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(over));
  return over;
}

/// What `update` adds to what waits: the later report, and the steps and changes of both.
void join(std::optional<Update>& waiting, Update&& update, size_t max_steps, uint64_t& dropped) {
  if (waiting.has_value()) {
    waiting->report = std::move(update.report);
    waiting->figures = waiting->figures.joined(update.figures);
    waiting->steps.insert(waiting->steps.end(), update.steps.begin(), update.steps.end());
    waiting->status_changes.insert(waiting->status_changes.end(), update.status_changes.begin(),
                                   update.status_changes.end());
  } else {
    waiting = std::move(update);
  }
  dropped += drop_oldest(waiting->steps, max_steps);
  drop_oldest(waiting->status_changes, kMaxStatusChanges);
}

}  // namespace

struct Pipe::State {
  State(std::unique_ptr<Exporter> sink, const PipeOptions& with, std::shared_ptr<void> lock)
      : held(std::move(lock)),
        exporter(std::move(sink)),
        options(with),
        takes_steps(exporter->takes_steps()),
        retry_ns(with.first_retry_ns) {}

  /// What became of an update, and what is to be done with it. Under the lock.
  void note(const Status& status, Update&& update);
  Nanoseconds pause();
  [[nodiscard]] std::chrono::steady_clock::time_point left_alone_until() const;

  std::shared_ptr<void> held;
  std::unique_ptr<Exporter> exporter;  ///< gone once the thread has ended
  PipeOptions options;
  const bool takes_steps;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Update> waiting;
  PipeCounters counters;
  int64_t retry_ns;
  int64_t retry_after_ns = 0;
  std::minstd_rand jitter{std::random_device{}()};
  bool is_sending = false;
  bool is_finishing = false;                        ///< retry soon, end when nothing waits
  std::chrono::steady_clock::time_point last_call;  ///< while finishing: then the sink is left alone no longer
  bool must_stop = false;
  bool has_ended = false;
};

Pipe::Pipe(std::unique_ptr<Exporter> exporter, const PipeOptions& options, std::shared_ptr<void> held)
    : name_(exporter->name()), state_(std::make_shared<State>(std::move(exporter), options, std::move(held))) {
  std::thread(run, state_).detach();  // joined by finish(), unless its sink hangs
}

Pipe::~Pipe() { finish(0); }

void Pipe::offer(const Update& update) {
  Update taken(update);
  if (!state_->takes_steps) taken.steps = {};
  const std::lock_guard lock(state_->mutex);
  ++state_->counters.offered;
  join(state_->waiting, std::move(taken), state_->options.max_steps, state_->counters.dropped_steps);
  state_->changed.notify_all();
}

bool Pipe::finish(int64_t timeout_ns) {
  std::unique_lock lock(state_->mutex);
  const auto until = std::chrono::steady_clock::now() + Nanoseconds(timeout_ns);
  const auto cancel = until - Nanoseconds(std::min(kCancelNs, timeout_ns / 4));
  state_->last_call = cancel - Nanoseconds(std::min(kLastCallNs, timeout_ns / 4));
  state_->is_finishing = true;
  state_->must_stop = state_->must_stop || timeout_ns <= 0;
  state_->changed.notify_all();
  const auto has_ended = [&] { return state_->has_ended; };
  state_->changed.wait_until(lock, cancel, has_ended);
  state_->must_stop = true;
  state_->changed.notify_all();
  if (!state_->has_ended && state_->exporter != nullptr) {
    state_->exporter->cancel();
    state_->changed.wait_until(lock, until, has_ended);
  }
  return state_->has_ended && !state_->waiting.has_value();
}

PipeCounters Pipe::counters() const { return read(*state_); }

std::function<PipeCounters()> Pipe::counters_reader() const {
  return [state = state_] { return read(*state); };
}

PipeCounters Pipe::read(State& state) {
  const std::lock_guard lock(state.mutex);
  PipeCounters counters = state.counters;
  counters.is_waiting = state.waiting.has_value() || state.is_sending;
  return counters;
}

void Pipe::State::note(const Status& status, Update&& update) {
  counters.rejected = exporter->rejected();
  counters.last_rejection = exporter->rejection();
  retry_after_ns = 0;
  if (exporter->is_off()) return;
  if (status.ok()) {
    ++counters.sent;
    counters.last_success_ns = wall_time_ns();
    counters.last_failure.clear();
    retry_ns = options.first_retry_ns;
    return;
  }
  ++counters.failed;
  // Of a call that was cancelled at the end the cause is known no better than from the one before.
  if (!must_stop || counters.last_failure.empty()) counters.last_failure = status.message();
  if (status.code() != StatusCode::kUnavailable) {
    ++counters.given_up;
    return;
  }
  retry_after_ns = exporter->retry_after_ns();
  // What came meanwhile goes behind it.
  std::optional<Update> newer = std::exchange(waiting, std::move(update));
  if (newer.has_value()) join(waiting, std::move(*newer), options.max_steps, counters.dropped_steps);
}

/// Until the next attempt: longer each time, and not at the same moment as everybody else whom the sink sent away.
Nanoseconds Pipe::State::pause() {
  const int64_t plain_ns = is_finishing ? options.first_retry_ns / 4 : retry_ns;
  const double factor = std::uniform_real_distribution<double>(0.8, 1.2)(jitter);
  retry_ns = std::min(retry_ns * 2, options.last_retry_ns);
  return Nanoseconds(std::max(static_cast<int64_t>(static_cast<double>(plain_ns) * factor),
                              std::min(retry_after_ns, kMostPatienceNs)));
}

std::chrono::steady_clock::time_point Pipe::State::left_alone_until() const {
  const auto until = std::chrono::steady_clock::now() + Nanoseconds(exporter->pause_ns());
  return is_finishing ? std::min(until, last_call) : until;
}

void Pipe::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  while (!state->must_stop) {
    if (!state->waiting.has_value()) {
      if (state->is_finishing) break;
      state->changed.wait(lock);
      continue;
    }
    if (const auto until = state->left_alone_until(); until > std::chrono::steady_clock::now()) {
      state->changed.wait_until(lock, until);
      continue;
    }
    Update update = std::move(*state->waiting);
    state->waiting.reset();
    state->is_sending = true;
    lock.unlock();
    const Status status = state->exporter->send(update);
    lock.lock();
    state->is_sending = false;
    state->note(status, std::move(update));
    if (status.code() != StatusCode::kUnavailable) continue;
    const bool was_finishing = state->is_finishing;
    const auto pause = state->pause();
    const auto is_over = [&] {
      // Who asked to be left alone is left alone in the end too.
      return state->must_stop || (state->is_finishing != was_finishing && state->retry_after_ns == 0);
    };
    state->changed.wait_for(lock, pause, is_over);
  }
  // It may hold what asks this pipe for its counters.
  std::unique_ptr<Exporter> ended = std::move(state->exporter);
  std::shared_ptr<void> held = std::move(state->held);
  lock.unlock();
  ended.reset();
  held.reset();
  lock.lock();
  state->has_ended = true;
  state->changed.notify_all();
}

}  // namespace goodput::exporters
