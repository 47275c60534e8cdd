// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/event_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/host_name.h"

namespace goodput::exporters {

std::string event_file_name(int64_t now_ns, int64_t newest_seconds) {
  const int64_t seconds = std::max(now_ns / 1'000'000'000, newest_seconds + 1);
  const std::string host = host_name();
  return fmt::format("{}{:010d}.{}.{}{}", kEventFilePrefix, seconds, host.empty() ? "localhost" : host, getpid(),
                     kEventFileSuffix);
}

int64_t event_file_seconds(std::string_view name) {
  if (!name.starts_with(kEventFilePrefix) || !name.ends_with(kEventFileSuffix)) return 0;
  int64_t seconds = 0;
  std::from_chars(name.data() + kEventFilePrefix.size(), name.data() + name.size(), seconds);
  return seconds;
}

}  // namespace goodput::exporters
