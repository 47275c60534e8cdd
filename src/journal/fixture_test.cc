// The kept journal of each format version is read as it was written.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/file_system.h"
#include "journal/folder_names.h"
#include "journal/recover.h"

namespace goodput::journal {
namespace {

constexpr const char* kFolder = "tests/fixtures/journal-v1";

std::string number(double value) {
  if (value != value) return "";
  std::ostringstream text;
  text << std::hexfloat << value;
  return text.str();
}

std::string line_of(uint32_t segment, const StoredEvent& stored, const NameTable& names) {
  const LiveEvent& event = stored.event;
  std::ostringstream line;
  line << segment << ',' << stored.slot << ',' << event.lane << ',' << event.number << ','
       << static_cast<int>(event.kind) << ',' << static_cast<int>(event.flags) << ',' << names[event.name] << ','
       << event.boot_ns << ',' << event.value << ',' << (event.has_wall_time ? std::to_string(event.wall_ns) : "")
       << ',' << event.duration_ns << ',' << number(event.tokens) << ',' << number(event.samples) << ','
       << number(event.flops);
  return line.str();
}

Segment read(uint32_t segment_number, SegmentForm form) {
  const auto folder = std::move(posix_file_system().open_directory(kFolder)).value();
  const auto bytes = read_whole_file(*folder, segment_name(segment_number, form), 1 << 20).value();
  return recover_segment(bytes).value();
}

TEST(Fixture, Version1IsReadAsItWasWritten) {
  const Segment first = read(1, SegmentForm::kSealed), second = read(2, SegmentForm::kLive);
  std::ifstream file(std::string(kFolder) + "/expected.csv");
  std::string expected;
  std::getline(file, expected);  // the names of the columns
  size_t lines = 0;
  for (const Segment* segment : {&first, &second}) {
    for (const StoredEvent& event : segment->events) {
      ASSERT_TRUE(std::getline(file, expected));
      ASSERT_EQ(line_of(segment->header.segment_number, event, segment->names), expected);
      ++lines;
    }
  }
  EXPECT_FALSE(std::getline(file, expected)) << "an event is missing: " << expected;
  EXPECT_EQ(lines, 2136u);

  EXPECT_EQ(first.header.job, "llama-7b");
  EXPECT_EQ(first.header.attempt_id, "77.0");
  EXPECT_EQ(first.header.open_wall_ns, 1'767'225'600'000'000'000);
  ASSERT_EQ(first.losses.size(), 1u);
  EXPECT_EQ(first.losses[0], (Loss{.reason = LossReason::kDamagedSlot, .at_most = true, .events = 3, .bytes = 96}));
  EXPECT_TRUE(second.losses.empty());
  for (const Segment* segment : {&first, &second}) {
    EXPECT_EQ(segment->names.texts().size(), 20u);
    EXPECT_EQ(segment->clock.pairs, 2);
    EXPECT_EQ(segment->clock.latest.wall_ns, 1'767'225'600'000'000'001);
    ASSERT_EQ(segment->clock.step_count, 1u);
    EXPECT_EQ(segment->clock.steps[0].step_ns, -3'600'000'000'000);
    EXPECT_EQ(segment->counters[Counter::kSlowStepNumber], 2u);
    EXPECT_EQ(segment->lanes.lanes().size(), 3u);
  }
}

}  // namespace
}  // namespace goodput::journal
