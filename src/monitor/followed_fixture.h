// Jobs in a folder of their own and readers of them, on clocks that the test turns; for tests.
//
//   class Upkeep : public FollowedFixture {};
//   JournalFixture rank0(folder_.path(), {});
//   steps(rank0, 0, 10, kBoot + kSecond);
//   report_of(*follow());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"
#include "monitor/followed_job.h"
#include "report/json.h"

namespace goodput::monitor {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;  // when journals are opened
constexpr int64_t kWall = 1'767'225'600 * kSecond;

class FollowedFixture : public testing::Test {
 protected:
  using Kind = event::Kind;
  using JournalFixture = journal::JournalFixture;

  std::unique_ptr<FollowedJob> follow(const RunName& run = {.job = "llama-7b"}) {
    return std::move(FollowedJob::open(posix_file_system(), roots_, run, {}, clock_)).value();
  }
  /// A step a second, the first one now.
  void steps(JournalFixture& journal, int64_t from, int64_t to, int64_t boot_ns) const {
    for (int64_t step = from; step < to; ++step, boot_ns += kSecond) {
      journal.append({.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = step});
    }
    journal.alive_at(boot_ns);
    journal.write();
  }
  report::Report report_of(FollowedJob& job) {
    EXPECT_TRUE(job.poll().ok());
    return job.report({.now_ns = clock_.wall_ns()}).value();
  }
  /// Of a reader that knows nothing yet.
  std::string cold_report() { return report::to_json(report_of(*follow()), report::JsonForm::kIndented); }
  static std::vector<std::string> files(const JournalFixture& journal) {
    return posix_file_system().open_directory(journal.path()).value()->list().value();
  }

  TemporaryFolder folder_;
  std::vector<journal::Root> roots_ = {{.path = folder_.path()}, {.path = "/no/such/folder"}};
  ManualClock clock_{{.boot_ns = kBoot, .wall_ns = kWall}};
};

}  // namespace goodput::monitor
