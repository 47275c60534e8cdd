// SPDX-License-Identifier: Apache-2.0
#include "cli/run/family.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace goodput::cli {
namespace {

/// "1234 (name, which may hold anything) S 1 …": the number after the state is the parent's. -1 when it is gone.
pid_t parent_of(std::string_view process) {
  std::ifstream file("/proc/" + std::string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = text.rfind(')');
  constexpr size_t kToParent = 4;  // ") S "
  if (name_end == std::string::npos || text.size() <= name_end + kToParent) return -1;
  pid_t parent = -1;
  std::from_chars(text.data() + name_end + kToParent, text.data() + text.size(), parent);
  return parent;
}

/// Every process of the machine is looked at: /proc/PID/task/TID/children is not in every kernel.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  if (processes == nullptr) return children;
  while (const dirent* entry = readdir(processes.get())) {
    const std::string_view name = entry->d_name;
    pid_t process = 0;
    std::from_chars(name.data(), name.data() + name.size(), process);
    if (process > 0 && parent_of(name) == parent) children.push_back(process);
  }
  return children;
}

}  // namespace

Family::Family() : from_before_(children_of(getpid())) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> Family::children() const {
  std::vector<pid_t> children = children_of(getpid());
  std::erase_if(children, [this](pid_t child) {
    return std::find(from_before_.begin(), from_before_.end(), child) != from_before_.end();
  });
  return children;
}

void Family::forget(pid_t child) { std::erase(from_before_, child); }

}  // namespace goodput::cli
