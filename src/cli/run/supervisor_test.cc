// SPDX-License-Identifier: Apache-2.0
#include "cli/run/supervisor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cli/run/launch_fixture.h"

namespace goodput::cli {
namespace {

class SupervisorTest : public LaunchTest {
 protected:
  /// Of a file that a script has written a process number to.
  pid_t process_in(const std::string& name) const { return std::stoi(text(name)); }
};

TEST_F(SupervisorTest, EveryEndOfACommandIsToldAndReturned) {
  struct Case {
    const char* script;
    int code;
    Lines told;
  };
  for (const Case& c : {
           Case{"exit 0", 0, {"start", "exit code 0"}},
           Case{"exit 7", 7, {"start", "exit code 7", "gave up"}},
           Case{"exit 125", 125, {"start", "exit code 125", "gave up"}},
           Case{"exit 255", 255, {"start", "exit code 255", "gave up"}},
           Case{"kill -SEGV $$", 139, {"start", "exit signal 11", "gave up"}},
           Case{"kill -KILL $$", 137, {"start", "exit signal 9", "gave up"}},
           Case{"kill -TERM $$", 143, {"start", "exit signal 15", "gave up"}},
           Case{"exec no-such-command", 127, {"start", "exit code 127", "gave up"}},
           Case{"exec /tmp", 126, {"start", "exit code 126", "gave up"}},
       }) {
    write("told", "");
    LaunchPlan plan = script(c.script);
    plan.restarts.max_restarts = 0;
    EXPECT_EQ(run(plan), c.code) << c.script;
    EXPECT_EQ(told(), c.told) << c.script;
  }
}

TEST_F(SupervisorTest, CommandThatCannotBeLaunchedLeavesNoTrace) {
  write("text", "words");
  EXPECT_EQ(run({.job = "j", .command = {"no-such-command", "x"}}), 127);
  EXPECT_EQ(run({.job = "j", .command = {path("text")}}), 126);
  EXPECT_EQ(told(), Lines{});
  EXPECT_EQ(lines("stderr"), (Lines{"goodput: starting no-such-command: command not found",
                                    "goodput: starting " + path("text") + ": not an executable file"}));
}

TEST_F(SupervisorTest, ProgramWithoutItsInterpreterIsNotStartedAgain) {
  write("tool", "#!/no/such/interpreter\n", 0755);
  EXPECT_EQ(run({.job = "j", .command = {path("tool")}}), 127);
  EXPECT_EQ(told(), (Lines{"start", "exit code 127", "gave up"}));
}

TEST_F(SupervisorTest, TextWithoutAnInterpreterLineIsGivenToTheShell) {
  write("tool", "echo \"$1\" > " + path("out") + "\n", 0755);
  EXPECT_EQ(run({.job = "j", .command = {path("tool"), "an argument"}}), 0);
  EXPECT_EQ(lines("out"), Lines{"an argument"});
}

TEST_F(SupervisorTest, NoProcessToBeHadIsItsOwnFailure) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody who may have no process";
  const auto become_somebody = [] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};  // does not bind root
    setrlimit(RLIMIT_NPROC, &none);
    if (setresuid(12'345, 12'345, 12'345) != 0) _exit(99);
  };
  chmod(path("").c_str(), 0777);
  EXPECT_EQ(end_of(start({.job = "j", .command = {"true"}}, become_somebody)), 125);
  EXPECT_EQ(told(), (Lines{"start", "gave up"}));
  EXPECT_EQ(lines("stderr"), Lines{"goodput: starting /usr/bin/true: Resource temporarily unavailable"});
}

TEST_F(SupervisorTest, FailureIsFollowedByAnotherAttempt) {
  EXPECT_EQ(run(script("echo x >> count; [ $(wc -l < count) = 3 ]")), 0);
  EXPECT_EQ(told(), (Lines{"start", "exit code 1", "start", "exit code 1", "start", "exit code 0"}));
  EXPECT_EQ(lines("stderr"),
            (Lines{"goodput: attempt 1 ended with code 1; starting again in 0.01 s (restart 1 of 3)",
                   "goodput: attempt 2 ended with code 1; starting again in 0.02 s (restart 2 of 3)"}));
}

TEST_F(SupervisorTest, GivesUpAfterThreeRestartsWithoutProgress) {
  // The first two attempts make progress.
  EXPECT_EQ(run(script("echo x >> count; [ $(wc -l < count) -gt 2 ] || touch progress; exit 9")), 9);
  EXPECT_EQ(lines("count").size(), 5U);
  EXPECT_EQ(told().back(), "gave up");
  EXPECT_EQ(lines("stderr").back(),
            "goodput: attempt 5 ended with code 9; giving up after 3 restarts without progress");
}

TEST_F(SupervisorTest, WhoeverElseRestartsIsNotToldThatTheJobIsOver) {
  LaunchPlan plan = script("exit 4");
  plan.restarts.enabled = false;
  EXPECT_EQ(run(plan), 4);
  EXPECT_EQ(told(), (Lines{"start", "exit code 4"}));
}

TEST_F(SupervisorTest, QuietSaysNothing) {
  LaunchPlan plan = script("exit 4");
  plan.quiet = true;
  EXPECT_EQ(run(plan), 4);
  EXPECT_EQ(text("stderr"), "");
}

TEST_F(SupervisorTest, CommandLearnsWhoseItIs) {
  LaunchPlan plan =
      script("env | grep ^GOODPUT_ | grep -v ATTEMPT | sort >> out; echo $GOODPUT_ATTEMPT_ID >> ids; exit 1");
  plan.job = "a job/../\"x\"";
  plan.run_id = "r 1";
  plan.restarts.max_restarts = 1;
  EXPECT_EQ(run(plan), 1);
  const Lines attempt = {"GOODPUT_DIR=" + path("journals"), "GOODPUT_JOB=a job/../\"x\"", "GOODPUT_RUN_ID=r 1"};
  Lines twice = attempt;
  twice.insert(twice.end(), attempt.begin(), attempt.end());
  EXPECT_EQ(lines("out"), twice);
  const Lines ids = lines("ids");
  ASSERT_EQ(ids.size(), 2U);
  EXPECT_EQ(ids[0].size(), 16U);
  EXPECT_NE(ids[0], ids[1]);
}

TEST_F(SupervisorTest, NameGivenToAllRanksIsKeptWhereSomebodyElseRestarts) {
  const auto under_slurm = [] { setenv("SLURM_JOB_ID", "17", 1); };
  LaunchPlan plan = script("echo \"id:$GOODPUT_ATTEMPT_ID\" >> ids");
  end_of(start(plan, under_slurm));
  EXPECT_EQ(text("ids").size(), 3 + 16 + 1) << "one launcher for all ranks: an id of its own for each attempt";
  write("ids", "");
  plan.restarts.enabled = false;
  end_of(start(plan, under_slurm));
  EXPECT_EQ(lines("ids"), Lines{"id:"});
}

TEST_F(SupervisorTest, EverySignalIsPassedOn) {
  std::string traps;
  std::vector<int> signals;
  for (int signal = 1; signal <= 31; ++signal) {
    if (signal == SIGKILL || signal == SIGSTOP || signal == SIGCHLD || signal == SIGCONT || signal == SIGTSTP ||
        signal == SIGTTIN || signal == SIGTTOU || signal == SIGSEGV) {  // bash refuses to trap SIGSEGV
      continue;
    }
    traps += "trap 'echo " + std::to_string(signal) + " >> out' " + std::to_string(signal) + "\n";
    signals.push_back(signal);
  }
  LaunchPlan plan = script(traps + "echo ready > ready; while [ ! -f done ]; do sleep 0.01; done; exit 0");
  plan.command[0] = "bash";
  plan.grace_ns = 60'000'000'000;
  const pid_t launcher = start(plan);
  await("ready", "ready");
  Lines expected;
  for (const int signal : signals) {
    kill(launcher, signal);
    expected.push_back(std::to_string(signal));
    await("out", expected.back() + "\n");
  }
  write("done", "");
  EXPECT_EQ(end_of(launcher), 0);
  EXPECT_EQ(lines("out"), expected) << "each of them once";
}

TEST_F(SupervisorTest, IgnoredSignalsStayIgnored) {
  const pid_t launcher = start(script("echo ready > ready; while [ ! -f done ]; do sleep 0.01; done; exit 5"),
                               [] { signal(SIGHUP, SIG_IGN); });
  await("ready", "ready");
  kill(launcher, SIGHUP);
  usleep(100'000);
  EXPECT_TRUE(is_alive(launcher));
  EXPECT_EQ(told(), Lines{"start"});
  write("done", "");
  EXPECT_EQ(end_of(launcher), 5);
  EXPECT_EQ(told().size(), 4 * 2 + 1U) << "it was not taken for a stop: restarted three times, then gave up";
}

TEST_F(SupervisorTest, ExitIsSeenAlsoWhereChildrenWereIgnored) {
  LaunchPlan plan = script("exit 6");
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(end_of(start(plan, [] { signal(SIGCHLD, SIG_IGN); })), 6);
}

TEST_F(SupervisorTest, TermIsNotFollowedByAnotherAttempt) {
  const pid_t launcher =
      start(script("trap 'echo saved > out; exit 3' TERM; echo ready > ready; while :; do sleep 0.01; done"));
  await("ready", "ready");
  kill(launcher, SIGTERM);
  EXPECT_EQ(end_of(launcher), 3);
  EXPECT_EQ(lines("out"), Lines{"saved"});
  EXPECT_EQ(told(), (Lines{"start", "exit code 3"}));
}

TEST_F(SupervisorTest, CommandThatIgnoresTermIsKilledWithAllBelowIt) {
  const pid_t launcher =
      start(script("trap '' TERM; setsid sleep 1000 & echo $! > below; sleep 1001 & echo ready > ready; wait"));
  await("ready", "ready");
  kill(launcher, SIGTERM);
  EXPECT_EQ(end_of(launcher), 137);
  EXPECT_EQ(told(), (Lines{"start", "exit signal 9"}));
  EXPECT_FALSE(stays_alive(process_in("below")));
}

TEST_F(SupervisorTest, TermDuringBackOffEndsTheLaunch) {
  LaunchPlan plan = script("exit 8");
  plan.restarts.first_delay_ns = 60'000'000'000;
  const pid_t launcher = start(plan);
  await("stderr", "starting again in 60 s");
  kill(launcher, SIGTERM);
  EXPECT_EQ(end_of(launcher), 8);
  EXPECT_EQ(told(), (Lines{"start", "exit code 8"}));
}

TEST_F(SupervisorTest, NoticeOfAPreemptionIsRecordedAndPassedOn) {
  LaunchPlan plan = script(
      "trap 'echo usr1 >> out' USR1; trap 'echo usr2 >> out' USR2; echo ready > ready; while [ ! -f done ]; do sleep "
      "0.01; done");
  plan.preempt_signals = {SIGUSR1, SIGXCPU};
  const pid_t launcher = start(plan);
  await("ready", "ready");
  kill(launcher, SIGUSR1);
  await("out", "usr1");
  kill(launcher, SIGUSR2);
  await("out", "usr2");
  write("done", "");
  EXPECT_EQ(end_of(launcher), 0);
  EXPECT_EQ(told(), (Lines{"start", "preempted: SIGUSR1 received by the launcher", "exit code 0"}));
}

TEST_F(SupervisorTest, NothingOfAnAttemptLivesOnBesideTheNext) {
  // The orphan has a session of its own and a dead parent, and ignores SIGTERM.
  LaunchPlan plan = script(
      "if [ -f orphan ]; then kill -0 $(cat orphan) && echo alive > out || echo gone > out; exit 0; fi\n"
      "(setsid sh -c 'trap \"\" TERM; echo $$ > orphan.new; mv orphan.new orphan; while :; do sleep 1; done' &)\n"
      "while [ ! -f orphan ]; do sleep 0.01; done; kill -KILL $$");
  EXPECT_EQ(run(plan), 0);
  EXPECT_EQ(lines("out"), Lines{"gone"});
  EXPECT_EQ(told(), (Lines{"start", "exit signal 9", "start", "exit code 0"}));
  EXPECT_EQ(lines("stderr")[1], "goodput: attempt 1 left 1 process behind; ending it");
}

TEST_F(SupervisorTest, OrphansMayEndInOrder) {
  LaunchPlan plan = script(
      "sh -c 'trap \"echo saved > out; exit 0\" TERM; echo ready > ready; while :; do sleep 0.01; done' &\n"
      "while [ ! -f ready ]; do sleep 0.01; done; kill -KILL $$");
  plan.grace_ns = 20'000'000'000;
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(run(plan), 137);
  EXPECT_EQ(lines("out"), Lines{"saved"});
}

TEST_F(SupervisorTest, SuccessLeavesItsBackgroundAlone) {
  EXPECT_EQ(run(script("setsid sleep 1000 & echo $! > below")), 0);
  const pid_t below = process_in("below");
  EXPECT_TRUE(is_alive(below));
  kill(below, SIGKILL);
}

TEST_F(SupervisorTest, ChildrenFromBeforeAreNotItsOwn) {
  LaunchPlan plan = script("exit 1");
  plan.restarts.max_restarts = 1;
  const std::string file = path("before");
  end_of(start(plan, [&file] {
    const pid_t process = fork();
    if (process != 0) {
      std::ofstream(file) << process;
      return;
    }
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(99);
  }));
  EXPECT_TRUE(is_alive(process_in("before")));
  kill(process_in("before"), SIGKILL);
}

TEST_F(SupervisorTest, ClosedStandardErrorEndsNothing) {
  // The reader of our messages is gone: what we say there must not end the launch, nor reach the command as SIGPIPE.
  LaunchPlan plan = script("trap 'echo pipe >> out' PIPE; echo x >> count; sleep 0.05; [ $(wc -l < count) = 3 ]");
  const pid_t launcher = fork();
  if (launcher == 0) {
    int ends[2];
    if (pipe(ends) != 0) _exit(99);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    supervise_here(plan);
  }
  EXPECT_EQ(end_of(launcher), 0);
  EXPECT_EQ(lines("count").size(), 3U);
  EXPECT_EQ(text("out"), "");
}

}  // namespace
}  // namespace goodput::cli
