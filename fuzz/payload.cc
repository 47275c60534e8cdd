// Any bytes as a payload. What is read must be within the limits of the format, the same however it is read, and the
// same again once written.
// SPDX-License-Identifier: Apache-2.0
#include "event/payload.h"

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/status.h"
#include "event/payload_writer.h"
#include "event/random_event_for_test.h"

namespace goodput::event {
namespace {

void check_limits(const Event& e) {
  CHECK(e.kind > Kind::kNone && e.kind <= kLastKind);
  CHECK(e.time_ns >= 0 && e.time_ns <= kMaxTimeNs);
  CHECK(e.duration_ns >= 0 && e.duration_ns <= kMaxDurationNs);
  CHECK(e.step >= -kMaxStep && e.step <= kMaxStep);
  CHECK(e.fingerprint != 0);
}

/// An escape in the first text sends the reader the long way; the value stays the same.
void check_long_way(const std::string& json, const Payload& payload) {
  const size_t letter = json.find('"') + 1;
  if (letter == 0 || letter >= json.size() || json[letter] < 'A' || json[letter] > 'z' || json[letter] == '\\') return;
  char escape[8];
  std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(json[letter]));
  static PayloadReader reader;
  const Payload& other = reader.read(json.substr(0, letter) + escape + json.substr(letter + 1));
  CHECK(other.verdict == payload.verdict);
  CHECK(other.flaw == payload.flaw);
  CHECK(other.event.fingerprint == payload.event.fingerprint);
  CHECK(described(other.event) == described(payload.event));
}

void check_written(const Payload& payload) {
  static PayloadReader reader;
  static PayloadWriter writer("job");
  std::string written;
  writer.append(written, payload.event);
  const Payload& again = reader.read(written);
  CHECK(again.verdict == Verdict::kEvent);
  CHECK(described(again.event) == described(payload.event));
}

}  // namespace
}  // namespace goodput::event

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace goodput::event;
  static PayloadReader reader;
  const std::string json(reinterpret_cast<const char*>(bytes), size);
  const Payload& payload = reader.read(json);
  check_long_way(json, payload);
  if (payload.verdict != Verdict::kEvent) return 0;
  check_limits(payload.event);
  check_written(payload);
  return 0;
}
