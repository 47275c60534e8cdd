// SPDX-License-Identifier: Apache-2.0
#include "store/gcs/journal_shipper.h"

#include <algorithm>
#include <utility>

#include "journal/format.h"
#include "journal/sealed_format.h"

namespace goodput::store {
namespace {

using journal::SegmentForm;

// A folder's time of change is as coarse as the kernel's tick; within a second of a change another may hide behind it.
constexpr int64_t kFreshChangeNs = 1'000'000'000;
// A thousand ranks that are copied with each look are 8.6 million writes a day: of all but rank 0, and of what has
// recorded nothing new, a copy a minute is enough. Readers wait three minutes for a sign of life.
constexpr int64_t kSlowCopyNs = 60'000'000'000;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Status JournalShipper::ship() {
  open_folders();
  unread_ = 0;
  Status failure;
  for (RunFolder& folder : folders_) {
    if (folder.directory == nullptr) continue;
    find_journals(folder);
    for (auto& [id, journal] : folder.journals) {
      Status shipped = ship_journal(*folder.directory, id, journal);
      if (shipped.code() == StatusCode::kNotFound && journal.is_listed) {
        // Somebody has replaced or removed what was listed: the next look learns what is there.
        journal.is_listed = false;
        failure = {StatusCode::kUnavailable, shipped.message()};
        continue;
      }
      RETURN_IF_ERROR(shipped);
    }
  }
  return failure;
}

void JournalShipper::open_folders() {
  folders_.resize(options_.roots.size());
  for (size_t i = 0; i < folders_.size(); ++i) {
    if (folders_[i].directory != nullptr) continue;
    const auto root = journal::open_root(*options_.files, options_.roots[i]);
    if (!root.ok()) continue;
    auto run = journal::open_run_folder(**root, options_.run.job, options_.run.run_id);
    if (run.ok()) folders_[i].directory = std::move(run).value();
  }
}

bool JournalShipper::is_settled(int64_t modified_ns) const {
  return options_.clock->wall_ns() - modified_ns > kFreshChangeNs;
}

void JournalShipper::find_journals(RunFolder& folder) const {
  const Result<FileFacts> facts = folder.directory->facts();
  if (facts.ok() && facts->modified_ns == folder.settled_ns) return;
  const auto ids = journal::list_journals(*folder.directory);
  if (!ids.ok()) return;
  for (const auto& id : *ids) folder.journals.try_emplace(id);
  if (facts.ok() && is_settled(facts->modified_ns)) folder.settled_ns = facts->modified_ns;
}

Status JournalShipper::ship_journal(Directory& run_folder, const std::array<uint8_t, 16>& id, Journal& journal) {
  const auto folder = run_folder.open_directory(journal::id_name(id));
  if (!folder.ok()) return {};  // dropped, or another user's: the bucket keeps what it has
  const Result<FileFacts> facts = (*folder)->facts();
  if (facts.ok() && facts->modified_ns == journal.settled_ns) return {};
  const std::string prefix = object_name(address_, journal_prefix(options_.run, id));
  if (!journal.is_listed) RETURN_IF_ERROR(learn(prefix, journal));
  const uint64_t unread_before = unread_;
  Names names;
  // A segment may be sealed while its live file is about to be read.
  do {
    names = list_segments(**folder);
    for (const uint32_t number : names.sealed) RETURN_IF_ERROR(ship_sealed(**folder, prefix, number, journal));
    for (const uint32_t number : names.live) RETURN_IF_ERROR(ship_live(**folder, prefix, number, journal, names));
  } while (names.has_changed);
  RETURN_IF_ERROR(remove_copies(names, journal));
  const bool is_all = names.live.empty() && unread_ == unread_before;
  if (is_all && facts.ok() && is_settled(facts->modified_ns)) journal.settled_ns = facts->modified_ns;
  return {};
}

JournalShipper::Names JournalShipper::list_segments(Directory& folder) {
  Names names;
  const auto listed = folder.list();
  if (!listed.ok()) ++unread_;
  for (const std::string& name : listed.ok() ? *listed : std::vector<std::string>()) {
    const auto parsed = journal::parse_segment_name(name);
    if (parsed) (parsed->form == SegmentForm::kLive ? names.live : names.sealed).push_back(parsed->number);
  }
  std::sort(names.sealed.begin(), names.sealed.end());
  std::sort(names.live.begin(), names.live.end());
  return names;
}

Status JournalShipper::learn(const std::string& prefix, Journal& journal) {
  journal.sealed.clear();
  journal.live.clear();
  RETURN_IF_ERROR(bucket_->list(prefix, [&](gcp::ObjectFacts object) {
    const auto name = journal::parse_segment_name(std::string_view(object.name).substr(prefix.size()));
    if (!name) return;
    BySegment& known = name->form == SegmentForm::kLive ? journal.live : journal.sealed;
    known[name->number].object = std::move(object);
  }));
  journal.is_listed = true;
  return {};
}

Status JournalShipper::ship_sealed(Directory& folder, const std::string& prefix, uint32_t number, Journal& journal) {
  const std::string name = journal::segment_name(number, SegmentForm::kSealed);
  const Result<FileFacts> facts = folder.facts(name);
  if (!facts.ok()) return {};  // dropped meanwhile
  Shipped& known = journal.sealed[number];
  if (known.object.generation != 0 && known.object.size_bytes == facts->size_bytes) return {};
  const auto bytes = read_whole_file(folder, name, journal::kMaxSealedBytes);
  if (!bytes.ok()) {
    ++unread_;
    return {};
  }
  // A process that was taken for dead, and was not, has its segments sealed again with more in them.
  const size_t events = event_count(*bytes, SegmentForm::kSealed);
  if (known.object.generation != 0) {
    ASSIGN_OR_RETURN(const size_t before, events_of(known, SegmentForm::kSealed));
    if (events <= before) return {};
  }
  return write(prefix + name, *bytes, events, known, journal);
}

Status JournalShipper::ship_live(Directory& folder, const std::string& prefix, uint32_t number, Journal& journal,
                                 Names& names) {
  const std::string name = journal::segment_name(number, SegmentForm::kLive);
  Shipped& known = journal.live[number];
  // Counted before the file is read: it only grows, so what is read then holds all that the object does.
  if (known.object.generation != 0) RETURN_IF_ERROR(events_of(known, SegmentForm::kLive).status());
  const auto bytes = read_whole_file(folder, name, journal::kMaxReadableSegmentBytes);
  if (!bytes.ok()) {
    const bool is_gone = bytes.status().code() == StatusCode::kNotFound;
    names.has_changed = names.has_changed || is_gone;
    unread_ += is_gone ? 0 : 1;
    return {};
  }
  const auto copy = journal::copy_live(*bytes);
  if (!copy.ok() || !copy->says_something || !is_due(*copy, known)) return {};
  RETURN_IF_ERROR(write(prefix + name, copy->bytes, copy->events, known, journal));
  known.pairs = copy->pairs;
  return {};
}

bool JournalShipper::is_due(const journal::LiveCopy& copy, const Shipped& known) const {
  if (known.object.generation == 0) return true;
  const size_t before = known.events.value_or(0);
  if (copy.events < before || (copy.events == before && copy.pairs == known.pairs)) return false;
  const bool is_urgent = copy.events > before && (journal::is_rank_zero(copy.header) || !copy.header.role.empty());
  const bool was_written = known.written_boot_ns != std::numeric_limits<int64_t>::min();
  return is_urgent || !was_written || options_.clock->boot_ns() - known.written_boot_ns >= kSlowCopyNs;
}

/// Copies of segments whose sealed form has arrived, unless that has fewer events: after a power cut a disk may have
/// less than it had shown.
Status JournalShipper::remove_copies(const Names& names, Journal& journal) {
  for (auto at = journal.live.begin(); at != journal.live.end();) {
    auto& [number, copy] = *at;
    const auto sealed = journal.sealed.find(number);
    const bool is_live = std::binary_search(names.live.begin(), names.live.end(), number);
    if (is_live || copy.object.generation == 0 || sealed == journal.sealed.end() ||
        sealed->second.object.generation == 0) {
      ++at;
      continue;
    }
    ASSIGN_OR_RETURN(const size_t sealed_events, events_of(sealed->second, SegmentForm::kSealed));
    ASSIGN_OR_RETURN(const size_t copied_events, events_of(copy, SegmentForm::kLive));
    if (sealed_events < copied_events) {
      ++at;
      continue;
    }
    RETURN_IF_ERROR(bucket_->remove(copy.object));
    at = journal.live.erase(at);
  }
  return {};
}

Status JournalShipper::write(const std::string& name, std::span<const std::byte> bytes, size_t events, Shipped& known,
                             Journal& journal) {
  Result<gcp::ObjectFacts> object = bucket_->upload(name, text_of(bytes), known.object.generation);
  if (object.status().code() == StatusCode::kAlreadyExists) {
    journal.is_listed = false;  // the next look learns what is there, and reads the file after that
    return {StatusCode::kUnavailable, object.status().message()};
  }
  if (!object.ok()) return object.status();
  known.object = std::move(object).value();
  known.events = events;
  known.written_boot_ns = options_.clock->boot_ns();
  return {};
}

/// Of an object that an earlier shipper wrote, by reading it.
Result<size_t> JournalShipper::events_of(Shipped& shipped, SegmentForm form) {
  if (shipped.events) return *shipped.events;
  ASSIGN_OR_RETURN(const std::string bytes, bucket_->download(shipped.object));
  shipped.events = event_count(std::as_bytes(std::span(bytes)), form);
  return *shipped.events;
}

}  // namespace goodput::store
