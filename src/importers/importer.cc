// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>

#include "event/payload.h"
#include "importers/event_sort.h"
#include "importers/import_state.h"
#include "importers/input_file.h"
#include "importers/log_entry.h"

namespace goodput::importers {
namespace {

using event::Payload;
using event::Verdict;

/// A log entry in a Pub/Sub message in what a pull prints.
constexpr int kMaxEnvelopes = 3;
constexpr size_t kMaxJobsNamed = 20;

std::string temporary_directory(const std::string& asked_for) {
  if (!asked_for.empty()) return asked_for;
  const char* const from_environment = std::getenv("TMPDIR");
  // Not /tmp, which is memory on many machines: what is spooled is what memory is not to hold.
  return from_environment != nullptr && *from_environment != '\0' ? from_environment : "/var/tmp";
}

std::string in_quotes(const std::string& name) { return '"' + name + '"'; }

}  // namespace

/// One reading of one file.
class Importer {
 public:
  Importer(InputFile& input, const ImportOptions& options);

  Result<std::unique_ptr<ImportedLog>> run();

 private:
  Status take(const Entry& entry);
  const Payload* open(std::string_view text, std::optional<Envelope>& envelope);
  bool belongs(const Payload& payload);
  Status store(const Payload& payload, const std::optional<Envelope>& envelope);
  void lose(std::string_view reason, bool skipped = true);
  void count_order(const StoredEvent& stored);
  Status settle();
  Status sort_log(Order order);
  Status sort_by_time();
  Status nothing_found() const;
  std::string jobs_named() const;

  InputFile& input_;
  const ImportOptions& options_;
  EntryReader entries_;
  event::PayloadReader reader_;
  std::unique_ptr<ImportedLog::State> state_;
  std::string inner_;

  std::optional<std::string> job_;    // asked for, or the first met
  std::set<std::string> other_jobs_;  // no more than kMaxJobsNamed
  uint64_t ordinal_ = 0;
  uint64_t line_ = 0;
  uint64_t objects_ = 0;  // entries that were JSON objects
  int64_t entry_timestamp_ns_ = 0;
  bool any_envelope_ = false;
  uint64_t sequences_ = 0;
  event::Position latest_position_;
  int64_t latest_ns_ = 0;
  bool positions_ascend_ = true;
  bool times_ascend_ = true;
};

Importer::Importer(InputFile& input, const ImportOptions& options)
    : input_(input),
      options_(options),
      entries_(input, options.max_entry_bytes),
      state_(std::make_unique<ImportedLog::State>(options.memory_bytes,
                                                  temporary_directory(options.temporary_directory))) {
  state_->log = std::make_unique<EventStore>(state_->spool, state_->origins);
  if (!options.job.empty()) job_ = options.job;
}

Result<std::unique_ptr<ImportedLog>> Importer::run() {
  uint64_t told_bytes = 0;
  for (Entry entry;; ++ordinal_) {
    ASSIGN_OR_RETURN(const bool more, entries_.next(entry));
    if (options_.progress && input_.bytes_read() != told_bytes) {
      told_bytes = input_.bytes_read();
      options_.progress(told_bytes, input_.size());
    }
    if (!more) break;
    line_ = entry.line;
    RETURN_IF_ERROR(take(entry));
  }
  if (entries_.ended_inside_array()) lose("the file ends inside an array: what followed is not there");
  RETURN_IF_ERROR(state_->log->finish());
  if (options_.job.empty() && !other_jobs_.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "reading " + input_.name() + ": it has events of several jobs, one must be named: " + jobs_named());
  }
  if (state_->log->events() == 0) return nothing_found();
  RETURN_IF_ERROR(settle());
  state_->job = job_.value_or("");
  return std::unique_ptr<ImportedLog>(new ImportedLog(std::move(state_)));
}

Status Importer::take(const Entry& entry) {
  if (entry.too_long) {
    lose("it is longer than " + std::to_string(options_.max_entry_bytes >> 20) + " MiB");
    return {};
  }
  std::optional<Envelope> envelope;
  const Payload* const payload = open(entry.text, envelope);
  if (payload == nullptr) {
    ++objects_;
    lose("what it wraps cannot be read");
    return {};
  }
  if (payload->flaw != event::Flaw::kNotAnObject) ++objects_;
  if (payload->verdict == Verdict::kMalformed) {
    if (!job_ || payload->is_of(*job_)) lose(words_for(payload->flaw));
    return {};
  }
  if (payload->verdict != Verdict::kEvent || !belongs(*payload)) return {};
  if (payload->repaired) lose("it held bytes that are not UTF-8, which were replaced", /*skipped=*/false);
  return store(*payload, envelope);
}

/// Reads an entry, and what it wraps. Null when it wraps something that cannot be read.
const Payload* Importer::open(std::string_view text, std::optional<Envelope>& envelope) {
  const Payload* payload = &reader_.read(text);
  for (int i = 0; i < kMaxEnvelopes && payload->verdict == Verdict::kEnvelope; ++i) {
    std::optional<Envelope> opened = open_envelope(reader_.fields(), inner_);
    if (!opened) return nullptr;
    envelope = std::move(opened);
    payload = &reader_.read(inner_);
  }
  return payload;
}

/// Whether an event is of the job asked for; where none was, of the first job met. Remembers the names of others.
bool Importer::belongs(const Payload& payload) {
  if (!payload.has_job) return true;
  if (!payload.job_is_text) return false;
  if (!job_) job_ = payload.job;
  if (payload.job == *job_) return true;
  if (other_jobs_.size() < kMaxJobsNamed) other_jobs_.emplace(payload.job);
  return false;
}

Status Importer::store(const Payload& payload, const std::optional<Envelope>& envelope) {
  const std::optional<uint32_t> origin_id = state_->origins.intern(payload.event.origin);
  if (!origin_id) {
    lose("it is of one more process or attempt than the " + std::to_string(kMaxOrigins) + " that can be told apart");
    return {};
  }
  StoredEvent stored{
      .event = payload.event, .ordinal = ordinal_, .origin_id = *origin_id, .has_sequence = payload.has_position};
  if (envelope) {
    any_envelope_ = true;
    const bool untimed = payload.event.has(event::kUntimed);
    // An entry without a time stamp stands where its event does; one without either, where its neighbour did.
    entry_timestamp_ns_ = envelope->timestamp_ns.value_or(untimed ? entry_timestamp_ns_ : payload.event.time_ns);
    stored.has_key = true;
    stored.key = {entry_timestamp_ns_, envelope->insert_id, std::hash<std::string>()(envelope->log_name)};
  }
  if (payload.event.has(event::kUntimed)) ++state_->untimed;
  if (payload.has_position) ++sequences_;
  count_order(stored);
  return state_->log->append(stored);
}

/// Follows whether positions and times ascend in what goes to the log.
void Importer::count_order(const StoredEvent& stored) {
  if (stored.has_sequence) {
    if (stored.event.position < latest_position_) positions_ascend_ = false;
    latest_position_ = stored.event.position;
  }
  if (stored.event.has(event::kUntimed)) return;
  if (stored.event.time_ns < latest_ns_) times_ascend_ = false;
  latest_ns_ = stored.event.time_ns;
}

void Importer::lose(std::string_view reason, bool skipped) {
  auto& losses = state_->losses;
  auto loss = std::ranges::find(losses, reason, &ImportLoss::reason);
  if (loss == losses.end()) {
    losses.push_back({.reason = std::string(reason), .count = 0, .first_line = line_, .skipped = skipped});
    loss = losses.end() - 1;
  }
  ++loss->count;
}

/// Brings what was read into the order of the log, and finds out whether time has another.
Status Importer::settle() {
  state_->has_sequences = sequences_ == state_->log->events();
  if (!state_->has_sequences) state_->log->ignore_sequences();
  if (state_->has_sequences) {
    if (!positions_ascend_) RETURN_IF_ERROR(sort_log(Order::kPosition));
  } else if (any_envelope_) {
    RETURN_IF_ERROR(sort_log(Order::kLogEntry));
  }
  return times_ascend_ ? Status() : sort_by_time();
}

/// Entries of one log with one time stamp and one insert id are one entry, told twice.
Status Importer::sort_log(Order order) {
  auto sorted = std::make_unique<EventStore>(state_->spool, state_->origins);
  uint64_t ordinal = 0;
  EntryKey before;
  std::string before_id;
  times_ascend_ = true;
  latest_ns_ = 0;
  state_->untimed = 0;
  const Status status =
      sort_events(*state_->log, order, state_->spool, state_->origins, [&](StoredEvent& stored) -> Status {
        if (order == Order::kLogEntry) {
          const bool again = !stored.key.insert_id.empty() && stored.key.insert_id == before_id &&
                             stored.key.timestamp_ns == before.timestamp_ns && stored.key.log_hash == before.log_hash;
          if (again) return {};
          before = stored.key;
          before_id = stored.key.insert_id;
          stored.has_key = false;
          stored.ordinal = ordinal++;
        }
        if (stored.event.has(event::kUntimed)) ++state_->untimed;
        count_order(stored);
        return sorted->append(stored);
      });
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(sorted->finish());
  state_->log = std::move(sorted);
  return {};
}

Status Importer::sort_by_time() {
  auto sorted = std::make_unique<EventStore>(state_->spool, state_->origins);
  const Status status =
      sort_events(*state_->log, Order::kTime, state_->spool, state_->origins, [&](StoredEvent& stored) -> Status {
        return stored.event.has(event::kUntimed) ? Status() : sorted->append(stored);
      });
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(sorted->finish());
  state_->by_time = std::move(sorted);
  return {};
}

Status Importer::nothing_found() const {
  const std::string reading = "reading " + input_.name() + ": ";
  if (ordinal_ == 0) return {StatusCode::kNotFound, reading + "it is empty"};
  if (objects_ == 0) {
    return {StatusCode::kUnreadable, reading + "it is no event log, none of its " + std::to_string(ordinal_) +
                                         (ordinal_ == 1 ? " entry" : " entries") + " is a JSON object"};
  }
  if (!other_jobs_.empty()) {
    return {StatusCode::kNotFound,
            reading + "it has no event of job " + in_quotes(job_.value_or("")) + ", its jobs are " + jobs_named()};
  }
  if (state_->losses.empty()) return {StatusCode::kNotFound, reading + "it has no event"};
  const ImportLoss& loss = state_->losses.front();
  return {StatusCode::kNotFound,
          reading + "it has no event that can be used; line " + std::to_string(loss.first_line) + ": " + loss.reason};
}

/// The names of the jobs met, without the one asked for.
std::string Importer::jobs_named() const {
  std::set<std::string> names = other_jobs_;
  if (options_.job.empty() && job_) names.insert(*job_);
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + in_quotes(name);
  return other_jobs_.size() < kMaxJobsNamed ? list : list + " and more";
}

Result<std::unique_ptr<ImportedLog>> import_log(const std::string& path, const ImportOptions& options) {
  ASSIGN_OR_RETURN(InputFile input, InputFile::open(path));
  return Importer(input, options).run();
}

}  // namespace goodput::importers
