// How often the system killed a process of our control group because memory had run out.
//
// Read it before a child is started and after it has died: if it rose, that is what happened to the child or to a
// process below it.
//
//   const MemoryEvents memory;
//   const auto before = memory.oom_kills();
//   …
//   const bool out_of_memory = before && memory.oom_kills() > before;
//
// Of cgroup v2 (memory.events, groups below included) and v1 (memory.oom_control). Reading never fails: where the
// system does not tell there is no number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace goodput::cli {

/// The file that holds the count, from the texts of /proc/self/cgroup and /proc/self/mountinfo; empty when there is
/// none.
std::string find_memory_events(std::string_view cgroups, std::string_view mounts);

/// The count in the text of such a file.
std::optional<uint64_t> parse_oom_kills(std::string_view events);

class MemoryEvents {
 public:
  MemoryEvents();  ///< of the group in which this process is now; children start there too
  [[nodiscard]] std::optional<uint64_t> oom_kills() const;

 private:
  std::string path_;
};

}  // namespace goodput::cli
