// A command on its way to a process: found as a shell finds it, given its environment, started.
//
//   const Program python = find_program("python", std::getenv("PATH"));
//   if (python.shell_code != 0) return python.shell_code;        // 127: not found, 126: not to be executed
//   const Launched child = launch({.program = python.path, .arguments = {"python", "train.py"}, …});
//   if (child.pid < 0) return child.shell_code;                  // 125: the system has no process to spare
//
// Finding and environment are pure but for the files looked at; launch() may be called beside other threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goodput::cli {

/// Where a command is, or what a shell would say.
struct Program {
  std::string path{};
  int shell_code = 0;     ///< not 0: kNotFoundCode or kNotExecutableCode
  std::string problem{};  ///< then one sentence
};

/// A name with a slash is a path; any other is looked for in the folders of `search_path` (PATH), an empty one among
/// them being the working directory.
Program find_program(const std::string& name, std::string_view search_path);

/// "NAME=value" strings: those of `inherited` with the given variables replaced. One with an empty value is left out.
std::vector<std::string> with_variables(const char* const* inherited,
                                        const std::vector<std::pair<std::string, std::string>>& variables);

struct ProgramStart {
  std::string program;                 ///< path
  std::vector<std::string> arguments;  ///< the command's name first
  std::vector<std::string> environment;
  sigset_t signal_mask;
};

struct Launched {
  pid_t pid = -1;
  int shell_code = 0;     ///< where pid is negative
  std::string problem{};  ///< then one sentence
};

/// Starts it in this process group, with this process's open files. Returns once the program is being executed. A text
/// without #! is given to /bin/sh, as shells do.
Launched launch(const ProgramStart& start);

}  // namespace goodput::cli
