// Questions in Cloud Logging's query language.
//
//   filter_of({.log = address, .job = "a \"b\"", .from_ns = …, .to_ns = …, .received_from_ns = …});
//
// Bounds are always explicit: without any the service reads everything, and clients of Google's a day. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/cloud_logging/log_address.h"

namespace goodput::store {

struct LogQuestion {
  LogAddress log;
  std::string job;
  int64_t from_ns = 0;  ///< the entry's timestamp, both ends included
  int64_t to_ns = 0;
  /// Only what came in since, or whose timestamp is that new: what is late has an old timestamp.
  std::optional<int64_t> news_from_ns{};
};

std::string filter_of(const LogQuestion& question);

/// A value in quotes, whatever it holds.
std::string quoted_for_filter(std::string_view text);

}  // namespace goodput::store
