// SPDX-License-Identifier: Apache-2.0
#include "exporters/http_sink.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/clock.h"
#include "base/excerpt.h"

namespace goodput::exporters {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Empty: it is not percent-encoded, or has what no header may have.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    int code = static_cast<unsigned char>(text[i]);
    if (text[i] == '%') {
      if (i + 3 > text.size()) return std::nullopt;
      const auto [end, error] = std::from_chars(&text[i + 1], &text[i + 1] + 2, code, 16);
      if (error != std::errc() || end != &text[i + 1] + 2) return std::nullopt;
      i += 2;
    }
    if (code < ' ') return std::nullopt;
    out += static_cast<char>(code);
  }
  return out;
}

}  // namespace

HttpSink::HttpSink(const HttpSinkOptions& options, std::string doing)
    : client_({.timeout_ns = options.timeout_ns, .certificates = options.certificates, .is_cancelled = &is_cancelled_}),
      doing_(std::move(doing)) {}

Result<std::string> HttpSink::post(const HttpRequest& request, bool (*is_passing)(int status)) {
  HttpAnswer answer = client_.send(request);
  retry_after_ns_ = 0;
  const std::string to = fmt::format("{} to {}", doing_, without_credentials(request.url));
  if (!answer.failure.empty()) return Status(StatusCode::kUnavailable, fmt::format("{}: {}", to, answer.failure));
  if (answer.ok()) return std::move(answer.body);
  const bool may_pass = is_passing(answer.status);
  if (may_pass) retry_after_ns_ = goodput::retry_after_ns(answer, wall_time_ns());
  return Status(may_pass ? StatusCode::kUnavailable : StatusCode::kInvalidArgument,
                fmt::format("{}: HTTP status {} {}", to, answer.status, excerpt(answer.body, kMostExcerptBytes)));
}

bool is_http_address(std::string_view url) {
  const size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  return scheme > 0 && url.size() > scheme && url.find_first_of(" \t\r\n") == std::string_view::npos;
}

Result<std::vector<std::pair<std::string, std::string>>> parse_pairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::string_view pair = trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), std::min(text.find(','), text.size()) + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::string_view key = trimmed(pair.substr(0, std::min(equals, pair.size())));
    std::optional<std::string> value;
    if (equals != std::string_view::npos && !key.empty()) value = percent_decoded(trimmed(pair.substr(equals + 1)));
    if (!value.has_value()) return Status(StatusCode::kInvalidArgument, "it is not of the form KEY=VALUE,KEY=VALUE");
    pairs.emplace_back(key, *std::move(value));
  }
  return pairs;
}

}  // namespace goodput::exporters
