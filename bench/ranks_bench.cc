// A report of 1,024 ranks × 30 attempts, once sealed and indexed, against one of rank 0's journals alone. The journals
// are sealed by the code that seals; each has 20 steps and a checkpoint. A report is all of it: finding the run,
// reading, accounting, and what is done for the folder afterwards. SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "base/checksum.h"
#include "harness.h"
#include "journal/folder_names.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/segment_fixture.h"
#include "monitor/followed_job.h"

namespace goodput::bench {
namespace {

constexpr int64_t kRanks = 1'024;
constexpr int64_t kAttempts = 30;
constexpr int64_t kSteps = 20;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kHour = 3'600 * kSecond;
constexpr int64_t kRanksPerHost = 8;
constexpr int kMostReports = 200;

std::array<uint8_t, 16> id_of(int64_t attempt, int64_t rank) {
  std::array<uint8_t, 16> id{};
  const std::array<int64_t, 2> words = {attempt, rank};
  const uint32_t first = crc32c(std::as_bytes(std::span(words)));
  const std::array<uint32_t, 4> mixed = {first, first * 2654435761U, static_cast<uint32_t>(attempt),
                                         static_cast<uint32_t>(rank)};
  std::memcpy(id.data(), mixed.data(), id.size());
  return id;
}

/// Of a machine that was started an hour before the attempt, as all of its processes are.
std::vector<std::byte> sealed_journal(int64_t attempt, int64_t rank) {
  journal::LiveHeader header = journal::SegmentFixture::header();
  header.journal_id = id_of(attempt, rank);
  header.job = "ranks";
  header.attempt_id = "77." + std::to_string(attempt);
  header.host = "node-" + std::to_string(rank / kRanksPerHost);
  header.boot_id = "boot " + std::to_string(attempt) + " of node " + std::to_string(rank / kRanksPerHost);
  header.process_index = rank;
  header.open_boot_ns = kHour + rank * 1'000'000;
  header.open_wall_ns = (1'767'225'600 + attempt * 3'600) * kSecond + rank * 1'000'000;
  journal::SegmentFixture live(header);
  live.define(1, "gs://checkpoints/ranks");
  int64_t boot_ns = header.open_boot_ns;
  for (int64_t step = 0; step < kSteps; ++step) {
    boot_ns += 10 * kSecond;
    live.append({.kind = event::Kind::kStepStart, .boot_ns = boot_ns, .value = attempt * kSteps / 2 + step});
  }
  live.append({.kind = event::Kind::kCheckpointSave,
               .flags = event::kHasStep,
               .name = 1,
               .boot_ns = boot_ns + kSecond,
               .value = attempt * kSteps / 2 + kSteps - 1,
               .duration_ns = kSecond / 2});
  live.alive_at({boot_ns + 2 * kSecond, header.open_wall_ns + boot_ns + 2 * kSecond - header.open_boot_ns}, 1);
  return journal::seal_segment(journal::recover_live(live.bytes()).value());
}

void make_job(const std::string& root, int64_t ranks) {
  const std::string run =
      root + "/" + journal::kLayoutFolder + "/" + journal::hash_name("ranks") + "/" + journal::hash_name("");
  CHECK(posix_file_system().make_directories(run).ok());
  const auto folder = std::move(posix_file_system().open_directory(run)).value();
  for (int64_t attempt = 0; attempt < kAttempts; ++attempt) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const std::string name = journal::id_name(id_of(attempt, rank));
      CHECK(folder->make_directory(name).ok());
      const auto journal_folder = std::move(folder->open_directory(name)).value();
      const auto file =
          std::move(journal_folder->open_file(journal::segment_name(1, journal::SegmentForm::kSealed), Access::kCreate))
              .value();
      CHECK(file->write_at(0, sealed_journal(attempt, rank)).ok());
    }
  }
}

/// What it took, and that it says what is there.
double report_ns(const std::string& root, int64_t ranks) {
  const double start_ns = monotonic_ns();
  const std::vector<journal::Root> roots = {{.path = root}};
  const auto run = monitor::find_run(posix_file_system(), roots, "ranks");
  const auto job = monitor::FollowedJob::open(posix_file_system(), roots, *run, {}, system_clock());
  CHECK((*job)->poll().ok());
  const auto report = (*job)->report({.now_ns = system_clock().wall_ns()});
  const double took_ns = monotonic_ns() - start_ns;
  CHECK(static_cast<int64_t>(report->attempts.size()) == kAttempts);
  CHECK(static_cast<int64_t>(report->ranks.size()) == ranks - 1);
  CHECK(report->findings.empty());
  return took_ns;
}

int64_t indexes_in(const std::string& root) {
  int64_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".ranks") ++count;
  }
  return count;
}

int run() {
  const auto base = std::filesystem::temp_directory_path() / "goodput-ranks-bench";
  const std::string all = base / "all", alone = base / "alone";
  std::filesystem::remove_all(base);
  make_job(alone, 1);
  make_job(all, kRanks);
  const double unindexed_ns = report_ns(all, kRanks);
  int reports = 1;
  for (; indexes_in(all) < kAttempts && reports < kMostReports; ++reports) report_ns(all, kRanks);
  Table table;
  const std::vector<double> cost =
      alternate({[&] { return report_ns(all, kRanks); }, [&] { return report_ns(alone, 1); }});
  const std::string against = "rank 0's journals alone";
  table.add({"report of 1,024 ranks × 30 attempts, sealed and indexed", cost[0] / cost[1], 20, against,
             Table::format("%.1f ms against %.2f ms", cost[0] / 1e6, cost[1] / 1e6)});
  table.add({"the same before it was indexed", unindexed_ns / cost[1], 0, against,
             Table::format("%.0f ms, indexed by %.0f reports", unindexed_ns / 1e6, static_cast<double>(reports))});
  std::filesystem::remove_all(base);
  return table.exit_code();
}

}  // namespace
}  // namespace goodput::bench

int main() { return goodput::bench::run(); }
