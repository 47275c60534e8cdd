// How far a log has been read, so that what comes late is not missed and nothing is given twice.
//
//   cursor.begin_pass(now_ns);                     // goes on with one that was broken off
//   if (cursor.take(timestamp_ns, received_ns, insert_id)) use(entry);          // false: it was given before
//   cursor.end_pass();
//   save(cursor.text());   …   Result<LogCursor> again = LogCursor::parse(text);
//
// A pass reads by timestamp: everything at first, later what has come in since shortly before the last pass began. What
// is late has an old timestamp and a new time of receipt. What one pass gave and the next may find is remembered by
// time and id. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/status.h"

namespace goodput::store {

/// Entries are found seconds after they were written; minutes are what trouble in the service takes.
constexpr int64_t kOverlapNs = 300'000'000'000;

class LogCursor {
 public:
  void begin_pass(int64_t now_ns);
  /// Whether it is new. Entries of a pass come by timestamp.
  bool take(int64_t timestamp_ns, int64_t received_ns, std::string_view insert_id);
  /// Forgets what will not be found again.
  void forget();
  void end_pass();

  /// This pass asks for entries with this timestamp or a later one: further than where it was broken off.
  [[nodiscard]] int64_t pass_from_ns() const { return pass_at_ns_; }
  /// … which came in since; nothing: for all of them.
  [[nodiscard]] std::optional<int64_t> news_from_ns() const { return news_from_ns_; }
  [[nodiscard]] bool has_given_any() const { return newest_received_ns_ > 0; }
  [[nodiscard]] size_t remembered() const { return given_.size(); }

  [[nodiscard]] std::string text() const;
  /// kInvalidArgument: it is none of ours.
  static Result<LogCursor> parse(std::string_view text);

 private:
  [[nodiscard]] int64_t next_news_from_ns() const;

  std::optional<int64_t> news_from_ns_;
  std::optional<int64_t> pass_began_ns_;  ///< nothing: none is under way
  int64_t pass_at_ns_ = 0;
  int64_t newest_received_ns_ = 0;
  std::set<std::pair<int64_t, std::string>> given_;             ///< (timestamp, insertId)
  std::set<std::tuple<int64_t, int64_t, std::string>> by_age_;  ///< the same after the later of both times
};

}  // namespace goodput::store
