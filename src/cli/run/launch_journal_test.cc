// SPDX-License-Identifier: Apache-2.0
#include "cli/run/launch_journal.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/run/launch_fixture.h"
#include "cli/run/progress.h"
#include "cli/run/supervisor.h"
#include "record/read_journals.h"

namespace goodput::cli {
namespace {

using event::Kind;

class LaunchJournalTest : public LaunchTest {
 protected:
  /// A launcher that records, in a process of its own, of commands that are functions of this program.
  int launch(const LaunchPlan& plan, const RecorderOptions& options = {}) {
    const pid_t launcher = fork();
    if (launcher == 0) {
      RecorderOptions own = options;
      own.job = plan.job;
      own.run_id = plan.run_id;
      own.directory = path("journals");
      LaunchJournal journal(own);
      _exit(supervise(plan, journal.log()));
    }
    int status = 0;
    waitpid(launcher, &status, 0);
    return WEXITSTATUS(status);
  }

  /// A line for each event of the journals of a role, by attempt: "code 1", "signal 9", "preempted: words", "failed".
  std::vector<Lines> recorded(const std::string& role) const {
    std::vector<Lines> attempts;
    for (const record::WrittenJournal& journal : record::read_journals(path("journals"))) {
      if (journal.header.role != role) continue;
      Lines& lines = attempts.emplace_back();
      for (const record::WrittenEvent& written : journal.events) lines.push_back(words(written));
    }
    return attempts;
  }

  static std::string words(const record::WrittenEvent& written) {
    const journal::LiveEvent& event = written.event;
    const std::string value = std::to_string(event.value);
    if (event.kind == Kind::kProcessExit) return ((event.flags & event::kSignal) != 0 ? "signal " : "code ") + value;
    if (event.kind == Kind::kDisruption) return written.name + ": " + written.text;
    if (event.kind == Kind::kJobEnd) return (event.flags & event::kFailed) != 0 ? "failed" : "ended";
    if (event.kind == Kind::kStepStart) return "step " + value;
    return "kind " + std::to_string(static_cast<int>(event.kind));
  }
};

TEST_F(LaunchJournalTest, EachAttemptHasAJournalWithItsExit) {
  EXPECT_EQ(launch(script(
                "echo x >> count; case $(wc -l < count) in 1) exit 3;; 2) kill -SEGV $$;; 3) kill -KILL $$;; esac")),
            0);
  EXPECT_EQ(recorded("launcher"), (std::vector<Lines>{{"code 3"}, {"signal 11"}, {"signal 9"}, {"code 0"}}));
}

TEST_F(LaunchJournalTest, CommandRecordsUnderTheSameNameInTheSameFolder) {
  LaunchPlan plan = script("echo $GOODPUT_ATTEMPT_ID >> ids; echo $GOODPUT_DIR >> folders; exit 1");
  plan.restarts.max_restarts = 1;
  plan.run_id = "second";
  launch(plan, {.labels = {{"team", "nlp"}}, .accelerators = 8, .accelerator_type = "H100"});
  const auto journals = record::read_journals(path("journals"));
  ASSERT_EQ(journals.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    const journal::LiveHeader& header = journals[i].header;
    EXPECT_EQ(header.attempt_id, lines("ids")[i]);
    EXPECT_EQ(lines("folders")[i], path("journals"));
    EXPECT_EQ(header.job, "a job");
    EXPECT_EQ(header.run_id, "second");
    EXPECT_EQ(header.process_index, 0);
    EXPECT_EQ(header.accelerators, 8);
    EXPECT_EQ(header.accelerator_type, "H100");
    EXPECT_EQ(header.labels, (std::vector<std::pair<std::string, std::string>>{{"team", "nlp"}}));
  }
}

TEST_F(LaunchJournalTest, GivingUpIsTheEndOfAFailedJob) {
  LaunchPlan plan = script("exit 5");
  plan.restarts.max_restarts = 1;
  EXPECT_EQ(launch(plan), 5);
  EXPECT_EQ(recorded("launcher"), (std::vector<Lines>{{"code 5"}, {"code 5", "failed"}}));
}

TEST_F(LaunchJournalTest, WhereOthersRestartAFailureIsNoEnd) {
  LaunchPlan plan = script("exit 5");
  plan.restarts.enabled = false;
  EXPECT_EQ(launch(plan), 5);
  EXPECT_EQ(recorded("launcher"), (std::vector<Lines>{{"code 5"}}));
}

TEST_F(LaunchJournalTest, NoticeComesBeforeTheExit) {
  LaunchPlan plan = script("trap 'exit 9' USR1; kill -USR1 $PPID; while :; do sleep 0.01; done");
  plan.preempt_signals = {SIGUSR1};
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(launch(plan), 9);
  EXPECT_EQ(recorded("launcher"),
            (std::vector<Lines>{{"preempted: SIGUSR1 received by the launcher", "code 9", "failed"}}));
}

TEST_F(LaunchJournalTest, CommandThatCannotBeLaunchedMakesNoJob) {
  EXPECT_EQ(launch({.job = "a job", .command = {"no-such-command"}}), 127);
  EXPECT_EQ(access(path("journals").c_str(), F_OK), -1);
}

TEST_F(LaunchJournalTest, FolderThatCannotBeWrittenDoesNotStopTheCommand) {
  write("journals", "a file");
  EXPECT_EQ(launch(script("echo $GOODPUT_DIR > folder; exit 0")), 0);
  EXPECT_EQ(lines("folder"), Lines{path("journals")}) << "a folder that was named is never replaced by another";
}

TEST_F(LaunchJournalTest, CommandInheritsNoOpenFileOfTheLauncher) {
  const std::string look = "ls /proc/self/fd > ";
  ASSERT_EQ(std::system((look + path("before")).c_str()), 0);
  EXPECT_EQ(launch(script(look + "during")), 0);
  EXPECT_EQ(lines("during"), lines("before"));
}

class ProgressTest : public LaunchJournalTest {
 protected:
  /// Records steps as a trainer does that is told its identity by these variables.
  void train(const std::vector<std::pair<const char*, std::string>>& variables, int64_t steps) const {
    const pid_t trainer = fork();
    if (trainer == 0) {
      for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
      setenv("GOODPUT_QUIET", "1", 1);
      auto recorder = Recorder::open({.job = "a job", .directory = path("journals")});
      for (int64_t step = 0; step < steps; ++step) recorder.step(step);
      kill(getpid(), SIGKILL);
    }
    waitpid(trainer, nullptr, 0);
  }
  [[nodiscard]] bool has_step(const std::string& attempt_id) const {
    return has_recorded_step({{.path = path("journals")}}, "a job", "", attempt_id);
  }
};

TEST_F(ProgressTest, IsAStepOfRankZeroInThatAttempt) {
  EXPECT_FALSE(has_step("a")) << "no journal at all";
  train({{"GOODPUT_ATTEMPT_ID", "a"}}, 3);
  train({{"GOODPUT_ATTEMPT_ID", "b"}}, 0);
  train({{"GOODPUT_ATTEMPT_ID", "c"}, {"RANK", "1"}}, 3);
  EXPECT_TRUE(has_step("a"));
  EXPECT_FALSE(has_step("b"));
  EXPECT_FALSE(has_step("c")) << "another rank's";
  EXPECT_FALSE(has_step("d"));
}

TEST_F(ProgressTest, IsSeenThroughALauncherBetween) {
  train({{"GOODPUT_ATTEMPT_ID", "a"}, {"TORCHELASTIC_RUN_ID", "none"}, {"TORCHELASTIC_RESTART_COUNT", "0"}}, 1);
  EXPECT_TRUE(has_step("a"));
  EXPECT_FALSE(has_step("a.no"));
}

TEST_F(ProgressTest, NamesOfAttemptsAreToldApart) {
  for (const char* name : {"a1", "a1#2", "a1.none.0", "a1.none.0#3"}) EXPECT_TRUE(is_of_attempt(name, "a1")) << name;
  for (const char* name : {"", "a", "a10", "b.a1"}) EXPECT_FALSE(is_of_attempt(name, "a1")) << name;
}

}  // namespace
}  // namespace goodput::cli
