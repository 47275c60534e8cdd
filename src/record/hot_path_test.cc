// The fast function makes no system call and takes no memory: counted, and enforced by the kernel.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <goodput/recorder.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <thread>

#include "base/temporary_folder.h"
#include "record/read_journals.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GOODPUT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GOODPUT_SANITIZED 1
#endif
#endif

#ifndef GOODPUT_SANITIZED
static thread_local uint64_t allocations = 0;

extern "C" void* __libc_malloc(size_t bytes);  // NOLINT: glibc's own name
extern "C" void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
#endif

namespace goodput::record {
namespace {

/// Everything that a training loop does at each step.
void record_a_step(Recorder& recorder, int64_t step) {
  { const auto load = recorder.scope(Event::kDataLoading); }
  recorder.step(step);
  recorder.step(step, {.tokens = 4096, .samples = 8, .flops = 1e15});
  { const auto eval = recorder.custom("eval"); }
  { const auto save = recorder.checkpoint_save(step, "gs://checkpoints/llama"); }
  recorder.heartbeat();
}
/// Slots that this takes; a run has 128.
constexpr int kSlotsOfAStep = 2 + 1 + 2 + 2 + 2 + 1;
constexpr int kStepsWithinARun = 10;
static_assert(kSlotsOfAStep * (kStepsWithinARun + 2) < 128);

/// From here on this thread is killed by any system call but the one that ends the process.
void forbid_system_calls() {
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),  // NOLINT(name): the kernel's
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/// Runs `body` in a child; returns the signal that killed it, 0 when it came to its end.
template <typename Body>
int signal_of_child(Body body) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    syscall(SYS_exit_group, 0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

class HotPathTest : public testing::Test {
 protected:
  void SetUp() override { setenv("GOODPUT_QUIET", "1", 1); }
  Recorder open() { return Recorder::open({.job = "j", .directory = folder_.path()}); }

  const TemporaryFolder folder_;
};

TEST_F(HotPathTest, RecordingMakesNoSystemCall) {
#ifdef GOODPUT_SANITIZED
  GTEST_SKIP() << "sanitizers make system calls of their own";
#endif
  const int signal = signal_of_child([this] {
    auto* recorder = new Recorder(open());  // not closed: that may call the system
    record_a_step(*recorder, 0);
    forbid_system_calls();
    for (int64_t step = 1; step <= kStepsWithinARun; ++step) record_a_step(*recorder, step);
  });
  EXPECT_EQ(signal, 0) << "the child was killed for a system call";
  EXPECT_EQ(read_journals(folder_.path()).at(0).steps().size(), 2U * (kStepsWithinARun + 1));
}

TEST_F(HotPathTest, SystemCallWouldHaveBeenSeen) {
  EXPECT_EQ(signal_of_child([] {
              forbid_system_calls();
              syscall(SYS_getpid);
            }),
            SIGSYS);
}

TEST_F(HotPathTest, RecordingTakesNoMemory) {
#ifndef GOODPUT_SANITIZED
  Recorder recorder = open();
  record_a_step(recorder, 0);
  const uint64_t before = allocations;
  // Through many runs and segments: also what happens between runs takes none.
  for (int64_t step = 1; step <= 20'000; ++step) record_a_step(recorder, step);
  EXPECT_EQ(allocations - before, 0U);
  void* counted = malloc(1);
  EXPECT_EQ(allocations - before, 1U) << "it would have been seen";
  free(counted);
  EXPECT_EQ(recorder.counts().lost_events, 0U);
#else
  GTEST_SKIP() << "sanitizers bring their own malloc";
#endif
}

TEST_F(HotPathTest, FirstEventOfAThreadTakesNoMemory) {
#ifndef GOODPUT_SANITIZED
  Recorder recorder = open();
  uint64_t taken = 1;
  std::thread([&] {
    const uint64_t before = allocations;
    recorder.step(1);
    taken = allocations - before;
  }).join();
  EXPECT_EQ(taken, 0U);
#else
  GTEST_SKIP() << "sanitizers bring their own malloc";
#endif
}

}  // namespace
}  // namespace goodput::record
