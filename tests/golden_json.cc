// JSON for golden cases: numbers as they are written, decimals exact.
// SPDX-License-Identifier: Apache-2.0
#include <boost/multiprecision/cpp_int.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/status.h"
#include "golden_case.h"
#include "golden_decimal.h"

namespace goodput::golden {
namespace {

/// Builds the tree from parse events, which hand over the text of numbers.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(root_.items.at(0)); }

  bool null() override { return put({Json::Type::kNull, "", {}, {}}); }
  bool boolean(bool value) override { return put({value ? Json::Type::kTrue : Json::Type::kFalse, "", {}, {}}); }
  bool number_integer(number_integer_t value) override {
    return put({Json::Type::kNumber, std::to_string(value), {}, {}});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return put({Json::Type::kNumber, std::to_string(value), {}, {}});
  }
  bool number_float(number_float_t, const string_t& text) override { return put({Json::Type::kNumber, text, {}, {}}); }
  bool string(string_t& text) override { return put({Json::Type::kString, text, {}, {}}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::Type::kObject); }
  bool key(string_t& name) override {
    keys_.back() = name;
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::Type::kArray); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool put(Json value) {
    Json& parent = *open_.back();
    if (parent.is(Json::Type::kObject)) {
      parent.members[keys_.back()] = std::move(value);
    } else {
      parent.items.push_back(std::move(value));
    }
    return true;
  }
  bool open(Json::Type type) {
    put({type, "", {}, {}});
    Json& parent = *open_.back();
    open_.push_back(parent.is(Json::Type::kObject) ? &parent.members[keys_.back()] : &parent.items.back());
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  Json root_{Json::Type::kArray, "", {}, {}};
  std::vector<Json*> open_ = {&root_};
  std::vector<std::string> keys_ = {""};
};

}  // namespace

const Json* Json::find(const std::string& name) const {
  const auto found = members.find(name);
  return found == members.end() ? nullptr : &found->second;
}

const Json& Json::at(const std::string& name) const {
  const Json* found = find(name);
  if (found == nullptr) std::fprintf(stderr, "a golden case lacks \"%s\"\n", name.c_str());
  CHECK(found != nullptr);
  return *found;
}

double Json::number() const {
  CHECK(is(Type::kNumber));
  return std::strtod(text.c_str(), nullptr);
}

Json parse_json(const std::string& text) {
  TreeBuilder builder;
  CHECK(nlohmann::json::sax_parse(text, &builder));
  return builder.take();
}

std::optional<Decimal> decimal(const std::string& text) {
  constexpr int kMostExponent = 4'096;
  const size_t exponent_at = text.find_first_of("eE");
  std::string digits = text.substr(0, exponent_at);
  int64_t exponent = exponent_at == std::string::npos ? 0 : std::strtoll(text.c_str() + exponent_at + 1, nullptr, 10);
  if (exponent > kMostExponent || exponent < -kMostExponent) return std::nullopt;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.erase(0, 1);
  const size_t point = digits.find('.');
  if (point != std::string::npos) {
    exponent -= static_cast<int64_t>(digits.size() - point - 1);
    digits.erase(point, 1);
  }
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  using boost::multiprecision::cpp_int;
  const cpp_int scale = boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(exponent)));
  const Decimal value = exponent < 0 ? Decimal(cpp_int(digits), scale) : Decimal(cpp_int(digits) * scale);
  return negative ? Decimal(-value) : value;
}

std::optional<int64_t> nanoseconds(const Json* seconds, int64_t most_ns) {
  if (seconds == nullptr || !seconds->is(Json::Type::kNumber)) return std::nullopt;
  const std::optional<Decimal> value = decimal(seconds->text);
  if (!value) return std::nullopt;
  const Decimal exact = *value * event::kNanosecondsPerSecond;
  if (exact < 0 || exact > most_ns) return std::nullopt;
  const boost::multiprecision::cpp_int whole = numerator(exact) / denominator(exact);
  const Decimal rest = exact - Decimal(whole);
  const Decimal half(1, 2);
  const bool up = rest > half || (rest == half && (whole & 1) != 0);
  return static_cast<int64_t>(whole) + (up ? 1 : 0);
}

}  // namespace goodput::golden
