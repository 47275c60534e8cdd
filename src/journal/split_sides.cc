// SPDX-License-Identifier: Apache-2.0
#include "journal/split_sides.h"

#include <algorithm>

namespace goodput::journal {
namespace {

bool is_other_rank(const LiveHeader& header) { return header.role.empty() && header.process_index != 0; }

}  // namespace

/// Trainers are of the attempts that they opened or belong to. Launchers, monitors and imports tell of several.
Side SplitSides::of(const JobLog::Member& member) const {
  const LiveHeader& header = *member.file->facts().header;
  if (!header.role.empty()) return Side::kByEvent;
  if (member.part == JournalPart::kIncluded && !is_other_rank(header)) return of_attempts(member);
  if (member.rank_zero != nullptr) return of_attempts(*member.rank_zero);
  return JobLog::wall_ns(member, header.open_boot_ns) >= request_->at_ns ? Side::kSecond : Side::kFirst;
}

Side SplitSides::of_attempts(const JobLog::Member& member) const {
  const auto second = std::count_if(member.view.origins.begin(), member.view.origins.end(),
                                    [&](const OriginFrom& from) { return is_second_attempt(from.origin->attempt_id); });
  if (second == 0) return Side::kFirst;
  return static_cast<size_t>(second) == member.view.origins.size() ? Side::kSecond : Side::kByEvent;
}

bool SplitSides::is_second(const JobLog::Member& member, const Segment& segment, const StoredEvent& stored) const {
  const LiveHeader& header = *member.file->facts().header;
  const bool by_time = JobLog::wall_ns(member, stored.event.boot_ns) >= request_->at_ns;
  if (is_imported(header)) {
    ImportedOrigins origins;
    const event::Origin* origin = origins.at(segment.names, stored.event.imported.origin);
    return origin == nullptr || origin->attempt_id.empty() ? by_time : is_second_attempt(origin->attempt_id);
  }
  // A rank beside a process that went through several attempts is of all of them.
  if (is_other_rank(header)) return by_time;
  const event::Position position =
      member.view.position_of(stored.event.boot_ns, segment.header.segment_number, stored.slot);
  const auto behind =
      std::upper_bound(member.view.origins.begin(), member.view.origins.end(), position,
                       [](const event::Position& wanted, const OriginFrom& from) { return wanted < from.position; });
  const std::string_view id =
      behind == member.view.origins.begin() ? std::string_view() : std::prev(behind)->origin->attempt_id;
  const auto& attempts = log_->attempts();
  const bool is_known =
      std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) { return attempt.id == id; });
  return is_known ? is_second_attempt(id) : by_time;
}

}  // namespace goodput::journal
