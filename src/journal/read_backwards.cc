// SPDX-License-Identifier: Apache-2.0
#include "journal/read_backwards.h"

#include "journal/folder_names.h"
#include "journal/recover.h"
#include "journal/sealed_reader.h"

namespace goodput::journal {
namespace {

class BackwardsReader {
 public:
  BackwardsReader(uint64_t kinds, Decompressor& decompressor, FunctionRef<bool(const StoredPart&)> visit)
      : kinds_(kinds), decompressor_(&decompressor), visit_(visit) {}

  /// False when `visit` has seen enough.
  bool read(Directory& folder, const SegmentHint& hint) {
    const auto file = folder.open_file(segment_name(hint.segment_number, SegmentForm::kSealed), Access::kRead);
    if (file.ok()) {
      Result<SealedReader> reader = SealedReader::open(**file, hint, SealedReader::Mode::kBlocks, *decompressor_);
      if (reader.ok()) return read_sealed(*reader, hint.segment_number);
    }
    return read_live(folder, hint);
  }

 private:
  bool read_sealed(SealedReader& reader, uint32_t number) {
    for (size_t i = reader.blocks().size(); i-- > 0;) {
      if ((reader.blocks()[i].kinds & kinds_) == 0 || !reader.read(i, columns_)) continue;
      wanted_.clear();
      for_each_event(columns_, [&](const LiveEvent& event, uint32_t slot) { keep({event, slot}); });
      if (!visit_({number, wanted_, reader.front().names})) return false;
    }
    return true;
  }

  bool read_live(Directory& folder, const SegmentHint& hint) {
    const auto bytes =
        read_whole_file(folder, segment_name(hint.segment_number, SegmentForm::kLive), kMaxReadableSegmentBytes);
    if (!bytes.ok()) return true;
    const Result<Segment> segment = recover_live(*bytes, hint);
    if (!segment.ok()) return true;
    wanted_.clear();
    for (const StoredEvent& stored : segment->events) keep(stored);
    return visit_({hint.segment_number, wanted_, segment->names});
  }

  void keep(const StoredEvent& stored) {
    if ((kinds_ >> static_cast<unsigned>(stored.event.kind) & 1) != 0) wanted_.push_back(stored);
  }

  uint64_t kinds_;
  Decompressor* decompressor_;
  FunctionRef<bool(const StoredPart&)> visit_;
  EventColumns columns_;
  std::vector<StoredEvent> wanted_;
};

}  // namespace

void read_backwards(Directory& run_folder, const JournalFile& journal, uint64_t kinds, Decompressor& decompressor,
                    FunctionRef<bool(const StoredPart&)> visit) {
  const auto folder = run_folder.open_directory(id_name(journal.id()));
  if (!folder.ok()) return;
  BackwardsReader reader(kinds, decompressor, visit);
  for (size_t i = journal.segments().size(); i-- > 0;) {
    if (!reader.read(**folder, {journal.id(), journal.segments()[i].number})) return;
  }
}

}  // namespace goodput::journal
