// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/event_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "base/status.h"
#include "exporters/proto/tensorboard.pb.h"

namespace goodput::exporters {
namespace {

constexpr int64_t kNow = 1'767'225'600'000'000'000;

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    char two[4];
    std::snprintf(two, sizeof(two), "%s%02x", out.empty() ? "" : " ", static_cast<unsigned>(static_cast<uint8_t>(c)));
    out += two;
  }
  return out;
}

/// The events of a file's bytes; checks the lengths.
std::vector<tensorboard::Event> events_of(std::string_view bytes) {
  std::vector<tensorboard::Event> events;
  while (!bytes.empty()) {
    uint64_t size = 0;
    CHECK(bytes.size() >= 16);
    std::memcpy(&size, bytes.data(), sizeof(size));
    CHECK(bytes.size() >= 16 + size);
    CHECK(events.emplace_back().ParseFromArray(bytes.data() + 12, static_cast<int>(size)));
    bytes.remove_prefix(16 + size);
  }
  return events;
}

// The bytes were worked out from the format's field tables, not by this program.
TEST(EventRecords, TheFileBeginsWithItsVersion) {
  EventRecords records(kNow);
  EXPECT_EQ(
      hex(records.take()),
      "18 00 00 00 00 00 00 00 a3 7f 4b 22 09 00 00 00 40 6e 55 da 41 1a 0d 62 72 61 69 6e 2e 45 76 65 6e 74 3a 32 "
      "c3 48 6d fc");
}

TEST(EventRecords, AScalarIsWrittenByteForByteAsTheFormatSays) {
  EventRecords records(kNow);
  (void)records.take();
  records.scalar("goodput/goodput", 100, kNow + 60'000'000'000, 87.5);
  EXPECT_EQ(
      hex(records.take()),
      "3d 00 00 00 00 00 00 00 60 49 f1 ec 09 00 00 00 4f 6e 55 da 41 10 64 2a 30 0a 2e 0a 0f 67 6f 6f 64 70 75 74 "
      "2f 67 6f 6f 64 70 75 74 15 00 00 af 42 4a 16 0a 09 0a 07 73 63 61 6c 61 72 73 12 07 67 6f 6f 64 70 75 74 20 "
      "01 48 b9 29 d0");
}

TEST(EventRecords, OnlyTheFirstScalarOfATagCarriesItsName) {
  EventRecords records(kNow);
  for (int64_t step = 1; step <= 2; ++step) {
    records.scalar("step_deviation", step, kNow, 0.5);
    records.scalar("badput/custom_badput_events/eval set", step, kNow, 1);
  }
  const std::vector<tensorboard::Event> events = events_of(records.take());
  ASSERT_EQ(events.size(), 5U);
  std::vector<std::string> tags, names;
  for (size_t i = 1; i < events.size(); ++i) {
    tags.push_back(events[i].summary().value(0).tag());
    names.push_back(events[i].summary().value(0).metadata().display_name());
  }
  EXPECT_THAT(tags, testing::ElementsAre("step_deviation", "badput/custom_badput_events/eval_set", "step_deviation",
                                         "badput/custom_badput_events/eval_set"));
  EXPECT_THAT(names, testing::ElementsAre("step_deviation", "eval set", "", ""));
  EXPECT_EQ(events[4].step(), 2);
}

TEST(EventRecords, ScalarsAfterATextAreWhole) {
  EventRecords records(kNow);
  records.scalar("a", 1, kNow, 1);
  records.text("disruptions", 1, kNow, "**SIGKILL** at step 1");
  records.scalar("a", 2, kNow, 2);
  const std::vector<tensorboard::Event> events = events_of(records.take());
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2].summary().value(0).tensor().string_val(0), "**SIGKILL** at step 1");
  EXPECT_EQ(events[3].summary().value(0).tag(), "a");
  EXPECT_EQ(events[3].summary().value(0).simple_value(), 2);
  EXPECT_FALSE(events[3].summary().value(0).has_metadata());
}

TEST(EventRecords, TagsAreCleanedAsTheIncumbentsAre) {
  EXPECT_EQ(clean_tag("//a b:c/\xc3\xa9.d-e_f"), "a_b_c/_.d-e_f");
  EXPECT_EQ(clean_tag("/"), "");
}

}  // namespace
}  // namespace goodput::exporters
