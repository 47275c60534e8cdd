// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/foreign_json.h"
#include "base/time_text.h"
#include "gcp/endpoints.h"
#include "store/cloud_logging/log_filter.h"

namespace goodput::store {
namespace {

using Json = nlohmann::json;

constexpr int64_t kDayNs = int64_t{86'400} * 1'000'000'000;
constexpr int kPageSize = 1000;  // the most that the service documents
/// Of one poll, 10^7 entries: beyond it something gives the same page for ever.
constexpr int kMostPages = 10'000;
/// The service counts questions by the minute, and says nothing more.
constexpr int64_t kQuotaPauseNs = 60'000'000'000;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// By timestamp, then by id, as the service orders entries.
event::Position position_of(int64_t timestamp_ns, std::string_view insert_id) {
  uint64_t first_bytes = 0;
  for (size_t i = 0; i < sizeof first_bytes; ++i) {
    first_bytes = first_bytes << 8 | (i < insert_id.size() ? static_cast<unsigned char>(insert_id[i]) : 0U);
  }
  return {.major = static_cast<uint64_t>(std::max<int64_t>(timestamp_ns, 0)), .minor = first_bytes};
}

}  // namespace

Result<std::unique_ptr<CloudLogReader>> CloudLogReader::open(const CloudLogOptions& options, const std::string& job,
                                                             const LogReaderOptions& how) {
  LogCursor cursor;
  if (!how.cursor.empty()) {
    ASSIGN_OR_RETURN(cursor, LogCursor::parse(how.cursor));
  }
  const gcp::Endpoint endpoint = gcp::logging_endpoint(options.environment);
  ASSIGN_OR_RETURN(
      std::shared_ptr<gcp::Credentials> credentials,
      gcp::credentials_for(endpoint, {.environment = options.environment, .is_cancelled = options.is_cancelled}));
  return std::unique_ptr<CloudLogReader>(new CloudLogReader(options, endpoint.url + "/v2/entries:list",
                                                            std::move(credentials), job, how, std::move(cursor)));
}

CloudLogReader::CloudLogReader(const CloudLogOptions& options, std::string url,
                               std::shared_ptr<gcp::Credentials> credentials, const std::string& job,
                               const LogReaderOptions& how, LogCursor cursor)
    : options_(options),
      url_(std::move(url)),
      job_(job),
      how_(how),
      client_(std::move(credentials), {.timeout_ns = options.timeout_ns, .is_cancelled = options.is_cancelled}),
      cursor_(std::move(cursor)) {}

Status CloudLogReader::poll(FunctionRef<void(const LogRecord&)> give) {
  retry_after_ns_.reset();
  const int64_t now_ns = how_.clock->wall_ns();
  oldest_kept_ns_ = std::max<int64_t>(0, now_ns - how_.retention_ns);
  cursor_.begin_pass(now_ns);
  Json question = {{"resourceNames", {"projects/" + options_.address.project}},
                   {"orderBy", "timestamp asc"},
                   {"pageSize", kPageSize},
                   // Entries may be up to a day ahead of the service's clock.
                   {"filter", filter_of({.log = options_.address,
                                         .job = job_,
                                         .from_ns = std::max(oldest_kept_ns_, cursor_.pass_from_ns()),
                                         .to_ns = now_ns + kDayNs,
                                         .news_from_ns = cursor_.news_from_ns()})}};
  for (int page = 0; page < kMostPages; ++page) {
    const gcp::RestAnswer answer = client_.send({.url = url_, .body = dump(question)});
    if (answer.error.has_value()) {
      constexpr int kTooManyRequests = 429;
      retry_after_ns_ = answer.error->retry_delay_ns;
      if (answer.error->http_status == kTooManyRequests && !retry_after_ns_) retry_after_ns_ = kQuotaPauseNs;
      return answer.error->to_status("reading the log " + log_name(options_.address));
    }
    std::string next_page;
    RETURN_IF_ERROR(give_page(answer.body, give, next_page));
    // A page may be empty and not the last.
    if (next_page.empty()) {
      cursor_.end_pass();
      return {};
    }
    cursor_.forget();
    question["pageToken"] = next_page;
  }
  return {StatusCode::kUnavailable, "reading the log " + log_name(options_.address) + ": it has no last page"};
}

Status CloudLogReader::give_page(std::string_view body, FunctionRef<void(const LogRecord&)> give,
                                 std::string& next_page) {
  const Json page = parse_foreign_json<Json>(body);
  if (!page.is_object()) {
    return {StatusCode::kUnavailable,
            "reading the log " + log_name(options_.address) + ": the answer is not a JSON object"};
  }
  next_page = text_of(page, "nextPageToken");
  const auto entries = page.find("entries");
  if (entries == page.end() || !entries->is_array()) return {};
  for (const Json& entry : *entries) {
    if (!entry.is_object()) continue;
    const auto payload = entry.find("jsonPayload");
    const std::optional<int64_t> timestamp_ns = parse_rfc3339(text_of(entry, "timestamp"));
    if (payload == entry.end() || !payload->is_object() || !timestamp_ns.has_value()) continue;
    const std::string insert_id = text_of(entry, "insertId");
    const int64_t received_ns = parse_rfc3339(text_of(entry, "receiveTimestamp")).value_or(*timestamp_ns);
    const bool is_oldest = !cursor_.has_given_any();
    if (!cursor_.take(*timestamp_ns, received_ns, insert_id)) continue;
    const std::string text = dump(*payload);
    if (is_oldest) {
      may_be_cut_off_ = !payload->contains("job_start_time") && *timestamp_ns - oldest_kept_ns_ < kDayNs;
    }
    give({.payload = text,
          .timestamp_ns = *timestamp_ns,
          .insert_id = insert_id,
          .position = position_of(*timestamp_ns, insert_id)});
  }
  return {};
}

}  // namespace goodput::store
