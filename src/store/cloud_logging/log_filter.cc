// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_filter.h"

#include "base/time_text.h"
#include "base/utf8.h"

namespace goodput::store {

std::string quoted_for_filter(std::string_view text) {
  std::string valid;
  append_repaired(valid, text);
  std::string out = "\"";
  for (const char c : valid) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string filter_of(const LogQuestion& question) {
  const auto time = [](int64_t ns) { return '"' + format_time_ns(ns) + '"'; };
  std::string filter = "logName=" + quoted_for_filter(log_name(question.log)) +
                       " AND jsonPayload.job_name=" + quoted_for_filter(question.job) +
                       " AND timestamp>=" + time(question.from_ns) + " AND timestamp<=" + time(question.to_ns);
  if (question.news_from_ns.has_value()) {
    const std::string since = time(*question.news_from_ns);
    filter += " AND (receiveTimestamp>=" + since + " OR timestamp>=" + since + ")";
  }
  return filter;
}

}  // namespace goodput::store
