// The cursor of a JobLog as bytes: everything that it knows of its journals but what their files say again.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "base/checksum.h"
#include "journal/fields.h"
#include "journal/job_log.h"
#include "journal/predictors.h"
#include "journal/sealed_pages.h"

namespace goodput::journal {
namespace {

constexpr uint32_t kCursorMagic = 0x32435047;  // "GPC2": its last letter is the version
constexpr size_t kHeadBytes = 8;               // magic, checksum of what follows
constexpr uint64_t kMostItems = 1 << 24;       // journals, segments, names: more than a job can have

}  // namespace

/// Each save_ has its load_ beside it: they name the same fields in the same order.
class CursorCodec {
 public:
  static std::vector<std::byte> save(const JobLog& log) {
    FieldWriter out;
    out.block(std::array<std::byte, kHeadBytes>{});
    out.number(log.clocks_.size());
    for (const auto& [boot_id, first] : log.clocks_) {
      out.text(boot_id);
      out.signed_number(first.pair.boot_ns);
      out.signed_number(first.pair.wall_ns);
      out.number(first.is_fixed ? 1 : 0);
    }
    out.signed_number(log.oldest_ns_);
    out.number(log.folders_.size());
    for (const JobLog::RunFolder& folder : log.folders_) save_folder(folder, out);
    const auto is_saved = [](const auto& member) { return !member->is_indexed; };
    out.number(static_cast<uint64_t>(std::count_if(log.members_.begin(), log.members_.end(), is_saved)));
    for (const auto& member : log.members_) {
      if (is_saved(member)) save_member(log, *member, out);
    }
    out.number(log.indexes_.size());
    for (const auto& ranks : log.indexes_) save_index(log, *ranks, out);
    std::vector<std::byte> framed = out.take();
    const std::array<uint32_t, 2> head = {kCursorMagic, crc32c(std::span(framed).subspan(kHeadBytes))};
    std::memcpy(framed.data(), head.data(), kHeadBytes);
    return framed;
  }

  static Status load(std::span<const std::byte> framed, JobLog& log) {
    std::array<uint32_t, 2> head{};
    if (framed.size() < kHeadBytes) return not_ours();
    std::memcpy(head.data(), framed.data(), kHeadBytes);
    const auto body = framed.subspan(kHeadBytes);
    if (head[0] != kCursorMagic || head[1] != crc32c(body)) return not_ours();
    FieldReader in(body);
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      JobLog::FirstReading& first = log.clocks_[in.text()];
      first.pair.boot_ns = in.signed_number();
      first.pair.wall_ns = in.signed_number();
      first.is_fixed = in.number(1) != 0;
    }
    log.set_oldest(in.signed_number());
    if (in.number() != log.folders_.size()) return not_ours();
    for (JobLog::RunFolder& folder : log.folders_) load_folder(in, log, folder);
    std::vector<std::vector<int64_t>> heartbeats;
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      if (!load_member(in, log, heartbeats.emplace_back())) return not_ours();
    }
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      if (!load_index(in, log)) return not_ours();
    }
    if (!in.ok()) return not_ours();
    log.set_clocks();
    log.assign();
    for (size_t i = 0; i < log.members_.size(); ++i) {
      JobLog::Member& member = *log.members_[i];
      if (heartbeats[i].size() > member.view.origins.size()) return not_ours();
      for (size_t k = 0; k < heartbeats[i].size(); ++k) {
        member.heartbeats.push_back(JobLog::heartbeat_of(member, k, heartbeats[i][k]));
      }
    }
    return {};
  }

 private:
  static Status not_ours() {
    return Status(StatusCode::kUnsupported, "going on from a saved cursor: it is damaged or of another version");
  }

  static uint64_t folder_number(const JobLog& log, const Directory* run_folder) {
    uint64_t number = 0;
    while (log.folders_[number].directory.get() != run_folder) ++number;
    return number;
  }

  /// Indexes are referred to: of each as many journals as there are now, but for those that it does not stand for.
  static void save_index(const JobLog& log, const IndexedRanks& ranks, FieldWriter& out) {
    out.number(folder_number(log, ranks.run_folder));
    out.block(std::as_bytes(std::span(ranks.rank_zero)));
    out.number(ranks.count);
    out.number(ranks.checksum);
    out.number(ranks.ids_checksum);
    out.number(ranks.bytes);
    std::vector<uint32_t> left_out = ranks.left_out;
    if (ranks.is_loaded) {
      left_out.clear();
      for (size_t i = 0; i < ranks.count; ++i) {
        if (ranks.places[i] == IndexPlace::kLeftOut) left_out.push_back(static_cast<uint32_t>(i));
      }
    }
    out.number(left_out.size());
    for (const uint32_t place : left_out) out.number(place);
    out.signed_number(ranks.first_event_ns);
    out.signed_number(ranks.last_event_ns);
    out.number(ranks.troubles.size());
    for (const IndexedRanks::Trouble& trouble : ranks.troubles) {
      out.signed_number(trouble.opened_ns);
      Segment told;
      told.counters = trouble.counters;
      told.losses = trouble.losses;
      save_summary(told, out);
    }
  }

  static bool load_index(FieldReader& in, JobLog& log) {
    const uint64_t number = in.number(log.folders_.size() - 1);
    auto ranks = std::make_unique<IndexedRanks>();
    const auto id_bytes = in.block(sizeof(JournalId));
    if (!in.ok()) return false;
    std::memcpy(ranks->rank_zero.data(), id_bytes.data(), id_bytes.size());
    ranks->count = in.number(kMostIndexed);
    ranks->checksum = static_cast<uint32_t>(in.number(~uint32_t{0}));
    ranks->ids_checksum = static_cast<uint32_t>(in.number(~uint32_t{0}));
    ranks->bytes = in.number();
    for (uint64_t left = in.number(ranks->count); left > 0 && in.ok(); --left) {
      ranks->left_out.push_back(static_cast<uint32_t>(in.number(ranks->count - 1)));
    }
    ranks->first_event_ns = in.signed_number();
    ranks->last_event_ns = in.signed_number();
    for (uint64_t left = in.number(ranks->count); left > 0 && in.ok(); --left) {
      IndexedRanks::Trouble& trouble = ranks->troubles.emplace_back();
      trouble.opened_ns = in.signed_number();
      Segment told;
      if (!load_summary(in, told)) return false;
      trouble.counters = told.counters;
      trouble.losses = std::move(told.losses);
    }
    if (!in.ok()) return false;
    JobLog::RunFolder& folder = log.folders_[number];
    ranks->run_folder = folder.directory.get();
    ranks->is_given = true;
    folder.indexes_seen.insert(ranks->rank_zero);
    log.indexes_.push_back(std::move(ranks));
    return is_there(log, folder, *log.indexes_.back());
  }

  /// An index that is what it was need not be looked into.
  static bool is_there(JobLog& log, const JobLog::RunFolder& folder, IndexedRanks& ranks) {
    if (folder.kept == nullptr) return false;
    const auto bytes = read_whole_file(*folder.kept, index_name(ranks.rank_zero), kMaxIndexBytes);
    if (!bytes.ok()) return false;
    const std::optional<uint32_t> checksum = checksum_of_index(*bytes);
    return checksum && (*checksum == ranks.checksum || log.load(ranks));
  }

  static void save_summary(const Segment& told, FieldWriter& out) {
    std::vector<std::byte> summary;
    append_summary(told, summary);
    out.number(summary.size());
    out.block(summary);
  }
  static bool load_summary(FieldReader& in, Segment& told) {
    return take_summary(in.block(in.number(in.left())), told);
  }

  /// A listing that missed nothing need not be made again while the folder is unchanged.
  static void save_folder(const JobLog::RunFolder& folder, FieldWriter& out) {
    out.number(folder.was_listed && folder.is_settled ? 1 : 0);
    out.signed_number(folder.modified_ns);
  }
  static void load_folder(FieldReader& in, const JobLog& log, JobLog::RunFolder& folder) {
    folder.was_listed = folder.is_settled = in.number(1) != 0;
    folder.modified_ns = in.signed_number();
    folder.listed_at_ns = log.clock_->boot_ns();
  }

  static void save_member(const JobLog& log, const JobLog::Member& member, FieldWriter& out) {
    out.block(std::as_bytes(std::span(member.file->id())));
    out.number(folder_number(log, member.run_folder));
    out.number(member.is_given ? 1 : 0);
    save_facts(*member.file, out);
    out.number(member.file->segments_.size());
    for (const SegmentState& segment : member.file->segments_) save_segment(segment, out);
    out.number(member.heartbeats.size());
    for (const event::Event& heartbeat : member.heartbeats) out.signed_number(heartbeat.time_ns);
  }

  static bool load_member(FieldReader& in, JobLog& log, std::vector<int64_t>& heartbeats) {
    JournalId id{};
    const auto id_bytes = in.block(id.size());
    if (!in.ok()) return false;
    std::memcpy(id.data(), id_bytes.data(), id.size());
    const uint64_t folder = in.number();
    if (!in.ok() || folder >= log.folders_.size()) return false;
    JobLog::Member& member = log.add_member(id, log.folders_[folder]);
    member.is_given = in.number(1) != 0;
    member.was_refreshed = true;
    if (!load_facts(in, *member.file)) return false;
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      load_segment(in, member.file->segments_.emplace_back());
    }
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) heartbeats.push_back(in.signed_number());
    return in.ok();
  }

  static void save_facts(const JournalFile& file, FieldWriter& out) {
    const JournalFile::Facts& facts = file.facts_;
    out.number((facts.header ? 1 : 0) | (facts.is_dead ? 2 : 0) | (file.has_ended_ ? 4 : 0) |
               (file.was_listed_ ? 8 : 0));
    if (facts.header) {
      std::array<std::byte, kHeaderBytes> header;
      encode_header(*facts.header, header);
      RawHeader raw;
      std::memcpy(&raw, header.data(), sizeof(raw));
      out.text({reinterpret_cast<const char*>(header.data()), raw.used_bytes});
    }
    out.text(facts.refused);
    out.signed_number(facts.pulse.boot_ns);
    out.signed_number(facts.pulse.wall_ns);
    out.signed_number(facts.last_event_boot_ns);
    // Counters, losses and lanes have their bytes in sealed segments.
    Segment kept;
    kept.counters = facts.counters;
    kept.losses = file.losses_;
    kept.lanes.add_unattributed(file.lanes_.unattributed());
    save_summary(kept, out);
    std::vector<std::byte> lanes;
    for (const LaneExtent& lane : file.lanes_.lanes()) append_lane(lane, lanes);
    out.number(lanes.size());
    out.block(lanes);
    out.number(facts.clock_steps.size());
    for (const ClockStep& step : facts.clock_steps) {
      for (const int64_t field : {step.after.boot_ns, step.after.wall_ns, step.step_ns}) out.signed_number(field);
    }
    out.number(facts.job_starts.size());
    for (const JournalFile::Facts::JobStart& start : facts.job_starts) {
      out.signed_number(start.boot_ns);
      out.number(start.segment);
      out.number(start.slot);
    }
    out.number(file.first_unfinished_);
    out.signed_number(file.folder_modified_ns_);
    out.signed_number(file.ended_boot_ns_);
  }

  static bool load_facts(FieldReader& in, JournalFile& file) {
    JournalFile::Facts& facts = file.facts_;
    const uint64_t bits = in.number(15);
    if ((bits & 1) != 0) {
      const auto header = in.block(in.number(kHeaderBytes));
      Result<LiveHeader> decoded = decode_header(header);
      if (!decoded.ok()) return false;
      file.set_header(*decoded);
    }
    facts.is_dead = (bits & 2) != 0;
    file.has_ended_ = (bits & 4) != 0;
    file.was_listed_ = (bits & 8) != 0;
    facts.refused = in.text();
    facts.pulse.boot_ns = in.signed_number();
    facts.pulse.wall_ns = in.signed_number();
    facts.last_event_boot_ns = in.signed_number();
    Segment kept;
    if (!load_summary(in, kept) || !take_lanes(in.block(in.number(in.left())), kept)) return false;
    facts.counters = kept.counters;
    file.losses_ = kept.losses;
    file.lanes_ = kept.lanes;
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      ClockStep& step = facts.clock_steps.emplace_back();
      for (int64_t* field : {&step.after.boot_ns, &step.after.wall_ns, &step.step_ns}) *field = in.signed_number();
    }
    for (uint64_t left = in.number(kMostItems); left > 0 && in.ok(); --left) {
      JournalFile::Facts::JobStart& start = facts.job_starts.emplace_back();
      start.boot_ns = in.signed_number();
      start.segment = static_cast<uint32_t>(in.number(~uint32_t{0}));
      start.slot = static_cast<uint32_t>(in.number(~uint32_t{0}));
    }
    file.first_unfinished_ = in.number(kMostItems);
    file.folder_modified_ns_ = in.signed_number();
    file.ended_boot_ns_ = in.signed_number();
    return in.ok();
  }

  static void save_segment(const SegmentState& segment, FieldWriter& out) {
    out.number(segment.number);
    out.number((segment.is_finished ? 1 : 0) | (segment.times.has_boot() ? 2 : 0) | (segment.times.has_wall() ? 4 : 0) |
               (segment.is_revived ? 8 : 0));
    out.number(segment.events);
    out.number(segment.kinds);
    if (segment.times.has_boot()) {
      out.signed_number(segment.times.first_boot_ns);
      out.signed_number(segment.times.last_boot_ns - segment.times.first_boot_ns);
    }
    if (segment.times.has_wall()) {
      out.signed_number(segment.times.first_wall_ns);
      out.signed_number(segment.times.last_wall_ns - segment.times.first_wall_ns);
    }
    if (segment.is_finished) return;
    out.number(segment.first_slot);
    out.number(segment.first_untouched_run);
    out.number(segment.consumed.size());
    out.block(std::as_bytes(std::span(segment.consumed)));
  }

  static void load_segment(FieldReader& in, SegmentState& segment) {
    segment.number = static_cast<uint32_t>(in.number(~uint32_t{0}));
    const uint64_t bits = in.number(15);
    segment.is_finished = (bits & 1) != 0;
    segment.is_revived = (bits & 8) != 0;
    segment.events = static_cast<uint32_t>(in.number(~uint32_t{0}));
    segment.kinds = in.number();
    if ((bits & 2) != 0) {
      segment.times.first_boot_ns = in.signed_number();
      segment.times.last_boot_ns = wrapping_add(segment.times.first_boot_ns, in.signed_number());
    }
    if ((bits & 4) != 0) {
      segment.times.first_wall_ns = in.signed_number();
      segment.times.last_wall_ns = wrapping_add(segment.times.first_wall_ns, in.signed_number());
    }
    if (segment.is_finished) return;
    segment.first_slot = static_cast<uint32_t>(in.number(~uint32_t{0}));
    segment.first_untouched_run = static_cast<uint32_t>(in.number(~uint32_t{0}));
    const auto consumed = in.block(in.number(kMaxReadableSegmentBytes / kRunBytes));
    segment.consumed.resize(consumed.size());
    if (!consumed.empty()) std::memcpy(segment.consumed.data(), consumed.data(), consumed.size());
  }
};

std::vector<std::byte> JobLog::cursor() const { return CursorCodec::save(*this); }

Status JobLog::resume(std::span<const std::byte> cursor) { return CursorCodec::load(cursor, *this); }

}  // namespace goodput::journal
