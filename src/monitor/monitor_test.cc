// SPDX-License-Identifier: Apache-2.0
#include "monitor/monitor.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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

/// Does nothing, but for holding the lock of that file, if any, when this returns.
pid_t start_process(const std::string& lock_path = "") {
  std::array<int, 2> ready{};
  CHECK(pipe(ready.data()) == 0);
  const pid_t process = fork();
  if (process == 0) {
    struct flock whole = {};
    whole.l_type = F_WRLCK;
    const int lock = lock_path.empty() ? -1 : open(lock_path.c_str(), O_RDWR | O_CREAT, 0600);
    if (!lock_path.empty() && fcntl(lock, F_SETLK, &whole) != 0) _exit(1);
    if (write(ready[1], "", 1) != 1) _exit(1);
    for (;;) pause();
  }
  close(ready[1]);
  char byte = 0;
  CHECK(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  return process;
}

void kill_process(pid_t process) {
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
}

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
  /// Of a process of this machine, opened then by its clocks, with a step.
  void journal_of(pid_t process, int64_t open_boot_ns, uint8_t id) {
    journal({.boot_id = read_boot_id(),
             .pid = process,
             .open_boot_ns = open_boot_ns,
             .open_wall_ns = kWall + open_boot_ns - kBoot,
             .id = id});
    journal_->append({.kind = Kind::kStepStart, .boot_ns = open_boot_ns, .value = id});
    journal_->alive_at(open_boot_ns + 1);
    journal_->write();
    clock_.advance(open_boot_ns + 2 - clock_.boot_ns());
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
  const pid_t trainer = start_process();
  journal_of(trainer, boot_time_ns(), 1);
  std::vector<std::string> deaths;
  Monitor& watched =
      monitor({.on_death = [&](const std::string& attempt_id, int64_t) { deaths.push_back(attempt_id); }});
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
  kill_process(trainer);
  EXPECT_TRUE(watched.has_news());
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.cycle().ok());
  ASSERT_TRUE(watched.finish(10 * kSecond));
  EXPECT_EQ(kept_->updates.back().report.status, report::JobStatus::kRunning);
  EXPECT_THAT(deaths, testing::ElementsAre("77.0"));
}

TEST_F(MonitorTest, EachDeathUnderOneAttemptIdIsTold) {
  std::vector<std::string> deaths;
  for (uint8_t life = 0; life < 2; ++life) {
    const pid_t trainer = start_process();
    // The second when the first has been silent for long enough.
    journal_of(trainer, boot_time_ns() + life * 5 * kSecond, static_cast<uint8_t>(life + 1));
    if (life == 0) monitor({.on_death = [&](const std::string& attempt_id, int64_t) { deaths.push_back(attempt_id); }});
    ASSERT_TRUE(monitor_->cycle().ok());
    kill_process(trainer);
    EXPECT_TRUE(monitor_->has_news());
    ASSERT_TRUE(monitor_->cycle().ok());
    EXPECT_FALSE(monitor_->has_news());
  }
  EXPECT_THAT(deaths, testing::ElementsAre("77.0", "77.0"));
}

TEST_F(MonitorTest, AStrangersDeathIsNoneWhileTheJournalIsHeld) {
  const pid_t stranger = start_process();  // of the number that the trainer has in its own container
  journal_of(stranger, boot_time_ns(), 1);
  const pid_t trainer = start_process(journal_->path() + "/lock");
  int deaths = 0;
  Monitor& watched = monitor({.on_death = [&](const std::string&, int64_t) { ++deaths; }});
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_EQ(watched.trainers_seen(), 1U);
  kill_process(stranger);
  EXPECT_TRUE(watched.has_news());
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
  EXPECT_EQ(deaths, 0);
  kill_process(trainer);
}

TEST_F(MonitorTest, ATrainerThatDiedBeforeItRecordedAnythingIsNotWatchedForEver) {
  journal_ = std::make_unique<JournalFixture>(folder_.path(), JournalFixture::Options{.boot_id = read_boot_id()});
  journal_->alive_at(kBoot + kSecond);
  journal_->write();
  clock_.advance(2 * kSecond);
  Monitor& watched = monitor({.linger_ns = 60 * kSecond});
  EXPECT_EQ(watched.cycle().code(), StatusCode::kNotFound);
  clock_.advance(3600 * kSecond);
  EXPECT_FALSE(watched.is_over());  // when it was last looked at it lived
  EXPECT_EQ(watched.cycle().code(), StatusCode::kNotFound);
  EXPECT_FALSE(watched.is_over());
  clock_.advance(60 * kSecond);
  EXPECT_TRUE(watched.is_over());
}

TEST_F(MonitorTest, AJobIsBeingRecordedAsLongAsItsJournalIsHeld) {
  const pid_t trainer = start_process();
  journal_of(trainer, boot_time_ns(), 1);
  Monitor& watched = monitor();
  ASSERT_TRUE(watched.cycle().ok());
  EXPECT_FALSE(watched.is_being_recorded());
  const pid_t holder = start_process(journal_->path() + "/lock");
  EXPECT_TRUE(watched.is_being_recorded());
  kill_process(holder);
  EXPECT_FALSE(watched.is_being_recorded());
  kill_process(trainer);
}

TEST_F(MonitorTest, NewsWaitTheirTimeAfterALookThatFailed) {
  const pid_t trainer = start_process();
  journal_ = std::make_unique<JournalFixture>(
      folder_.path(),
      JournalFixture::Options{.boot_id = read_boot_id(), .pid = trainer, .open_boot_ns = boot_time_ns()});
  journal_->write();  // with nothing in it, of which no report can be made
  Monitor& watched = monitor();
  (void)watched.look_for_trainer();
  kill_process(trainer);
  ASSERT_TRUE(watched.has_news());
  ASSERT_FALSE(watched.cycle().ok());
  EXPECT_FALSE(watched.has_news());
}

TEST_F(MonitorTest, AProcessThatOnlyHasTheNumberIsNotWatched) {
  const pid_t stranger = start_process();
  journal({.boot_id = read_boot_id(), .pid = stranger});  // opened five seconds after the machine's boot
  steps(0, 2);
  Monitor& watched = monitor();
  ASSERT_TRUE(watched.cycle().ok());
  kill_process(stranger);
  EXPECT_FALSE(watched.has_news());
}

}  // namespace
}  // namespace goodput::monitor
