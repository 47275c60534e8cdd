// JSON that somebody else wrote, an answer or a file: whatever it is, what is done with it afterwards is safe.
//
//   const auto answer = parse_foreign_json<nlohmann::json>(body);
//   if (!answer.is_object()) return …;
//
// The library parses any depth, but copies, compares and dumps by recursion: half a megabyte of "[" ends the program.
// Pure; the type is the caller's, so that this header needs no library. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace goodput {

/// No protocol or payload of ours nests by more than ten; Google's own parsers refuse more than a hundred.
constexpr int kMostJsonDepth = 100;

/// Puts null in the place of every array and object that more than `levels` others hold.
template <typename Json>
void cut_below(Json& json, int levels) {
  if (!json.is_structured()) return;
  for (Json& child : json) {
    if (levels > 0) {
      cut_below(child, levels - 1);
    } else if (child.is_structured()) {
      child = nullptr;
    }
  }
}

/// Discarded (`is_discarded()`) when it is no JSON; what is nested too deep is null in it.
template <typename Json>
[[nodiscard]] Json parse_foreign_json(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  cut_below(json, kMostJsonDepth);
  return json;
}

/// The text of that name; empty: there is none.
template <typename Json>
[[nodiscard]] std::string text_of(const Json& object, const char* name) {
  if (!object.is_object()) return {};
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->template get<std::string>() : std::string();
}

}  // namespace goodput
