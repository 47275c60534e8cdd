// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_address.h"

#include <algorithm>

#include "base/web_text.h"

namespace goodput::store {
namespace {

bool is_log_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

Result<LogAddress> parse_log_address(std::string_view url) {
  const auto wrong = [&](const char* why) {
    return Status(StatusCode::kInvalidArgument, "reading the store's address \"" + std::string(url) + "\": " + why);
  };
  std::string_view rest = url;
  if (!rest.starts_with(kCloudLoggingScheme)) return wrong("it is not cloud-logging://PROJECT/LOG");
  rest.remove_prefix(kCloudLoggingScheme.size());
  const size_t slash = rest.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == rest.size()) {
    return wrong("it is not cloud-logging://PROJECT/LOG");
  }
  const std::string_view log = rest.substr(slash + 1);
  constexpr size_t kMostCharacters = 511;
  if (log.size() > kMostCharacters) return wrong("a log's name has fewer than 512 characters");
  if (!std::all_of(log.begin(), log.end(), is_log_character)) {
    return wrong("a log's name has letters, digits, \"/\", \"_\", \"-\" and \".\" only");
  }
  return LogAddress{.project = std::string(rest.substr(0, slash)), .log = std::string(log)};
}

std::string log_name(const LogAddress& address) {
  return "projects/" + address.project + "/logs/" + percent_encoded(address.log);
}

}  // namespace goodput::store
