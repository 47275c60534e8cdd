// Any bytes as a sealed segment. One half of the inputs are what blocks hold, framed and given their checksums, so that
// the decoders behind the checksums are reached.
//
// The first byte chooses; then a framed input is a sequence of (kind, items:16, length:16, bytes).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include "base/fault_file_system.h"
#include "base/status.h"
#include "journal/event_batch.h"
#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_blocks.h"
#include "journal/sealed_pages.h"
#include "journal/sealed_reader.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

const SegmentHint kHint{SegmentFixture::header().journal_id, 1};

std::vector<std::byte> framed(std::span<const std::byte> input) {
  const LiveHeader live = SegmentFixture::header();
  std::vector<std::byte> front, events;
  uint16_t number = 0, event_blocks = 0;
  uint32_t event_count = 0;
  Compressor compressor;
  while (input.size() >= 5) {
    uint16_t items = 0, length = 0;
    std::memcpy(&items, input.data() + 1, 2);
    std::memcpy(&length, input.data() + 3, 2);
    const auto kind = static_cast<BlockKind>(1 + static_cast<unsigned>(input[0]) % 5);
    const auto plain = input.subspan(5, std::min<size_t>(length, input.size() - 5));
    input = input.subspan(5 + plain.size());
    const Compressor::Stored stored = compressor.store(plain);
    if (stored.bytes.size() > kMaxStoredBytes) continue;
    const bool is_events = kind == BlockKind::kEvents;
    if (is_events) event_count += items;
    const RawBlock head{.magic = 0,
                        .checksum = 0,
                        .plain_bytes = 0,
                        .stored_bytes = 0,
                        .number = is_events ? event_blocks++ : number++,
                        .items = items,
                        .kind = kind,
                        .is_compressed = 0};
    append_stored_block(is_events ? events : front, live.seed(), head, stored, plain.size());
  }
  const auto front_bytes = static_cast<uint32_t>(sealed_header_bytes(live) + front.size());
  std::vector<std::byte> file;
  append_sealed_header(file,
                       {.file_bytes = static_cast<uint32_t>(front_bytes + events.size()),
                        .front_bytes = front_bytes,
                        .events = event_count,
                        .event_blocks = event_blocks},
                       live);
  file.insert(file.end(), front.begin(), front.end());
  file.insert(file.end(), events.begin(), events.end());
  return file;
}

void read_blocks(std::span<const std::byte> bytes) {
  MemoryFileSystem files;
  const std::unique_ptr<Directory> folder = std::move(files.open_directory("")).value();
  const std::unique_ptr<File> file = std::move(folder->open_file("f", Access::kCreate)).value();
  CHECK(file->write_at(0, bytes).ok());
  Decompressor decompressor;
  EventColumns columns;
  EventBatch batch;
  for (const auto mode : {SealedReader::Mode::kBlocks, SealedReader::Mode::kWhole}) {
    Result<SealedReader> reader = SealedReader::open(*file, kHint, mode, decompressor);
    if (!reader.ok()) continue;
    for (size_t i = 0; i < reader->blocks().size(); ++i) {
      if (!reader->read(i, columns)) continue;
      batch.clear();
      batch.append(columns, {.names = &reader->front().names});
      batch.sort();
    }
  }
}

}  // namespace
}  // namespace goodput::journal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* start, size_t size) {
  using namespace goodput::journal;
  if (size == 0) return 0;
  const auto input = std::as_bytes(std::span(start + 1, size - 1));
  const std::vector<std::byte> file =
      start[0] % 2 == 0 ? std::vector<std::byte>(input.begin(), input.end()) : framed(input);
  const goodput::Result<Segment> segment = recover_sealed(file, kHint);
  read_blocks(file);
  if (segment.ok()) {
    // What was read can be sealed again, whatever it is.
    const goodput::Result<Segment> again = recover_sealed(seal_segment(*segment), kHint);
    CHECK(again.ok() && again->events.size() == segment->events.size());
  }
  return 0;
}
