// Writes and reads the ledger's own bytes (states at boundaries, snapshots): varints, strings, optionals, lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "event/event.h"
#include "ledger/account.h"
#include "ledger/fold_state.h"
#include "ledger/key.h"
#include "ledger/quotient.h"

namespace goodput::ledger {

/// One description of each type's fields serves writing and reading: `fields(archive, value)` visits them in order.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void visit(T& value) {
    put_varint(out_, zigzag(static_cast<int64_t>(value)));
  }
  void visit(int128& value) {
    put_varint(out_, static_cast<uint64_t>(value));
    put_varint(out_, static_cast<uint64_t>(value >> 64));
  }
  void visit(std::string& value) {
    put_varint(out_, value.size());
    out_ += value;
  }
  /// The number of elements of a list that follows.
  size_t size(size_t actual) {
    put_varint(out_, actual);
    return actual;
  }
  [[nodiscard]] static constexpr bool reading() { return false; }

 private:
  std::string& out_;
};

/// After any failed read every value is zero and failed() is true.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}
  template <typename T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void visit(T& value) {
    value = static_cast<T>(unzigzag(raw()));
  }
  void visit(int128& value) {
    const uint64_t low = raw();
    value = static_cast<int128>((static_cast<uint128>(raw()) << 64) | low);
  }
  void visit(std::string& value) {
    const uint64_t length = raw();
    if (length > in_.size()) failed_ = true;
    if (failed_) return;
    value.assign(reinterpret_cast<const char*>(in_.data()), length);
    in_ = in_.subspan(length);
  }
  /// At most one element per byte left: a damaged count allocates nothing that is not there.
  size_t size(size_t /*unused*/) {
    const uint64_t count = raw();
    if (count > in_.size()) failed_ = true;
    return failed_ ? 0 : count;
  }
  [[nodiscard]] static constexpr bool reading() { return true; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::span<const std::byte> rest() const { return in_; }

 private:
  uint64_t raw() {
    uint64_t value = 0;
    if (failed_ || !get_varint(in_, value)) {
      failed_ = true;
      return 0;
    }
    return value;
  }

  std::span<const std::byte> in_;
  bool failed_ = false;
};

template <typename Archive, typename T>
void visit(Archive& archive, T& value);

template <typename Archive, typename... T>
void visit_all(Archive& archive, T&... values) {
  (visit(archive, values), ...);
}

template <typename Archive, typename T>
void fields(Archive& archive, std::vector<T>& list) {
  list.resize(archive.size(list.size()));
  for (T& element : list) visit(archive, element);
}
template <typename Archive, typename T>
void fields(Archive& archive, std::optional<T>& value) {
  bool has = value.has_value();
  visit(archive, has);
  if constexpr (Archive::reading()) {
    if (has) value.emplace();
  }
  if (has) visit(archive, *value);
}
template <typename Archive, typename A, typename B>
void fields(Archive& archive, std::pair<A, B>& value) {
  visit_all(archive, value.first, value.second);
}
template <typename Archive, typename T, size_t N>
void fields(Archive& archive, std::array<T, N>& values) {
  for (T& value : values) visit(archive, value);
}
template <typename Archive>
void fields(Archive& archive, event::Position& value) {
  visit_all(archive, value.major, value.minor);
}
template <typename Archive>
void fields(Archive& archive, Key& value) {
  visit_all(archive, value.ns, value.moved_ns, value.after_starts, value.position);
}
template <typename Archive>
void fields(Archive& archive, StepRecord& value) {
  visit_all(archive, value.step, value.ns);
}
template <typename Archive>
void fields(Archive& archive, StepTime& value) {
  visit_all(archive, value.ns, value.steps);
}
template <typename Archive>
void fields(Archive& archive, StepSums& value) {
  visit_all(archive, value.ns, value.steps);
}
template <typename Archive>
void fields(Archive& archive, Totals& value) {
  visit_all(archive, value.ns, value.custom_ns);
}
template <typename Archive>
void fields(Archive& archive, OpenEvent& value) {
  visit_all(archive, value.kind, value.name, value.start_ns, value.time_class, value.load, value.custom,
            value.records_since);
}
template <typename Archive>
void fields(Archive& archive, HeldInterval& value) {
  visit_all(archive, value.start_ns, value.end_ns, value.time_class, value.custom);
}
template <typename Archive>
void fields(Archive& archive, Annotation& value) {
  visit_all(archive, value.ns, value.cause, value.text, value.source, value.planned);
}
template <typename Archive>
void fields(Archive& archive, Exit& value) {
  visit_all(archive, value.ns, value.value, value.flags);
}
template <typename Archive>
void fields(Archive& archive, AttemptState& value) {
  visit_all(archive, value.start_ns, value.opened_ns, value.last_ns, value.completed_ns, value.failed_ns, value.exit,
            value.exit_zero, value.last_heartbeat_ns, value.first_step, value.id, value.host);
}
template <typename Archive>
void fields(Archive& archive, SliceCounts& value) {
  visit_all(archive, value.active, value.total, value.available);
}
template <typename Archive>
void fields(Archive& archive, FoldState& value) {
  visit_all(archive, value.begin_ns, value.attempt, value.records_since_elastic, value.spacing_ns,
            value.previous_segment_ns, value.segment_intervals, value.segment_first_step, value.last_record, value.open,
            value.held, value.slices, value.annotation, value.segment_steady);
  // Neighbouring step records and times differ little: write the differences.
  value.recent.resize(archive.size(value.recent.size()));
  StepRecord before;
  for (StepRecord& record : value.recent) {
    StepRecord delta{record.step - before.step, record.ns - before.ns};
    visit(archive, delta);
    before = record = {before.step + delta.step, before.ns + delta.ns};
  }
  value.typical.resize(archive.size(value.typical.size()));
  StepTime earlier{0, 0};
  for (StepTime& time : value.typical) {
    StepTime delta{time.ns - earlier.ns, time.steps - earlier.steps};
    visit(archive, delta);
    earlier = time = {earlier.ns + delta.ns, earlier.steps + delta.steps};
  }
}

template <typename Archive, typename T>
void visit(Archive& archive, T& value) {
  if constexpr (requires { archive.visit(value); }) {
    archive.visit(value);
  } else {
    fields(archive, value);
  }
}

}  // namespace goodput::ledger
