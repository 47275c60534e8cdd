// The events of one job, read from a file that somebody else wrote.
//
// Takes JSON Lines of payloads (caches of ml-goodput-measurement, our own exports), of log entries, of Pub/Sub
// messages, and arrays of these (`gcloud logging read --format=json`), told apart entry by entry.
//
//   ASSIGN_OR_RETURN(std::unique_ptr<ImportedLog> log, import_log("events.jsonl", {.job = "llama-7b"}));
//   RETURN_IF_ERROR(log->for_each_in_log_order([&](std::span<const event::Event> events) { …; return true; }));
//   RETURN_IF_ERROR(log->read(from_ns, to_ns, sink));          // the same by time
//
// Everything that is an event of the job is given, twice if it is there twice: what counts is the ledger's to decide.
// One thread. Memory is bounded (ImportOptions::memory_bytes and some 30 MB), a temporary file takes the rest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "event/source.h"
#include "importers/entry_reader.h"
#include "importers/event_store.h"

namespace goodput::importers {

struct ImportOptions {
  std::string job = {};                     ///< empty: the only one that the file has
  size_t memory_bytes = 64UL << 20;         ///< of events, as they are kept (some 3 million)
  size_t max_entry_bytes = kMaxEntryBytes;  ///< longer lines are skipped and counted
  std::string temporary_directory = {};     ///< empty: TMPDIR, else /var/tmp
  std::function<void(uint64_t done_bytes, uint64_t total_bytes)> progress =
      {};  ///< about once a megabyte; total 0: unknown
};

/// Entries of the job, or of nobody in particular, that were not used as they stood.
struct ImportLoss {
  std::string reason = {};  ///< in words, to follow "line 7: "
  uint64_t count = 0;
  uint64_t first_line = 0;  ///< of the file, from 1
  bool skipped = true;      ///< false: used after a repair (bytes that were not UTF-8)
};

class ImportedLog final : public event::Source {
 public:
  ~ImportedLog() override;

  [[nodiscard]] const std::string& job() const;
  /// Events of the job, untimed ones included.
  [[nodiscard]] uint64_t events() const;
  [[nodiscard]] uint64_t untimed_events() const;
  /// What was not used as it stood, in the order of first appearance.
  [[nodiscard]] const std::vector<ImportLoss>& losses() const;
  /// Whether events come by time when they come in the order of the log.
  [[nodiscard]] bool in_time_order() const;
  /// Positions are those that the entries tell in `sequence`, as every one does; else they are {0, number of the
  /// entry}.
  [[nodiscard]] bool has_sequences() const;

  /// Hands over every event in the order of positions, untimed ones (kUntimed) included, until `sink` returns false.
  /// Names and details are valid during the call of `sink`, origins as long as this log.
  Status for_each_in_log_order(Sink sink) const;

  /// Only the untimed ones, in the order of positions.
  Status for_each_untimed(Sink sink) const;

  /// See event::Source: timed events, by (time, position).
  Status read(int64_t from_ns, int64_t to_ns, Sink sink) override;

 private:
  friend class Importer;
  struct State;
  explicit ImportedLog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Reads a file ("-": standard input) to its end. Failures: kPermissionDenied and kUnreadable (no such file, a
/// directory, not a log at all), kNoSpace (temporary file), kInvalidArgument (several jobs and none asked for; the
/// message names them), kNotFound (a log, but no event of the job in it).
Result<std::unique_ptr<ImportedLog>> import_log(const std::string& path, const ImportOptions& options);

}  // namespace goodput::importers
