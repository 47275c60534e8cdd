// SPDX-License-Identifier: Apache-2.0
#include "event/payload_fields.h"

#define XXH_INLINE_ALL
#include <simdjson.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "event/json_text.h"

namespace goodput::event {
namespace {

namespace json = simdjson::ondemand;

uint64_t hash_of(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t mix(uint64_t a, uint64_t b) {
  const uint64_t pair[] = {a, b};
  return XXH3_64bits(pair, sizeof pair);
}

/// What a value's hash begins with, so that 1, "1", [1] and true differ.
enum Seed : uint64_t {
  kNullSeed = 1,
  kFalseSeed,
  kTrueSeed,
  kNumberSeed,
  kNotFiniteSeed,
  kStringSeed,
  kArraySeed,
  kObjectSeed,
  kKeySeed
};

uint64_t hash_of(const Decimal& number) {
  uint64_t digits = number.head;
  if (number.digit_count > kHeadDigits) {
    std::string all(number.written);
    std::erase(all, '.');
    digits = hash_of(all, kNumberSeed);
  }
  const uint64_t parts[] = {digits, static_cast<uint64_t>(number.digit_count),
                            static_cast<uint64_t>(number.exponent) << 1 | (number.negative ? 1U : 0U)};
  return XXH3_64bits_withSeed(parts, sizeof parts, kNumberSeed);
}

/// Finds a key by the hash that the fingerprint needs anyway.
class KeyTable {
 public:
  KeyTable() {
    for (size_t i = 0; i < kKeys; ++i) {
      const uint64_t hash = hash_of(kKeyNames[i], kKeySeed);
      size_t at = hash % kSlots;
      while (slots_[at].used) at = (at + 1) % kSlots;
      slots_[at] = {hash, static_cast<Key>(i), true};
    }
  }

  [[nodiscard]] std::optional<Key> find(uint64_t hash, std::string_view name) const {
    for (size_t at = hash % kSlots; slots_[at].used; at = (at + 1) % kSlots) {
      if (slots_[at].hash == hash && kKeyNames[index_of(slots_[at].key)] == name) return slots_[at].key;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kSlots = 256;  // 63 keys: hardly ever a second look
  struct Slot {
    uint64_t hash = 0;
    Key key{};
    bool used = false;
  };
  std::array<Slot, kSlots> slots_;
};

const KeyTable& key_table() {
  static const KeyTable table;
  return table;
}

std::string_view without_blanks_behind(std::string_view token) {
  while (!token.empty() &&
         (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  return token;
}

/// The inside of a JSON string that begins at `begin`, behind its quote; simdjson has seen to it that it ends.
std::string_view inside_of_key(const char* begin) {
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

struct PayloadFields::Buffers {
  struct KeyAndValue {
    uint64_t key, value;
  };
  json::parser parser;
  std::string input;                // the text, with the blanks that simdjson wants behind it
  std::string unescaped;            // texts that had escapes; reserved ahead, so that views into it hold
  std::vector<KeyAndValue> hashes;  // of the fields of the objects being read, the outer ones first
};

/// One reading of one text. Every function returns false once the text has turned out not to be what it should.
class PayloadFields::Walk {
 public:
  Walk(PayloadFields& fields, json::document& document)
      : fields_(fields), buffers_(*fields.buffers_), document_(document) {}

  [[nodiscard]] Outcome outcome() const { return outcome_; }

  bool object(json::object object, int depth, uint64_t& hash) {
    if (depth > kMaxDepth) return fail(Outcome::kTooDeep);
    const size_t first = buffers_.hashes.size();
    for (auto field : object) {
      if (field.error() != simdjson::SUCCESS || !member(field.value_unsafe(), depth))
        return fail(Outcome::kNotAnObject);
    }
    hash = fold(first);
    return true;
  }

 private:
  bool fail(Outcome why) {
    if (outcome_ == Outcome::kObject) outcome_ = why;
    return false;
  }

  bool member(json::field field, int depth) {
    std::string_view name = inside_of_key(field.key().raw());
    if (!unescape(name)) return false;
    const uint64_t key_hash = hash_of(name, kKeySeed);
    FieldValue nested;
    FieldValue* value = &nested;
    if (depth == 0) {
      if (const std::optional<Key> key = key_table().find(key_hash, name)) {
        fields_.present_ |= uint64_t{1} << index_of(*key);
        value = &fields_.values_[index_of(*key)];
      }
    }
    uint64_t hash = 0;
    if (!any(field.value(), depth, *value, hash)) return false;
    buffers_.hashes.push_back({key_hash, hash});
    return true;
  }

  bool any(json::value json, int depth, FieldValue& value, uint64_t& hash) {
    const std::string_view token = without_blanks_behind(json.raw_json_token());
    if (token.empty()) return false;
    switch (token.front()) {
      case '{':
        return object_value(json, token.data(), depth + 1, value, hash);
      case '[':
        value.type = ValueType::kArray;
        return array(json, depth + 1, hash);
      case '"':
        return string(token, value, hash);
      default:
        return scalar(token, value, hash);
    }
  }

  bool object_value(json::value json, const char* begin, int depth, FieldValue& value, uint64_t& hash) {
    json::object inner;
    if (json.get_object().get(inner) != simdjson::SUCCESS || !object(inner, depth, hash)) return false;
    const char* behind = nullptr;  // where the comma or bracket behind it stands
    if (document_.current_location().get(behind) != simdjson::SUCCESS) return false;
    value.type = ValueType::kObject;
    value.text = without_blanks_behind({begin, static_cast<size_t>(behind - begin)});
    return true;
  }

  bool array(json::value json, int depth, uint64_t& hash) {
    if (depth > kMaxDepth) return fail(Outcome::kTooDeep);
    json::array elements;
    if (json.get_array().get(elements) != simdjson::SUCCESS) return false;
    hash = kArraySeed;
    for (auto element : elements) {
      FieldValue ignored;
      uint64_t inner = 0;
      if (element.error() != simdjson::SUCCESS || !any(element.value_unsafe(), depth, ignored, inner)) return false;
      hash = mix(hash, inner);
    }
    return true;
  }

  bool string(std::string_view token, FieldValue& value, uint64_t& hash) {
    if (token.size() < 2 || token.back() != '"') return false;
    value.type = ValueType::kString;
    value.text = token.substr(1, token.size() - 2);
    if (!unescape(value.text)) return false;
    hash = hash_of(value.text, kStringSeed);
    return true;
  }

  bool scalar(std::string_view token, FieldValue& value, uint64_t& hash) {
    if (const std::optional<Decimal> number = parse_json_number(token)) {
      value.type = ValueType::kNumber;
      value.number = *number;
      hash = hash_of(*number);
      return true;
    }
    struct Word {
      std::string_view text;
      ValueType type;
      uint64_t hash;
    };
    constexpr Word kWords[] = {{"null", ValueType::kNull, kNullSeed},
                               {"true", ValueType::kTrue, kTrueSeed},
                               {"false", ValueType::kFalse, kFalseSeed},
                               {"NaN", ValueType::kNotFinite, kNotFiniteSeed},
                               {"Infinity", ValueType::kNotFinite, kNotFiniteSeed + 100},
                               {"-Infinity", ValueType::kNotFinite, kNotFiniteSeed + 200}};
    const auto* const word = std::ranges::find(kWords, token, &Word::text);
    if (word == std::end(kWords)) return false;
    value.type = word->type;
    hash = word->hash;
    return true;
  }

  /// Leaves a text without escapes as it is.
  bool unescape(std::string_view& text) {
    if (std::memchr(text.data(), '\\', text.size()) == nullptr) return true;
    std::string& out = buffers_.unescaped;
    const size_t begin = out.size();
    if (!append_unescaped(out, text)) return false;
    text = std::string_view(out).substr(begin);
    return true;
  }

  /// The hash of an object whose fields' hashes stand from `first` on, which it takes away: the last of equal keys
  /// counts, and their order does not.
  uint64_t fold(size_t first) {
    auto& hashes = buffers_.hashes;
    const std::span fields(hashes.begin() + static_cast<ptrdiff_t>(first), hashes.end());
    sort_by_key(fields);
    uint64_t hash = kObjectSeed;
    for (size_t i = 0; i < fields.size(); ++i) {
      const bool last_of_its_key = i + 1 == fields.size() || fields[i + 1].key != fields[i].key;
      if (last_of_its_key) hash = mix(hash ^ fields[i].key, fields[i].value);
    }
    hashes.resize(first);
    return hash;
  }

  /// Equal keys stay in order. Few fields, as nearly always, are sorted without the buffer that a stable sort takes.
  static void sort_by_key(std::span<Buffers::KeyAndValue> fields) {
    constexpr size_t kFew = 32;
    if (fields.size() > kFew) {
      std::ranges::stable_sort(fields, {}, &Buffers::KeyAndValue::key);
      return;
    }
    for (size_t i = 1; i < fields.size(); ++i) {
      const auto field = fields[i];
      size_t at = i;
      for (; at > 0 && fields[at - 1].key > field.key; --at) fields[at] = fields[at - 1];
      fields[at] = field;
    }
  }

  PayloadFields& fields_;
  Buffers& buffers_;
  json::document& document_;
  Outcome outcome_ = Outcome::kObject;
};

PayloadFields::PayloadFields() : buffers_(std::make_unique<Buffers>()) {}
PayloadFields::~PayloadFields() = default;

PayloadFields::Outcome PayloadFields::read(std::string_view text) {
  present_ = 0;
  repaired_ = false;
  Buffers& buffers = *buffers_;
  buffers.input.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  buffers.input.assign(text);
  json::document document;
  simdjson::error_code error = buffers.parser.iterate(buffers.input).get(document);
  if (error == simdjson::UTF8_ERROR) {
    repaired_ = true;
    buffers.input.clear();
    append_repaired(buffers.input, text);
    buffers.input.reserve(buffers.input.size() + simdjson::SIMDJSON_PADDING);
    error = buffers.parser.iterate(buffers.input).get(document);
  }
  json::object object;
  if (error == simdjson::SUCCESS) error = document.get_object().get(object);
  if (error != simdjson::SUCCESS) return Outcome::kNotAnObject;
  buffers.unescaped.clear();
  buffers.unescaped.reserve(buffers.input.size());
  buffers.hashes.clear();
  Walk walk(*this, document);
  uint64_t hash = 0;
  if (!walk.object(object, 0, hash)) return walk.outcome();
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  if (!at_end) return Outcome::kNotAnObject;
  fingerprint_ = hash == 0 ? 1 : hash;
  return Outcome::kObject;
}

}  // namespace goodput::event
