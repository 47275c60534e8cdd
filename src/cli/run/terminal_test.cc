// Launches in a terminal: a pseudo terminal whose keys the test presses.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <utility>

#include "cli/run/launch_fixture.h"

namespace goodput::cli {
namespace {

constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlZ = "\x1a";

class TerminalTest : public LaunchTest {
 protected:
  ~TerminalTest() override {
    if (terminal_ >= 0) close(terminal_);
    if (shell_ > 0) {
      kill(shell_, SIGKILL);
      waitpid(shell_, nullptr, 0);
    }
  }

  /// A shell of its own in a new terminal, which gives it to a launcher, stops with it and continues it when the file
  /// "continue" is there. It tells the launcher's process number and when it stopped.
  void open_terminal(const LaunchPlan& plan) {
    shell_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    ASSERT_GE(shell_, 0);
    if (shell_ == 0) _exit(be_shell(plan));
    await("launcher", "\n");
    launcher_ = std::stoi(text("launcher"));
  }

  void press(const std::string& keys) const {
    ASSERT_EQ(::write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  int end_of_shell() {
    int status = 0;
    waitpid(std::exchange(shell_, -1), &status, 0);
    return WEXITSTATUS(status);
  }

  pid_t launcher_ = -1;

 private:
  int be_shell(const LaunchPlan& plan) const {
    signal(SIGTTOU, SIG_IGN);
    const pid_t launcher = fork();
    if (launcher == 0) {
      setpgid(0, 0);
      tcsetpgrp(STDIN_FILENO, getpid());
      signal(SIGTTOU, SIG_DFL);
      supervise_here(plan);
    }
    setpgid(launcher, launcher);
    tcsetpgrp(STDIN_FILENO, launcher);
    write("launcher", std::to_string(launcher) + "\n");
    int status = 0;
    while (waitpid(launcher, &status, WUNTRACED) == launcher && WIFSTOPPED(status)) {
      tcsetpgrp(STDIN_FILENO, getpid());
      write("shell", "stopped\n");
      await("continue", "now");
      tcsetpgrp(STDIN_FILENO, launcher);
      kill(-launcher, SIGCONT);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
  }

  int terminal_ = -1;
  pid_t shell_ = -1;
};

// By bash: dash may die of a SIGINT that it has a trap for while it starts a process.
constexpr const char* kCounting =
    "trap 'echo int >> out' INT; trap 'echo winch >> out' WINCH; trap 'echo usr2 >> out' USR2; echo ready > ready\n"
    "while [ ! -f done ]; do sleep 0.01; done; exit 3";

class CountingTest : public TerminalTest {
 protected:
  LaunchPlan counting() const {
    LaunchPlan plan = script(kCounting);
    plan.command[0] = "bash";
    return plan;
  }
};

TEST_F(CountingTest, CtrlCReachesTheCommandOnceAndEndsTheLaunch) {
  open_terminal(counting());
  await("ready", "ready");
  press(kCtrlC);
  await("out", "int");
  // Were it passed on as well, it would come before what is passed on later.
  kill(launcher_, SIGUSR2);
  await("out", "usr2");
  EXPECT_EQ(lines("out"), (Lines{"int", "usr2"}));
  write("done", "");
  EXPECT_EQ(end_of_shell(), 3);
  EXPECT_EQ(told(), (Lines{"start", "exit code 3"})) << "not started again";
}

TEST_F(TerminalTest, CtrlCEndsACommandThatDoesNotMind) {
  open_terminal(script("echo ready > ready; exec sleep 1000"));
  await("ready", "ready");
  press(kCtrlC);
  EXPECT_EQ(end_of_shell(), 128 + SIGINT);
  EXPECT_EQ(told(), (Lines{"start", "exit signal 2"}));
}

TEST_F(CountingTest, CtrlCReachesACommandInAGroupOfItsOwn) {
  LaunchPlan plan = counting();
  plan.command.insert(plan.command.begin(), "setsid");
  open_terminal(plan);
  await("ready", "ready");
  press(kCtrlC);
  await("out", "int");
  write("done", "");
  end_of_shell();
}

TEST_F(CountingTest, SignalByKillIsPassedOnOnce) {
  open_terminal(counting());
  await("ready", "ready");
  kill(launcher_, SIGINT);
  await("out", "int");
  kill(launcher_, SIGUSR2);
  await("out", "usr2");
  EXPECT_EQ(lines("out"), (Lines{"int", "usr2"}));
  write("done", "");
  end_of_shell();
}

TEST_F(TerminalTest, CommandReadsTheTerminal) {
  open_terminal(script("echo ready > ready; read line; echo \"$line\" > out; [ -t 0 ]"));
  await("ready", "ready");
  press("a line\n");
  EXPECT_EQ(end_of_shell(), 0);
  EXPECT_EQ(lines("out"), Lines{"a line"});
}

TEST_F(TerminalTest, CtrlZStopsLauncherAndCommandAndBothContinue) {
  LaunchPlan plan = script("echo $$ > command; while [ ! -f done ]; do sleep 0.01; done; exit 4");
  plan.command[0] = "bash";  // dash waits in the kernel for a process that was stopped while it started
  open_terminal(plan);
  await("command", "\n");
  press(kCtrlZ);
  await("shell", "stopped");
  const auto is_stopped = [](const std::string& process) {
    std::string text;
    std::getline(std::ifstream("/proc/" + process + "/stat"), text);
    return text[text.rfind(')') + 2] == 'T';
  };
  EXPECT_TRUE(is_stopped(std::to_string(launcher_)));
  while (!is_stopped(std::to_string(std::stoi(text("command"))))) usleep(1000);
  write("done", "");
  write("continue", "now");
  EXPECT_EQ(end_of_shell(), 4);
}

}  // namespace
}  // namespace goodput::cli
