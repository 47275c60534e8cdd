// Runs a command line in this process and keeps what it wrote and returned.
//
//   const Outcome outcome = run_captured({"version", "--json"}, commands());
//   EXPECT_EQ(outcome.code, 0);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/app.h"

namespace goodput::cli::testing {

struct Outcome {
  int code = 0;
  std::string out, err;
};

inline Outcome run_captured(const std::vector<std::string>& arguments, const std::vector<Command>& commands) {
  FILE* out = std::tmpfile();
  FILE* err = std::tmpfile();
  CHECK(out != nullptr && err != nullptr);
  Outcome outcome;
  outcome.code = run_command_line(arguments, commands, out, err);
  const auto take = [](FILE* file) {
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
    std::fclose(file);
    return text;
  };
  outcome.out = take(out);
  outcome.err = take(err);
  return outcome;
}

/// Sets an environment variable for as long as it lives; null unsets it.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~ScopedEnvironment() { had_ ? setenv(name_.c_str(), before_.c_str(), 1) : unsetenv(name_.c_str()); }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::string name_, before_;
  bool had_ = false;
};

}  // namespace goodput::cli::testing
