// `goodput run` as it is typed.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/app.h"
#include "cli/exit_code.h"

namespace goodput::cli {
namespace {

class RunCommandTest : public ::testing::Test {
 protected:
  /// In a process of its own, which works in the test's folder.
  int run(const std::vector<std::string>& arguments) {
    const pid_t process = fork();
    if (process == 0) {
      std::filesystem::current_path(folder_);
      for (const char* name : {"GOODPUT_JOB", "GOODPUT_DIR", "GOODPUT_LABELS"}) unsetenv(name);
      FILE* err = std::fopen("err", "w");
      const int code = run_command_line(arguments, commands(), stdout, err);
      std::fclose(err);
      _exit(code);
    }
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(folder_ / name).rdbuf();
    return all.str();
  }

  TemporaryFolder temporary_;
  std::filesystem::path folder_ = temporary_.path();
};

TEST_F(RunCommandTest, ExitCodeIsTheCommands) {
  EXPECT_EQ(run({"run", "--dir", "d", "--quiet", "--job", "j", "--no-restart", "--", "sh", "-c", "exit 42"}), 42);
  EXPECT_EQ(run({"--dir=d", "--quiet", "run", "--job", "j", "--no-restart", "--", "sh", "-c", "kill -9 $$"}), 137);
  EXPECT_EQ(run({"run", "--dir", "d", "--quiet", "--job", "j", "--", "no-such-command"}), 127);
}

TEST_F(RunCommandTest, WordsOfTheCommandAreNotOurs) {
  const std::string print = "printf '%s\\n' \"$@\" > out";
  const std::string words = "report\n--job\n--\n-h\nrun\n";
  EXPECT_EQ(
      run({"run", "--dir", "d", "--job", "j", "--", "sh", "-c", print, "0", "report", "--job", "--", "-h", "run"}), 0);
  EXPECT_EQ(text("out"), words);
  EXPECT_EQ(run({"run", "--dir", "d", "--job", "j", "sh", "-c", print, "0", "report", "--job", "--", "-h", "run"}), 0);
  EXPECT_EQ(text("out"), words);
}

TEST_F(RunCommandTest, CommandFindsWhatWasSaidOfTheJob) {
  EXPECT_EQ(run({"run", "--dir", "d", "--job", "a job", "--run-id", "r", "--label", "team=nlp", "--label", "a=b",
                 "--accelerators", "8", "--accelerator-type", "H100", "--", "sh", "-c",
                 "cd /; env | grep ^GOODPUT_ | grep -v ATTEMPT | sort > " + (folder_ / "out").string()}),
            0);
  EXPECT_EQ(text("out"), fmt::format("GOODPUT_ACCELERATORS=8\nGOODPUT_ACCELERATOR_TYPE=H100\nGOODPUT_DIR={}/d\n"
                                     "GOODPUT_JOB=a job\nGOODPUT_LABELS=a=b,team=nlp\nGOODPUT_RUN_ID=r\n",
                                     folder_.string()));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "d" / "v1"));
}

TEST_F(RunCommandTest, LeavesTheAccountForTheNextReaderUnlessItWasToldToStop) {
  const auto accounts = [&] {
    const auto all = std::filesystem::recursive_directory_iterator(folder_ / "d");
    return std::count_if(begin(all), end(all), [](const auto& file) { return file.path().filename() == "account"; });
  };
  const auto launch = [&](const std::string& command) {
    return run({"run", "--dir", "d", "--quiet", "--job", "j", "--no-restart", "--", "sh", "-c", command});
  };
  ASSERT_EQ(run({"simulate", "--journals", "--dir", "d", "--quiet", "--job", "j", "--steps", "20000"}), 0);
  EXPECT_EQ(launch("kill -TERM $PPID; sleep 9"), 128 + SIGTERM);
  EXPECT_EQ(accounts(), 0);
  EXPECT_EQ(launch("exit 3"), 3);
  EXPECT_EQ(accounts(), 1);
}

TEST_F(RunCommandTest, MistakesAreUsageAndLaunchNothing) {
  EXPECT_EQ(run({"run", "--", "touch", "out"}), kUsage);
  EXPECT_EQ(text("err"), "goodput run: --job: name the job that the command trains\n");
  EXPECT_EQ(run({"run", "--job", "j", "--"}), kUsage);
  EXPECT_EQ(text("err"), "goodput run: the command to launch stands after `--`\n");
  EXPECT_EQ(run({"run", "--job", "j", "--grace", "soon", "--", "touch", "out"}), kUsage);
  EXPECT_EQ(run({"run", "--job", "j", "--nope", "--", "touch", "out"}), kUsage);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
}

}  // namespace
}  // namespace goodput::cli
