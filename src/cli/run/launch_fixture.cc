// SPDX-License-Identifier: Apache-2.0
#include "cli/run/launch_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace goodput::cli {
namespace {

constexpr int kPollMicroseconds = 5'000;
constexpr int kPollsInTwentySeconds = 4'000;

void tell(const std::string& path, const std::string& line) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const std::string text = line + "\n";
  if (write(file, text.data(), text.size()) < 0) _exit(99);
  close(file);
}

std::string words(const Exit& exit) {
  return (exit.signal == 0 ? "exit code " + std::to_string(exit.code) : "exit signal " + std::to_string(exit.signal)) +
         (exit.out_of_memory ? " oom" : "");
}

}  // namespace

LaunchTest::~LaunchTest() {
  for (const pid_t launcher : launchers_) {
    kill(launcher, SIGKILL);
    waitpid(launcher, nullptr, 0);
  }
}

std::string LaunchTest::text(const std::string& name) const {
  std::ifstream file(path(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

Lines LaunchTest::lines(const std::string& name) const {
  std::istringstream in(text(name));
  Lines lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void LaunchTest::write(const std::string& name, const std::string& content, int mode) const {
  std::ofstream(path(name)) << content;
  chmod(path(name).c_str(), static_cast<mode_t>(mode));
}

void LaunchTest::await(const std::string& name, const std::string& part) const {
  for (int i = 0; i < kPollsInTwentySeconds; ++i) {
    if (text(name).find(part) != std::string::npos) return;
    usleep(kPollMicroseconds);
  }
  FAIL() << "'" << part << "' never stood in " << name << ", which holds: " << text(name)
         << "\nstderr: " << text("stderr");
}

LaunchPlan LaunchTest::script(const std::string& text) const {
  return {.job = "a job",
          .command = {"sh", "-c", "cd " + folder_.path() + "\n" + text},
          .restarts = {.first_delay_ns = 10'000'000},
          .grace_ns = 300'000'000};
}

pid_t LaunchTest::start(const LaunchPlan& plan, const std::function<void()>& before) {
  const pid_t launcher = fork();
  if (launcher != 0) {
    launchers_.push_back(launcher);
    return launcher;
  }
  before();
  const int log = open(path("stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(log, STDERR_FILENO);
  supervise_here(plan);
}

void LaunchTest::supervise_here(const LaunchPlan& plan) const {
  const std::string told = path("told");
  const LaunchLog log{
      .attempt_starts =
          [&](const std::string&) {
            tell(told, "start");
            return path("journals");
          },
      .exited = [&](const Exit& exit) { tell(told, words(exit)); },
      .disrupted = [&](std::string_view cause,
                       std::string_view text) { tell(told, std::string(cause) + ": " + std::string(text)); },
      .gave_up = [&] { tell(told, "gave up"); },
      .made_progress = [&] { return std::filesystem::remove(path("progress")); }};
  _exit(supervise(plan, log));
}

int LaunchTest::end_of(pid_t launcher) {
  int status = 0;
  waitpid(launcher, &status, 0);
  std::erase(launchers_, launcher);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool is_alive(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat[name_end + 2] != 'Z';
}

bool stays_alive(pid_t process) {
  for (int i = 0; i < kPollsInTwentySeconds / 2; ++i) {
    if (!is_alive(process)) return false;
    usleep(kPollMicroseconds);
  }
  return true;
}

}  // namespace goodput::cli
