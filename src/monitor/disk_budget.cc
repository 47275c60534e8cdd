// SPDX-License-Identifier: Apache-2.0
#include "monitor/disk_budget.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "journal/folder_names.h"

namespace goodput::monitor {
namespace {

using journal::IndexedRanks;
using journal::IndexPlace;

bool is_in(const Directory* folder, std::span<Directory* const> folders) {
  return std::find(folders.begin(), folders.end(), folder) != folders.end();
}

/// The journal's folder without anything in it goes, too.
void remove_journal(Directory& run_folder, const std::string& name, const journal::Machine& machine) {
  const auto folder = run_folder.open_directory(name);
  if (!folder.ok()) return;
  const Result<std::vector<std::string>> files = (*folder)->list();
  if (!files.ok()) return;
  std::vector<uint32_t> numbers;
  for (const std::string& file : *files) {
    if (const auto parsed = journal::parse_segment_name(file)) numbers.push_back(parsed->number);
  }
  if (!journal::drop_segments(**folder, machine, numbers).ok()) return;
  (void)(*folder)->remove_file(journal::kLockFile);
  (void)run_folder.remove_directory(name);
}

}  // namespace

uint64_t disk_budget_bytes(const journal::Environment& environment) {
  const std::optional<std::string> text = environment("GOODPUT_DISK_BUDGET");
  if (!text) return kDiskBudgetBytes;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const std::string_view unit(end, static_cast<size_t>(text->data() + text->size() - end));
  constexpr std::string_view kUnits = "KMGT";
  const size_t power = unit.empty() ? std::string_view::npos : kUnits.find(unit[0]);
  const bool is_plain = unit.empty() || unit == "B";
  const bool is_scaled =
      power != std::string_view::npos && (unit.size() == 1 || unit.substr(1) == "B" || unit.substr(1) == "iB");
  if (error != std::errc{} || (!is_plain && !is_scaled)) return kDiskBudgetBytes;
  const unsigned shift = is_plain ? 0 : 10 * (static_cast<unsigned>(power) + 1);
  return number > (~uint64_t{0} >> shift) ? ~uint64_t{0} : number << shift;
}

void DiskBudget::keep(std::span<Directory* const> folders, uint64_t budget_bytes, const ledger::Ledger& ledger,
                      FunctionRef<bool()> keep_account) {
  if (budget_bytes == 0 || bytes_at_most() <= budget_bytes) return;
  uint64_t bytes = 0;
  std::vector<Segment> segments = sealed_segments(bytes);
  std::vector<IndexedRanks*> indexes;
  for (const auto& ranks : log_->indexes()) {
    bytes += ranks->bytes;
    if (is_in(ranks->run_folder, folders)) indexes.push_back(ranks.get());
  }
  std::sort(indexes.begin(), indexes.end(),
            [](const IndexedRanks* a, const IndexedRanks* b) { return a->last_event_ns < b->last_event_ns; });
  bool any_ranks = false;
  for (IndexedRanks* ranks : indexes) {
    if (bytes <= budget_bytes) break;
    const uint64_t dropped = drop_ranks(*ranks, bytes - budget_bytes);
    any_ranks = any_ranks || dropped > 0;
    bytes -= std::min(bytes, dropped);
  }
  std::sort(segments.begin(), segments.end(), [](const Segment& a, const Segment& b) { return a.last_ns < b.last_ns; });
  size_t count = 0;
  for (; count < segments.size() && bytes > budget_bytes; ++count) {
    if (segments[count].last_ns >= ledger.settled_before_ns()) break;
    if (is_in(segments[count].member->run_folder, folders)) bytes -= std::min(bytes, segments[count].bytes);
  }
  // Cursors refer to indexes as they were.
  if (count == 0 && !any_ranks) return;
  const int64_t oldest_ns = log_->oldest_ns();
  if (count > 0) log_->set_oldest(std::max(oldest_ns, segments[count - 1].last_ns + 1));
  if (!keep_account()) {
    log_->set_oldest(oldest_ns);  // nothing goes
    return;
  }
  for (const Directory* folder : folders) {
    if (count > 0 && !log_->note_dropped(*folder).ok()) return;
  }
  std::erase_if(segments, [&](const Segment& segment) { return !is_in(segment.member->run_folder, folders); });
  drop(std::span(segments).first(std::min(count, segments.size())));
}

/// Without looking at files: most folders are far from their budget.
uint64_t DiskBudget::bytes_at_most() const {
  uint64_t bytes = 0;
  for (const auto& ranks : log_->indexes()) bytes += ranks->bytes;
  for (const auto& member : log_->members()) bytes += member->file->segments().size() * journal::kMaxSegmentBytes;
  return bytes;
}

/// Those that may be dropped; `bytes` becomes what all take.
std::vector<DiskBudget::Segment> DiskBudget::sealed_segments(uint64_t& bytes) const {
  std::vector<Segment> found;
  for (const auto& member : log_->members()) {
    const auto folder = member->run_folder->open_directory(journal::id_name(member->file->id()));
    if (!folder.ok()) continue;
    const std::vector<journal::SegmentState>& segments = member->file->segments();
    const bool is_at_rest = member->is_given && member->view.imported == nullptr && member->file->has_ended() &&
                            !member->file->has_live_files();
    for (size_t i = 0; i < segments.size(); ++i) {
      const auto facts = (*folder)->facts(journal::segment_name(segments[i].number, journal::SegmentForm::kSealed));
      if (!facts.ok()) continue;
      bytes += facts->size_bytes;
      // The last one says who wrote the journal, and when its process was alive last.
      if (!is_at_rest || i + 1 == segments.size() || segments[i].events == 0) continue;
      found.push_back({member.get(), segments[i].number, member->view.last_ns(segments[i].times), facts->size_bytes});
    }
  }
  return found;
}

/// Drops journals that an index stands for, the oldest first; how many bytes there were in them.
uint64_t DiskBudget::drop_ranks(IndexedRanks& ranks, uint64_t wanted_bytes) {
  if (ranks.bytes == 0 || !log_->load(ranks)) return 0;
  std::vector<size_t> places;
  for (size_t i = 0; i < ranks.places.size(); ++i) {
    if (ranks.places[i] == IndexPlace::kStands && !ranks.index.journals[i].is_dropped) places.push_back(i);
  }
  const auto opened_ns = [&](size_t place) { return ranks.index.journals[place].open.wall_ns; };
  std::sort(places.begin(), places.end(), [&](size_t a, size_t b) { return opened_ns(a) < opened_ns(b); });
  uint64_t bytes = 0;
  size_t count = 0;
  for (; count < places.size() && bytes < wanted_bytes; ++count) bytes += ranks.index.journals[places[count]].bytes;
  places.resize(count);
  if (places.empty() || !indexes_->mark_dropped(ranks, places)) return 0;
  for (const size_t place : places) {
    remove_journal(*ranks.run_folder, journal::id_name(ranks.index.journals[place].id), *machine_);
  }
  return bytes;
}

void DiskBudget::drop(std::span<const Segment> segments) {
  std::map<const Member*, std::vector<uint32_t>> numbers;
  for (const Segment& segment : segments) numbers[segment.member].push_back(segment.number);
  for (const auto& [member, dropped] : numbers) {
    const auto folder = member->run_folder->open_directory(journal::id_name(member->file->id()));
    if (folder.ok()) (void)journal::drop_segments(**folder, *machine_, dropped);
  }
}

}  // namespace goodput::monitor
