// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
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

TEST_F(MonitorTest, EachDeathUnderOneAttemptIdIsTold) {
  std::vector<std::string> deaths;
  for (int64_t life = 0; life < 2; ++life) {
    const pid_t trainer = fork();
    if (trainer == 0) {
      for (;;) pause();
    }
    // The second when the first has been silent for long enough.
    const int64_t open_boot_ns = boot_time_ns() + life * 5 * kSecond;
    journal({.boot_id = read_boot_id(),
             .pid = trainer,
             .open_boot_ns = open_boot_ns,
             .open_wall_ns = kWall + open_boot_ns - kBoot,
             .id = static_cast<uint8_t>(life + 1)});
    journal_->append({.kind = Kind::kStepStart, .boot_ns = open_boot_ns, .value = life});
    journal_->alive_at(open_boot_ns + 1);
    journal_->write();
    clock_.advance(open_boot_ns + 2 - clock_.boot_ns());
    if (life == 0) monitor({.on_death = [&](const std::string& attempt_id, int64_t) { deaths.push_back(attempt_id); }});
    ASSERT_TRUE(monitor_->cycle().ok());
    kill(trainer, SIGKILL);
    waitpid(trainer, nullptr, 0);
    EXPECT_TRUE(monitor_->has_news());
    ASSERT_TRUE(monitor_->cycle().ok());
    EXPECT_FALSE(monitor_->has_news());
  }
  EXPECT_THAT(deaths, testing::ElementsAre("77.0", "77.0"));
}

TEST_F(MonitorTest, AStrangersDeathIsNoneWhileTheJournalIsHeld) {
  std::array<pid_t, 2>
      processes{};  // the stranger, of the number that the trainer has in its own container; the trainer
  std::array<int, 2> is_locked{};
  ASSERT_EQ(pipe(is_locked.data()), 0);
  processes[0] = fork();
  if (processes[0] == 0) {
    for (;;) pause();
  }
  const int64_t open_boot_ns = boot_time_ns();
  journal({.boot_id = read_boot_id(),
           .pid = processes[0],
           .open_boot_ns = open_boot_ns,
           .open_wall_ns = kWall + open_boot_ns - kBoot});
  journal_->append({.kind = Kind::kStepStart, .boot_ns = open_boot_ns, .value = 0});
  journal_->alive_at(open_boot_ns + 1);
  journal_->write();
  clock_.advance(open_boot_ns + 2 - clock_.boot_ns());
  processes[1] = fork();
  if (processes[1] == 0) {
    const int lock = open((std::filesystem::path(journal_->path()) / "lock").c_str(), O_RDWR | O_CREAT, 0600);
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    const char done = fcntl(lock, F_SETLK, &whole) == 0 ? 1 : 0;
    if (write(is_locked[1], &done, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char done = 0;
  ASSERT_EQ(read(is_locked[0], &done, 1), 1);
  ASSERT_EQ(done, 1);
  int deaths = 0;
  Monitor& watched = monitor({.on_death = [&](const std::string&, int64_t) { ++deaths; }});
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_EQ(watched.trainers_seen(), 1U);
  kill(processes[0], SIGKILL);
  waitpid(processes[0], nullptr, 0);
  EXPECT_TRUE(watched.has_news());
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
  EXPECT_EQ(deaths, 0);
  kill(processes[1], SIGKILL);
  waitpid(processes[1], nullptr, 0);
  for (const int end : is_locked) close(end);
}

TEST_F(MonitorTest, NewsWaitTheirTimeAfterALookThatFailed) {
  const pid_t trainer = fork();
  if (trainer == 0) {
    for (;;) pause();
  }
  const int64_t open_boot_ns = boot_time_ns();
  journal_ = std::make_unique<JournalFixture>(
      folder_.path(), JournalFixture::Options{.boot_id = read_boot_id(), .pid = trainer, .open_boot_ns = open_boot_ns});
  journal_->write();  // with nothing in it, of which no report can be made
  Monitor& watched = monitor();
  (void)watched.look_for_trainer();
  kill(trainer, SIGKILL);
  waitpid(trainer, nullptr, 0);
  ASSERT_TRUE(watched.has_news());
  ASSERT_FALSE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
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
