// SPDX-License-Identifier: Apache-2.0
#include "cli/run/memory_events.h"

#include <gtest/gtest.h>

namespace goodput::cli {
namespace {

constexpr const char* kV2Mounts =
    "23 28 0:21 / /proc rw - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kV1Mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";
constexpr const char* kContainerMounts =
    "652 648 0:32 /docker/4f2a /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup rw,memory\n";

TEST(MemoryEvents, AreFoundWhereTheGroupIsMounted) {
  struct Case {
    const char* cgroups;
    const char* mounts;
    const char* file;
  };
  for (const Case& c : {
           Case{"0::/user.slice/a b\n", kV2Mounts, "/sys/fs/cgroup/user.slice/a b/memory.events"},
           Case{"0::/\n", kV2Mounts, "/sys/fs/cgroup/memory.events"},
           Case{"8:pids:/x\n4:memory:/x/y\n0::/\n", kV1Mounts, "/sys/fs/cgroup/memory/x/y/memory.oom_control"},
           Case{"4:hugetlb,memory:/x\n", kV1Mounts, "/sys/fs/cgroup/memory/x/memory.oom_control"},
           Case{"0::/\n", kV1Mounts, "/sys/fs/cgroup/unified/memory.events"},
           Case{"4:memory:/docker/4f2a\n", kContainerMounts, "/sys/fs/cgroup/memory/memory.oom_control"},
           Case{"4:memory:/\n", kContainerMounts, "/sys/fs/cgroup/memory/memory.oom_control"},
           Case{"4:memory:/x\n", kV2Mounts, ""},
           Case{"", kV2Mounts, ""},
           Case{"0::/\n", "", ""},
           Case{"garbage\n:\n", "garbage - \n- - -\n", ""},
       }) {
    EXPECT_EQ(find_memory_events(c.cgroups, c.mounts), c.file) << c.cgroups;
  }
}

TEST(MemoryEvents, CountIsReadFromBothVersions) {
  EXPECT_EQ(parse_oom_kills("low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n"), 2U);
  EXPECT_EQ(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 7\n"), 7U);
  EXPECT_EQ(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\n"), std::nullopt);
  EXPECT_EQ(parse_oom_kills(""), std::nullopt);
}

}  // namespace
}  // namespace goodput::cli
