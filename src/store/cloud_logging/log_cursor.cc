// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_cursor.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace goodput::store {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

bool read_number(const Json& object, const char* key, int64_t& out) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return false;
  out = found->get<int64_t>();
  return true;
}

bool read_number(const Json& object, const char* key, std::optional<int64_t>& out) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_null()) return true;
  return read_number(object, key, out.emplace());
}

Json or_null(const std::optional<int64_t>& value) { return value.has_value() ? Json(*value) : Json(nullptr); }

}  // namespace

void LogCursor::begin_pass(int64_t now_ns) {
  if (!pass_began_ns_.has_value()) pass_began_ns_ = now_ns;
}

bool LogCursor::take(int64_t timestamp_ns, int64_t received_ns, std::string_view insert_id) {
  newest_received_ns_ = std::max(newest_received_ns_, received_ns);
  pass_at_ns_ = std::max(pass_at_ns_, timestamp_ns);
  if (!given_.emplace(timestamp_ns, insert_id).second) return false;
  by_age_.emplace(std::max(timestamp_ns, received_ns), timestamp_ns, insert_id);
  return true;
}

/// By this machine's clock or the service's, whichever is behind.
int64_t LogCursor::next_news_from_ns() const {
  const int64_t seen_ns = std::min(newest_received_ns_, pass_began_ns_.value_or(newest_received_ns_));
  return std::max<int64_t>(0, seen_ns - kOverlapNs);
}

void LogCursor::forget() {
  const int64_t from_ns = next_news_from_ns();
  for (auto at = by_age_.begin(); at != by_age_.end() && std::get<0>(*at) < from_ns;) {
    const auto& [age_ns, timestamp_ns, insert_id] = *at;
    if (timestamp_ns >= pass_at_ns_) {  // the rest of this pass begins there
      ++at;
      continue;
    }
    given_.erase({timestamp_ns, insert_id});
    at = by_age_.erase(at);
  }
}

void LogCursor::end_pass() {
  if (newest_received_ns_ > 0) news_from_ns_ = next_news_from_ns();
  pass_at_ns_ = std::numeric_limits<int64_t>::max();
  forget();
  pass_at_ns_ = 0;
  pass_began_ns_.reset();
}

std::string LogCursor::text() const {
  Json given = Json::array();
  for (const auto& [age_ns, timestamp_ns, insert_id] : by_age_) given.push_back({age_ns, timestamp_ns, insert_id});
  const Json object = {{"version", kVersion},
                       {"news_from_ns", or_null(news_from_ns_)},
                       {"pass_began_ns", or_null(pass_began_ns_)},
                       {"pass_at_ns", pass_at_ns_},
                       {"newest_received_ns", newest_received_ns_},
                       {"given", std::move(given)}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<LogCursor> LogCursor::parse(std::string_view text) {
  const Status wrong(StatusCode::kInvalidArgument, "reading the place in a log: it is none of this program's");
  const Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  int64_t version = 0;
  LogCursor cursor;
  const bool is_ours = object.is_object() && read_number(object, "version", version) && version == kVersion &&
                       read_number(object, "news_from_ns", cursor.news_from_ns_) &&
                       read_number(object, "pass_began_ns", cursor.pass_began_ns_) &&
                       read_number(object, "pass_at_ns", cursor.pass_at_ns_) &&
                       read_number(object, "newest_received_ns", cursor.newest_received_ns_) &&
                       object.contains("given") && object["given"].is_array();
  if (!is_ours) return wrong;
  for (const Json& entry : object["given"]) {
    const bool is_entry = entry.is_array() && entry.size() == 3 && entry[0].is_number_integer() &&
                          entry[1].is_number_integer() && entry[2].is_string();
    if (!is_entry) return wrong;
    cursor.by_age_.emplace(entry[0].get<int64_t>(), entry[1].get<int64_t>(), entry[2].get<std::string>());
    cursor.given_.emplace(entry[1].get<int64_t>(), entry[2].get<std::string>());
  }
  return cursor;
}

}  // namespace goodput::store
