// SPDX-License-Identifier: Apache-2.0
#include "journal/rank_index.h"

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "journal/fields.h"
#include "journal/folder_names.h"
#include "journal/predictors.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

constexpr std::array<char, 8> kMagic = {'G', 'O', 'O', 'D', 'P', 'U', 'T', 'R'};
constexpr uint32_t kVersion = 1;
constexpr std::string_view kSuffix = ".ranks";
// Names of events are 16 bits wide.
constexpr size_t kMostStrings = kMoreNames;

struct RawIndex {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t facts_bytes;
  uint32_t facts_checksum;
  uint32_t events_bytes;
  uint32_t events_checksum;
  uint32_t checksum;  // of these bytes with this field zero
};
static_assert(sizeof(RawIndex) == 32);

std::array<std::byte, sizeof(RawIndex)> bytes_of(const RawIndex& raw) {
  std::array<std::byte, sizeof(RawIndex)> bytes;
  std::memcpy(bytes.data(), &raw, sizeof(raw));
  return bytes;
}

uint32_t checksum_of(const RawIndex& raw) { return crc32c_around(bytes_of(raw), offsetof(RawIndex, checksum)); }

Status unreadable(const char* why) {
  return Status(StatusCode::kUnreadable, std::string("reading an index of ranks: ") + why);
}

enum JournalBits : uint8_t { kHasLateness90 = 1, kHasLateness99 = 2, kIsDropped = 4, kHasBoot = 8, kHasWall = 16 };

/// Times stand as differences, to what the journal before had or to the journal's own opening.
void put_journal(const IndexedJournal& journal, const IndexedJournal& before, FieldWriter& out) {
  out.number((journal.late_p90_ns ? kHasLateness90 : 0) | (journal.late_p99_ns ? kHasLateness99 : 0) |
             (journal.is_dropped ? kIsDropped : 0) | (journal.times.has_boot() ? kHasBoot : 0) |
             (journal.times.has_wall() ? kHasWall : 0));
  out.signed_number(wrapping_subtract(journal.process_index, before.process_index));
  out.signed_number(journal.pid);
  out.signed_number(wrapping_subtract(journal.open.boot_ns, before.open.boot_ns));
  out.signed_number(wrapping_subtract(journal.open.wall_ns, before.open.wall_ns));
  out.signed_number(wrapping_subtract(journal.pulse_boot_ns, journal.open.boot_ns));
  out.signed_number(wrapping_subtract(journal.last_event_boot_ns, journal.open.boot_ns));
  out.signed_number(wrapping_subtract(journal.folder_modified_ns, journal.open.wall_ns));
  for (const uint32_t place : {journal.attempt_id, journal.host, journal.boot_id}) out.number(place);
  if (journal.late_p90_ns) out.signed_number(*journal.late_p90_ns);
  if (journal.late_p99_ns) out.signed_number(*journal.late_p99_ns);
  out.number(journal.bytes);
  out.number(journal.events);
  const TimeBounds& times = journal.times;
  if (times.has_boot()) {
    out.signed_number(wrapping_subtract(times.first_boot_ns, journal.open.boot_ns));
    out.signed_number(wrapping_subtract(times.last_boot_ns, times.first_boot_ns));
  }
  if (times.has_wall()) {
    out.signed_number(wrapping_subtract(times.first_wall_ns, journal.open.wall_ns));
    out.signed_number(wrapping_subtract(times.last_wall_ns, times.first_wall_ns));
  }
}

void take_journal(FieldReader& in, const IndexedJournal& before, size_t strings, IndexedJournal& journal) {
  const uint64_t bits = in.number(31);
  journal.process_index = wrapping_add(before.process_index, in.signed_number());
  journal.pid = in.signed_number();
  journal.open.boot_ns = wrapping_add(before.open.boot_ns, in.signed_number());
  journal.open.wall_ns = wrapping_add(before.open.wall_ns, in.signed_number());
  journal.pulse_boot_ns = wrapping_add(journal.open.boot_ns, in.signed_number());
  journal.last_event_boot_ns = wrapping_add(journal.open.boot_ns, in.signed_number());
  journal.folder_modified_ns = wrapping_add(journal.open.wall_ns, in.signed_number());
  for (uint32_t* place : {&journal.attempt_id, &journal.host, &journal.boot_id}) {
    *place = static_cast<uint32_t>(in.number(strings - 1));
  }
  if ((bits & kHasLateness90) != 0) journal.late_p90_ns = in.signed_number();
  if ((bits & kHasLateness99) != 0) journal.late_p99_ns = in.signed_number();
  journal.is_dropped = (bits & kIsDropped) != 0;
  journal.bytes = in.number();
  journal.events = static_cast<uint32_t>(in.number(~uint32_t{0}));
  if ((bits & kHasBoot) != 0) {
    journal.times.first_boot_ns = wrapping_add(journal.open.boot_ns, in.signed_number());
    journal.times.last_boot_ns = wrapping_add(journal.times.first_boot_ns, in.signed_number());
  }
  if ((bits & kHasWall) != 0) {
    journal.times.first_wall_ns = wrapping_add(journal.open.wall_ns, in.signed_number());
    journal.times.last_wall_ns = wrapping_add(journal.times.first_wall_ns, in.signed_number());
  }
  // Bounds that are upside down are none.
  if (journal.times.has_boot() != ((bits & kHasBoot) != 0) || journal.times.has_wall() != ((bits & kHasWall) != 0)) {
    in.fail();
  }
}

std::vector<std::byte> encode_facts(const RankIndex& index) {
  FieldWriter out;
  out.text(index.job);
  out.text(index.run_id);
  out.block(std::as_bytes(std::span(index.rank_zero)));
  out.number(index.strings.size());
  for (const std::string& text : index.strings) out.text(text);
  out.number(index.journals.size());
  for (const IndexedJournal& journal : index.journals) out.block(std::as_bytes(std::span(journal.id)));
  IndexedJournal before;
  for (const IndexedJournal& journal : index.journals) {
    put_journal(journal, before, out);
    before = journal;
  }
  out.number(index.troubles.size());
  for (const IndexedTrouble& trouble : index.troubles) {
    out.number(trouble.journal);
    Segment told;
    told.counters = trouble.counters;
    told.losses = trouble.losses;
    std::vector<std::byte> summary;
    append_summary(told, summary);
    out.number(summary.size());
    out.block(summary);
  }
  return out.take();
}

bool take_facts(std::span<const std::byte> bytes, RankIndex& index) {
  FieldReader in(bytes);
  index.job = in.text();
  index.run_id = in.text();
  const auto rank_zero = in.block(index.rank_zero.size());
  if (!in.ok()) return false;
  std::memcpy(index.rank_zero.data(), rank_zero.data(), rank_zero.size());
  // Each takes a byte at least: what is told to be there must be able to be.
  index.strings.resize(in.number(std::min(kMostStrings, in.left())));
  for (std::string& text : index.strings) text = in.text();
  const uint64_t journals = in.number(std::min(kMostIndexed, in.left() / sizeof(JournalId)));
  const auto ids = in.block(journals * sizeof(JournalId));
  if (!in.ok() || index.strings.empty()) return false;
  index.journals.resize(journals);
  IndexedJournal before;
  for (size_t i = 0; i < journals && in.ok(); ++i) {
    IndexedJournal& journal = index.journals[i];
    std::memcpy(journal.id.data(), ids.data() + i * sizeof(JournalId), sizeof(JournalId));
    take_journal(in, before, index.strings.size(), journal);
    before.process_index = journal.process_index;
    before.open = journal.open;
  }
  for (uint64_t left = in.number(journals); left > 0 && in.ok(); --left) {
    IndexedTrouble& trouble = index.troubles.emplace_back();
    trouble.journal = static_cast<uint32_t>(in.number(journals - 1));
    Segment told;
    if (!take_summary(in.block(in.number(in.left())), told)) return false;
    trouble.counters = told.counters;
    trouble.losses = std::move(told.losses);
  }
  return in.ok() && in.left() == 0;
}

enum EventBits : uint8_t { kHasWallTime = 1, kHasDuration = 2 };

std::vector<std::byte> encode_events(const RankIndex& index) {
  FieldWriter out;
  auto event = index.events.begin();
  for (const IndexedJournal& journal : index.journals) {
    int64_t boot_ns = journal.open.boot_ns, value = 0;
    for (uint32_t i = 0; i < journal.events; ++i, ++event) {
      const LiveEvent& live = event->stored.event;
      out.number(static_cast<uint64_t>(live.kind));
      out.number(live.flags);
      out.number((live.has_wall_time ? kHasWallTime : 0) | (live.duration_ns != 0 ? kHasDuration : 0));
      out.number(event->segment);
      out.number(event->stored.slot);
      out.number(live.name);
      out.signed_number(wrapping_subtract(live.boot_ns, boot_ns));
      out.signed_number(wrapping_subtract(live.value, value));
      if (live.has_wall_time) out.signed_number(wrapping_subtract(live.wall_ns, journal.open.wall_ns));
      if (live.duration_ns != 0) out.signed_number(live.duration_ns);
      boot_ns = live.boot_ns;
      value = live.value;
    }
  }
  return out.take();
}

bool take_events(std::span<const std::byte> bytes, RankIndex& index) {
  FieldReader in(bytes);
  const uint64_t last_name = index.strings.size() - 1;
  for (const IndexedJournal& journal : index.journals) {
    int64_t boot_ns = journal.open.boot_ns, value = 0;
    for (uint32_t i = 0; i < journal.events; ++i) {
      IndexedEvent& event = index.events.emplace_back();
      LiveEvent& live = event.stored.event;
      live.kind = static_cast<event::Kind>(in.number(static_cast<uint64_t>(event::kLastKind)));
      live.flags = static_cast<uint8_t>(in.number(0xff));
      const uint64_t bits = in.number(3);
      event.segment = static_cast<uint32_t>(in.number(~uint32_t{0}));
      event.stored.slot = static_cast<uint32_t>(in.number(~uint32_t{0}));
      live.name = static_cast<uint16_t>(in.number(kMoreNames));
      if (live.name != kMoreNames && live.name > last_name) return false;
      live.boot_ns = boot_ns = wrapping_add(boot_ns, in.signed_number());
      live.value = value = wrapping_add(value, in.signed_number());
      live.has_wall_time = (bits & kHasWallTime) != 0;
      if (live.has_wall_time) live.wall_ns = wrapping_add(journal.open.wall_ns, in.signed_number());
      if ((bits & kHasDuration) != 0) live.duration_ns = in.signed_number();
      if (!in.ok()) return false;
    }
  }
  return in.left() == 0;
}

struct Parts {
  RawIndex head;
  std::span<const std::byte> facts, events;
};

/// Their checksums are not looked at yet.
Result<Parts> parts_of(std::span<const std::byte> bytes) {
  RawIndex raw;
  if (bytes.size() < sizeof(raw)) return unreadable("it is cut short");
  std::memcpy(&raw, bytes.data(), sizeof(raw));
  if (raw.magic != kMagic || raw.checksum != checksum_of(raw)) return unreadable("its head is damaged");
  if (raw.version > kVersion) {
    return Status(StatusCode::kUnsupported, "reading an index of ranks of format version " +
                                                std::to_string(raw.version) + ": this program knows " +
                                                std::to_string(kVersion));
  }
  bytes = bytes.subspan(sizeof(raw));
  if (raw.facts_bytes > bytes.size()) return unreadable("it is cut short");
  return Parts{.head = raw, .facts = bytes.first(raw.facts_bytes), .events = bytes.subspan(raw.facts_bytes)};
}

Result<RankIndex> decode(std::span<const std::byte> bytes, bool with_events) {
  ASSIGN_OR_RETURN(const Parts parts, parts_of(bytes));
  RankIndex index;
  if (crc32c(parts.facts) != parts.head.facts_checksum || !take_facts(parts.facts, index)) {
    return unreadable("its facts are damaged");
  }
  if (!with_events) return index;
  if (parts.events.size() != parts.head.events_bytes || crc32c(parts.events) != parts.head.events_checksum ||
      !take_events(parts.events, index)) {
    return unreadable("its events are damaged");
  }
  return index;
}

}  // namespace

bool operator==(const IndexedJournal& a, const IndexedJournal& b) {
  const auto fields = [](const IndexedJournal& journal) {
    return std::tie(journal.id, journal.process_index, journal.pid, journal.open.boot_ns, journal.open.wall_ns,
                    journal.pulse_boot_ns, journal.last_event_boot_ns, journal.folder_modified_ns, journal.attempt_id,
                    journal.host, journal.boot_id, journal.late_p90_ns, journal.late_p99_ns, journal.is_dropped,
                    journal.bytes, journal.events);
  };
  return fields(a) == fields(b) && a.times == b.times;
}

std::optional<uint32_t> RankIndex::place_of(std::string_view text) {
  if (strings.empty()) strings.emplace_back();
  // Few differ: a host for each eight ranks, a boot id for each host.
  for (size_t i = strings.size(); i-- > 0;) {
    if (strings[i] == text) return static_cast<uint32_t>(i);
  }
  if (strings.size() >= kMostStrings) return std::nullopt;
  strings.emplace_back(text);
  return static_cast<uint32_t>(strings.size() - 1);
}

std::vector<std::byte> encode_index(const RankIndex& index) {
  const std::vector<std::byte> facts = encode_facts(index), events = encode_events(index);
  RawIndex raw{.magic = kMagic,
               .version = kVersion,
               .facts_bytes = static_cast<uint32_t>(facts.size()),
               .facts_checksum = crc32c(facts),
               .events_bytes = static_cast<uint32_t>(events.size()),
               .events_checksum = crc32c(events),
               .checksum = 0};
  raw.checksum = checksum_of(raw);
  const auto head = bytes_of(raw);
  std::vector<std::byte> bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), facts.begin(), facts.end());
  bytes.insert(bytes.end(), events.begin(), events.end());
  return bytes;
}

Result<RankIndex> decode_index(std::span<const std::byte> bytes) { return decode(bytes, true); }
Result<RankIndex> decode_index_facts(std::span<const std::byte> bytes) { return decode(bytes, false); }

std::optional<uint32_t> checksum_of_index(std::span<const std::byte> bytes) {
  const Result<Parts> parts = parts_of(bytes);
  const bool is_whole = parts.ok() && crc32c(parts->facts) == parts->head.facts_checksum &&
                        crc32c(parts->events) == parts->head.events_checksum &&
                        parts->events.size() == parts->head.events_bytes;
  return is_whole ? std::optional(parts->head.facts_checksum) : std::nullopt;
}

std::string index_name(const JournalId& rank_zero) { return id_name(rank_zero).append(kSuffix); }

std::optional<JournalId> parse_index_name(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  return parse_id_name(name.substr(0, name.size() - kSuffix.size()));
}

}  // namespace goodput::journal
