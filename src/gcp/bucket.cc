// SPDX-License-Identifier: Apache-2.0
#include "gcp/bucket.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "base/checksum.h"
#include "base/foreign_json.h"
#include "base/patience.h"
#include "base/web_text.h"
#include "gcp/endpoints.h"

namespace goodput::gcp {
namespace {

using Json = nlohmann::json;

constexpr int kAttempts = 4;
constexpr int64_t kLongestPauseNs = 60'000'000'000;
constexpr int kPreconditionFailed = 412;
constexpr size_t kMostSources = 32;
constexpr const char* kFacts = "name,generation,size,crc32c";
constexpr const char* kBinary = "application/octet-stream";

template <typename Integer>
Integer integer_of(const Json& object, const char* key) {
  Integer value = 0;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return value;
  const auto& text = found->get_ref<const std::string&>();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Of one of the service's objects; no name: it is none.
ObjectFacts facts_of(const Json& object) {
  if (!object.is_object()) return {};
  return {.name = text_of(object, "name"),
          .generation = integer_of<int64_t>(object, "generation"),
          .size_bytes = integer_of<uint64_t>(object, "size"),
          .crc32c = text_of(object, "crc32c")};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Status no_answer(const std::string& doing) {
  return {StatusCode::kUnavailable, doing + ": the answer is none of Cloud Storage's"};
}

uint32_t checksum_of(std::string_view bytes, uint32_t before = 0) {
  return crc32c(std::as_bytes(std::span(bytes)), before);
}

std::string generation_condition(int64_t over) { return "ifGenerationMatch=" + std::to_string(over); }

/// A line that stands nowhere in the bytes.
std::string boundary_for(std::string_view bytes) {
  std::string boundary = "goodput";
  for (uint64_t salt = 0; bytes.find(boundary) != std::string_view::npos; ++salt) {
    boundary = "goodput-" + std::to_string(salt);
  }
  return boundary;
}

}  // namespace

std::string checksum_text(uint32_t crc32c) {
  constexpr int kByteBits = 8;
  std::string bytes;
  for (int shift = 3 * kByteBits; shift >= 0; shift -= kByteBits) bytes += static_cast<char>(crc32c >> shift & 0xff);
  return base64(bytes, Base64::kStandard);
}

bool is_content(const ObjectFacts& object, std::string_view bytes) {
  return object.size_bytes == bytes.size() && object.crc32c == checksum_text(checksum_of(bytes));
}

Result<std::unique_ptr<Bucket>> Bucket::open(const std::string& name, const BucketOptions& options) {
  const Endpoint endpoint = storage_endpoint(options.environment);
  ASSIGN_OR_RETURN(auto credentials, credentials_for(endpoint, {.environment = options.environment,
                                                                .is_cancelled = options.is_cancelled}));
  return std::unique_ptr<Bucket>(new Bucket(name, endpoint.url, std::move(credentials), options));
}

Bucket::Bucket(const std::string& name, std::string url, std::shared_ptr<Credentials> credentials,
               const BucketOptions& options)
    : name_(name),
      url_(std::move(url)),
      options_(options),
      client_(std::move(credentials), {.timeout_ns = options.timeout_ns, .is_cancelled = options.is_cancelled}) {}

/// `way`: "", "/upload" or "/download", as the service has them.
std::string Bucket::object_url(std::string_view way, std::string_view name) const {
  std::string url = url_ + std::string(way) + "/storage/v1/b/" + percent_encoded(name_) + "/o";
  return name.empty() ? url : url + "/" + percent_encoded(name);
}

RestAnswer Bucket::ask(const RestRequest& request) {
  static thread_local std::minstd_rand jitter{std::random_device{}()};
  int64_t pause_ns = options_.first_retry_ns;
  for (int attempt = 1;; ++attempt, pause_ns *= 2) {
    RestAnswer answer = client_.send(request);
    retry_after_ns_ = answer.error ? answer.error->retry_delay_ns.value_or(0) : 0;
    if (!answer.error || !answer.error->is_transient() || attempt == kAttempts) return answer;
    // Not at the same moment as everybody else whom it sent away.
    const double factor = std::uniform_real_distribution<double>(0.8, 1.2)(jitter);
    const auto own_ns = static_cast<int64_t>(static_cast<double>(pause_ns) * factor);
    if (!wait(std::min(std::max(own_ns, retry_after_ns_), kLongestPauseNs), options_.is_cancelled)) return answer;
  }
}

/// What became of a write under a condition. One that was tried twice may have succeeded the first time.
Result<ObjectFacts> Bucket::written(const RestAnswer& answer, const ObjectFacts& wanted, const std::string& doing) {
  ObjectFacts found;
  if (!answer.error) {
    found = facts_of(parse_foreign_json<Json>(answer.body));
  } else if (answer.error->http_status == kPreconditionFailed) {
    const Result<ObjectFacts> there = find(wanted.name);
    if (!there.ok() && there.status().code() != StatusCode::kNotFound) return there.status();
    if (there.ok()) found = *there;
    if (found.size_bytes != wanted.size_bytes || found.crc32c != wanted.crc32c) {
      return Status(StatusCode::kAlreadyExists, doing + ": somebody else has changed it");
    }
  } else {
    return answer.error->to_status(doing);
  }
  if (found.name != wanted.name || found.generation == 0) return no_answer(doing);
  if (found.size_bytes == wanted.size_bytes && found.crc32c == wanted.crc32c) return found;
  (void)remove(found);
  return Status(StatusCode::kUnavailable, doing + ": it arrived damaged");
}

Result<ObjectFacts> Bucket::upload(const std::string& name, std::string_view bytes, int64_t over) {
  const std::string doing = "writing gs://" + name_ + "/" + name;
  const ObjectFacts wanted{.name = name, .size_bytes = bytes.size(), .crc32c = checksum_text(checksum_of(bytes))};
  const std::string boundary = boundary_for(bytes);
  const std::string head = dump({{"name", name}, {"contentType", kBinary}, {"crc32c", wanted.crc32c}});
  std::string body;
  body.reserve(bytes.size() + head.size() + 256);
  body += "--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + head;
  body += "\r\n--" + boundary + "\r\nContent-Type: " + kBinary + "\r\n\r\n";
  body += bytes;
  body += "\r\n--" + boundary + "--\r\n";
  return written(ask({.url = object_url("/upload", "") + "?uploadType=multipart&name=" + percent_encoded(name) + "&" +
                             generation_condition(over) + "&fields=" + percent_encoded(kFacts),
                      .body = std::move(body),
                      .content_type = "multipart/related; boundary=" + boundary}),
                 wanted, doing);
}

Result<ObjectFacts> Bucket::compose(const std::string& name, std::span<const ObjectFacts> sources, uint32_t crc32c,
                                    int64_t over) {
  const std::string doing = "composing gs://" + name_ + "/" + name;
  if (sources.size() > kMostSources) return Status(StatusCode::kInternal, doing + ": of more than 32 objects");
  ObjectFacts wanted{.name = name, .crc32c = checksum_text(crc32c)};
  Json parts = Json::array();
  for (const ObjectFacts& source : sources) {
    wanted.size_bytes += source.size_bytes;
    parts.push_back({{"name", source.name},
                     {"generation", std::to_string(source.generation)},
                     {"objectPreconditions", {{"ifGenerationMatch", std::to_string(source.generation)}}}});
  }
  return written(ask({.url = object_url("", name) + "/compose?" + generation_condition(over) +
                             "&fields=" + percent_encoded(kFacts),
                      .body = dump({{"sourceObjects", parts}, {"destination", {{"contentType", kBinary}}}})}),
                 wanted, doing);
}

Result<ObjectFacts> Bucket::find(const std::string& name) {
  const std::string doing = "asking for gs://" + name_ + "/" + name;
  const RestAnswer answer = ask({.method = "GET", .url = object_url("", name) + "?fields=" + percent_encoded(kFacts)});
  if (answer.error) return answer.error->to_status(doing);
  ObjectFacts facts = facts_of(parse_foreign_json<Json>(answer.body));
  if (facts.name != name) return no_answer(doing);
  return facts;
}

Status Bucket::list(std::string_view prefix, FunctionRef<void(ObjectFacts)> give) {
  const std::string doing = "listing gs://" + name_ + "/" + std::string(prefix);
  const std::string fields = percent_encoded("items(" + std::string(kFacts) + "),nextPageToken");
  std::string page;
  do {
    const RestAnswer answer =
        ask({.method = "GET",
             .url = object_url("", "") + "?prefix=" + percent_encoded(prefix) + "&fields=" + fields +
                    (page.empty() ? "" : "&pageToken=" + percent_encoded(page))});
    if (answer.error) return answer.error->to_status(doing);
    const Json body = parse_foreign_json<Json>(answer.body);
    if (!body.is_object()) return no_answer(doing);
    if (const auto items = body.find("items"); items != body.end() && items->is_array()) {
      for (const Json& item : *items) {
        if (ObjectFacts facts = facts_of(item); !facts.name.empty()) give(std::move(facts));
      }
    }
    std::string next = text_of(body, "nextPageToken");
    if (!next.empty() && next == page) return no_answer(doing);
    page = std::move(next);
  } while (!page.empty());
  return {};
}

Status Bucket::read(const ObjectFacts& object, FunctionRef<void(std::string_view piece)> give) {
  const std::string doing = "reading gs://" + name_ + "/" + object.name;
  const std::string url =
      object_url("/download", object.name) + "?alt=media&generation=" + std::to_string(object.generation);
  uint32_t sum = 0;
  for (uint64_t at = 0; at < object.size_bytes;) {
    const uint64_t wanted = std::min<uint64_t>(kPieceBytes, object.size_bytes - at);
    RestRequest request{.method = "GET", .url = url};
    if (wanted < object.size_bytes) {
      request.headers.emplace_back("Range", "bytes=" + std::to_string(at) + "-" + std::to_string(at + wanted - 1));
    }
    const RestAnswer answer = ask(request);
    if (answer.error) return answer.error->to_status(doing);
    if (answer.body.size() != wanted) return no_answer(doing);
    sum = checksum_of(answer.body, sum);
    give(answer.body);
    at += wanted;
  }
  if (checksum_text(sum) == object.crc32c) return {};
  return {StatusCode::kUnreadable, doing + ": it arrived damaged"};
}

Result<std::string> Bucket::download(const ObjectFacts& object) {
  std::string bytes;
  RETURN_IF_ERROR(read(object, [&](std::string_view piece) { bytes += piece; }));
  return bytes;
}

Status Bucket::remove(const ObjectFacts& object) {
  const RestAnswer answer =
      ask({.method = "DELETE", .url = object_url("", object.name) + "?" + generation_condition(object.generation)});
  constexpr int kGone = 404;
  if (!answer.error || answer.error->http_status == kGone || answer.error->http_status == kPreconditionFailed) {
    return {};
  }
  return answer.error->to_status("removing gs://" + name_ + "/" + object.name);
}

}  // namespace goodput::gcp
