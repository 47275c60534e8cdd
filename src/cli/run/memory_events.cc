// SPDX-License-Identifier: Apache-2.0
#include "cli/run/memory_events.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <vector>

namespace goodput::cli {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

bool contains(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Group {
  std::string_view path;
  bool is_v2 = false;
};

/// "4:memory:/user" (v1) or "0::/user" (v2). A v1 line of the memory controller wins: then v2 does not have it.
std::optional<Group> memory_group(std::string_view cgroups) {
  std::optional<Group> found;
  for (const std::string_view line : split(cgroups, '\n')) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view path = line.substr(second + 1);
    if (contains(split(controllers, ','), "memory")) return Group{.path = path};
    if (line.starts_with("0::")) found = Group{.path = path, .is_v2 = true};
  }
  return found;
}

struct Mount {
  std::string_view root;
  std::string_view point;
};

/// "35 31 0:32 ROOT POINT options [optional…] - TYPE source super-options"
std::optional<Mount> memory_mount(std::string_view mounts, bool is_v2) {
  for (const std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 5 || words.end() - dash < 4) continue;
    const bool is_it = is_v2 ? dash[1] == "cgroup2" : dash[1] == "cgroup" && contains(split(dash[3], ','), "memory");
    if (is_it) return Mount{.root = words[3], .point = words[4]};
  }
  return std::nullopt;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string find_memory_events(std::string_view cgroups, std::string_view mounts) {
  const auto group = memory_group(cgroups);
  if (!group) return "";
  const auto mount = memory_mount(mounts, group->is_v2);
  if (!mount) return "";
  // In a container the mount may show only the part below its own group, which the path still names.
  std::string_view below = group->path;
  if (mount->root != "/" && below.starts_with(mount->root)) below.remove_prefix(mount->root.size());
  if (below == "/") below = "";
  return std::string(mount->point) + std::string(below) + (group->is_v2 ? "/memory.events" : "/memory.oom_control");
}

std::optional<uint64_t> parse_oom_kills(std::string_view events) {
  constexpr std::string_view kKey = "oom_kill ";
  for (const std::string_view line : split(events, '\n')) {
    if (!line.starts_with(kKey)) continue;
    uint64_t count = 0;
    const auto [end, error] = std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count);
    if (error == std::errc()) return count;
  }
  return std::nullopt;
}

MemoryEvents::MemoryEvents()
    : path_(find_memory_events(read_text("/proc/self/cgroup"), read_text("/proc/self/mountinfo"))) {}

std::optional<uint64_t> MemoryEvents::oom_kills() const {
  return path_.empty() ? std::nullopt : parse_oom_kills(read_text(path_));
}

}  // namespace goodput::cli
