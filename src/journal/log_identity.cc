// SPDX-License-Identifier: Apache-2.0
#include "journal/log_identity.h"

#include <cstring>

#include "event/value_hash.h"
#include "journal/live_header.h"

namespace goodput::journal {

LogIdentity::LogIdentity(std::string_view job, std::string_view run_id) {
  add(cut_text(job, kMaxJobBytes));
  add(cut_text(run_id, kMaxIdBytes));
}

/// The fingerprint is of the whole payload; the rest is for events that have none.
void LogIdentity::add(const event::Event& event) {
  add(event.fingerprint);
  add(static_cast<uint64_t>(event.time_ns));
  add(static_cast<uint64_t>(event.step));
  add(static_cast<uint64_t>(event.kind));
}

void LogIdentity::add(std::string_view text) { add(event::hash_text(text, event::kStringSeed)); }

void LogIdentity::add(uint64_t value) {
  sums_[0] = event::scramble(sums_[0] + value);
  sums_[1] = event::mix(sums_[1], value) + sums_[0];
}

std::array<uint8_t, 16> LogIdentity::id() const {
  std::array<uint8_t, 16> id;
  std::memcpy(id.data(), sums_.data(), id.size());
  return id;
}

}  // namespace goodput::journal
