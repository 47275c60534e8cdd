// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>

#include "base/manual_clock.h"
#include "base/temporary_folder.h"
#include "journal/journal_fixture.h"

namespace goodput::monitor {
namespace {

using event::Kind;
using exporters::Pipe;
using exporters::StepPoint;
using exporters::Update;
using journal::JournalFixture;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kBoot = 5 * kSecond;
constexpr int64_t kWall = 1'767'225'600 * kSecond;

/// Keeps what it was sent.
struct Kept {
  std::mutex mutex;
  std::vector<Update> updates;
};

class KeepingExporter final : public exporters::Exporter {
 public:
  explicit KeepingExporter(std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {}
  [[nodiscard]] std::string name() const override { return "test"; }
  Status send(const Update& update) override {
    const std::lock_guard lock(kept_->mutex);
    kept_->updates.push_back(update);
    return {};
  }

 private:
  std::shared_ptr<Kept> kept_;
};

class MonitorTest : public testing::Test {
 protected:
  JournalFixture& journal(JournalFixture::Options options = {.boot_id = read_boot_id()}) {
    const int64_t open_boot_ns = options.open_boot_ns;
    journal_ = std::make_unique<JournalFixture>(folder_.path(), std::move(options));
    journal_->append({.kind = Kind::kJobStart, .boot_ns = open_boot_ns});
    return *journal_;
  }
  /// A step a second, written and seen to be alive.
  void steps(int64_t from, int64_t to) {
    for (int64_t step = from; step < to; ++step) {
      journal_->append({.kind = Kind::kStepStart, .boot_ns = kBoot + (step + 1) * kSecond, .value = step});
    }
    journal_->alive_at(kBoot + to * kSecond + 1);
    journal_->write();
    clock_.advance(kBoot + to * kSecond + 2 - clock_.boot_ns());
  }
  Monitor& monitor(MonitorOptions options = {}) {
    job_ =
        std::move(FollowedJob::open(posix_file_system(), {{.path = folder_.path()}}, {.job = "llama-7b"}, {}, clock_))
            .value();
    std::vector<std::unique_ptr<Pipe>> pipes;
    pipes.push_back(std::make_unique<Pipe>(std::make_unique<KeepingExporter>(kept_), exporters::PipeOptions{}));
    monitor_ = std::make_unique<Monitor>(*job_, std::move(pipes), std::move(options), clock_);
    return *monitor_;
  }

  TemporaryFolder folder_;
  ManualClock clock_{{.boot_ns = kBoot, .wall_ns = kWall}};
  std::unique_ptr<JournalFixture> journal_;
  std::unique_ptr<FollowedJob> job_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  std::unique_ptr<Monitor> monitor_;
};

TEST_F(MonitorTest, CyclesOfferTheReportAndTheNewSteps) {
  journal();
  steps(0, 5);
  Monitor& watched = monitor({.windows_ns = {2 * kSecond}});
  ASSERT_TRUE(watched.cycle().ok());
  steps(5, 8);
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.finish(10 * kSecond));
  const Update& last = kept_->updates.back();
  EXPECT_EQ(last.report.last_step, 7);
  ASSERT_EQ(last.report.windows.size(), 1U);
  EXPECT_EQ(last.report.windows[0].window_seconds, 2.0);
  std::vector<int64_t> numbers;
  for (const StepPoint& point : last.steps) {
    EXPECT_EQ(point.seconds, 1.0);
    numbers.push_back(point.step);
  }
  EXPECT_THAT(numbers, testing::IsSupersetOf({4, 5, 6}));
}

TEST_F(MonitorTest, StepsWaitForACycleThatIsAboutSteps) {
  journal();
  steps(0, 5);
  Monitor& watched = monitor();
  const exporters::Figures without{.steps = false};
  ASSERT_TRUE(watched.cycle(without).ok());
  steps(5, 8);
  ASSERT_TRUE(watched.cycle(without).ok());
  ASSERT_TRUE(watched.finish(10 * kSecond));
  EXPECT_TRUE(kept_->updates.back().steps.empty());
  EXPECT_EQ(kept_->updates.back().figures, without);
  Monitor& again = monitor();
  ASSERT_TRUE(again.cycle(without).ok());
  ASSERT_TRUE(again.cycle({.goodput = false, .badput = false, .windows = false}).ok());
  ASSERT_TRUE(again.finish(10 * kSecond));
  EXPECT_EQ(kept_->updates.back().steps.size(), 7U);
  EXPECT_TRUE(kept_->updates.back().figures.steps);
}

TEST_F(MonitorTest, EachChangeOfStateIsOfferedOnce) {
  journal();
  steps(0, 5);
  Monitor& watched = monitor();
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.cycle().ok());
  journal_->append({.kind = Kind::kJobEnd, .boot_ns = kBoot + 6 * kSecond});
  journal_->write();
  clock_.advance(2 * kSecond);
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.finish(10 * kSecond));
  std::vector<report::JobStatus> changes;
  for (const Update& update : kept_->updates) {
    for (const exporters::StatusChange& change : update.status_changes) changes.push_back(change.status);
  }
  EXPECT_THAT(changes, testing::ElementsAre(report::JobStatus::kRunning, report::JobStatus::kCompleted));
}

TEST_F(MonitorTest, AnEndedJobIsWatchedOnForAWhileAndThenNoMore) {
  journal();
  steps(0, 5);
  Monitor& watched = monitor({.linger_ns = 60 * kSecond});
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.is_over());
  journal_->append({.kind = Kind::kJobEnd, .boot_ns = kBoot + 6 * kSecond});
  journal_->write();
  clock_.advance(2 * kSecond);
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.is_over());
  clock_.advance(60 * kSecond);
  EXPECT_TRUE(watched.is_over());
}

TEST_F(MonitorTest, WhoFollowsIsNeverDone) {
  journal();
  journal_->append({.kind = Kind::kJobEnd, .boot_ns = kBoot + 1});
  journal_->write();
  clock_.advance(kSecond);
  Monitor& watched = monitor({.linger_ns = 0, .follows = true});
  ASSERT_TRUE(watched.cycle().ok());
  clock_.advance(1'000 * kSecond);
  EXPECT_FALSE(watched.is_over());
}

TEST_F(MonitorTest, TheDeathOfATrainerIsSeenAndToldOnce) {
  const pid_t trainer = fork();
  if (trainer == 0) {
    for (;;) pause();
  }
  // Opened after the process started, by this machine's clocks.
  const int64_t open_boot_ns = boot_time_ns();
  journal({.boot_id = read_boot_id(),
           .pid = trainer,
           .open_boot_ns = open_boot_ns,
           .open_wall_ns = kWall + open_boot_ns - kBoot});
  journal_->append({.kind = Kind::kStepStart, .boot_ns = open_boot_ns, .value = 0});
  journal_->alive_at(open_boot_ns + 1);
  journal_->write();
  clock_.advance(open_boot_ns + 2 - clock_.boot_ns());
  std::vector<std::string> deaths;
  Monitor& watched =
      monitor({.on_death = [&](const std::string& attempt_id, int64_t) { deaths.push_back(attempt_id); }});
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
  kill(trainer, SIGKILL);
  waitpid(trainer, nullptr, 0);
  EXPECT_TRUE(watched.has_news());
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.finish(10 * kSecond));
  EXPECT_EQ(kept_->updates.back().report.status, report::JobStatus::kRunning);
  EXPECT_THAT(deaths, testing::ElementsAre("77.0"));
}

TEST_F(MonitorTest, AProcessThatOnlyHasTheNumberIsNotWatched) {
  const pid_t stranger = fork();
  if (stranger == 0) {
    for (;;) pause();
  }
  journal({.boot_id = read_boot_id(), .pid = stranger});  // opened five seconds after the machine's boot
  steps(0, 2);
  Monitor& watched = monitor();
  ASSERT_TRUE(watched.cycle().ok());
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  EXPECT_FALSE(watched.has_news());
}

}  // namespace
}  // namespace goodput::monitor
