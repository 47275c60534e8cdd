// SPDX-License-Identifier: Apache-2.0
#include "exporters/pipe/pipe.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"

namespace goodput::exporters {
namespace {

/// What `update` adds to what waits: the later report, and the steps of both.
void join(std::optional<Update>& waiting, Update&& update, size_t max_steps, uint64_t& dropped) {
  if (waiting.has_value()) {
    waiting->report = std::move(update.report);
    waiting->steps.insert(waiting->steps.end(), update.steps.begin(), update.steps.end());
  } else {
    waiting = std::move(update);
  }
  if (waiting->steps.size() <= max_steps) return;
  const size_t most = waiting->steps.size() - max_steps;
  dropped += most;
  waiting->steps.erase(waiting->steps.begin(), waiting->steps.begin() + static_cast<std::ptrdiff_t>(most));
}

}  // namespace

struct Pipe::State {
  State(std::unique_ptr<Exporter> sink, const PipeOptions& with) : exporter(std::move(sink)), options(with) {}

  std::unique_ptr<Exporter> exporter;
  PipeOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Update> waiting;
  PipeCounters counters;
  bool is_sending = false;
  bool is_finishing = false;  ///< retry at once, end when nothing waits
  bool must_stop = false;
  bool has_ended = false;
};

Pipe::Pipe(std::unique_ptr<Exporter> exporter, const PipeOptions& options)
    : name_(exporter->name()), state_(std::make_shared<State>(std::move(exporter), options)) {
  std::thread(run, state_).detach();  // joined by finish(), unless its sink hangs
}

Pipe::~Pipe() { finish(0); }

void Pipe::offer(const Update& update) {
  const std::lock_guard lock(state_->mutex);
  ++state_->counters.offered;
  join(state_->waiting, Update(update), state_->options.max_steps, state_->counters.dropped_steps);
  state_->changed.notify_all();
}

bool Pipe::finish(int64_t timeout_ns) {
  std::unique_lock lock(state_->mutex);
  state_->is_finishing = true;
  state_->changed.notify_all();
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(timeout_ns);
  state_->changed.wait_until(lock, until, [&] { return state_->has_ended; });
  state_->must_stop = true;
  state_->changed.notify_all();
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

void Pipe::run(const std::shared_ptr<State>& state) {
  std::unique_lock lock(state->mutex);
  int64_t retry_ns = state->options.first_retry_ns;
  while (!state->must_stop) {
    if (!state->waiting.has_value()) {
      if (state->is_finishing) break;
      state->changed.wait(lock);
      continue;
    }
    if (const int64_t pause_ns = state->exporter->pause_ns(); pause_ns > 0) {
      state->changed.wait_for(lock, std::chrono::nanoseconds(pause_ns), [&] { return state->must_stop; });
      continue;
    }
    Update update = std::move(*state->waiting);
    state->waiting.reset();
    state->is_sending = true;
    lock.unlock();
    const Status status = state->exporter->send(update);
    lock.lock();
    state->is_sending = false;
    if (status.ok()) {
      ++state->counters.sent;
      state->counters.last_success_ns = wall_time_ns();
      state->counters.last_failure.clear();
      retry_ns = state->options.first_retry_ns;
      continue;
    }
    ++state->counters.failed;
    state->counters.last_failure = status.message();
    if (status.code() != StatusCode::kUnavailable) {
      ++state->counters.given_up;
      continue;
    }
    // What came meanwhile goes behind it.
    std::optional<Update> newer = std::exchange(state->waiting, std::move(update));
    if (newer.has_value()) {
      join(state->waiting, std::move(*newer), state->options.max_steps, state->counters.dropped_steps);
    }
    const auto pause = std::chrono::nanoseconds(state->is_finishing ? state->options.first_retry_ns / 4 : retry_ns);
    const bool was_finishing = state->is_finishing;
    state->changed.wait_for(lock, pause, [&] { return state->must_stop || state->is_finishing != was_finishing; });
    retry_ns = std::min(retry_ns * 2, state->options.last_retry_ns);
  }
  state->has_ended = true;
  state->changed.notify_all();
}

}  // namespace goodput::exporters
