// Events that are known already, written as the sealed segments of a journal: what an import and a simulation make.
//
//   SealedWriter writer(draft.folder(), header, SealedWriter::Form::kRecorded);
//   for (const event::Event& event : events) RETURN_IF_ERROR(writer.append(event));
//   RETURN_IF_ERROR(writer.finish());
//
// Events come by time. Boot time is wall time: the header's two clocks must be equal. One thread; memory is that of one
// segment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "journal/segment.h"

namespace goodput::journal {

/// As many events as fill a live segment of 2 MiB: 200 KiB sealed, 10 MiB while it is made.
constexpr size_t kEventsPerSegment = 65'536;

class SealedWriter {
 public:
  enum class Form : uint8_t {
    kRecorded,  ///< as the process itself would have: its heartbeats become its liveness
    kImported,  ///< with place in the log, fingerprint and origin, as the log that it comes from has them
  };

  /// `folder` outlives it, and has segments up to number `written`: none, but for a journal that grows. The number in
  /// `header` is set here.
  SealedWriter(Directory& folder, LiveHeader header, Form form, size_t events_per_segment = kEventsPerSegment,
               uint32_t written = 0)
      : folder_(&folder),
        form_(form),
        header_(std::move(header)),
        events_per_segment_(events_per_segment),
        written_(written) {}

  /// At its own time.
  Status append(const event::Event& event) { return append(event, event.time_ns); }
  /// Recorded at another time than its own; of an entry without one, where it stands among the others.
  Status append(const event::Event& event, int64_t at_ns);
  /// To be kept with the journal; before finish().
  void count(Counter counter, uint64_t count) { counters_[counter] += count; }

  /// Writes what is left. A journal without any event has one segment, too.
  Status finish();

 private:
  [[nodiscard]] LiveEvent live_event(const event::Event& event, int64_t at_ns);
  uint16_t name_id(std::string_view text);
  [[nodiscard]] bool is_full() const;
  Status write_segment();

  Directory* folder_;
  Form form_;
  LiveHeader header_;
  size_t events_per_segment_;
  uint32_t written_;
  CounterValues counters_;
  ClockPair alive_{};
  int64_t pairs_ = 0;
  uint64_t number_ = 0;  // in the only lane

  std::vector<StoredEvent> events_;  // of the segment being made
  std::map<std::string, uint16_t, std::less<>> names_;
  size_t name_bytes_ = 0;
  uint32_t slot_ = 0;
  uint64_t first_number_ = 0;
  const event::Origin* latest_origin_ = nullptr;
  uint16_t latest_origin_id_ = kNoName;
};

}  // namespace goodput::journal
