// SPDX-License-Identifier: Apache-2.0
#include "journal/ranks.h"

#include <algorithm>
#include <map>

#include "journal/predictors.h"

namespace goodput::journal {
namespace {

using Member = JobLog::Member;

/// What is known of one rank while its journals are gone through.
struct Rank {
  RankSigns signs;
  const Member* newest = nullptr;
  int64_t newest_start_ns = 0;
};
using RanksByIndex = std::map<int64_t, Rank>;

void add_journal(const Member& member, RanksByIndex& ranks) {
  const JournalFile::Facts& facts = member.file->facts();
  Rank& rank = ranks[facts.header->process_index];
  const int64_t sign_ns = JobLog::wall_ns(member, std::max(facts.pulse.boot_ns, facts.last_event_boot_ns));
  const int64_t start_ns = JobLog::wall_ns(member, facts.header->open_boot_ns);
  rank.signs.last_sign_ns = rank.newest == nullptr ? sign_ns : std::max(rank.signs.last_sign_ns, sign_ns);
  if (rank.newest != nullptr && start_ns <= rank.newest_start_ns) return;
  rank.newest = &member;
  rank.newest_start_ns = start_ns;
  rank.signs.process_index = facts.header->process_index;
  rank.signs.host = facts.header->host;
  rank.signs.boot_id = facts.header->boot_id;
}

/// The journal of the rank 0 that opened an attempt.
const Member* rank_zero_of(const JobLog& log, size_t attempt) {
  for (const auto& member : log.members()) {
    if (std::find(member->attempts.begin(), member->attempts.end(), attempt) != member->attempts.end()) {
      return member.get();
    }
  }
  return nullptr;
}

RanksByIndex ranks_of_launch(const JobLog& log, const Member* rank_zero) {
  RanksByIndex ranks;
  if (rank_zero == nullptr) return ranks;
  for (const auto& member : log.members()) {
    if (member->rank_zero == rank_zero) add_journal(*member, ranks);
  }
  return ranks;
}

bool share_clock(const RankSigns& a, const RankSigns& b) { return !a.boot_id.empty() && a.boot_id == b.boot_id; }

/// Nothing that two hosts' clocks cannot tell.
std::optional<int64_t> stated(int64_t late_ns, bool same_clock) {
  if (!same_clock && late_ns < kHostClocksNs) return std::nullopt;
  return late_ns;
}

}  // namespace

std::optional<Lateness> lateness_of(std::span<const StepAt> rank, std::span<const StepAt> rank_zero) {
  std::vector<int64_t> offsets_ns;
  auto other = rank_zero.begin();
  for (const StepAt& at : rank) {
    while (other != rank_zero.end() && other->step < at.step) ++other;
    if (other == rank_zero.end()) break;
    if (other->step == at.step) offsets_ns.push_back(wrapping_subtract(at.boot_ns, other->boot_ns));
  }
  if (offsets_ns.size() < kLeastCommonSteps) return std::nullopt;
  std::sort(offsets_ns.begin(), offsets_ns.end());
  const int64_t median_ns = offsets_ns[offsets_ns.size() / 2];
  const auto late_ns = [&](size_t percent) {
    return wrapping_subtract(offsets_ns[(offsets_ns.size() * percent + 99) / 100 - 1], median_ns);
  };
  return Lateness{.p90_ns = late_ns(90), .p99_ns = late_ns(99)};
}

std::optional<int64_t> first_stopped(std::span<const RankSigns> ranks) {
  const auto first = std::min_element(ranks.begin(), ranks.end(), [](const RankSigns& a, const RankSigns& b) {
    return a.last_sign_ns < b.last_sign_ns;
  });
  if (ranks.size() < 2) return std::nullopt;
  for (const RankSigns& other : ranks) {
    const int64_t tolerance_ns = kSignEveryNs + (share_clock(*first, other) ? 0 : kHostClocksNs);
    if (&other != &*first && other.last_sign_ns - first->last_sign_ns <= tolerance_ns) return std::nullopt;
  }
  return first->process_index;
}

std::vector<RankSigns> signs_of(const JobLog& log, size_t attempt) {
  std::vector<RankSigns> signs;
  for (auto& [index, rank] : ranks_of_launch(log, rank_zero_of(log, attempt))) {
    signs.push_back(std::move(rank.signs));
  }
  return signs;
}

std::vector<RankSigns> ranks_of(const JobLog& log, size_t attempt) {
  std::vector<RankSigns> signs;
  const Member* rank_zero = rank_zero_of(log, attempt);
  RanksByIndex ranks = ranks_of_launch(log, rank_zero);
  if (ranks.size() < 2) return signs;
  Decompressor decompressor;
  const std::vector<StepAt> steps = latest_steps(*rank_zero->run_folder, *rank_zero->file, decompressor);
  const RankSigns& zero = ranks[0].signs;
  for (auto& [index, rank] : ranks) {
    if (index == 0) continue;
    const std::optional<Lateness> late =
        lateness_of(latest_steps(*rank.newest->run_folder, *rank.newest->file, decompressor), steps);
    if (late) {
      rank.signs.late_p90_ns = stated(late->p90_ns, share_clock(rank.signs, zero));
      rank.signs.late_p99_ns = stated(late->p99_ns, share_clock(rank.signs, zero));
    }
    signs.push_back(std::move(rank.signs));
  }
  return signs;
}

}  // namespace goodput::journal
