// Where a log is: a project of Google Cloud, and the log's id in it.
//
//   ASSIGN_OR_RETURN(const LogAddress address, parse_log_address("cloud-logging://my-project/goodput_llama-7b"));
//   log_name(address)                                   // "projects/my-project/logs/goodput_llama-7b"
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::store {

struct LogAddress {
  std::string project;
  std::string log;  ///< as people write it, with its slashes
};

constexpr std::string_view kCloudLoggingScheme = "cloud-logging://";

/// kInvalidArgument, with the text, for what is no such URL or no name that Cloud Logging takes.
Result<LogAddress> parse_log_address(std::string_view url);

/// The log's full name, its id percent-encoded.
std::string log_name(const LogAddress& address);

}  // namespace goodput::store
