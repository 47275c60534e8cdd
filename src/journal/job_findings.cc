// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "journal/job_log.h"

namespace goodput::journal {
namespace {

using Member = JobLog::Member;

/// Says the same in whatever order journals are gone through: by kind, details in alphabetical order.
class FindingList {
 public:
  /// Adds to the finding of this kind, or begins it.
  Finding& at(const char* kind) {
    Finding& finding = findings_[kind].finding;
    finding.kind = kind;
    return finding;
  }
  void add(const char* kind, uint64_t count, int64_t first_ns, const std::string& detail) {
    if (count == 0) return;
    Finding& finding = at(kind);
    finding.count += count;
    if (finding.first_ns == 0 || (first_ns != 0 && first_ns < finding.first_ns)) finding.first_ns = first_ns;
    if (!detail.empty()) findings_[kind].details.insert(detail);
  }
  std::vector<Finding> take() {
    std::vector<Finding> taken;
    for (auto& [kind, entry] : findings_) {
      for (const std::string& detail : entry.details) {
        entry.finding.detail += (entry.finding.detail.empty() ? "" : "; ") + detail;
      }
      taken.push_back(std::move(entry.finding));
    }
    return taken;
  }

 private:
  struct Entry {
    Finding finding;
    std::set<std::string> details;
  };
  std::map<std::string, Entry> findings_;
};

std::string who(const LiveHeader& header) {
  return "process " + std::to_string(header.pid) + " on " + (header.host.empty() ? "an unnamed host" : header.host);
}

int64_t start_ns(const Member& member) { return JobLog::wall_ns(member, member.file->facts().header->open_boot_ns); }

void add_losses(std::span<const Loss> losses, int64_t start_ns, FindingList& findings) {
  for (const Loss& loss : losses) {
    const bool newer = loss.reason == LossReason::kUnknownKind;
    std::string detail(describe(loss.reason));
    if (loss.at_most) detail += " (up to)";
    findings.add(newer ? finding::kNewerKinds : finding::kEventsLost, loss.events, start_ns, detail);
    findings.add(finding::kNamesLost, loss.names, start_ns, "");
  }
}

void add_counters(const CounterValues& counters, int64_t start_ns, FindingList& findings) {
  struct Word {
    Counter counter;
    const char* kind;
    const char* detail;
  };
  constexpr Word kWords[] = {
      {Counter::kNoSpace, finding::kEventsDropped, "no space"},
      {Counter::kNoAccess, finding::kEventsDropped, "folder missing or not writable"},
      {Counter::kIoError, finding::kEventsDropped, "input or output error"},
      {Counter::kTooManyThreads, finding::kEventsDropped, "more than 65,535 threads"},
      {Counter::kBadValue, finding::kEventsDropped, "value that no report can use"},
      {Counter::kClosed, finding::kEventsDropped, "after close"},
      {Counter::kFellBehind, finding::kEventsDropped, "recorded faster than segments can be sealed"},
      {Counter::kSlowStepNumber, finding::kSlowStepNumber, ""},
      {Counter::kCutText, finding::kTextsCut, ""},
      {Counter::kTooManyNames, finding::kTooManyNames, ""},
      {Counter::kLabelsLeftOut, finding::kLabelsLeftOut, ""},
      {Counter::kSyncFailed, finding::kSyncFailed, ""},
      {Counter::kMalformedEntry, finding::kMalformedEntry, ""},
      {Counter::kRepairedEntry, finding::kRepairedEntry, ""},
  };
  for (const Word& word : kWords) {
    findings.add(word.kind, counters[word.counter], start_ns, word.detail);
  }
}

/// Steps that a recorder saw, and those between two journals of one boot, which show in their first readings.
void add_clock_steps(std::vector<const Member*> clocks, FindingList& findings) {
  const auto add = [&](int64_t step_ns, int64_t at_ns) {
    findings.add(finding::kWallClockStep, 1, at_ns, "");
    findings.at(finding::kWallClockStep).seconds += static_cast<double>(std::abs(step_ns)) / 1e9;
  };
  const auto header = [](const Member* member) -> const LiveHeader& { return *member->file->facts().header; };
  std::sort(clocks.begin(), clocks.end(), [&](const Member* a, const Member* b) {
    return std::tie(header(a).boot_id, header(a).open_boot_ns) < std::tie(header(b).boot_id, header(b).open_boot_ns);
  });
  const Member* before = nullptr;
  int64_t expected_ahead_ns = 0;  // wall less boot, after all steps that were seen
  for (const Member* member : clocks) {
    const int64_t ahead_ns = header(member).open_wall_ns - header(member).open_boot_ns;
    const bool same_boot =
        before != nullptr && !header(member).boot_id.empty() && header(before).boot_id == header(member).boot_id;
    if (same_boot && std::abs(ahead_ns - expected_ahead_ns) >= kClockStepNs) {
      add(ahead_ns - expected_ahead_ns, start_ns(*member));
    }
    expected_ahead_ns = ahead_ns;
    for (const ClockStep& step : member->file->facts().clock_steps) {
      add(step.step_ns, JobLog::wall_ns(*member, step.after.boot_ns));
      expected_ahead_ns += step.step_ns;
    }
    before = member;
  }
}

}  // namespace

std::vector<Finding> JobLog::findings() const {
  FindingList findings;
  std::vector<const Member*> clocks;
  std::vector<const Member*> ours;
  std::vector<const Member*> assigned;  // as assign() numbers them
  for (const auto& member : members_) {
    const JournalFile::Facts& facts = member->file->facts();
    if (!facts.refused.empty()) findings.add(finding::kNewerVersion, 1, 0, facts.refused);
    if (!is_ours(*member)) continue;
    ours.push_back(member.get());
    if (!is_imported(*facts.header)) assigned.push_back(member.get());
  }
  for (const Member* member : ours) {
    const LiveHeader& header = *member->file->facts().header;
    if (member->part == JournalPart::kSecondWriter) {
      findings.add(finding::kTwoWriters, 1, start_ns(*member),
                   who(header) + " beside " + who(*assigned[member->beside]->file->facts().header));
    } else if (member->part == JournalPart::kOrphanRank) {
      findings.add(finding::kOrphanRank, 1, start_ns(*member), "process index " + std::to_string(header.process_index));
    }
    add_losses(member->file->losses(), start_ns(*member), findings);
    add_counters(member->file->facts().counters, start_ns(*member), findings);
    if (is_rank_zero(header)) clocks.push_back(member);
  }
  // A log that goes on from an account knows what was dropped.
  if (dropped_before_ns_ > oldest_ns_) findings.add(finding::kHistoryDropped, 1, dropped_before_ns_, "");
  for (const auto& ranks : indexes_) {
    for (const IndexedRanks::Trouble& trouble : ranks->troubles) {
      if (trouble.is_read) continue;
      add_losses(trouble.losses, trouble.opened_ns, findings);
      add_counters(trouble.counters, trouble.opened_ns, findings);
    }
  }
  add_clock_steps(std::move(clocks), findings);
  return findings.take();
}

JobLog::JobFacts JobLog::job_facts() const {
  JobFacts told{.job = job_, .run_id = run_id_, .labels = {}, .accelerators = {}, .accelerator_type = {}};
  const Member* newest = nullptr;
  for (const auto& member : members_) {
    if (!is_ours(*member)) continue;
    told.may_grow = told.may_grow || !member->file->facts().is_dead;
    const LiveHeader& header = *member->file->facts().header;
    if (!header.role.empty() || header.process_index != 0) continue;
    if (newest == nullptr || start_ns(*member) > start_ns(*newest)) newest = member.get();
  }
  if (newest == nullptr) return told;
  const LiveHeader& header = *newest->file->facts().header;
  told.labels = header.labels;
  if (header.accelerators >= 0) told.accelerators = header.accelerators;
  told.accelerator_type = header.accelerator_type;
  return told;
}

}  // namespace goodput::journal
