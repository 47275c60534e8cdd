// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "journal/recover.h"
#include "journal/seal.h"
#include "journal/sealed_pages.h"
#include "journal/segment_fixture.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// The segment of both worked examples.
Segment example_segment() {
  LiveHeader header = SegmentFixture::header();
  header.boot_id = "b";
  header.accelerators = 8;
  header.accelerator_type = "H100";
  header.labels = {{"team", "nlp"}};
  SegmentFixture live(header);
  live.define(1, "eval");
  live.define(2, "gs://ckpt/7b");
  live.append({.kind = Kind::kJobStart, .boot_ns = 5'000'001'000});
  live.append({.kind = Kind::kStepStart, .boot_ns = 5'100'000'000, .value = 120});
  live.append({.kind = Kind::kStepStart, .boot_ns = 5'450'000'000, .value = 121, .tokens = 4096, .flops = 2.5e15});
  live.append({.kind = Kind::kCustomStart, .name = 1, .boot_ns = 5'500'000'000});
  live.append({.kind = Kind::kCheckpointSave,
               .flags = event::kHasStep,
               .name = 2,
               .boot_ns = 5'900'000'000,
               .value = 121,
               .has_wall_time = true,
               .wall_ns = 1'767'225'600'600'000'000,
               .duration_ns = 250'000'000});
  live.alive_at({6'000'000'000, 1'767'225'601'000'000'000}, 1);
  live.put_counter(Counter::kNoSpace, 3);
  return recover_live(live.bytes()).value();
}

struct DocumentedLine {
  size_t offset = 0;
  std::vector<std::byte> bytes;
};

/// The lines of the example: five digits of offset, up to 16 bytes, and after three blanks what they mean.
std::vector<DocumentedLine> documented_lines() {
  std::ifstream file("docs/formats/journal.md");
  std::vector<DocumentedLine> lines;
  bool under_heading = false, inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) under_heading = line.find("Worked example: a sealed segment") != std::string::npos;
    if (line.starts_with("```")) {
      inside = under_heading && line == "```hex";
      continue;
    }
    if (!inside) continue;
    DocumentedLine& parsed = lines.emplace_back();
    parsed.offset = std::stoul(line.substr(0, 5), nullptr, 16);
    std::istringstream words(line.substr(5, std::string("  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00").size()));
    for (std::string word; words >> word;)
      parsed.bytes.push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
  }
  return lines;
}

TEST(SealedFormat, DocumentedBytesReadAsTheDocumentSays) {
  const Segment example = example_segment();
  std::vector<std::byte> file(765);
  for (const DocumentedLine& line : documented_lines()) {
    ASSERT_LE(line.offset + line.bytes.size(), file.size());
    std::copy(line.bytes.begin(), line.bytes.end(), file.begin() + static_cast<ptrdiff_t>(line.offset));
  }
  // What the document leaves out: the live header, and the second half, which repeats the first.
  std::array<std::byte, kHeaderBytes> live_header;
  encode_header(example.header, live_header);
  std::copy_n(live_header.begin(), 0xc7 - 0x28, file.begin() + 0x28);
  const auto part = [&](size_t begin, size_t end) { return std::span(file).subspan(begin, end - begin); };
  std::vector<std::byte> second_half;
  for (const auto& repeated : {part(0x137, 0x15f), part(0x11f, 0x137), part(0xc7, 0xf0), part(0, 0xc7)}) {
    second_half.insert(second_half.end(), repeated.begin(), repeated.end());
  }
  ASSERT_EQ(second_half.size(), file.size() - 0x1cd);
  std::copy(second_half.begin(), second_half.end(), file.begin() + 0x1cd);

  // Blocks this small are stored as they are: the bytes do not depend on the version of zstd.
  EXPECT_EQ(seal_segment(example), file);
  const Result<Segment> read = recover_sealed(file);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->losses.empty());
  EXPECT_EQ(read->header, example.header);
  ASSERT_EQ(read->events.size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(same_event(read->events[i].event, example.events[i].event)) << i;
  EXPECT_EQ(read->events[4].slot, 262u);
  EXPECT_EQ(read->names[2], "gs://ckpt/7b");
  EXPECT_EQ(read->clock.latest.boot_ns, 6'000'000'000);
}

TEST(SealedFormat, ANewerVersionIsRefusedWithBothNamed) {
  std::vector<std::byte> file = seal_segment(example_segment());
  const size_t header_bytes = sealed_header_bytes(example_segment().header);
  for (const size_t at : {size_t{0}, file.size() - header_bytes}) {
    RawSealedHeader raw;
    std::memcpy(&raw, file.data() + at, sizeof(raw));
    raw.version = 12;
    std::memcpy(file.data() + at, &raw, sizeof(raw));
    raw.checksum = crc32c_around(std::span(file).subspan(at, raw.used_bytes), offsetof(RawSealedHeader, checksum));
    std::memcpy(file.data() + at, &raw, sizeof(raw));
  }
  const SegmentHint hint{SegmentFixture::header().journal_id, 1};
  for (const auto& given : {std::optional<SegmentHint>(), std::optional(hint)}) {
    const Status refused = recover_sealed(file, given).status();
    EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
    EXPECT_EQ(refused.message(), "reading a sealed segment of format version 12 with a program that knows version 1");
  }
}

}  // namespace
}  // namespace goodput::journal
