// The monitor and its exporters: what they cost, and that they cost the trainer nothing.
//
//   hanging sinks    p50 of a step while a monitor of the job hangs in two sinks, against no monitor (bar 1.05 ×)
//   TensorBoard      10^6 steps of one tag to a local file, flushed and closed, against tensorboardX's add_scalar on
//   10^5,
//                    by step (bar 1/50)
//   100 jobs         one cycle over 100 jobs of 10^6 steps, ten new steps in each, against that of one (bar 120 ×)
//
//   build/release/bench/monitor_bench build/release/goodput PYTHON    of an environment that has tensorboardX; without
//   it
//                                                                     that row is left out
//
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <goodput/recorder.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "exporters/tensorboard/tensorboard_exporter.h"
#include "harness.h"
#include "journal/journal_fixture.h"
#include "monitor/monitor.h"

namespace goodput::bench {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// Takes connections into its backlog and never says a word.
class HangingEndpoint {
 public:
  HangingEndpoint() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    CHECK(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(::listen(socket_, 128) == 0);
    CHECK(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  ~HangingEndpoint() { ::close(socket_); }
  [[nodiscard]] const std::string& url() const { return url_; }

 private:
  int socket_;
  std::string url_;
};

/// `goodput monitor` of a job, from now on until it is destroyed.
class RunningMonitor {
 public:
  RunningMonitor(const std::string& program, const std::string& folder, const std::string& job,
                 const std::string& url) {
    std::vector<std::string> words = {program,
                                      "--dir",
                                      folder,
                                      "monitor",
                                      job,
                                      "--follow",
                                      "--interval",
                                      "0.1s",
                                      "--otlp",
                                      url,
                                      "--remote-write",
                                      url + "/api/v1/write",
                                      "--flush-timeout",
                                      "0s"};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    CHECK(posix_spawn(&process_, program.c_str(), nullptr, nullptr, arguments.data(), environ) == 0);
  }
  ~RunningMonitor() {
    ::kill(process_, SIGKILL);
    int status = 0;
    ::waitpid(process_, &status, 0);
    // It lived until now: nothing else was measured.
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

 private:
  pid_t process_ = 0;
};

/// What one step costs in the median of many short bursts, between which a training loop would compute.
double step_p50_ns(Recorder& recorder, int64_t& step) {
  constexpr int kBursts = 2'000, kCalls = 50;
  constexpr double kPauseNs = 200'000;
  std::vector<double> bursts;
  for (int burst = 0; burst < kBursts; ++burst) {
    const double begin = monotonic_ns();
    for (int call = 0; call < kCalls; ++call) recorder.step(step++);
    const double end = monotonic_ns();
    bursts.push_back((end - begin) / kCalls);
    while (monotonic_ns() < end + kPauseNs) {
    }
  }
  return median(bursts);
}

void measure_hanging_sinks(Table& table, const std::string& program) {
  TemporaryFolder folder;
  HangingEndpoint endpoint;
  Recorder recorder = Recorder::open({.job = "watched", .directory = folder.path()});
  int64_t step = 0;
  const std::vector<double> cost =
      alternate({[&] {
                   const RunningMonitor monitor(program, folder.path(), "watched", endpoint.url());
                   return step_p50_ns(recorder, step);
                 },
                 [&] { return step_p50_ns(recorder, step); }});
  table.add({.what = "a step while a monitor hangs in its sinks, p50",
             .ratio = cost[0] / cost[1],
             .bar = 1.05,
             .against = "without a monitor",
             .detail = Table::format("%.1f ns, %.1f ns", cost[0], cost[1])});
}

constexpr int64_t kBoardSteps = 1'000'000;

/// By step: opened, written, flushed, closed.
double board_ns() {
  TemporaryFolder folder;
  exporters::Update update;
  for (int64_t step = 0; step < kBoardSteps; ++step) {
    update.steps.push_back({step, 0.35 + static_cast<double>(step % 100) * 1e-5});
  }
  const double begin = monotonic_ns();
  {
    auto board = exporters::TensorBoardExporter::open(folder.path(), "bench");
    CHECK(board.ok());
    CHECK((*board)->send(update).ok());
  }
  return (monotonic_ns() - begin) / kBoardSteps;
}

double peer_board_ns(const std::string& python) {
  TemporaryFolder folder;
  const std::string command = python + " bench/peers/tensorboardx_write.py " + folder.path();
  FILE* const pipe = popen(command.c_str(), "r");
  CHECK(pipe != nullptr);
  double by_step_ns = 0;
  CHECK(std::fscanf(pipe, "%lf", &by_step_ns) == 1);
  CHECK(pclose(pipe) == 0);
  return by_step_ns;
}

void measure_board(Table& table, const std::string& python) {
  const std::vector<double> cost = alternate({[] { return board_ns(); }, [&] { return peer_board_ns(python); }});
  table.add({.what = "a step of one tag to a local TensorBoard file",
             .ratio = cost[0] / cost[1],
             .bar = 1.0 / 50,
             .against = "tensorboardX",
             .detail = Table::format("%.0f ns, %.1f µs: %.0f × faster", cost[0], cost[1] / 1e3, cost[1] / cost[0])});
}

double thread_ns() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// A job that was started again after 10^6 steps and is followed by a monitor of its own.
class LongJob {
 public:
  explicit LongJob(const std::string& root, int64_t number) : name_("job " + std::to_string(number)) {
    write_history(root);
    live_ = std::make_unique<journal::JournalFixture>(
        root, journal::JournalFixture::Options{
                  .job = name_, .attempt_id = "2", .open_boot_ns = boot_ns_, .open_wall_ns = wall_ns(), .id = 2});
    live_->append({.kind = event::Kind::kJobStart, .boot_ns = boot_ns_});
    record_more();
    auto job = monitor::FollowedJob::open(posix_file_system(), {{.path = root}}, {.job = name_}, {}, system_clock());
    CHECK(job.ok());
    job_ = std::move(job).value();
    monitor_ = std::make_unique<monitor::Monitor>(*job_, std::vector<std::unique_ptr<exporters::Pipe>>(),
                                                  monitor::MonitorOptions{.follows = true}, system_clock());
    CHECK(monitor_->cycle().ok());
  }

  void record_more() {
    constexpr int kNew = 10;
    for (int i = 0; i < kNew; ++i) append(*live_);
    live_->alive_at(boot_ns_);
    live_->write();
  }
  /// Of this thread's time: what others on the machine take between is left out.
  double cycle_ns() {
    const double begin = thread_ns();
    CHECK(monitor_->cycle().ok());
    return thread_ns() - begin;
  }

 private:
  static constexpr int64_t kSteps = 1'000'000;
  static constexpr int64_t kStartNs = 1'767'225'600 * kSecond;
  static constexpr int64_t kStartBootNs = 5 * kSecond;

  [[nodiscard]] int64_t wall_ns() const { return kStartNs + boot_ns_ - kStartBootNs; }
  void append(journal::JournalFixture& journal) {
    journal.append({.kind = event::Kind::kStepStart, .boot_ns = boot_ns_, .value = step_});
    boot_ns_ += 350'000'000 + (step_ * 7'919 % 3'500) * 1'000;  // 1 % of jitter
    ++step_;
  }
  void write_history(const std::string& root) {
    journal::JournalFixture journal(root, {.job = name_,
                                           .attempt_id = "1",
                                           .open_boot_ns = boot_ns_,
                                           .open_wall_ns = wall_ns(),
                                           .segment_bytes = journal::kMaxSegmentBytes});
    journal.append({.kind = event::Kind::kJobStart, .boot_ns = boot_ns_});
    while (step_ < kSteps) append(journal);
    journal.alive_at(boot_ns_);
    journal.write();
    for (uint32_t number = 1; number <= journal.number(); ++number) CHECK(journal.seal(number).ok());
    boot_ns_ += 60 * kSecond;
  }

  std::string name_;
  int64_t step_ = 0;
  int64_t boot_ns_ = kStartBootNs;
  std::unique_ptr<journal::JournalFixture> live_;
  std::unique_ptr<monitor::FollowedJob> job_;
  std::unique_ptr<monitor::Monitor> monitor_;
};

void measure_fleet(Table& table) {
  constexpr int64_t kJobs = 100;
  TemporaryFolder folder;
  std::vector<std::unique_ptr<LongJob>> jobs;
  for (int64_t i = 0; i < kJobs; ++i) jobs.push_back(std::make_unique<LongJob>(folder.path(), i));
  const auto all = [&] {
    double sum_ns = 0;
    for (const auto& job : jobs) job->record_more();
    for (const auto& job : jobs) sum_ns += job->cycle_ns();
    return sum_ns;
  };
  const auto one = [&] {
    double sum_ns = 0;
    for (int64_t i = 0; i < kJobs; ++i) {
      jobs.front()->record_more();
      sum_ns += jobs.front()->cycle_ns();
    }
    return sum_ns / kJobs;
  };
  const std::vector<double> cost = alternate({all, one});
  table.add({.what = "one monitor cycle over 100 jobs of 10^6 steps",
             .ratio = cost[0] / cost[1],
             .bar = 120,
             .against = "that of one",
             .detail = Table::format("%.1f ms, %.0f µs", cost[0] / 1e6, cost[1] / 1e3)});
}

int run(int count, char** arguments) {
  CHECK(count >= 2);
  setenv("GOODPUT_QUIET", "1", 1);
  Table table;
  measure_hanging_sinks(table, arguments[1]);
  if (count >= 3) measure_board(table, arguments[2]);
  measure_fleet(table);
  return table.exit_code();
}

}  // namespace
}  // namespace goodput::bench

int main(int count, char** arguments) { return goodput::bench::run(count, arguments); }
