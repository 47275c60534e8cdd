// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/partial_errors.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "base/excerpt.h"
#include "base/foreign_json.h"

namespace goodput::store {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostCauseBytes = 500;  // of what the service says, in a message

/// google.rpc.Code: DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, INTERNAL, UNAVAILABLE.
bool may_pass_later(int64_t code) {
  constexpr std::array<int64_t, 5> kPassing = {4, 8, 10, 13, 14};
  return std::find(kPassing.begin(), kPassing.end(), code) != kPassing.end();
}

EntryRefusal refusal_of(size_t index, const Json& status) {
  EntryRefusal refusal{.index = index, .cause = "no reason is given", .may_pass_later = false};
  if (!status.is_object()) return refusal;
  if (const auto code = status.find("code"); code != status.end() && code->is_number_integer()) {
    refusal.may_pass_later = may_pass_later(code->get<int64_t>());
  }
  if (const auto message = status.find("message"); message != status.end() && message->is_string()) {
    refusal.cause = excerpt(message->get<std::string>(), kMostCauseBytes);
  }
  return refusal;
}

}  // namespace

std::vector<EntryRefusal> read_partial_errors(const gcp::ApiError& error, size_t count) {
  const Json details = parse_foreign_json<Json>(error.details);
  std::map<size_t, EntryRefusal> found;
  if (!details.is_array()) return {};
  for (const Json& detail : details) {
    if (!detail.is_object() || !detail.contains("logEntryErrors") || !detail["logEntryErrors"].is_object()) continue;
    for (const auto& [key, status] : detail["logEntryErrors"].items()) {
      size_t index = 0;
      const auto [end, problem] = std::from_chars(key.data(), key.data() + key.size(), index);
      if (problem != std::errc() || end != key.data() + key.size() || index >= count) continue;
      found[index] = refusal_of(index, status);
    }
  }
  std::vector<EntryRefusal> out;
  for (auto& [index, refusal] : found) out.push_back(std::move(refusal));
  return out;
}

}  // namespace goodput::store
