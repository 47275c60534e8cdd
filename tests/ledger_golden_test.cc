// The ledger agrees with every figure of every golden case, whatever order and batches the events arrive in.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "golden_case.h"
#include "golden_figures.h"
#include "property/ledger_engine.h"
#include "reference/histories.h"

namespace goodput::property {
namespace {

using golden::GoldenCase;
using ::testing::IsEmpty;

class LedgerGolden : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { golden_ = golden::load_golden_case(GetParam()); }

  std::unique_ptr<Engine> make(const ledger::Sizes& sizes) {
    return ledger_maker(sizes)(golden::reference_options(golden_));
  }

  /// Every figure of the case, of the whole, of windows and with exclusions.
  void expect_all(Engine& engine) {
    Figures figures = engine.figures(golden_.now_ns);
    *figures["findings.malformed_entry"].number += static_cast<double>(golden_.log->malformed_entries);
    EXPECT_THAT(golden::differences(flatten(golden_.expected), figures, 1e-5), IsEmpty());
    for (const GoldenCase::Window& window : golden_.windows) {
      const Figures got = engine.window(golden_.now_ns, {window.from_ns, window.to_ns, {}});
      EXPECT_THAT(golden::differences(flatten(window.expected), got, 1e-5), IsEmpty());
    }
    for (const GoldenCase::Exclusion& exclusion : golden_.exclusions) {
      const Figures got = engine.window(golden_.now_ns, {std::numeric_limits<int64_t>::min(),
                                                         std::numeric_limits<int64_t>::max(), exclusion.intervals_ns});
      EXPECT_THAT(golden::differences(flatten(exclusion.expected), got, 1e-5), IsEmpty());
    }
  }

  GoldenCase golden_;
};

TEST_P(LedgerGolden, ColdAgrees) {
  auto engine = make({});
  engine->add(golden_.log->events);
  expect_all(*engine);
}

TEST_P(LedgerGolden, OneByOneInSmallStretchesAgrees) {
  auto engine = make(small_sizes());
  for (const event::Event& event : golden_.log->events) {
    engine->add({&event, 1});
    engine->figures(golden_.now_ns);
  }
  expect_all(*engine);
}

TEST_P(LedgerGolden, ShuffledBatchesAgree) {
  for (const uint64_t seed : {1, 2, 3}) {
    auto engine = make(small_sizes());
    const std::vector<event::Event> events = reference::shuffled(golden_.log->events, seed);
    for (size_t at = 0; at < events.size();) {
      const size_t length = std::min<size_t>(1 + (at * 7 + seed) % 13, events.size() - at);
      engine->add(std::span(events).subspan(at, length));
      at += length;
      if (at % 3 == 0) engine->figures(golden_.now_ns);
    }
    expect_all(*engine);
  }
}

std::string file_name(const ::testing::TestParamInfo<std::string>& path) {
  std::string name = path.param.substr(path.param.rfind('/') + 1);
  name.erase(name.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, LedgerGolden,
                         ::testing::ValuesIn(golden::golden_case_paths("tests/golden/conformance")), file_name);
INSTANTIATE_TEST_SUITE_P(Own, LedgerGolden, ::testing::ValuesIn(golden::golden_case_paths("tests/golden/own")),
                         file_name);

}  // namespace
}  // namespace goodput::property
