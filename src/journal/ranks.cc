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
  bool is_known = false;
  int64_t newest_start_ns = 0;
  const Member* newest = nullptr;  ///< none: it stands in an index, which knows its lateness
};
using RanksByIndex = std::map<int64_t, Rank>;

void add_journal(RankSigns signs, int64_t start_ns, const Member* member, RanksByIndex& ranks) {
  Rank& rank = ranks[signs.process_index];
  if (rank.is_known) signs.last_sign_ns = std::max(signs.last_sign_ns, rank.signs.last_sign_ns);
  if (rank.is_known && start_ns <= rank.newest_start_ns) {
    rank.signs.last_sign_ns = signs.last_sign_ns;
    return;
  }
  rank = {.signs = std::move(signs), .is_known = true, .newest_start_ns = start_ns, .newest = member};
}

void add_member(const Member& member, RanksByIndex& ranks) {
  const JournalFile::Facts& facts = member.file->facts();
  RankSigns signs{.process_index = facts.header->process_index,
                  .host = facts.header->host,
                  .boot_id = facts.header->boot_id,
                  .last_sign_ns = JobLog::wall_ns(member, std::max(facts.pulse.boot_ns, facts.last_event_boot_ns)),
                  .late_p90_ns = {},
                  .late_p99_ns = {}};
  add_journal(std::move(signs), JobLog::wall_ns(member, facts.header->open_boot_ns), &member, ranks);
}

void add_indexed(const IndexedRanks& indexed, RanksByIndex& ranks) {
  for (size_t i = 0; i < indexed.places.size(); ++i) {
    if (indexed.places[i] != IndexPlace::kStands) continue;
    const IndexedJournal& journal = indexed.index.journals[i];
    RankSigns signs{
        .process_index = journal.process_index,
        .host = indexed.index.strings[journal.host],
        .boot_id = indexed.index.strings[journal.boot_id],
        .last_sign_ns = indexed.wall_ns(journal, std::max(journal.pulse_boot_ns, journal.last_event_boot_ns)),
        .late_p90_ns = journal.late_p90_ns,
        .late_p99_ns = journal.late_p99_ns};
    add_journal(std::move(signs), indexed.wall_ns(journal, journal.open.boot_ns), nullptr, ranks);
  }
}

RanksByIndex ranks_of_launch(JobLog& log, const Member& rank_zero) {
  RanksByIndex ranks;
  for (const auto& member : log.members()) {
    if (member->rank_zero == &rank_zero) add_member(*member, ranks);
  }
  for (const auto& indexed : log.indexes()) {
    if (indexed->rank_zero == rank_zero.file->id() && log.load(*indexed)) add_indexed(*indexed, ranks);
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

std::vector<RankSigns> signs_of(JobLog& log, size_t attempt) {
  std::vector<RankSigns> signs;
  for (auto& [index, rank] : ranks_of_launch(log, log.opener(attempt))) signs.push_back(std::move(rank.signs));
  return signs;
}

LatenessReader::LatenessReader(const JobLog::Member& rank_zero) : rank_zero_(&rank_zero) {}

void LatenessReader::set(const JobLog::Member& rank, std::optional<int64_t>& p90_ns, std::optional<int64_t>& p99_ns) {
  if (!was_read_) steps_ = latest_steps(*rank_zero_->run_folder, *rank_zero_->file, decompressor_);
  was_read_ = true;
  const std::string& boot_id = rank.file->facts().header->boot_id;
  const bool same_clock = !boot_id.empty() && boot_id == rank_zero_->file->facts().header->boot_id;
  const std::optional<Lateness> late = lateness_of(latest_steps(*rank.run_folder, *rank.file, decompressor_), steps_);
  p90_ns = late ? stated(late->p90_ns, same_clock) : std::nullopt;
  p99_ns = late ? stated(late->p99_ns, same_clock) : std::nullopt;
}

std::vector<RankSigns> ranks_of(JobLog& log, size_t attempt) {
  std::vector<RankSigns> signs;
  LatenessReader lateness(log.opener(attempt));
  for (auto& [index, rank] : ranks_of_launch(log, log.opener(attempt))) {
    if (index == 0) continue;
    if (rank.newest != nullptr) lateness.set(*rank.newest, rank.signs.late_p90_ns, rank.signs.late_p99_ns);
    signs.push_back(std::move(rank.signs));
  }
  return signs;
}

}  // namespace goodput::journal
