// Events of every kind with everything that they can carry, for tests of what writes and reads events.
//
//   RandomEvents events(seed);
//   const Event e = events.make(Kind::kStepStart);
//   EXPECT_EQ(described(read_back), described(e));
//
// What an Event points at lives as long as the generator. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "event/event.h"
#include "event/kind_names.h"

namespace goodput::event {

class RandomEvents {
 public:
  /// Without surrogates all texts are valid UTF-8.
  explicit RandomEvents(uint64_t seed, bool with_surrogates = true) : random_(seed), surrogates_(with_surrogates) {}

  Event make(Kind kind) {
    Event e{.time_ns = number(0, kMaxTimeNs), .position = {random_(), random_()}, .kind = kind};
    if (one_in(2)) e.time_ns -= e.time_ns % 1'000'000;  // as most clocks have it
    if (!one_in(3)) e.origin = make_origin();
    switch (kind) {
      case Kind::kJobEnd:
        if (one_in(2)) e.flags |= kFailed;
        break;
      case Kind::kStepStart:
      case Kind::kStepEnd:
        e.step = number(-kMaxStep, kMaxStep);
        if (one_in(2)) {
          Detail& detail = make_detail(e);
          detail.tokens = work();
          detail.samples = work();
          detail.flops = work();
        }
        break;
      case Kind::kDataLoadingStart:
        if (one_in(2)) e.flags |= kBlocking;
        break;
      case Kind::kCustomStart:
      case Kind::kCustomEnd:
      case Kind::kElasticWaitStart:
      case Kind::kElasticWaitEnd:
        e.name = text();
        break;
      case Kind::kSliceCounts:
        make_slices(e);
        break;
      case Kind::kProcessExit:
        if (!one_in(3)) e.flags |= one_in(2) ? kSignal : kCode;
        if (e.flags != 0) e.exit_value = static_cast<int32_t>(number(-INT32_MAX, INT32_MAX));
        break;
      case Kind::kDisruption:
        make_detail(e).cause = text();
        if (one_in(2)) make_detail(e).text = text();
        break;
      default:
        make_checkpoint(e);
    }
    return e;
  }

  Event make() { return make(static_cast<Kind>(number(1, static_cast<int64_t>(kLastKind)))); }

  bool one_in(uint64_t n) { return random_() % n == 0; }
  int64_t number(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random_); }

 private:
  void make_checkpoint(Event& e) {
    const bool statistics = e.kind == Kind::kCheckpointSave || e.kind == Kind::kCheckpointRestore;
    if (!statistics && start_of(e.kind) != Kind::kCheckpointSaveStart &&
        start_of(e.kind) != Kind::kCheckpointRestoreStart) {
      return;
    }
    if (one_in(2)) {
      e.step = number(-kMaxStep, kMaxStep);
      e.flags |= kHasStep;
    }
    if (one_in(2)) make_detail(e).location = text();
    if (!statistics) return;
    e.duration_ns = number(0, kMaxDurationNs);
    if (e.kind == Kind::kCheckpointRestore && one_in(2)) e.flags |= kEmergency;
    if (one_in(4)) {
      e.flags |= kUntimed;
      e.time_ns = 0;
    }
  }

  void make_slices(Event& e) {
    Detail& detail = make_detail(e);
    detail.active_slices = number(0, 4096);
    detail.total_slices = number(0, 4096);
    detail.available_slices = number(0, 4096);
  }

  /// The event's own, made at the first call.
  Detail& make_detail(Event& e) {
    if (e.detail == nullptr) e.detail = &details_.emplace_back();
    return details_.back();
  }

  const Origin* make_origin() {
    if (origins_.size() > 20 && !one_in(100)) return &origins_[random_() % origins_.size()];
    return &origins_.emplace_back(Origin{.attempt_id = one_in(3) ? std::string_view() : text(),
                                         .run_id = one_in(3) ? std::string_view() : text(),
                                         .role = one_in(3) ? text() : std::string_view(),
                                         .host = one_in(3) ? std::string_view() : text(),
                                         .process_index = one_in(3) ? number(-1, 4096) : 0,
                                         .pid = one_in(3) ? number(1, 1 << 22) : 0});
  }

  double work() {
    if (one_in(3)) return NAN;
    if (one_in(20)) return one_in(2) ? HUGE_VAL : 0;
    if (one_in(2)) return static_cast<double>(number(0, kMaxStep));
    return std::ldexp(static_cast<double>(number(1, kMaxStep)), static_cast<int>(number(-1000, 900)));
  }

  /// Never empty; with all that JSON, CSV and UTF-8 make difficult, a lone surrogate included.
  std::string_view text() {
    static const std::vector<std::string> kPieces = {
        "eval", "A", " ", "/",    "..", "\"", "\\", "\n",   "\r\n", "\t",          ",", ";", "=", std::string(1, '\0'),
        "\x7f", "é", "ß", "漢字", "🚀", "{",  "}",  "null", "'",    "\xED\xA0\x80"};
    std::string& made = texts_.emplace_back();
    const size_t pieces = kPieces.size() - (surrogates_ ? 0 : 1);
    for (int64_t i = number(1, 6); i > 0; --i) made += kPieces[random_() % pieces];
    return made;
  }

  std::mt19937_64 random_;
  bool surrogates_;
  std::deque<std::string> texts_;
  std::deque<Detail> details_;
  std::deque<Origin> origins_;
};

/// Everything about an event that payloads carry, in a text that is equal for equal events. No detail is a detail that
/// says nothing.
inline std::string described(const Event& e) {
  const auto quoted = [](std::string_view text) { return " '" + std::string(text) + "'"; };
  const auto number = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, " %a", value);  // exact
    return std::string(text);
  };
  const Detail detail = e.detail == nullptr ? Detail{} : *e.detail;
  std::string text(name_of(e.kind));
  text += " at " + std::to_string(e.time_ns) + " for " + std::to_string(e.duration_ns) + " position " +
          std::to_string(e.position.major) + "-" + std::to_string(e.position.minor) + " step " +
          std::to_string(e.step) + " exit " + std::to_string(e.exit_value) + " flags " + std::to_string(e.flags) +
          quoted(e.name) + quoted(detail.location) + quoted(detail.cause) + quoted(detail.text) + " slices " +
          std::to_string(detail.active_slices) + " " + std::to_string(detail.total_slices) + " " +
          std::to_string(detail.available_slices) + number(detail.tokens) + number(detail.samples) +
          number(detail.flops);
  if (e.origin == nullptr) return text + " of nobody";
  return text + " of" + quoted(e.origin->attempt_id) + quoted(e.origin->run_id) + quoted(e.origin->role) +
         quoted(e.origin->host) + " " + std::to_string(e.origin->process_index) + " " + std::to_string(e.origin->pid);
}

}  // namespace goodput::event
