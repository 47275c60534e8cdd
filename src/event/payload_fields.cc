// SPDX-License-Identifier: Apache-2.0
#include "event/payload_fields.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "event/flat_scanner.h"
#include "event/json_text.h"
#include "event/payload_key_table.h"
#include "event/value_hash.h"

namespace goodput::event {
namespace {

namespace json = simdjson::ondemand;

struct KeyAndValue {
  uint64_t key, value;  // hashes
};

/// Equal keys stay in order. Few fields, as nearly always, are sorted without the buffer that a stable sort takes.
void sort_by_key(std::span<KeyAndValue> fields) {
  constexpr size_t kFew = 32;
  if (fields.size() > kFew) {
    std::ranges::stable_sort(fields, {}, &KeyAndValue::key);
    return;
  }
  for (size_t i = 1; i < fields.size(); ++i) {
    const auto field = fields[i];
    size_t at = i;
    for (; at > 0 && fields[at - 1].key > field.key; --at) fields[at] = fields[at - 1];
    fields[at] = field;
  }
}

/// The sum of the hashes of the fields from `first` on, which it takes away; of equal keys the last counts.
uint64_t fold(std::vector<KeyAndValue>& hashes, size_t first) {
  if (hashes.size() == first) return 0;
  const std::span fields(hashes.begin() + static_cast<ptrdiff_t>(first), hashes.end());
  sort_by_key(fields);
  uint64_t sum = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool last_of_its_key = i + 1 == fields.size() || fields[i + 1].key != fields[i].key;
    if (last_of_its_key) sum += hash_field(fields[i].key, fields[i].value);
  }
  hashes.resize(first);
  return sum;
}

/// Of a value that is no object or array, and finite.
uint64_t hash_scalar(const FieldValue& value) {
  switch (value.type) {
    case ValueType::kNumber:
      return hash_number(value.number);
    case ValueType::kString:
      return hash_text(value.text, kStringSeed);
    case ValueType::kTrue:
      return kTrueSeed;
    case ValueType::kFalse:
      return kFalseSeed;
    default:
      return kNullSeed;
  }
}

constexpr uint64_t object_hash(uint64_t sum_of_fields) { return scramble(sum_of_fields + kObjectSeed); }

/// What simdjson and FlatScanner want behind a text.
constexpr size_t kPadding = std::max(simdjson::SIMDJSON_PADDING, kFlatPadding);

/// An entry longer than this leaves no buffers of its size behind.
constexpr size_t kBytesKept = 1UL << 20;

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
  /// Keeps a text, for the views into it to last.
  std::string_view keep(std::string_view text) {
    if (input.capacity() > kBytesKept) *this = Buffers();
    input.clear();
    input.reserve(text.size() + kPadding);
    input.append(text).append(kFlatPadding, '\0');
    return {input.data(), text.size()};
  }

  /// Forgets the fields of the object before.
  void start() {
    known_sum = 0;
    hashes.clear();
  }

  /// Adds a field whose key we know to the hash of the object; `again`: in the place of one with the same key.
  void add_known(Key key, bool again, uint64_t hash) {
    if (again) known_sum -= known[index_of(key)];
    known[index_of(key)] = hash;
    known_sum += hash;
  }

  json::parser parser;
  std::string input;                // the text and its padding
  std::string unescaped;            // texts that had escapes; reserved ahead, so that views into it hold
  uint64_t known_sum = 0;           // of the hashes of the fields whose key we know
  uint64_t known[kKeys];            // the latest of each
  std::vector<KeyAndValue> hashes;  // of the other fields of the objects being read, the outer ones first
};

/// One reading of a text by FlatScanner. Every function returns false once it has given up.
class PayloadFields::FlatWalk {
 public:
  FlatWalk(PayloadFields& fields, std::string_view text)
      : fields_(fields), buffers_(*fields.buffers_), scanner_(text), table_(payload_key_table()) {}

  [[nodiscard]] bool finished() const { return scanner_.finished(); }

  bool object(int depth, uint64_t& hash) {
    const size_t first = buffers_.hashes.size();
    if (depth > kMaxFlatDepth || !scanner_.enter('{')) return false;
    FieldValue unknown;
    for (std::string_view name; scanner_.next('}', &name);) {
      const auto* const known = depth == 0 ? table_.find(name) : nullptr;
      uint64_t value_hash = 0;
      if (!any(depth, known != nullptr ? fields_.values_[index_of(known->key)] : unknown, value_hash)) return false;
      if (known != nullptr) {
        fields_.add_known(known->key, hash_field(known->hash, value_hash));
      } else {
        buffers_.hashes.push_back({hash_text(name, kKeySeed), value_hash});
      }
    }
    const uint64_t sum = fold(buffers_.hashes, first);
    hash = object_hash(depth == 0 ? sum + buffers_.known_sum : sum);
    return true;
  }

 private:
  /// A log entry has three levels.
  static constexpr int kMaxFlatDepth = 16;

  bool any(int depth, FieldValue& value, uint64_t& hash) {
    const char* const begin = scanner_.place();
    if (scanner_.peek() == '{') {
      value.type = ValueType::kObject;
      if (!object(depth + 1, hash)) return false;
      value.text = without_blanks_behind({begin, static_cast<size_t>(scanner_.place() - begin)});
      return true;
    }
    if (scanner_.peek() == '[') {
      value.type = ValueType::kArray;
      return array(depth + 1, hash);
    }
    if (!scanner_.take(value)) return false;
    hash = hash_scalar(value);
    return true;
  }

  bool array(int depth, uint64_t& hash) {
    if (depth > kMaxFlatDepth || !scanner_.enter('[')) return false;
    hash = kArraySeed;
    FieldValue element;
    while (scanner_.next(']', nullptr)) {
      uint64_t inner = 0;
      if (!any(depth, element, inner)) return false;
      hash = mix(hash, inner);
    }
    return true;
  }

  PayloadFields& fields_;
  Buffers& buffers_;
  FlatScanner scanner_;
  const PayloadKeyTable& table_;
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
    const uint64_t sum = fold(buffers_.hashes, first);
    hash = object_hash(depth == 0 ? sum + buffers_.known_sum : sum);
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
    uint64_t hash = 0;
    if (const auto* const known = depth == 0 ? payload_key_table().find(name) : nullptr) {
      FieldValue& value = fields_.values_[index_of(known->key)];
      if (!any(field.value(), depth, value, hash)) return false;
      fields_.add_known(known->key, hash_field(known->hash, hash));
      return true;
    }
    FieldValue ignored;
    const uint64_t key_hash = hash_text(name, kKeySeed);
    if (!any(field.value(), depth, ignored, hash)) return false;
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
    hash = hash_text(value.text, kStringSeed);
    return true;
  }

  bool scalar(std::string_view token, FieldValue& value, uint64_t& hash) {
    if (const std::optional<Decimal> number = parse_json_number(token)) {
      value.type = ValueType::kNumber;
      value.number = *number;
      hash = hash_number(*number);
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

  PayloadFields& fields_;
  Buffers& buffers_;
  json::document& document_;
  Outcome outcome_ = Outcome::kObject;
};

PayloadFields::PayloadFields() : buffers_(std::make_unique<Buffers>()) {}
PayloadFields::~PayloadFields() = default;

PayloadFields::Outcome PayloadFields::read(std::string_view text) {
  repaired_ = false;
  text = buffers_->keep(text);
  return read_flat(text) ? Outcome::kObject : read_any(text);
}

void PayloadFields::add_known(Key key, uint64_t hash) {
  buffers_->add_known(key, has(key), hash);
  present_ |= uint64_t{1} << index_of(key);
}

void PayloadFields::set_fingerprint(uint64_t hash) { fingerprint_ = hash == 0 ? 1 : hash; }

/// The short way, for nearly all. False where it is not to be gone.
bool PayloadFields::read_flat(std::string_view text) {
  present_ = 0;
  buffers_->start();
  FlatWalk walk(*this, text);
  uint64_t hash = 0;
  if (!walk.object(0, hash) || !walk.finished()) return false;
  set_fingerprint(hash);
  return true;
}

/// Any JSON, and what is none.
PayloadFields::Outcome PayloadFields::read_any(std::string_view text) {
  present_ = 0;
  Buffers& buffers = *buffers_;
  json::document document;
  const auto iterate = [&](std::string_view in) {
    return buffers.parser.iterate(simdjson::padded_string_view(in.data(), in.size(), in.size() + kPadding))
        .get(document);
  };
  simdjson::error_code error = iterate(text);
  if (error == simdjson::UTF8_ERROR) {
    repaired_ = true;
    std::string valid;
    append_repaired(valid, text);
    text = buffers.keep(valid);
    error = iterate(text);
  }
  json::object object;
  if (error == simdjson::SUCCESS) error = document.get_object().get(object);
  if (error != simdjson::SUCCESS) return Outcome::kNotAnObject;
  buffers.start();
  buffers.unescaped.clear();
  buffers.unescaped.reserve(text.size() + kPadding);
  Walk walk(*this, document);
  uint64_t hash = 0;
  if (!walk.object(object, 0, hash)) return walk.outcome();
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  if (!at_end) return Outcome::kNotAnObject;
  set_fingerprint(hash);
  return Outcome::kObject;
}

}  // namespace goodput::event
