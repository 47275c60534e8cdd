// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"
#include "monitor/sink_lock.h"

namespace goodput::monitor {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNow = 1'800'000'000 * kSecond;
constexpr uint64_t kContainer = 4'026'531'836;

MonitorStatus sample() {
  MonitorStatus status;
  status.host = "trainer-0";
  status.boot_id = "b00t";
  status.pid = 4711;
  status.pid_namespace = kContainer;
  status.version = "0.1.0";
  status.started_ns = kNow - 100 * kSecond;
  status.updated_ns = kNow;
  status.interval_ns = 30 * kSecond;
  status.options = {{"tensorboard", "runs/7b \"x\""}, {"window", "1h 24h"}};
  exporters::PipeCounters counters;
  counters.offered = 7;
  counters.sent = 5;
  counters.failed = 2;
  counters.given_up = 1;
  counters.dropped_steps = 3;
  counters.is_waiting = true;
  counters.last_success_ns = kNow - kSecond;
  counters.last_failure = "no space left";
  counters.last_rejection = "2 points were too old";
  status.sinks = {{"tensorboard runs/7b", counters}};
  return status;
}

TEST(MonitorStatus, ComesBackFromItsText) {
  const MonitorStatus status = sample();
  const std::optional<MonitorStatus> back = parse_status(status_to_json(status));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(status_to_json(*back), status_to_json(status));
  EXPECT_EQ(back->pid, 4711);
  EXPECT_EQ(back->interval_ns, 30 * kSecond);
  EXPECT_EQ(back->ended_ns, std::nullopt);
  ASSERT_EQ(back->sinks.size(), 1U);
  EXPECT_EQ(back->sinks[0].counters.sent, 5U);
  EXPECT_EQ(back->sinks[0].counters.last_success_ns, kNow - kSecond);
  EXPECT_EQ(back->sinks[0].counters.last_failure, "no space left");
  EXPECT_EQ(back->sinks[0].counters.last_rejection, "2 points were too old");
}

TEST(MonitorStatus, GarbageIsNoStatus) {
  for (const char* text :
       {"", "{", "[]", "null", R"({"schema": "goodput.monitor/2"})", R"({"schema": "goodput.monitor/1", "pid": "x"})",
        R"({"schema": "goodput.monitor/1", "options": {"a": 1}})",
        R"({"schema": "goodput.monitor/1", "sinks": [3]})"}) {
    EXPECT_EQ(parse_status(text).has_value(), false) << text;
  }
}

struct HealthCase {
  const char* what;
  int64_t asked_after_ns;
  bool has_ended;
  const char* host;
  MonitorHealth health;
  uint64_t pid_namespace = kContainer;
};

TEST(MonitorStatus, HealthFollowsTheLastLookAndTheProcess) {
  const std::vector<HealthCase> cases = {
      {"just looked", kSecond, false, "elsewhere", MonitorHealth::kRunning},
      {"three intervals and the patience ago", 100 * kSecond, false, "elsewhere", MonitorHealth::kRunning},
      {"longer ago", 101 * kSecond, false, "elsewhere", MonitorHealth::kStale},
      {"ended by itself", 1000 * kSecond, true, "elsewhere", MonitorHealth::kEnded},
      {"its process is gone", kSecond, false, "trainer-0", MonitorHealth::kStale},
      {"in another container its number says nothing", kSecond, false, "trainer-0", MonitorHealth::kRunning, 7},
  };
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(waitpid(gone, nullptr, 0), gone);
  for (const HealthCase& each : cases) {
    MonitorStatus status = sample();
    status.pid = gone;
    if (each.has_ended) status.ended_ns = status.updated_ns;
    EXPECT_EQ(health_of(status, kNow + each.asked_after_ns, {each.host, "b00t", each.pid_namespace}), each.health)
        << each.what;
  }
}

class BesideAJob : public testing::Test {
 protected:
  BesideAJob() : journal_(folder_.path(), {}) { journal_.append({.kind = event::Kind::kJobStart, .boot_ns = kSecond}); }
  std::unique_ptr<journal::JobLog> open() {
    auto log = journal::JobLog::open(posix_file_system(), {{.path = folder_.path()}}, "llama-7b", "", system_clock());
    EXPECT_TRUE(log.ok()) << log.status().message();
    return std::move(log).value();
  }
  TemporaryFolder folder_;
  journal::JournalFixture journal_;
};

TEST_F(BesideAJob, OneFileForEachSetOfSinks) {
  const auto log = open();
  MonitorStatus status = sample();
  ASSERT_TRUE(write_status(*log, status).ok());
  status.updated_ns += kSecond;
  ASSERT_TRUE(write_status(*log, status).ok());
  MonitorStatus other = sample();
  other.sinks[0].name = "prometheus :9464";
  ASSERT_TRUE(write_status(*log, other).ok());
  const std::vector<MonitorStatus> found = read_statuses(*open());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].updated_ns, kNow + kSecond);
  EXPECT_EQ(found[0].sinks[0].name, "tensorboard runs/7b");
  EXPECT_EQ(found[1].sinks[0].name, "prometheus :9464");
}

TEST_F(BesideAJob, SinkIsLockedOnceAndNamesItsOwner) {
  const auto log = open();
  const auto lock = lock_sink(*log, "otlp http://c", "goodput monitor j (process 7 on h)");
  ASSERT_TRUE(lock.ok());
  ASSERT_NE(*lock, nullptr);
  // Locks of one process do not exclude each other: another one asks.
  const pid_t child = fork();
  if (child == 0) {
    const auto mine = open();
    const auto other = lock_sink(*mine, "otlp http://d", "x");
    const auto same = lock_sink(*mine, "otlp http://c", "x");
    const bool as_it_should =
        other.ok() && *other != nullptr && same.status().code() == StatusCode::kAlreadyExists &&
        same.status().message() == "exporting to otlp http://c: goodput monitor j (process 7 on h) already does";
    _exit(as_it_should ? 0 : 1);
  }
  int ended = 0;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
}

}  // namespace
}  // namespace goodput::monitor
