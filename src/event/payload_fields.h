// One JSON object, read into the values of the keys that we know and a fingerprint of everything.
//
// The lower half of payload.h, which says what the values mean. Use that instead.
//
//   PayloadFields fields;
//   if (fields.read(line) != PayloadFields::Outcome::kObject) …       // counted as malformed
//   if (fields.has(Key::kJobName)) … fields[Key::kJobName].text …
//
// Accepts what Python's json.loads accepts: NaN, Infinity, lone surrogates, the last of equal keys. Bytes that are not
// UTF-8 become U+FFFD. One thread; nothing is allocated per object once the buffers have grown to the longest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "event/field_value.h"
#include "event/payload_keys.h"

namespace goodput::event {

class PayloadFields {
 public:
  enum class Outcome : uint8_t {
    kObject,
    kNotAnObject,  ///< no JSON, or another value
    kTooDeep,      ///< nested more than kMaxDepth
  };
  /// Python refuses at about this depth too; no recorder writes more than two.
  static constexpr int kMaxDepth = 500;

  PayloadFields();
  ~PayloadFields();
  PayloadFields(const PayloadFields&) = delete;
  PayloadFields& operator=(const PayloadFields&) = delete;

  /// Reads the object that is the whole of `json`, blanks around it apart. Forgets the one before.
  Outcome read(std::string_view json);

  [[nodiscard]] bool has(Key key) const { return (present_ >> index_of(key) & 1) != 0; }
  /// Bit i: the key of index i is there.
  [[nodiscard]] uint64_t present() const { return present_; }
  /// The value of a key; null where it is absent. Valid until the next read().
  [[nodiscard]] const FieldValue& operator[](Key key) const {
    static constexpr FieldValue kAbsent;
    return has(key) ? values_[index_of(key)] : kAbsent;
  }

  /// Equal for equal parsed values: numbers by value, keys in any order. Never 0.
  [[nodiscard]] uint64_t fingerprint() const { return fingerprint_; }
  /// Bytes that were not UTF-8 have been replaced.
  [[nodiscard]] bool repaired() const { return repaired_; }

 private:
  class FlatWalk;
  class Walk;
  struct Buffers;

  bool read_flat(std::string_view text);
  Outcome read_any(std::string_view text);
  void add_known(Key key, uint64_t hash);
  void set_fingerprint(uint64_t hash);

  std::unique_ptr<Buffers> buffers_;
  uint64_t present_ = 0;
  uint64_t fingerprint_ = 0;
  bool repaired_ = false;
  FieldValue values_[kKeys];
};

}  // namespace goodput::event
