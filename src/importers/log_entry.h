// What stands around a payload: the log entry of Cloud Logging, and the Pub/Sub message around that.
//
//   std::optional<Envelope> envelope = open_envelope(reader.fields(), inner);
//   if (envelope) reader.read(inner);           // the payload, or the next envelope
//
// Pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "event/payload_fields.h"

namespace goodput::importers {

struct Envelope {
  std::optional<int64_t> timestamp_ns;  ///< `timestamp`, else `receiveTimestamp`; as Cloud Logging orders entries
  std::string insert_id;
  std::string log_name;
};

/// Opens one: its inside goes to `inner`. Empty, with `inner` unspecified, when there is nothing inside that could be
/// read.
std::optional<Envelope> open_envelope(const event::PayloadFields& fields, std::string& inner);

/// Appends what base64 text (either alphabet, padded or not) stands for. False when it is none.
[[nodiscard]] bool append_from_base64(std::string& out, std::string_view text);

}  // namespace goodput::importers
