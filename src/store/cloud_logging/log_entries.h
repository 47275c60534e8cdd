// A job's events as log entries, and requests that hold as many as Cloud Logging takes.
//
//   EntryBatch batch("llama-7b", run_id, request_opening);
//   while (batch.add(event)) …                       // false: it is full, send it first
//   client.send({.url = …, .body = batch.body()});
//
// An event gives the same bytes each time: its insertId is a function of the job and the event's place in its log, its
// timestamp is when it was recorded, so that what is sent again is found once. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event/event.h"
#include "event/payload_writer.h"

namespace goodput::store {

/// The service refuses requests beyond 10 MB and entries beyond 256 KiB, as it counts them; what it adds to either is
/// not told, hence the room.
constexpr size_t kMaxRequestBytes = 5'000'000;
constexpr size_t kMaxEntryBytes = 240'000;
constexpr size_t kMaxEntries = 1'000;

/// Increases as text with the event's place in its log.
std::string insert_id(const event::Event& event, uint64_t job_hash);

/// Of a job and its run: the same in every process.
uint64_t job_hash(std::string_view job, std::string_view run_id);

class EntryBatch {
 public:
  /// `opening`: the request up to its entries, as open_request() gives it.
  EntryBatch(std::string_view job, std::string_view run_id, std::string opening);

  enum class Added : uint8_t {
    kYes,
    kFull,     ///< nothing was changed
    kTooLong,  ///< by itself longer than an entry may be: it can never be sent
  };
  Added add(const event::Event& event);

  [[nodiscard]] size_t size() const { return count_; }
  /// The whole request.
  [[nodiscard]] std::string body() const { return opening_ + entries_ + "]}"; }
  void clear();

 private:
  event::PayloadWriter writer_;
  uint64_t job_hash_;
  std::string opening_;
  std::string entries_;
  std::string entry_;  // the one that is being made
  size_t count_ = 0;
};

}  // namespace goodput::store
