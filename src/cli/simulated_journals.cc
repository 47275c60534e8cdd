// SPDX-License-Identifier: Apache-2.0
#include "cli/simulated_journals.h"

#include <algorithm>

#include "journal/log_identity.h"

namespace goodput::cli {
namespace {

/// What all journals that are open at once may hold in memory: 500 MB.
constexpr int64_t kEventsInMemory = 4'000'000;

size_t events_per_segment(int64_t ranks) {
  return static_cast<size_t>(
      std::clamp<int64_t>(kEventsInMemory / (ranks + 1), 256, static_cast<int64_t>(journal::kEventsPerSegment)));
}

/// The same simulation gives the same ids.
journal::JournalId id_of(const event::Origin& origin, const SimulateOptions& options) {
  journal::LogIdentity identity(options.job, "");
  identity.add(options.seed);
  identity.add(origin.attempt_id);
  identity.add(origin.role);
  identity.add(static_cast<uint64_t>(origin.process_index));
  return identity.id();
}

journal::LiveHeader header_of(const event::Event& first, const SimulateOptions& options) {
  const event::Origin& origin = *first.origin;
  return {.journal_id = id_of(origin, options),
          .open_boot_ns = first.time_ns,
          .open_wall_ns = first.time_ns,
          .pid = origin.pid,
          .process_index = origin.process_index,
          .job = options.job,
          .attempt_id = std::string(origin.attempt_id),
          .role = std::string(origin.role),
          .host = std::string(origin.host),
          .boot_id = "simulated " + std::string(origin.host),
          .writer = "goodput " GOODPUT_VERSION,
          .labels = {{"simulated", "seed " + std::to_string(options.seed)}}};
}

}  // namespace

Result<SimulatedJournals> SimulatedJournals::begin(const std::vector<journal::Root>& roots,
                                                   const SimulateOptions& options) {
  if (!journal::list_runs(posix_file_system(), roots, options.job).empty()) {
    return Status(StatusCode::kAlreadyExists, "simulating job \"" + options.job +
                                                  "\": it has journals there already; give it another --job or --dir");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> run_folder,
                   journal::make_run_folder(posix_file_system(), roots, options.job, ""));
  return SimulatedJournals(std::move(run_folder), options);
}

bool SimulatedJournals::take(std::span<const event::Event> events) {
  for (const event::Event& event : events) {
    if (failure_.ok()) failure_ = add(event);
  }
  return failure_.ok();
}

Status SimulatedJournals::add(const event::Event& event) {
  // The processes of an attempt are gone before the next one starts.
  if (event.origin->attempt_id != attempt_id_) {
    RETURN_IF_ERROR(close_all());
    attempt_id_ = event.origin->attempt_id;
  }
  std::unique_ptr<Open>& journal = open_[event.origin];
  if (journal == nullptr) {
    ASSIGN_OR_RETURN(journal, open(event));
  }
  ++events_;
  return journal->writer.append(event);
}

Result<std::unique_ptr<SimulatedJournals::Open>> SimulatedJournals::open(const event::Event& event) {
  const journal::LiveHeader header = header_of(event, options_);
  ASSIGN_OR_RETURN(journal::JournalDraft draft, journal::JournalDraft::begin(*run_folder_, header.journal_id));
  Directory& folder = draft.folder();
  return std::make_unique<Open>(
      Open{.draft = std::move(draft),
           .writer = {folder, header, journal::SealedWriter::Form::kRecorded, events_per_segment(options_.ranks)}});
}

Status SimulatedJournals::close_all() {
  for (auto& [origin, journal] : open_) {
    RETURN_IF_ERROR(journal->writer.finish());
    RETURN_IF_ERROR(journal->draft.publish());
    ++journals_;
  }
  open_.clear();
  return {};
}

Status SimulatedJournals::finish() {
  if (failure_.ok()) failure_ = close_all();
  return failure_;
}

}  // namespace goodput::cli
