// SPDX-License-Identifier: Apache-2.0
#include "importers/log_entry.h"

#include "base/time_text.h"

namespace goodput::importers {
namespace {

using event::FieldValue;
using event::Key;
using event::PayloadFields;
using event::ValueType;

std::optional<int64_t> time_of(const FieldValue& value) {
  return value.is_text() ? parse_rfc3339(value.text) : std::nullopt;
}

/// The six bits of a character, or -1.
int bits_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

}  // namespace

bool append_from_base64(std::string& out, std::string_view text) {
  for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  uint32_t held = 0;
  int held_bits = 0;
  for (const char c : text) {
    const int bits = bits_of(c);
    if (bits < 0) return false;
    held = held << 6 | static_cast<uint32_t>(bits);
    held_bits += 6;
    if (held_bits < 8) continue;
    held_bits -= 8;
    out.push_back(static_cast<char>(held >> held_bits & 0xFF));
  }
  return true;
}

std::optional<Envelope> open_envelope(const PayloadFields& fields, std::string& inner) {
  Envelope envelope;
  inner.clear();
  if (fields[Key::kJsonPayload].type == ValueType::kObject) {
    inner = fields[Key::kJsonPayload].text;
    envelope.timestamp_ns = time_of(fields[Key::kTimestamp]);
    if (!envelope.timestamp_ns) envelope.timestamp_ns = time_of(fields[Key::kReceiveTimestamp]);
    if (fields[Key::kInsertId].is_text()) envelope.insert_id = fields[Key::kInsertId].text;
    if (fields[Key::kLogName].is_text()) envelope.log_name = fields[Key::kLogName].text;
    return envelope;
  }
  std::string_view encoded =
      fields[Key::kEnvelopeData].is_text() ? fields[Key::kEnvelopeData].text : std::string_view();
  PayloadFields message;
  if (fields[Key::kMessage].type == ValueType::kObject) {
    if (message.read(fields[Key::kMessage].text) != PayloadFields::Outcome::kObject) return std::nullopt;
    encoded = message[Key::kEnvelopeData].is_text() ? message[Key::kEnvelopeData].text : std::string_view();
  }
  if (encoded.empty() || !append_from_base64(inner, encoded)) return std::nullopt;
  return envelope;
}

}  // namespace goodput::importers
