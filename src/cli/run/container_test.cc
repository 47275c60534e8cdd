// Launches as in a container: as process 1, and under a memory limit. Needs root; skipped where the machine forbids it.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "cli/run/launch_fixture.h"

namespace goodput::cli {
namespace {

class PidOneTest : public LaunchTest {
 protected:
  ~PidOneTest() override {
    if (init_ <= 0) return;
    kill(init_, SIGKILL);
    waitpid(init_, nullptr, 0);
  }

  /// A launcher that is process 1 of processes, mounts and /proc of its own. False where that is not to be had.
  bool start_as_init(const LaunchPlan& plan) {
    const int own_processes = open_namespace();
    if (unshare(CLONE_NEWPID) != 0) return false;
    init_ = fork();
    if (init_ == 0) {
      const bool is_ready = unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, nullptr) == 0 &&
                            mount("proc", "/proc", "proc", 0, nullptr) == 0;
      if (!is_ready || getpid() != 1) _exit(99);
      supervise_here(plan);
    }
    // Later children of the test belong where the test is.
    setns(own_processes, CLONE_NEWPID);
    close(own_processes);
    return init_ > 0;
  }

  int end_of_init() {
    int status = 0;
    waitpid(std::exchange(init_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  pid_t init_ = -1;

 private:
  static int open_namespace() { return open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC); }
};

TEST_F(PidOneTest, ReapsOrphansAndPassesSignalsOn) {
  // Each round leaves ten orphans that end at once; the count of zombies is that of /proc.
  if (!start_as_init(
          script("trap 'echo usr1 >> out' USR1; trap 'echo tstp >> out' TSTP; trap 'echo cont >> out' CONT\n"
                 "trap 'echo term >> out; exit 5' TERM\n"
                 "for i in 1 2 3 4 5 6 7 8 9 10; do (sh -c 'exit 0' &) ; done\n"
                 "while grep -h '^State:.Z' /proc/[0-9]*/status > zombies; [ -s zombies ]; do sleep 0.01; done\n"
                 "ls -d /proc/[0-9]* | wc -l > processes; echo ready > ready; while :; do sleep 0.01; done"))) {
    GTEST_SKIP() << "the machine does not let us have process numbers of our own";
  }
  await("ready", "ready");
  for (const auto& [signal, word] :
       {std::pair{SIGUSR1, "usr1"}, {SIGTSTP, "tstp"}, {SIGCONT, "cont"}, {SIGTERM, "term"}}) {
    kill(init_, signal);
    await("out", word);
  }
  EXPECT_EQ(end_of_init(), 5);
  EXPECT_EQ(told(), (Lines{"start", "exit code 5"}));
}

TEST_F(PidOneTest, KillsACommandThatIgnoresTermAndStartsNoOther) {
  if (!start_as_init(script("trap '' TERM; echo ready > ready; while :; do sleep 0.01; done"))) {
    GTEST_SKIP() << "the machine does not let us have process numbers of our own";
  }
  await("ready", "ready");
  kill(init_, SIGTERM);
  EXPECT_EQ(end_of_init(), 137);
}

TEST_F(PidOneTest, StartsAgain) {
  if (!start_as_init(script("(setsid sleep 1000 &); echo x >> count; [ $(wc -l < count) = 3 ] || kill -SEGV $$"))) {
    GTEST_SKIP() << "the machine does not let us have process numbers of our own";
  }
  EXPECT_EQ(end_of_init(), 0);
  EXPECT_EQ(told(), (Lines{"start", "exit signal 11", "start", "exit signal 11", "start", "exit code 0"}));
}

/// A control group with a memory limit; gone with it.
class LimitedGroup {
 public:
  explicit LimitedGroup(uint64_t limit_bytes) {
    const std::string name = "/goodput-test-" + std::to_string(getpid());
    const bool is_v1 = std::filesystem::exists("/sys/fs/cgroup/memory");
    folder_ = (is_v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") + name;
    if (mkdir(folder_.c_str(), 0755) != 0) return;
    if (!is_v1) std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "+memory";
    std::ofstream limit(folder_ + (is_v1 ? "/memory.limit_in_bytes" : "/memory.max"));
    limit << limit_bytes;
    limit.close();
    // Or the command would be swapped out instead.
    std::ofstream(folder_ + "/memory.swap.max") << 0;
    std::ofstream(folder_ + "/memory.swappiness") << 0;
    is_limited_ = limit.good();
  }
  ~LimitedGroup() { rmdir(folder_.c_str()); }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  [[nodiscard]] bool is_limited() const { return is_limited_; }
  void enter() const { std::ofstream(folder_ + "/cgroup.procs") << getpid(); }

 private:
  std::string folder_;
  bool is_limited_ = false;
};

class OutOfMemoryTest : public LaunchTest {
 protected:
  static constexpr uint64_t kLimitBytes = 48 << 20;
  LimitedGroup group_{kLimitBytes};
};

TEST_F(OutOfMemoryTest, KillOfTheCommandIsSeen) {
  if (!group_.is_limited()) GTEST_SKIP() << "the machine does not let us limit memory";
  LaunchPlan plan = script("exec tail /dev/zero");
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(end_of(start(plan, [this] { group_.enter(); })), 137);
  EXPECT_EQ(told(),
            (Lines{"start", "exit signal 9 oom", "oom: the system killed a process of the control group", "gave up"}));
}

TEST_F(OutOfMemoryTest, KillOfAWorkerIsSeenInTheEndOfItsLauncher) {
  if (!group_.is_limited()) GTEST_SKIP() << "the machine does not let us limit memory";
  LaunchPlan plan = script("tail /dev/zero || exit 1");
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(end_of(start(plan, [this] { group_.enter(); })), 1);
  EXPECT_EQ(told()[1], "exit code 1 oom");
}

TEST_F(OutOfMemoryTest, OtherKillsAreNot) {
  if (!group_.is_limited()) GTEST_SKIP() << "the machine does not let us limit memory";
  LaunchPlan plan = script("kill -KILL $$");
  plan.restarts.max_restarts = 0;
  EXPECT_EQ(end_of(start(plan, [this] { group_.enter(); })), 137);
  EXPECT_EQ(told(), (Lines{"start", "exit signal 9", "gave up"}));
}

}  // namespace
}  // namespace goodput::cli
