// SPDX-License-Identifier: Apache-2.0
#include "exporters/cloud_monitoring/create_time_series.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/time_text.h"
#include "base/utf8.h"

namespace goodput::exporters {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBegin = "One or more TimeSeries could not be written:";
constexpr std::string_view kList = "timeSeries[";

Json labels_json(const std::vector<std::pair<std::string, std::string>>& labels) {
  Json out = Json::object();
  for (const auto& [name, value] : labels) out[name] = value;
  return out;
}

Json value_json(const std::variant<double, int64_t>& value) {
  if (const int64_t* integer = std::get_if<int64_t>(&value)) return {{"int64Value", std::to_string(*integer)}};
  return {{"doubleValue", std::get<double>(value)}};
}

/// "0-2,5" → 0, 1, 2, 5; false when it is no such list within `count`.
bool read_indexes(std::string_view text, size_t count, std::vector<size_t>& out) {
  const auto number = [&](std::string_view digits, size_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size() && value < count;
  };
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), range.size() + 1));
    const size_t dash = range.find('-');
    size_t first = 0, last = 0;
    if (!number(range.substr(0, dash), first)) return false;
    last = first;
    if (dash != std::string_view::npos && !number(range.substr(dash + 1), last)) return false;
    if (last < first) return false;
    for (size_t index = first; index <= last; ++index) out.push_back(index);
  }
  return true;
}

bool may_pass_later(std::string_view cause) {
  constexpr std::string_view kSigns[] = {"more frequently", "sampling period", "in order",
                                         "older end time",  "Internal error",  "internal error"};
  return std::any_of(std::begin(kSigns), std::end(kSigns),
                     [&](std::string_view sign) { return cause.find(sign) != std::string_view::npos; });
}

std::string_view without_edges(std::string_view text) {
  constexpr std::string_view kEdges = " :;,.";
  const size_t first = text.find_first_not_of(kEdges);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kEdges) - first + 1);
}

}  // namespace

std::string create_time_series_body(std::span<const WorkloadSeries> batch, const std::string& prefix,
                                    const MonitoredResource& resource, int64_t end_ns) {
  const Json resource_json = {{"type", resource.type}, {"labels", labels_json(resource.labels)}};
  const std::string end = format_time_ns(end_ns);
  Json all = Json::array();
  for (const WorkloadSeries& series : batch) {
    all.push_back({{"metric", {{"type", prefix + series.name}, {"labels", labels_json(series.labels)}}},
                   {"resource", resource_json},
                   {"points", Json::array({{{"interval", {{"endTime", end}}}, {"value", value_json(series.value)}}})}});
  }
  return Json{{"timeSeries", std::move(all)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::vector<SeriesRefusal>> read_refusals(const gcp::ApiError& error, size_t count) {
  std::string_view text = error.full_message;
  if (!text.starts_with(kBegin)) return std::nullopt;
  text.remove_prefix(kBegin.size());
  std::vector<SeriesRefusal> out;
  while (true) {
    const size_t at = text.find(kList);
    if (at == std::string_view::npos) break;
    const std::string_view cause = without_edges(text.substr(0, at));
    text.remove_prefix(at + kList.size());
    const size_t end = text.find(']');
    std::vector<size_t> indexes;
    if (end == std::string_view::npos || !read_indexes(text.substr(0, end), count, indexes)) return std::nullopt;
    text.remove_prefix(end + 1);
    for (const size_t index : indexes) {
      out.push_back({.index = index, .cause = std::string(cause), .may_pass_later = may_pass_later(cause)});
    }
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

}  // namespace goodput::exporters
