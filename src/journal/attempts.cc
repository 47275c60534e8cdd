// SPDX-License-Identifier: Apache-2.0
#include "journal/attempts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace goodput::journal {
namespace {

/// An attempt that was launched as `id` is called so, or, where another launcher stood between, "id.its words".
bool is_launched_as(const Attempt& attempt, const std::string& id) {
  return attempt.base.starts_with(id) && (attempt.base.size() == id.size() || attempt.base[id.size()] == '.');
}

bool opens_attempts(const JournalFacts& journal) { return journal.role.empty() && journal.process_index == 0; }

class Assignment {
 public:
  Assignment(const std::vector<JournalFacts>& journals, int64_t now_ns) : journals_(journals), now_ns_(now_ns) {
    result_.journals.resize(journals.size());
  }

  Attempts run() {
    std::vector<size_t> by_start(journals_.size());
    std::iota(by_start.begin(), by_start.end(), size_t{0});
    std::sort(by_start.begin(), by_start.end(), [&](size_t a, size_t b) {
      return std::tie(journals_[a].start_ns, journals_[a].journal_id) <
             std::tie(journals_[b].start_ns, journals_[b].journal_id);
    });
    for (const size_t journal : by_start) {
      if (opens_attempts(journals_[journal])) open_attempts(journal);
    }
    sort_attempts();
    for (const size_t journal : by_start) {
      if (!journals_[journal].role.empty()) follow_attempts(journal);
      if (journals_[journal].role.empty() && !opens_attempts(journals_[journal])) find_rank(journal);
    }
    return std::move(result_);
  }

 private:
  static std::string name_of(const std::string& base, size_t instance) {
    return instance == 1 ? base : base + "#" + std::to_string(instance);
  }

  void open_attempts(size_t journal) {
    const JournalFacts& facts = journals_[journal];
    JournalAttempt& own = result_.journals[journal];
    // A rank 0 without an id is an attempt of its own, whatever its neighbours are called.
    const std::string base = facts.attempt_id.empty() ? facts.journal_id : facts.attempt_id;
    Holder& holder = holders_[base];
    if (holder.instances > 0) {
      const JournalFacts& before = journals_[holder.journal];
      if (before.last_sign_ns >= facts.start_ns) {
        own = {.part = JournalPart::kSecondWriter, .from = {}, .beside = holder.journal};
        return;
      }
      if (!before.is_dead) return;  // undecided: it may be dead, or only late with its next sign
    }
    holder.journal = journal;
    own.part = JournalPart::kIncluded;
    const size_t attempts = std::max<size_t>(facts.job_starts.size(), 1);
    for (size_t i = 0; i < attempts; ++i) {
      const event::Position start =
          i == 0 ? event::Position{.major = static_cast<uint64_t>(std::max<int64_t>(facts.start_ns, 0)), .minor = 0}
                 : facts.job_starts[i];
      own.from.push_back({.position = start, .attempt = result_.attempts.size()});
      const bool last = i + 1 == attempts;
      result_.attempts.push_back(
          {.id = name_of(base, ++holder.instances),
           .base = base,
           .journal = journal,
           .start = start,
           .start_ns = static_cast<int64_t>(start.major),
           .last_sign_ns = last ? facts.last_sign_ns : static_cast<int64_t>(facts.job_starts[i + 1].major)});
    }
  }

  void sort_attempts() {
    std::vector<size_t> order(result_.attempts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return result_.attempts[a].start < result_.attempts[b].start; });
    std::vector<size_t> place(order.size());
    std::vector<Attempt> sorted;
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(std::move(result_.attempts[order[i]]));
    }
    result_.attempts = std::move(sorted);
    for (JournalAttempt& journal : result_.journals) {
      for (AttemptFrom& from : journal.from) from.attempt = place[from.attempt];
    }
  }

  /// Launchers and monitors outlive attempts: each event is of the latest attempt with the journal's id, or of any
  /// where the journal has none, that had started when it was recorded.
  void follow_attempts(size_t journal) {
    const std::string& base = journals_[journal].attempt_id;
    JournalAttempt& own = result_.journals[journal];
    own.part = JournalPart::kIncluded;
    own.from.push_back({});
    for (size_t i = 0; i < result_.attempts.size(); ++i) {
      const Attempt& attempt = result_.attempts[i];
      if (base.empty() || is_launched_as(attempt, base)) own.from.push_back({.position = attempt.start, .attempt = i});
    }
    // A launcher writes of the attempt that it starts before that attempt's rank 0 writes itself.
    if (!base.empty() && own.from.size() > 1) own.from.front().attempt = own.from[1].attempt;
  }

  void find_rank(size_t journal) {
    const JournalFacts& facts = journals_[journal];
    JournalAttempt& own = result_.journals[journal];
    const std::optional<size_t> found = attempt_of_rank(result_.attempts, facts.attempt_id, facts.start_ns);
    if (found) {
      own.part = JournalPart::kIncluded;
      own.from.push_back({.position = {}, .attempt = *found});
    } else if (facts.is_dead || now_ns_ - facts.start_ns > kRankSlackNs) {
      own.part = JournalPart::kOrphanRank;
    }
  }

  /// Who writes under an id.
  struct Holder {
    size_t instances = 0;
    size_t journal = 0;
  };

  const std::vector<JournalFacts>& journals_;
  int64_t now_ns_;
  std::map<std::string, Holder> holders_;
  Attempts result_;
};

}  // namespace

std::optional<size_t> attempt_of_rank(const std::vector<Attempt>& attempts, std::string_view attempt_id,
                                      int64_t start_ns) {
  std::optional<size_t> found;
  for (size_t i = 0; i < attempts.size(); ++i) {
    const Attempt& attempt = attempts[i];
    const bool started = attempt.start_ns <= start_ns + kRankSlackNs;
    if (attempt_id.empty()) {
      if (started && attempt.last_sign_ns + kRankSlackNs >= start_ns) found = i;
    } else if ((started || !found) && attempt.base == attempt_id) {
      found = i;
    }
  }
  return found;
}

Attempts assign_attempts(const std::vector<JournalFacts>& journals, int64_t now_ns) {
  return Assignment(journals, now_ns).run();
}

}  // namespace goodput::journal
