// The reference agrees with every figure of every golden case: what it says may then be held against the ledger.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_case.h"
#include "golden_figures.h"

namespace goodput::golden {
namespace {

using ::testing::IsEmpty;

class GoldenReference : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenReference, AgreesInEveryFigure) {
  const GoldenCase golden = load_golden_case(GetParam());
  const auto job = reference::account(golden.log->events, reference_options(golden));
  ASSERT_TRUE(job.has_value());
  EXPECT_THAT(differences(flatten(golden.expected), reference_figures(*job, golden.log->malformed_entries)), IsEmpty());
  for (const GoldenCase::Window& window : golden.windows) {
    EXPECT_THAT(differences(flatten(window.expected), reference_window(*job, window.from_ns, window.to_ns, {})),
                IsEmpty())
        << "window from " << window.from_ns << " to " << window.to_ns;
  }
  for (const GoldenCase::Exclusion& exclusion : golden.exclusions) {
    const auto got = reference_window(*job, job->figures.start_ns, job->figures.end_ns, exclusion.intervals_ns);
    EXPECT_THAT(differences(flatten(exclusion.expected), got), IsEmpty());
  }
}

std::string file_name(const ::testing::TestParamInfo<std::string>& path) {
  std::string name = path.param.substr(path.param.rfind('/') + 1);
  name.erase(name.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, GoldenReference,
                         ::testing::ValuesIn(golden_case_paths("tests/golden/conformance")), file_name);
INSTANTIATE_TEST_SUITE_P(Own, GoldenReference, ::testing::ValuesIn(golden_case_paths("tests/golden/own")), file_name);

// What a case expects is compared at all: a figure that is off, one that is missing and one that is too many each show.
TEST(GoldenDifferences, ShowWhatIsOff) {
  const Figures want = flatten(parse_json(R"({"goodput_seconds": 1.5, "badput_seconds": {"OTHER": 2}, "end": null})"));
  EXPECT_THAT(differences(want, want), IsEmpty());
  const Figures got = flatten(parse_json(R"({"goodput_seconds": 1.5001, "badput_seconds": {"STALLED": 1}, "end": 3})"));
  EXPECT_THAT(
      differences(want, got),
      ::testing::ElementsAre("badput_seconds.OTHER: 0 instead of 2", "end: 3 instead of null",
                             "goodput_seconds: 1.5001 instead of 1.5", "badput_seconds.STALLED: 1 instead of 0"));
}

}  // namespace
}  // namespace goodput::golden
