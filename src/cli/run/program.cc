// SPDX-License-Identifier: Apache-2.0
#include "cli/run/program.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/run/exit.h"

namespace goodput::cli {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat facts;
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && access(path.c_str(), X_OK) == 0;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

Program not_found(const std::string& name) {
  return {.shell_code = kNotFoundCode, .problem = fmt::format("starting {}: command not found", name)};
}

Program not_executable(const std::string& path) {
  return {.shell_code = kNotExecutableCode, .problem = fmt::format("starting {}: not an executable file", path)};
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// posix_spawn with a signal mask. 0 or errno.
int spawn(const std::string& program, const std::vector<std::string>& arguments, const ProgramStart& start,
          pid_t& pid) {
  posix_spawnattr_t attributes;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) return error;
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &start.signal_mask);
  const int error = posix_spawn(&pid, program.c_str(), nullptr, &attributes, pointers(arguments).data(),
                                pointers(start.environment).data());
  posix_spawnattr_destroy(&attributes);
  return error;
}

int shell_code_of(int error) {
  if (error == EAGAIN || error == ENOMEM) return kOwnFailureCode;
  return error == ENOENT ? kNotFoundCode : kNotExecutableCode;
}

}  // namespace

Program find_program(const std::string& name, std::string_view search_path) {
  if (name.find('/') != std::string::npos) {
    if (is_executable_file(name)) return {.path = name};
    return exists(name) ? not_executable(name) : not_found(name);
  }
  if (name.empty()) return not_found("''");
  std::string in_the_way;
  for (size_t start = 0; start <= search_path.size();) {
    const size_t end = std::min(search_path.find(':', start), search_path.size());
    const std::string folder(search_path.substr(start, end - start));
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable_file(path)) return {.path = path};
    if (in_the_way.empty() && exists(path)) in_the_way = path;
    start = end + 1;
  }
  return in_the_way.empty() ? not_found(name) : not_executable(in_the_way);
}

std::vector<std::string> with_variables(const char* const* inherited,
                                        const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> environment;
  for (; *inherited != nullptr; ++inherited) {
    const std::string_view entry = *inherited;
    const auto is_replaced = [entry](const auto& variable) {
      return entry.substr(0, entry.find('=')) == variable.first;
    };
    if (std::none_of(variables.begin(), variables.end(), is_replaced)) environment.emplace_back(entry);
  }
  for (const auto& [name, value] : variables) {
    if (!value.empty()) environment.push_back(fmt::format("{}={}", name, value));
  }
  return environment;
}

Launched launch(const ProgramStart& start) {
  Launched child;
  int error = spawn(start.program, start.arguments, start, child.pid);
  if (error == ENOEXEC) {
    std::vector<std::string> arguments = {"sh", start.program};
    arguments.insert(arguments.end(), start.arguments.begin() + 1, start.arguments.end());
    error = spawn("/bin/sh", arguments, start, child.pid);
  }
  if (error == 0) return child;
  return {.shell_code = shell_code_of(error),
          .problem = fmt::format("starting {}: {}", start.program, std::strerror(error))};
}

}  // namespace goodput::cli
