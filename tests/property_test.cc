// Random histories: whatever order and batches events arrive in, wherever an engine resumes, the answer is the
// reference's, and time is conserved in every window.
//
// GOODPUT_HISTORIES sets how many histories each promise is held to, GOODPUT_HISTORY the first seed.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "property/checks.h"
#include "property/engine.h"
#include "property/ledger_engine.h"
#include "reference/histories.h"

namespace goodput::property {
namespace {

using Check = Lines (*)(const EngineMaker&, const Events&, int64_t, uint64_t);

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string joined(const Lines& lines) {
  std::string text;
  for (size_t k = 0; k < std::min<size_t>(lines.size(), 12); ++k) text += "  " + lines[k] + "\n";
  return text;
}

/// Holds an engine to a promise over many histories; prints the smallest history that breaks it.
void hold(const EngineMaker& make, Check check, uint64_t histories) {
  const uint64_t first = number_from("GOODPUT_HISTORY", 1);
  for (uint64_t seed = first; seed < first + number_from("GOODPUT_HISTORIES", histories); ++seed) {
    const reference::History history = reference::random_history(seed);
    const auto wrong = [&](const Events& events) { return check(make, events, history.now_ns, seed); };
    if (wrong(history.events).empty()) continue;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);  // long histories shrink slowly
    const Events few = smallest_failure(history.events, [&](const Events& events) {
      return std::chrono::steady_clock::now() < until && !wrong(events).empty();
    });
    FAIL() << "seed " << seed << ", now " << history.now_ns << ":\n" << joined(wrong(few)) << print(few);
  }
}

std::unique_ptr<Engine> make_reference(const Options& options) { return std::make_unique<ReferenceEngine>(options); }

// The reference itself keeps the promises that do not need a second opinion.
TEST(ReferenceProperty, AnyArrivalOrderGivesOneAnswer) { hold(make_reference, every_poll_equals_reference, 300); }
TEST(ReferenceProperty, TimeIsConservedInEveryWindow) { hold(make_reference, windows_equal_reference, 1'000); }

/// An engine with one fault, to see that the checks find it.
class FaultyEngine : public ReferenceEngine {
 public:
  using ReferenceEngine::ReferenceEngine;
  Figures figures(int64_t now_ns) override {
    Figures figures = ReferenceEngine::figures(now_ns);
    const auto wasted = figures.find("badput_seconds.WASTED_PROGRESS");
    if (wasted != figures.end()) wasted->second.number = wasted->second.number.value_or(0) + 2e-6;
    return figures;
  }
};

TEST(PropertyChecks, FindAFaultOfTwoMicroseconds) {
  const EngineMaker make = [](const Options& options) { return std::make_unique<FaultyEngine>(options); };
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const reference::History history = reference::random_history(seed);
    const Lines lines = cold_equals_reference(make, history.events, history.now_ns, seed);
    found += lines.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 20u);
}

TEST(PropertyChecks, ShrinkToTheEventsThatMatter) {
  uint64_t seed = 1;
  while (reference::random_history(seed).events.size() <= 20) ++seed;
  const reference::History history = reference::random_history(seed);
  const uint64_t wanted = history.events[17].fingerprint;
  const Events few = smallest_failure(history.events, [&](const Events& events) {
    return std::any_of(events.begin(), events.end(), [&](const auto& event) { return event.fingerprint == wanted; });
  });
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0].fingerprint, wanted);
}

// The ledger, as it is and with everything that it keeps made small.
TEST(LedgerProperty, ColdEqualsReference) { hold(ledger_maker({}), cold_equals_reference, 2'500); }
TEST(LedgerProperty, ColdInSmallStretchesEqualsReference) {
  hold(ledger_maker(small_sizes()), cold_equals_reference, 2'500);
}
TEST(LedgerProperty, EveryPollEqualsReference) {
  hold(ledger_maker(small_sizes()), every_poll_equals_reference, 2'000);
}
TEST(LedgerProperty, ResumedEqualsReference) { hold(ledger_maker(small_sizes()), resumed_equals_reference, 1'500); }
TEST(LedgerProperty, WindowsEqualReference) { hold(ledger_maker(small_sizes()), windows_equal_reference, 1'500); }

}  // namespace
}  // namespace goodput::property
