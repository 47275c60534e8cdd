// The C++ example under `goodput run`: a training run that is killed, resumed and recorded, from launcher to journal.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "journal/job_log.h"

namespace goodput {
namespace {

using event::Event;
using event::Kind;

class TrainDigitsTest : public ::testing::Test {
 protected:
  /// Runs a program with its output in the folder. Exit code.
  int run(const std::vector<std::string>& words) const {
    const pid_t process = fork();
    if (process == 0) {
      const int out = open(path("out").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
      dup2(out, STDOUT_FILENO);
      dup2(out, STDERR_FILENO);
      setenv("GOODPUT_DIR", path("journals").c_str(), 1);
      std::vector<char*> arguments;
      arguments.reserve(words.size() + 1);
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      execv(arguments[0], arguments.data());
      _exit(99);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  /// The training run of these tests: 276 steps, checkpoints after 100 and 200.
  std::vector<std::string> training(const std::string& folder, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {
        TRAIN_DIGITS_PROGRAM, "--directory", path(folder), "--epochs", "6", "--digits", "examples/data/digits.csv"};
    words.insert(words.end(), {"--checkpoint-every", "100"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static std::vector<std::string> launched(std::vector<std::string> command,
                                           const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {GOODPUT_PROGRAM, "run", "--job", "digits"};
    words.insert(words.end(), more.begin(), more.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(path(name), std::ios::binary).rdbuf();
    return all.str();
  }

  /// What a reader finds of one attempt.
  struct Told {
    std::vector<int64_t> steps;
    std::vector<std::string> exits;
    size_t job_ends = 0;
  };
  /// By the order of the attempts.
  [[nodiscard]] std::vector<Told> told() const {
    const auto log =
        journal::JobLog::open(posix_file_system(), {{.path = path("journals")}}, "digits", "", system_clock());
    if (!log.ok()) return {};
    std::map<std::string, Told> by_attempt;
    const Status polled = (*log)->poll([&](std::span<const Event> events) {
      for (const Event& each : events) {
        Told& of = by_attempt[std::string(each.origin->attempt_id)];
        if (each.kind == Kind::kStepStart) of.steps.push_back(each.step);
        if (each.kind == Kind::kJobEnd) ++of.job_ends;
        if (each.kind != Kind::kProcessExit) continue;
        EXPECT_EQ(each.origin->role, "launcher");
        of.exits.push_back((each.has(event::kSignal) ? "signal " : "code ") + std::to_string(each.exit_value));
      }
      return true;
    });
    EXPECT_TRUE(polled.ok()) << polled.message();
    std::vector<Told> attempts;
    for (const journal::Attempt& attempt : (*log)->attempts()) attempts.push_back(by_attempt[attempt.id]);
    EXPECT_EQ(by_attempt.size(), attempts.size()) << "a launcher's word about an attempt that is nobody's";
    return attempts;
  }

  static std::vector<int64_t> steps(int64_t first, int64_t last) {
    std::vector<int64_t> all;
    for (int64_t step = first; step <= last; ++step) all.push_back(step);
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(TrainDigitsTest, KilledRunIsResumedAndEndsAsOneThatWasNot) {
  ASSERT_EQ(run(training("whole")), 0) << text("out");
  std::filesystem::remove_all(path("journals"));
  ASSERT_EQ(run(launched(training("killed", {"--crash-at-step", "150"}))), 0) << text("out");
  EXPECT_FALSE(text("whole/checkpoint").empty());
  EXPECT_TRUE(text("killed/checkpoint") == text("whole/checkpoint"));

  const std::vector<Told> attempts = told();
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts[0].steps, steps(0, 150)) << "every step up to the one that it was killed in";
  EXPECT_EQ(attempts[0].exits, std::vector<std::string>{"signal 9"});
  EXPECT_EQ(attempts[0].job_ends, 0U);
  EXPECT_EQ(attempts[1].steps, steps(100, 275));
  EXPECT_EQ(attempts[1].exits, std::vector<std::string>{"code 0"});
  EXPECT_EQ(attempts[1].job_ends, 1U);
}

TEST_F(TrainDigitsTest, RunThatGetsFurtherEachTimeIsNotGivenUp) {
  // Killed three times, with one restart allowed without progress.
  const std::string crash =
      "cd " + path("") +
      "; echo x >> count; rm -rf further/crashed; step=$(($(wc -l < count) * 70)); cd - > /dev/null\n"
      "exec \"$@\" --crash-at-step $step";
  std::vector<std::string> command = {"sh", "-c", crash, "sh"};
  const std::vector<std::string> train = training("further");
  command.insert(command.end(), train.begin(), train.end());
  ASSERT_EQ(run(launched(command, {"--max-restarts", "1"})), 0) << text("out");
  const std::vector<Told> attempts = told();
  ASSERT_EQ(attempts.size(), 4U);
  EXPECT_EQ(attempts[0].steps, steps(0, 70));
  EXPECT_EQ(attempts[1].steps, steps(0, 140));
  EXPECT_EQ(attempts[2].steps, steps(100, 210));
  EXPECT_EQ(attempts[3].steps, steps(200, 275));
}

TEST_F(TrainDigitsTest, StepsThatAKilledRunHadStagedAreBroughtHome) {
  // As on a network file system: without the launcher the last second would stay behind until the next attempt.
  setenv("GOODPUT_STAGING_DIR", path("staging").c_str(), 1);
  EXPECT_EQ(run(launched(training("staged", {"--crash-at-step", "150"}), {"--no-restart"})), 137);
  unsetenv("GOODPUT_STAGING_DIR");
  const std::vector<Told> attempts = told();
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].steps, steps(0, 150));
  EXPECT_EQ(attempts[0].exits, std::vector<std::string>{"signal 9"});
}

TEST_F(TrainDigitsTest, RunThatNeverStepsIsGivenUp) {
  EXPECT_EQ(run(launched(training("none", {"--no-such-option", "1"}), {"--max-restarts", "1"})), 1);
  EXPECT_NE(text("out").find("giving up after 1 restart without progress"), std::string::npos) << text("out");
}

}  // namespace
}  // namespace goodput
