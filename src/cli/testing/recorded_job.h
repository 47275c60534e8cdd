// Jobs on disk, as recorders leave them, and the command line run over them.
//
//   class MyTest : public testing::RecordedJob {};
//   rank0({.attempt_id = "1"}, [](JournalFixture& journal) { journal.append(…); });
//   EXPECT_EQ(run({"attempts", "llama-7b"}).code, kDone);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "cli/command.h"
#include "cli/testing/capture.h"
#include "journal/journal_fixture.h"

namespace goodput::cli::testing {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;  // when journals of the fixture are opened
constexpr int64_t kWall = 1'767'225'600 * kSecond;

class RecordedJob : public ::testing::Test {
 protected:
  using Journal = journal::JournalFixture;

  /// The command line, over this test's folder.
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--dir", folder_.path()});
    return run_captured(arguments, commands());
  }
  /// A step a second from `boot_ns` on, as a recorder that lives until the last.
  static void steps(Journal& journal, int64_t from, int64_t to, int64_t boot_ns) {
    for (int64_t step = from; step < to; ++step, boot_ns += kSecond) {
      journal.append({.kind = event::Kind::kStepStart, .boot_ns = boot_ns, .value = step});
    }
    journal.alive_at(boot_ns);
  }
  /// An attempt that begins `after_seconds` after the first, of ten steps from `step` on, killed after the last.
  Journal attempt(Journal::Options options, int64_t after_seconds, int64_t step) {
    options.open_boot_ns = kBoot + after_seconds * kSecond;
    options.open_wall_ns = kWall + after_seconds * kSecond;
    Journal journal(folder_.path(), options);
    journal.append({.kind = event::Kind::kJobStart, .boot_ns = options.open_boot_ns});
    steps(journal, step, step + 10, options.open_boot_ns + kSecond);
    journal.write();
    return journal;
  }

  /// Three attempts in two journals of rank 0, a rank beside it, a launcher that saw exits, and an event of every sort.
  void eventful_job();
  /// The report's JSON as of `now_seconds` after the first attempt's start, with two windows.
  std::string report(std::vector<std::string> of, int64_t now_seconds = 1'000);

  TemporaryFolder folder_;
  const ScopedEnvironment no_dir_{"GOODPUT_DIR", nullptr};
  const ScopedEnvironment no_config_{"XDG_CONFIG_HOME", "/nonexistent"};
};

}  // namespace goodput::cli::testing
