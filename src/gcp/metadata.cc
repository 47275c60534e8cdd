// SPDX-License-Identifier: Apache-2.0
#include "gcp/metadata.h"

#include <utility>

#include "base/time_text.h"

namespace goodput::gcp {
namespace {

std::string host(const Environment& environment) {
  for (const char* variable : {"GCE_METADATA_HOST", "GCE_METADATA_ROOT"}) {
    if (const auto named = environment(variable)) return *named;
  }
  // By its number: where there is no such server, no look-up of a name can take its time.
  return environment("GCE_METADATA_IP").value_or("169.254.169.254");
}

}  // namespace

MetadataServer::MetadataServer(const Environment& environment, const MetadataOptions& options)
    : base_url_("http://" + host(environment) + "/computeMetadata/v1/"),
      client_({.timeout_ns = options.timeout_ns,
               .connect_timeout_ns = options.timeout_ns,
               .max_answer_bytes = 1 << 20,
               .uses_proxy = false,
               .is_cancelled = options.is_cancelled}) {}

Result<std::string> MetadataServer::read(std::string_view path) {
  const std::string url = base_url_ + std::string(path);
  const std::string doing = "asking the metadata server " + url;
  HttpAnswer answer = client_.send({.url = url, .headers = {{"Metadata-Flavor", "Google"}}});
  has_answered_ = answer.failure.empty();
  if (!has_answered_) return Status(StatusCode::kUnavailable, doing + ": " + answer.failure);
  // One that is not ready need not know its own header yet.
  if (is_worth_a_retry(answer)) {
    return Status(StatusCode::kUnavailable, doing + ": HTTP " + std::to_string(answer.status));
  }
  if (answer.header("metadata-flavor") != "Google") {
    return Status(StatusCode::kNotFound, doing + ": what answers is not Google's metadata server");
  }
  if (!answer.ok()) return Status(StatusCode::kNotFound, doing + ": HTTP " + std::to_string(answer.status));
  return std::move(answer.body);
}

int64_t metadata_timeout_ns(const Environment& environment) {
  constexpr int64_t kUsualNs = 3'000'000'000;
  const Result<int64_t> said = parse_duration(environment("GCE_METADATA_TIMEOUT").value_or(""));
  return said.ok() && *said > 0 ? *said : kUsualNs;
}

bool has_no_metadata(const Environment& environment) {
  const auto said = environment("NO_GCE_CHECK");
  return said.has_value() && (*said == "true" || *said == "True" || *said == "TRUE" || *said == "1");
}

}  // namespace goodput::gcp
