// The metadata server of a machine on Google Cloud.
//
//   MetadataServer server(environment, {.timeout_ns = kSecond});
//   Result<std::string> zone = server.read("instance/zone");
//
// Asked directly, never by a proxy; an answer without the server's own header is an impostor's and counts as none.
// GCE_METADATA_HOST (or GCE_METADATA_ROOT) names another. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/http_client.h"
#include "base/status.h"

namespace goodput::gcp {

struct MetadataOptions {
  int64_t timeout_ns = 3'000'000'000;
  const std::atomic<bool>* is_cancelled = nullptr;
};

class MetadataServer {
 public:
  MetadataServer(const Environment& environment, const MetadataOptions& options);

  /// What stands at computeMetadata/v1/`path`. kNotFound: nothing does, or there is no such server; kUnavailable: it
  /// did not answer, or only that it cannot now.
  Result<std::string> read(std::string_view path);
  /// Whether anything answered when it was asked last, be it that it cannot tell now.
  [[nodiscard]] bool has_answered() const { return has_answered_; }

 private:
  std::string base_url_;
  HttpClient client_;
  bool has_answered_ = false;
};

/// How long it may take to answer: GCE_METADATA_TIMEOUT, in seconds; else 3 s.
int64_t metadata_timeout_ns(const Environment& environment);

/// Whether NO_GCE_CHECK says that there is no such server.
bool has_no_metadata(const Environment& environment);

}  // namespace goodput::gcp
