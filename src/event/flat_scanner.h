// JSON without escapes, in ASCII: nearly every payload and log entry there is.
//
// Several times as fast as a general parser, which takes over where this one gives up; what it accepts it reads alike.
//
//   FlatScanner scanner(text);               // kFlatPadding zero bytes must follow the text
//   if (scanner.enter('{')) {
//     for (std::string_view name; scanner.next('}', &name);) { FieldValue value; if (!scanner.take(value)) … }
//   }
//   if (!scanner.finished()) …               // gave up: what was read means nothing
//
// Views into the text. No allocation, no failure but giving up, for good. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/byte_search.h"
#include "event/field_value.h"

namespace goodput::event {

/// Eight bytes are looked at at once.
constexpr size_t kFlatPadding = 8;

class FlatScanner {
 public:
  explicit FlatScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) { skip_blanks(); }

  /// The first byte of what comes next; 0 at the end.
  [[nodiscard]] char peek() const { return *at_; }
  [[nodiscard]] const char* place() const { return at_; }

  /// Passes the bracket that opens an object or array, if it stands here.
  bool enter(char bracket) {
    if (*at_ != bracket) return give_up();
    ++at_;
    skip_blanks();
    first_ = true;
    return true;
  }

  /// Moves to the next member: past the comma and, in an object (`name` given), past the name. False behind the last
  /// one, past the closing bracket, and when it gives up.
  bool next(char closing, std::string_view* name) {
    const bool first = std::exchange(first_, false);
    if (*at_ == closing) {
      ++at_;
      skip_blanks();
      return false;
    }
    if (!first) {
      if (*at_ != ',') return give_up();
      ++at_;
      skip_blanks();
    }
    return name == nullptr || (take_string(*name) && take_colon());
  }

  /// Reads a value that is no object or array, and the blanks behind it.
  bool take(FieldValue& value) {
    bool taken = false;
    switch (*at_) {
      case '"':
        value.type = ValueType::kString;
        taken = take_string(value.text);
        break;
      case 't':
        value.type = ValueType::kTrue;
        taken = take_word("true");
        break;
      case 'f':
        value.type = ValueType::kFalse;
        taken = take_word("false");
        break;
      case 'n':
        value.type = ValueType::kNull;
        taken = take_word("null");
        break;
      default:
        value.type = ValueType::kNumber;
        taken = take_number(value.number);
        break;
    }
    skip_blanks();
    return taken;
  }

  bool give_up() {
    gave_up_ = true;
    at_ = end_;
    return false;
  }

  /// Everything up to the end of the text has been read.
  [[nodiscard]] bool finished() const { return !gave_up_ && at_ == end_; }

 private:
  void skip_blanks() {
    while (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r') ++at_;
  }

  bool take_string(std::string_view& text) {
    if (*at_ != '"') return give_up();
    const char* const begin = at_ + 1;
    at_ = end_of_plain_text(begin);
    if (*at_ != '"') return give_up();
    text = {begin, static_cast<size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  bool take_colon() {
    skip_blanks();
    if (*at_ != ':') return give_up();
    ++at_;
    skip_blanks();
    return true;
  }

  bool take_number(Decimal& number) {
    const char* const behind = read_json_number(at_, end_, number);
    if (behind == nullptr) return give_up();
    at_ = behind;
    return true;
  }

  bool take_word(std::string_view word) {
    if (std::memcmp(at_, word.data(), word.size()) != 0) return give_up();
    at_ += word.size();
    return true;
  }

  const char* at_;
  const char* end_;
  bool first_ = false;  // nothing of the object or array at hand has been read
  bool gave_up_ = false;
};

}  // namespace goodput::event
