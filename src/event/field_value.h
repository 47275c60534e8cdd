// One value of a payload, as it was read.
//
//   if (value.is_number()) use(to_nanoseconds(value.number, kMaxTimeNs));
//
// Plain values; `text` and `number` refer to what was read. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/decimal.h"

namespace goodput::event {

enum class ValueType : uint8_t { kNull, kFalse, kTrue, kNumber, kNotFinite, kString, kObject, kArray };

struct FieldValue {
  ValueType type = ValueType::kNull;
  Decimal number;         ///< kNumber
  std::string_view text;  ///< kString: unescaped; kObject: its JSON

  [[nodiscard]] bool is_text() const { return type == ValueType::kString; }
  [[nodiscard]] bool is_number() const { return type == ValueType::kNumber; }
};

}  // namespace goodput::event
