// Sealed journals: how small they are, and how fast a job is accounted from them.
//
//   bytes per event   the reference stream: steps 350 ms ± 1 % apart (bar 4)
//   against a peer    cold compute of 10^5 steps with a load each and a custom event every hundredth, from journals in
//   the
//                     page cache, against ml-goodput-measurement's calculator over the same events (bar 1/300)
//   ten times longer  the same at 10^6 steps (bar 12 ×)
//
//   build/release/bench/journal_bench PYTHON        of an environment that has the peer; without it that row is left
//   out
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/temporary_folder.h"
#include "event/export/jsonl_export.h"
#include "harness.h"
#include "journal/job_log.h"
#include "journal/journal_fixture.h"
#include "ledger/ledger.h"
#include "report/build.h"
#include "simulate/simulation.h"

namespace goodput::bench {
namespace {

constexpr const char* kJob = "llama-7b";
// Recorded before now on another boot, as seen from here: its process is dead.
constexpr int64_t kStartNs = 1'767'225'600 * event::kNanosecondsPerSecond;

/// A simulated job as its recorder would have left it: one journal of full segments, all of them sealed.
class SealedJob {
 public:
  explicit SealedJob(simulate::Options options) {
    options.start_ns = kStartNs;
    journal::JournalFixture journal(folder_.path(), {.job = kJob,
                                                     .attempt_id = "1",
                                                     .open_boot_ns = kBootNs,
                                                     .open_wall_ns = kStartNs,
                                                     .segment_bytes = journal::kMaxSegmentBytes});
    std::map<std::string, uint16_t, std::less<>> names;
    simulate::Simulation(options).run([&](std::span<const event::Event> events) {
      for (const event::Event& event : events) append(event, journal, names);
      return true;
    });
    journal.write();
    for (uint32_t number = 1; number <= journal.number(); ++number) CHECK(journal.seal(number).ok());
    for (const auto& file : std::filesystem::directory_iterator(journal.path())) {
      if (file.is_regular_file()) bytes_ += static_cast<double>(file.file_size());
    }
  }

  [[nodiscard]] double bytes_per_event() const { return bytes_ / static_cast<double>(events_); }
  [[nodiscard]] int64_t end_ns() const { return end_ns_; }

  /// Nanoseconds from the folder to the report, every event read and accounted: nothing that an earlier report left is
  /// used, and nothing is left.
  [[nodiscard]] double report_ns() {
    const double begin_ns = monotonic_ns();
    auto log = journal::JobLog::open(posix_file_system(), {{.path = folder_.path()}}, kJob, "", system_clock());
    CHECK(log.ok());
    ledger::Ledger ledger({}, **log);
    int64_t events = 0;
    const Status read = (*log)->poll([&](std::span<const event::Event> some) {
      ledger.push(some);
      events += static_cast<int64_t>(some.size());
      return true;
    });
    CHECK(read.ok() && events >= events_);
    const Result<report::Report> report = report::build(ledger, {.job = kJob, .now_ns = end_ns_});
    CHECK(report.ok());
    const double took_ns = monotonic_ns() - begin_ns;
    goodput_percent_ = report->goodput_percent.value_or(0);
    return took_ns;
  }
  [[nodiscard]] double goodput_percent() const { return goodput_percent_; }

 private:
  static constexpr int64_t kBootNs = 5'000'000'000;

  void append(const event::Event& event, journal::JournalFixture& journal,
              std::map<std::string, uint16_t, std::less<>>& names) {
    journal::LiveEvent live{.kind = event.kind, .boot_ns = event.time_ns - kStartNs + kBootNs, .value = event.step};
    if (!event.name.empty()) {
      auto known = names.find(event.name);
      if (known == names.end()) {
        known = names.emplace(event.name, static_cast<uint16_t>(names.size() + 1)).first;
        journal.define(known->second, event.name);
      }
      live.name = known->second;
    }
    journal.append(live);
    ++events_;
    end_ns_ = event.time_ns;
  }

  TemporaryFolder folder_;
  double bytes_ = 0;
  int64_t events_ = 0;
  int64_t end_ns_ = 0;
  double goodput_percent_ = 0;
};

/// The peer's calculator over the same events.
class Peer {
 public:
  Peer(std::string python, const simulate::Options& options) : python_(std::move(python)) {
    event::JsonlExport lines(kJob, {.with_position = false});
    std::ofstream file(path(), std::ios::binary);
    simulate::Simulation(options).run([&](std::span<const event::Event> events) {
      std::string text;
      lines.append(events, text);
      file << text;
      return true;
    });
  }

  double compute_ns() {
    const std::string command = python_ + " bench/peers/ml_goodput_cold.py " + path() + " " + kJob;
    FILE* const pipe = popen(command.c_str(), "r");
    CHECK(pipe != nullptr);
    double took_ns = 0;
    CHECK(std::fscanf(pipe, "%lf %lf", &took_ns, &goodput_percent_) == 2);
    CHECK(pclose(pipe) == 0);
    return took_ns;
  }
  [[nodiscard]] double goodput_percent() const { return goodput_percent_; }

 private:
  [[nodiscard]] std::string path() const { return folder_.path() + "/events.jsonl"; }

  std::string python_;
  TemporaryFolder folder_;
  double goodput_percent_ = 0;
};

int run(const std::string& python) {
  Table table;
  table.add({.what = "sealed journal, reference stream",
             .ratio = SealedJob(simulate::reference_stream(100'000)).bytes_per_event(),
             .bar = 4,
             .against = "1 byte per event",
             .detail = "goal 3.5"});
  SealedJob job(simulate::measured_job(100'000));
  if (!python.empty()) {
    Peer peer(python, simulate::measured_job(100'000));
    const std::vector<double> cold = alternate({[&] { return job.report_ns(); }, [&] { return peer.compute_ns(); }});
    table.add({.what = "cold compute, 10^5 steps",
               .ratio = cold[0] / cold[1],
               .bar = 1.0 / 300,
               .against = "ml-goodput-measurement 0.2.3",
               .detail = Table::format("%.2f ms against %.2f s: %.0f times faster; goodput %.4f %% and %.4f %%",
                                       cold[0] / 1e6, cold[1] / 1e9, cold[1] / cold[0], job.goodput_percent(),
                                       peer.goodput_percent())});
  }
  SealedJob longer(simulate::measured_job(1'000'000));
  const std::vector<double> lengths = alternate({[&] { return longer.report_ns(); }, [&] { return job.report_ns(); }});
  table.add({.what = "cold compute from sealed journals, 10^6 steps",
             .ratio = lengths[0] / lengths[1],
             .bar = 12,
             .against = "10^5 steps",
             .detail = Table::format("%.1f ms against %.1f ms", lengths[0] / 1e6, lengths[1] / 1e6)});
  return table.exit_code();
}

}  // namespace
}  // namespace goodput::bench

int main(int count, char** arguments) { return goodput::bench::run(count > 1 ? arguments[1] : ""); }
