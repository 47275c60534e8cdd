// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "journal/clock_slots.h"
#include "journal/counters.h"
#include "journal/definitions.h"
#include "journal/live_event.h"
#include "journal/live_header.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// A segment in memory, written as the recorder writes one: one lane, slots in order from the first run.
class SegmentBytes {
 public:
  explicit SegmentBytes(const LiveHeader& header) : header_(header), bytes_(header.segment_bytes) {
    std::array<std::byte, kHeaderBytes> copy;
    encode_header(header, copy);
    std::memcpy(bytes_.data(), copy.data(), copy.size());
    std::memcpy(bytes_.data() + layout().mirror_page_offset, copy.data(), copy.size());
  }
  SegmentBytes(const LiveHeader& header, std::vector<std::byte> bytes) : header_(header), bytes_(std::move(bytes)) {}

  void define(uint16_t id, std::string_view text) {
    put_definition(bytes_.data() + layout().definitions_offset, bytes_.data() + layout().mirror_definitions_offset,
                   definitions_, id, text, header_.seed());
    definitions_ += definition_bytes(text);
  }
  void append(LiveEvent event) {
    std::array<Slot, kMaxEventSlots> slots;
    const unsigned count = encode_event(event, slots);
    for (unsigned i = 0; i < count; ++i, ++slots_) {
      Slot& slot = slots[i];
      if (i + 1 == count) {
        slot.boot_ns = static_cast<uint64_t>(event.boot_ns);
        slot.place = pack_place(event.lane, slots_);
      }
      const uint32_t index = layout().runs_offset / kSlotBytes + slots_;
      slot.head |= slot_checksum(header_.seed(), index, slot);
      std::memcpy(bytes_.data() + size_t{index} * kSlotBytes, &slot, sizeof(slot));
    }
  }
  void put_clock_slot(uint32_t clock_slot, const Slot& slot) {
    std::memcpy(bytes_.data() + kClockSlotsOffset + size_t{clock_slot} * kSlotBytes, &slot, sizeof(slot));
  }
  void put_counter(Counter counter, uint64_t count) {
    const uint64_t word = pack_counter(header_.seed(), counter, count);
    for (const size_t page : {size_t{0}, size_t{layout().mirror_page_offset}}) {
      std::memcpy(bytes_.data() + page + kCountersOffset + static_cast<size_t>(counter) * 8, &word, sizeof(word));
    }
  }

  [[nodiscard]] std::vector<LiveEvent> events() const {
    std::vector<LiveEvent> found;
    std::vector<Slot> attached;
    for (uint32_t i = layout().runs_offset / kSlotBytes; i < layout().mirror_definitions_offset / kSlotBytes; ++i) {
      Slot slot;
      std::memcpy(&slot, bytes_.data() + size_t{i} * kSlotBytes, sizeof(slot));
      if (!is_intact(header_.seed(), i, slot)) continue;
      if (head_kind(slot.head) >= kFirstSlotKind) {
        attached.push_back(slot);
        continue;
      }
      LiveEvent event;
      EXPECT_EQ(head_attachments(slot.head), attached.size());
      EXPECT_TRUE(decode_event(slot, attached, event));
      attached.clear();
      found.push_back(event);
    }
    return found;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::byte> first_page() const { return bytes().first(kPageBytes); }
  [[nodiscard]] std::span<const std::byte> mirror_page() const { return bytes().subspan(layout().mirror_page_offset); }
  [[nodiscard]] std::vector<Definition> definitions() const {
    return read_definitions(bytes().subspan(layout().definitions_offset, layout().definitions_bytes),
                            bytes().subspan(layout().mirror_definitions_offset, layout().definitions_bytes),
                            header_.seed());
  }
  [[nodiscard]] LiveLayout layout() const { return header_.layout(); }
  std::vector<std::byte>& raw() { return bytes_; }

 private:
  LiveHeader header_;
  std::vector<std::byte> bytes_;
  uint32_t definitions_ = 0;
  uint32_t slots_ = 0;
};

LiveHeader example_header() {
  LiveHeader header;
  for (size_t i = 0; i < header.journal_id.size(); ++i) header.journal_id[i] = static_cast<uint8_t>(0x10 + i);
  header.open_boot_ns = 5'000'000'000;
  header.open_wall_ns = 1'767'225'600'000'000'000;
  header.pid = 4242;
  header.accelerators = 8;
  header.job = "llama-7b";
  header.attempt_id = "77.0";
  header.host = "node-3";
  header.boot_id = "b";
  header.accelerator_type = "H100";
  header.writer = "goodput 0.1.0";
  header.labels = {{"team", "nlp"}};
  return header;
}

/// The segment of the worked example in docs/formats/journal.md.
SegmentBytes example_segment() {
  SegmentBytes segment(example_header());
  const uint32_t seed = example_header().seed();
  segment.define(1, "eval");
  segment.define(2, "gs://ckpt/7b");
  segment.append({.kind = Kind::kJobStart, .boot_ns = 5'000'001'000});
  segment.append({.kind = Kind::kStepStart, .boot_ns = 5'100'000'000, .value = 120});
  segment.append({.kind = Kind::kStepStart, .boot_ns = 5'450'000'000, .value = 121, .tokens = 4096, .flops = 2.5e15});
  segment.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = 5'500'000'000});
  segment.append({.kind = Kind::kCheckpointSave,
                  .flags = event::kHasStep,
                  .name = 2,
                  .boot_ns = 5'900'000'000,
                  .value = 121,
                  .has_wall_time = true,
                  .wall_ns = 1'767'225'600'600'000'000,
                  .duration_ns = 250'000'000});
  segment.put_clock_slot(1, make_clock_pair(seed, 1, 1, {6'000'000'000, 1'767'225'601'000'000'000}));
  segment.put_counter(Counter::kNoSpace, 3);
  return segment;
}

std::string hex_line(std::span<const std::byte> bytes, size_t offset) {
  std::ostringstream out;
  out << std::hex;
  out.fill('0');
  out.width(5);
  out << offset << " ";
  for (size_t i = 0; i < 16; ++i) {
    out << (i == 8 ? "  " : " ");
    out.width(2);
    out << static_cast<int>(bytes[offset + i]);
  }
  return out.str();
}

/// Every line of 16 bytes that is not all zero, but the mirrors.
std::string dump(const SegmentBytes& segment) {
  std::string text;
  for (size_t at = 0; at < segment.layout().mirror_definitions_offset; at += 16) {
    const auto line = segment.bytes().subspan(at, 16);
    if (std::any_of(line.begin(), line.end(), [](std::byte b) { return b != std::byte{0}; })) {
      text += hex_line(segment.bytes(), at) + "\n";
    }
  }
  return text;
}

/// The lines between "```hex" and "```" under the heading, without what follows the bytes.
std::string documented_dump(const std::string& heading) {
  std::ifstream file("docs/formats/journal.md");
  std::string text;
  bool under_heading = false;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) under_heading = line.find(heading) != std::string::npos;
    if (line.starts_with("```")) {
      inside = under_heading && line == "```hex";
    } else if (inside) {
      text += line.substr(0, std::string("00000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00").size()) + "\n";
    }
  }
  return text;
}

void parse_dump(const std::string& text, std::vector<std::byte>& bytes) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    size_t offset = 0;
    in >> std::hex >> offset;
    for (unsigned byte = 0; in >> byte;) bytes.at(offset++) = static_cast<std::byte>(byte);
  }
}

TEST(LiveFormat, DocumentShowsTheBytesThatAreWritten) {
  EXPECT_EQ(documented_dump("Worked example: a live segment"), dump(example_segment()));
}

TEST(LiveFormat, DocumentedBytesReadAsTheDocumentSays) {
  std::vector<std::byte> bytes(kMinSegmentBytes);
  parse_dump(documented_dump("Worked example: a live segment"), bytes);
  const Result<LiveHeader> header = find_header(bytes);
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(*header, example_header());

  const SegmentBytes segment(*header, bytes);
  const std::vector<Definition> names = segment.definitions();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].text, "eval");
  EXPECT_EQ(names[1].id, 2);
  EXPECT_EQ(names[1].text, "gs://ckpt/7b");

  const std::vector<LiveEvent> events = segment.events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[1].kind, Kind::kStepStart);
  EXPECT_EQ(events[1].value, 120);
  EXPECT_EQ(events[1].boot_ns, 5'100'000'000);
  EXPECT_FALSE(events[1].has_work());
  EXPECT_EQ(events[2].tokens, 4096);
  EXPECT_TRUE(std::isnan(events[2].samples));
  EXPECT_EQ(events[2].flops, 2.5e15);
  EXPECT_EQ(events[2].number, 3U) << "its attached slot is number 2";
  EXPECT_EQ(events[3].name, 1);
  EXPECT_TRUE(events[4].has_wall_time);
  EXPECT_EQ(events[4].wall_ns, 1'767'225'600'600'000'000);
  EXPECT_EQ(events[4].duration_ns, 250'000'000);
  EXPECT_EQ(events[4].flags, event::kHasStep);

  EXPECT_EQ(read_clock_slots(segment.first_page(), header->seed()).latest.boot_ns, 6'000'000'000);
  EXPECT_EQ(read_counters(segment.first_page(), segment.mirror_page(), header->seed()).lost_events(), 3U);
}

TEST(LiveFormat, EitherHeaderWillDo) {
  SegmentBytes segment = example_segment();
  for (const size_t at : {size_t{0}, size_t{8}, size_t{40}, size_t{100}}) {
    SegmentBytes damaged = segment;
    damaged.raw()[at] ^= std::byte{1};
    const Result<LiveHeader> header = find_header(damaged.bytes());
    ASSERT_TRUE(header.ok()) << "flipped byte " << at << ": " << header.status().message();
    EXPECT_EQ(*header, example_header());
  }
  segment.raw().resize(kPageBytes);
  EXPECT_TRUE(find_header(segment.bytes()).ok()) << "the tail is cut off";
}

TEST(LiveFormat, NewerVersionIsRefusedWithBothNamed) {
  SegmentBytes segment = example_segment();
  for (const size_t page : {size_t{0}, size_t{segment.layout().mirror_page_offset}}) {
    set_header_version(std::span(segment.raw()).subspan(page), 7);
  }
  const Status status = find_header(segment.bytes()).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_EQ(status.message(), "reading a live segment of format version 7 with a program that knows version 1");
}

TEST(LiveFormat, FlippedBitOfASlotIsDetectedAndItsNeighboursStand) {
  const SegmentBytes segment = example_segment();
  const uint32_t index = segment.layout().runs_offset / kSlotBytes + 1;
  for (size_t bit = 0; bit < size_t{8} * kSlotBytes; ++bit) {
    SegmentBytes damaged = segment;
    damaged.raw()[size_t{index} * kSlotBytes + bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_EQ(damaged.events().size(), 4U) << "bit " << bit;
  }
}

TEST(LiveFormat, SlotInAnotherPlaceOrSegmentIsNoSlot) {
  SegmentBytes segment = example_segment();
  const uint32_t seed = example_header().seed();
  const uint32_t index = segment.layout().runs_offset / kSlotBytes;
  Slot slot;
  std::memcpy(&slot, segment.raw().data() + size_t{index} * kSlotBytes, sizeof(slot));
  EXPECT_TRUE(is_intact(seed, index, slot));
  EXPECT_FALSE(is_intact(seed, index + 1, slot));
  EXPECT_FALSE(is_intact(segment_seed(example_header().journal_id, 2), index, slot));
}

TEST(LiveFormat, DefinitionSurvivesDamageToEitherArea) {
  const SegmentBytes segment = example_segment();
  for (const uint32_t area : {segment.layout().definitions_offset, segment.layout().mirror_definitions_offset}) {
    for (size_t bit = 0; bit < 8 * definition_bytes("eval"); ++bit) {
      SegmentBytes damaged = segment;
      damaged.raw()[area + bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
      const std::vector<Definition> names = damaged.definitions();
      ASSERT_EQ(names.size(), 2U) << "bit " << bit;
      EXPECT_EQ(names[0].text, "eval");
    }
  }
}

TEST(LiveFormat, DefinitionDamagedTwiceCostsThatNameOnly) {
  SegmentBytes damaged = example_segment();
  damaged.raw()[damaged.layout().definitions_offset + 9] ^= std::byte{4};
  damaged.raw()[damaged.layout().mirror_definitions_offset + 6] ^= std::byte{64};  // its length
  const std::vector<Definition> names = damaged.definitions();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].text, "gs://ckpt/7b");
}

TEST(LiveFormat, DamagedCounterIsTakenFromItsMirror) {
  SegmentBytes segment = example_segment();
  const uint32_t seed = example_header().seed();
  for (size_t bit = 0; bit < 64; ++bit) {
    SegmentBytes damaged = segment;
    damaged.raw()[kCountersOffset + bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_EQ(read_counters(damaged.first_page(), damaged.mirror_page(), seed)[Counter::kNoSpace], 3U) << bit;
  }
}

TEST(LiveFormat, LatestClockPairOfTwoIsRead) {
  SegmentBytes segment = example_segment();
  const uint32_t seed = example_header().seed();
  segment.put_clock_slot(0, make_clock_pair(seed, 0, 2, {7'000'000'000, 1'767'225'602'000'000'000}));
  segment.put_clock_slot(2, make_clock_step(seed, 2, {6'500'000'000, 1'767'225'600'500'000'000}, -1'000'000'000));
  ClockSlots seen = read_clock_slots(segment.first_page(), seed);
  EXPECT_EQ(seen.latest.boot_ns, 7'000'000'000);
  ASSERT_EQ(seen.step_count, 1U);
  EXPECT_EQ(seen.steps[0].step_ns, -1'000'000'000);
  segment.raw()[kClockSlotsOffset + 8] ^= std::byte{1};
  seen = read_clock_slots(segment.first_page(), seed);
  EXPECT_EQ(seen.latest.boot_ns, 6'000'000'000) << "the pair before it";
}

TEST(LiveFormat, LongTextsAreCutAtACharacterAndLabelsLeftOut) {
  LiveHeader header = example_header();
  header.job = std::string(kMaxJobBytes - 1, 'x') + "é";
  for (int i = 0; i < 20; ++i) header.labels.emplace_back("key" + std::to_string(i), std::string(200, 'v'));
  std::array<std::byte, kHeaderBytes> bytes;
  const size_t left_out = encode_header(header, bytes);
  const Result<LiveHeader> read = decode_header(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->job, std::string(kMaxJobBytes - 1, 'x'));
  EXPECT_EQ(read->labels.size() + left_out, header.labels.size());
  EXPECT_GT(left_out, 0U);
  EXPECT_EQ(read->labels[1].second.size(), 200U);
}

// What a reader takes from a slot is what a writer could have meant, so that it survives sealing.
TEST(LiveFormat, ATimeThatASlotDoesNotTellIsNone) {
  const Slot head{pack_head(static_cast<uint8_t>(Kind::kCheckpointSave), 1, 0, kNoName), 0, 3, 0};
  LiveEvent event;
  const Slot without{pack_head(kTimesSlot, 0, 0, 0), 77, 5, 0};
  ASSERT_TRUE(decode_event(head, {&without, 1}, event));
  EXPECT_FALSE(event.has_wall_time);
  EXPECT_EQ(event.wall_ns, 0);
  EXPECT_EQ(event.duration_ns, 5);
  const Slot with{pack_head(kTimesSlot, 0, 0, 0), 77, 5, 1};
  ASSERT_TRUE(decode_event(head, {&with, 1}, event));
  EXPECT_EQ(event.wall_ns, 77);
}

TEST(LiveFormat, WorkThatASlotDoesNotTellIsNoneWhateverNaNStandsThere) {
  const Slot head{pack_head(static_cast<uint8_t>(Kind::kStepStart), 1, 0, 0), 0, 0, 0};
  constexpr uint64_t kNaN = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
  for (const uint64_t nan : {~uint64_t{0}, uint64_t{0x7ff0'0000'0000'0001}, kNaN | uint64_t{1} << 63}) {
    for (int told = 0; told < 3; ++told) {
      std::array<uint64_t, 3> words = {nan, nan, nan};
      words[static_cast<size_t>(told)] = std::bit_cast<uint64_t>(4096.0);
      LiveEvent event;
      const Slot slot{pack_head(kWorkSlot, 0, 0, 0), words[0], words[1], words[2]};
      ASSERT_TRUE(decode_event(head, {&slot, 1}, event));
      const std::array<double, 3> read = {event.tokens, event.samples, event.flops};
      for (int i = 0; i < 3; ++i) {
        const double expected = i == told ? 4096.0 : std::numeric_limits<double>::quiet_NaN();
        EXPECT_EQ(std::bit_cast<uint64_t>(read[static_cast<size_t>(i)]), std::bit_cast<uint64_t>(expected)) << i;
      }
    }
  }
}

TEST(LiveFormat, SliceCountsKeep21BitsEach) {
  const SliceCounts counts = unpack_slices(pack_slices({.active = 3, .total = 5'000'000, .available = -1}));
  EXPECT_EQ(counts.active, 3);
  EXPECT_EQ(counts.total, kMaxSlices);
  EXPECT_EQ(counts.available, 0);
}

}  // namespace
}  // namespace goodput::journal
