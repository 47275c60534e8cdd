// Golden cases: a job's log as payloads, and every figure that is right for it (tests/golden/README.md has the format).
//
// The reading of JSON is the tests' own and exact: numbers are taken as the decimals that are written.
//
//   GoldenCase golden = load_golden_case("tests/golden/conformance/edge-16.json");
//   std::optional<reference::Accounting> job = reference::account(golden.log->events, {.now_ns = golden.now_ns});
//   EXPECT_THAT(differences(golden.expected, *job, {}), IsEmpty());
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "event/event.h"

namespace goodput::golden {

/// A parsed JSON value that keeps numbers as they were written.
struct Json {
  enum class Type : uint8_t { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };
  Type type = Type::kNull;
  std::string text;  ///< of a number or string
  std::vector<Json> items;
  std::map<std::string, Json> members;

  [[nodiscard]] bool is(Type wanted) const { return type == wanted; }
  /// The member of that name, or null.
  [[nodiscard]] const Json* find(const std::string& name) const;
  /// The member of that name; stops the test program where it is missing.
  [[nodiscard]] const Json& at(const std::string& name) const;
  [[nodiscard]] double number() const;
};

/// Stops the test program when the text is no JSON.
Json parse_json(const std::string& text);

/// Seconds as written in nanoseconds, half to even; empty when it is no number or above `most_ns` or negative.
std::optional<int64_t> nanoseconds(const Json* seconds, int64_t most_ns = event::kMaxTimeNs);

/// The events of a log of payloads, and the text that they point to. Positions are {0, place in the log}.
struct PayloadLog {
  std::vector<event::Event> events;
  int64_t malformed_entries = 0;
  std::deque<std::string> strings;
  std::deque<event::Origin> origins;
  std::deque<event::Detail> details;
};

std::unique_ptr<PayloadLog> read_payloads(const std::vector<Json>& payloads, const std::string& job_name);

struct GoldenCase {
  std::string name;
  int64_t now_ns = 0;
  std::optional<double> dead_after_seconds, stall_factor, stall_floor_seconds;  ///< empty: the default
  Json expected;
  struct Window {
    int64_t from_ns, to_ns;
    Json expected;
  };
  struct Exclusion {
    std::vector<std::pair<int64_t, int64_t>> intervals_ns;
    Json expected;
  };
  std::vector<Window> windows;
  std::vector<Exclusion> exclusions;
  std::unique_ptr<PayloadLog> log;
};

/// Stops the test program when the file is not a case.
GoldenCase load_golden_case(const std::string& path);

/// Paths of all cases of the folder, sorted.
std::vector<std::string> golden_case_paths(const std::string& folder);

}  // namespace goodput::golden
