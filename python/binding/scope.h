// What `with` enters and leaves: one event of a recorder, from its beginning to its end.
//
//   Scope scope(recorder, {.event = Event::kCustom, .name = "eval"});
//   scope.enter();
//   scope.leave(/*failed=*/false);
//
// A scope may be entered again, and then is another event. Never fails; with the GIL held.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <goodput/recorder.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace goodput::binding {

/// What a Detail says, with texts of its own.
struct Particulars {
  Event event = Event::kJob;
  std::string name{};
  std::string location{};
  std::optional<int64_t> step{};
  bool blocking = false;
  bool failed = false;
  int64_t time_ns = kNow;

  [[nodiscard]] Detail detail() const {
    return {
        .name = name, .location = location, .step = step, .blocking = blocking, .failed = failed, .time_ns = time_ns};
  }
};

class Scope {
 public:
  /// `begun`: the beginning is recorded already, as a step's is.
  Scope(std::shared_ptr<Recorder> recorder, Particulars particulars, bool begun = false)
      : recorder_(std::move(recorder)), particulars_(std::move(particulars)), begun_(begun) {}

  void enter() noexcept {
    if (!std::exchange(begun_, false)) recorder_->begin(particulars_.event, particulars_.detail());
  }
  /// The end; of a job, whether it failed. A step that failed has no end: one that has is complete.
  void leave(bool failed) noexcept {
    if (failed && particulars_.event == Event::kStep) return;
    particulars_.failed = failed;
    recorder_->end(particulars_.event, particulars_.detail());
  }
  /// Becomes the scope of another step that has begun.
  void take_step(int64_t step) noexcept {
    particulars_.step = step;
    begun_ = true;
  }

 private:
  std::shared_ptr<Recorder> recorder_;
  Particulars particulars_;
  bool begun_;
};

}  // namespace goodput::binding
