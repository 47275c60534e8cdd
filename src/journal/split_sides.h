// Of which of two runs an event is, when a run is split.
//
//   const SplitSides sides(log, request);
//   switch (sides.of(member)) { case Side::kByEvent: … sides.is_second(member, segment, stored) … }
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "journal/split_run.h"

namespace goodput::journal {

enum class Side : uint8_t { kFirst, kSecond, kByEvent };

class SplitSides {
 public:
  /// Both outlive it.
  SplitSides(const JobLog& log, const SplitRequest& request) : log_(&log), request_(&request) {}

  [[nodiscard]] Side of(const JobLog::Member& member) const;
  /// Of one that is divided by event.
  [[nodiscard]] bool is_second(const JobLog::Member& member, const Segment& segment, const StoredEvent& stored) const;

 private:
  [[nodiscard]] bool is_second_attempt(std::string_view id) const { return request_->attempts.contains(id); }
  [[nodiscard]] Side of_attempts(const JobLog::Member& member) const;

  const JobLog* log_;
  const SplitRequest* request_;
};

}  // namespace goodput::journal
