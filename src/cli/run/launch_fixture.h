// What tests of launches share: a folder of their own, a launcher in a process of its own, and what it told.
//
//   Launch launch = start({.command = {"sh", "-c", "exit 3"}});
//   EXPECT_EQ(end_of(launch), 3);
//   EXPECT_EQ(told(), (Lines{"start", "exit code 3", "gave up"}));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/run/supervisor.h"

namespace goodput::cli {

using Lines = std::vector<std::string>;

class LaunchTest : public ::testing::Test {
 protected:
  ~LaunchTest() override;  ///< ends launchers that still run

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] Lines lines(const std::string& name) const;
  void write(const std::string& name, const std::string& content, int mode = 0644) const;
  /// Waits until the file of this name holds `part`; fails after 20 s.
  void await(const std::string& name, const std::string& part) const;

  /// Options for a shell script that runs in the folder, with delays and grace for impatient people.
  [[nodiscard]] LaunchPlan script(const std::string& text) const;
  /// A launcher in a process of its own, after `before` has run there. Its progress question is answered by whether the
  /// file "progress" exists, which the question removes.
  pid_t start(
      const LaunchPlan& plan, const std::function<void()>& before = [] {});
  /// The rest of start() in a process that the test has made: never returns.
  [[noreturn]] void supervise_here(const LaunchPlan& plan) const;
  /// Exit code of the launcher; 1000 + signal if one ended it.
  int end_of(pid_t launcher);
  int run(const LaunchPlan& plan) { return end_of(start(plan)); }

  /// What the launcher told: "start", "exit code 1", "exit signal 9 oom", "cause: words", "gave up".
  [[nodiscard]] Lines told() const { return lines("told"); }

 private:
  TemporaryFolder folder_;
  std::vector<pid_t> launchers_;
};

/// False once nothing of that process is left; waits up to 10 s for it.
bool stays_alive(pid_t process);
bool is_alive(pid_t process);

}  // namespace goodput::cli
