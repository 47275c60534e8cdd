// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/fault_file_system.h"
#include "journal/sealed_fixture.h"
#include "journal/sealed_pages.h"
#include "journal/sealed_reader.h"

namespace goodput::journal {
namespace {

using event::Kind;

/// Steps of 350 ms with 1 % of Gaussian jitter, as many as the segment holds.
Segment reference_stream(uint32_t segment_bytes, bool with_loads) {
  SegmentFixture live(SegmentFixture::header(1, segment_bytes));
  std::mt19937_64 random(1);
  std::normal_distribution<double> step_ns(350e6, 3.5e6), load_ns(20e6, 1e6);
  int64_t boot_ns = 5'000'000'000;
  for (int64_t step = 0;; ++step) {
    if (with_loads) {
      const auto load = static_cast<int64_t>(load_ns(random));
      live.append({.kind = Kind::kDataLoadingStart, .boot_ns = boot_ns + 1'000 + static_cast<int64_t>(random() % 300)});
      live.append({.kind = Kind::kDataLoadingEnd, .boot_ns = boot_ns + load});
    }
    boot_ns += static_cast<int64_t>(step_ns(random));
    if (!live.append({.kind = Kind::kStepStart, .boot_ns = boot_ns, .value = step})) break;
  }
  return recover_live(live.bytes()).value();
}

double bytes_per_event(const Segment& segment) {
  return static_cast<double>(seal_segment(segment).size()) / static_cast<double>(segment.events.size());
}

// Entropy of the jitter: 2.97 bytes. 3.5 is the goal; 3.19 and 2.63 were seen.
TEST(Sealed, TheReferenceStreamTakesLessThanThreeAndAHalfBytesAnEvent) {
  EXPECT_LE(bytes_per_event(reference_stream(kMaxSegmentBytes, false)), 3.3);
  EXPECT_LE(bytes_per_event(reference_stream(kMaxSegmentBytes, true)), 2.8);
}

TEST(Sealed, AFixedCadenceTakesNextToNothing) {
  SegmentFixture live(SegmentFixture::header(1, kMaxSegmentBytes));
  for (int64_t step = 0; live.append({.kind = Kind::kStepStart, .boot_ns = step * 350'000'000, .value = step});
       ++step) {
  }
  EXPECT_LE(bytes_per_event(recover_live(live.bytes()).value()), 0.1);
}

void expect_same(const Segment& a, const Segment& b) {
  ASSERT_EQ(a.events.size(), b.events.size());
  for (size_t i = 0; i < a.events.size(); ++i) {
    ASSERT_TRUE(same_event(a.events[i].event, b.events[i].event)) << i;
    ASSERT_EQ(a.events[i].slot, b.events[i].slot) << i;
  }
  EXPECT_EQ(a.header, b.header);
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.lanes, b.lanes);
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.counters.counts, b.counters.counts);
  EXPECT_EQ(a.clock.pairs, b.clock.pairs);
  EXPECT_EQ(a.clock.latest.boot_ns, b.clock.latest.boot_ns);
  EXPECT_EQ(a.clock.latest.wall_ns, b.clock.latest.wall_ns);
  ASSERT_EQ(a.clock.step_count, b.clock.step_count);
  for (size_t i = 0; i < a.clock.step_count; ++i) EXPECT_EQ(a.clock.steps[i].step_ns, b.clock.steps[i].step_ns);
}

TEST(Sealed, EverythingSurvives) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 40; ++round) {
    Segment segment = random_segment(random, round % 2 == 0 ? kMinSegmentBytes : 4 * kMinSegmentBytes);
    const std::vector<std::byte> file = seal_segment(segment);
    const Result<Segment> back = recover_sealed(file);
    ASSERT_TRUE(back.ok()) << back.status().message();
    expect_same(segment, *back);
    EXPECT_EQ(seal_segment(*back), file);
  }
}

TEST(Sealed, AnEmptySegmentSurvives) {
  SegmentFixture live(SegmentFixture::header(3));
  const Segment segment = recover_live(live.bytes()).value();
  expect_same(segment, recover_sealed(seal_segment(segment)).value());
}

TEST(Sealed, MoreNamesThanAPageSurvive) {
  Segment segment;
  segment.header = SegmentFixture::header();
  for (uint16_t id = 1; id <= 3'000; ++id) {
    segment.names.add(id, "gs://bucket/run/checkpoint/" + std::to_string(id * 977) + std::string(id % 700, 'x'));
    segment.events.push_back({{.kind = Kind::kCustomStart, .name = id, .boot_ns = id, .number = id}, 300U + id});
    segment.lanes.add(0, id, id + 1U, 1);
  }
  expect_same(segment, recover_sealed(seal_segment(segment)).value());
}

TEST_F(SealedDamage, ATruncatedFileKeepsTheBlocksBelowTheCut) {
  const SegmentHint hint{segment_.header.journal_id, segment_.header.segment_number};
  size_t most_gone = segment_.events.size();
  for (size_t size = 0; size < file_.size(); size += 61) {
    const Result<Segment> got = recover_sealed(std::span(file_).first(size), hint);
    ASSERT_TRUE(got.ok());
    const size_t gone = lost(*got);
    ASSERT_LE(gone, most_gone) << size;
    most_gone = gone;
    ASSERT_LE(gone, stated(*got)) << size;
    if (size >= read_sealed_header(file_)->sizes.front_bytes) {
      ASSERT_EQ(stated(*got), stated(segment_) + gone) << size;
    }
  }
  EXPECT_EQ(most_gone, 0u);
}

TEST_F(SealedDamage, TheReaderOfBlocksSaysTheSame) {
  MemoryFileSystem files;
  std::unique_ptr<Directory> folder = std::move(files.open_directory("")).value();
  std::unique_ptr<File> file = std::move(folder->open_file("f", Access::kCreate)).value();
  Decompressor decompressor;
  EventColumns columns;
  const SegmentHint hint{segment_.header.journal_id, segment_.header.segment_number};
  for (size_t bit = 0; bit < file_.size() * 8; bit += 211) {
    file_[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    ASSERT_TRUE(file->write_at(0, file_).ok());
    const Segment expected = recover_sealed(file_, hint).value();
    for (const auto mode : {SealedReader::Mode::kBlocks, SealedReader::Mode::kWhole}) {
      Result<SealedReader> reader = SealedReader::open(*file, hint, mode, decompressor);
      ASSERT_TRUE(reader.ok()) << bit;
      std::vector<StoredEvent> events;
      uint64_t unread = 0;
      for (size_t i = 0; i < reader->blocks().size(); ++i) {
        if (!reader->read(i, columns)) {
          unread += reader->blocks()[i].events;
          continue;
        }
        for_each_event(columns, [&](const LiveEvent& event, uint32_t slot) { events.push_back({event, slot}); });
      }
      ASSERT_EQ(events.size(), expected.events.size()) << bit;
      for (size_t i = 0; i < events.size(); ++i) ASSERT_TRUE(same_event(events[i].event, expected.events[i].event));
      ASSERT_EQ(stated(reader->front()) + unread, stated(expected)) << bit;
      ASSERT_EQ(reader->front().names, expected.names) << bit;
    }
    file_[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
  }
}

}  // namespace
}  // namespace goodput::journal
