// SPDX-License-Identifier: Apache-2.0
#include "journal/import_log.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "journal/folder_names.h"
#include "journal/journal_draft.h"
#include "journal/log_identity.h"
#include "journal/read_segments.h"
#include "journal/run_folder.h"
#include "journal/sealed_writer.h"

namespace goodput::journal {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();
constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

/// An entry without a time of its own, kept with what it refers to.
struct Untimed {
  event::Event event;
  event::Detail detail;
  std::string location;
  int64_t stands_at_ns = kNever;  ///< behind what stands before it in the log
};

/// What the first reading of a log finds.
struct LogSurvey {
  JournalId id{};
  int64_t first_ns = kForever;
  std::vector<Untimed> untimed;
};

/// What earlier imports brought to the run.
struct KnownEntries {
  std::unordered_set<uint64_t> fingerprints;
  uint64_t next_ordinal = 0;  ///< behind all entries that have no `sequence`
};

Untimed kept(const event::Event& event, int64_t latest_ns) {
  Untimed made{.event = event, .detail = {}, .location = {}, .stands_at_ns = latest_ns};
  if (event.detail != nullptr) {
    made.detail = *event.detail;
    made.location = event.detail->location;
  }
  return made;
}

Result<LogSurvey> survey(const ImportRequest& request) {
  LogSurvey found;
  LogIdentity identity(request.job, request.run_id);
  int64_t latest_ns = kNever;
  RETURN_IF_ERROR(request.each_in_log_order([&](std::span<const event::Event> events) {
    for (const event::Event& event : events) {
      identity.add(event);
      if (event.has(event::kUntimed)) {
        found.untimed.push_back(kept(event, latest_ns));
      } else {
        latest_ns = std::max(latest_ns, event.time_ns);
        found.first_ns = std::min(found.first_ns, event.time_ns);
      }
    }
    return true;
  }));
  found.id = identity.id();
  if (found.first_ns == kForever) found.first_ns = 0;
  for (Untimed& entry : found.untimed) entry.stands_at_ns = std::max(entry.stands_at_ns, found.first_ns);
  std::stable_sort(found.untimed.begin(), found.untimed.end(),
                   [](const Untimed& a, const Untimed& b) { return a.stands_at_ns < b.stands_at_ns; });
  return found;
}

void add_known(Directory& journal, const JournalId& id, KnownEntries& known) {
  const Result<std::vector<SegmentFileName>> files = list_segments(journal);
  if (!files.ok()) return;
  for (const SegmentFileName& file : *files) {
    const Result<std::optional<Segment>> segment = read_segment(journal, id, file);
    if (!segment.ok() || !*segment) continue;
    for (const StoredEvent& stored : (*segment)->events) {
      const ImportedFacts& facts = stored.event.imported;
      if (facts.fingerprint != 0) known.fingerprints.insert(facts.fingerprint);
      if (facts.position.major == 0) known.next_ordinal = std::max(known.next_ordinal, facts.position.minor + 1);
    }
  }
}

/// kAlreadyExists: the very same log was imported. kInvalidArgument: the run was recorded.
Result<KnownEntries> known_entries(FileSystem& files, const std::vector<Root>& roots, const ImportRequest& request,
                                   const JournalId& own) {
  KnownEntries known;
  for (const Root& root : roots) {
    const auto folder = open_root(files, root);
    if (!folder.ok()) continue;
    const auto run = open_run_folder(**folder, request.job, request.run_id);
    if (!run.ok()) continue;
    ASSIGN_OR_RETURN(const std::vector<JournalId> ids, list_journals(**run));
    for (const JournalId& id : ids) {
      if (id == own) return Status(StatusCode::kAlreadyExists, "importing a log: it is there");
      const Result<LiveHeader> header = read_journal_header(**run, id);
      if (header.ok() && !is_imported(*header)) {
        return Status(StatusCode::kInvalidArgument, "importing into job \"" + request.job +
                                                        "\": this run of it was recorded here, and would count "
                                                        "twice; give the import a --run-id or another folder (--dir)");
      }
      const auto journal = (*run)->open_directory(id_name(id));
      if (journal.ok()) add_known(**journal, id, known);
    }
  }
  return known;
}

LiveHeader header_of(const ImportRequest& request, const LogSurvey& survey) {
  // A reader takes a time of zero for a header that is lost.
  const int64_t open_ns = std::max<int64_t>(survey.first_ns, 1);
  return {.journal_id = survey.id,
          .header_flags = kImportedFlag,
          .open_boot_ns = open_ns,
          .open_wall_ns = open_ns,
          .job = request.job,
          .run_id = request.run_id,
          .role = "import",
          .writer = request.writer};
}

/// Writes the entries by time, untimed ones where they stand, but for those that are known.
class ImportWriter {
 public:
  ImportWriter(SealedWriter& writer, const KnownEntries& known, const ImportRequest& request)
      : writer_(&writer), known_(&known), request_(&request) {}

  Status write(const std::vector<Untimed>& untimed) {
    auto next = untimed.begin();
    const auto write_untimed = [&](int64_t before_ns) {
      for (; next != untimed.end() && next->stands_at_ns < before_ns; ++next) write_one(*next);
    };
    RETURN_IF_ERROR(request_->log->read(kNever, kForever, [&](std::span<const event::Event> events) {
      for (const event::Event& event : events) {
        write_untimed(event.time_ns);
        add(event, event.time_ns);
      }
      if (request_->progress) request_->progress(outcome.added + outcome.known);
      return failure_.ok();
    }));
    write_untimed(kForever);
    return failure_;
  }

  ImportOutcome outcome;

 private:
  void write_one(const Untimed& entry) {
    event::Detail detail = entry.detail;
    detail.location = entry.location;
    event::Event event = entry.event;
    if (event.detail != nullptr) event.detail = &detail;
    add(event, entry.stands_at_ns);
  }

  void add(event::Event event, int64_t at_ns) {
    if (!failure_.ok()) return;
    if (event.fingerprint != 0 && known_->fingerprints.contains(event.fingerprint)) {
      ++outcome.known;
      return;
    }
    if (event.position.major == 0) event.position.minor += known_->next_ordinal;
    ++outcome.added;
    failure_ = writer_->append(event, at_ns);
  }

  SealedWriter* writer_;
  const KnownEntries* known_;
  const ImportRequest* request_;
  Status failure_;
};

}  // namespace

Result<ImportOutcome> import_log(FileSystem& files, const std::vector<Root>& roots, const ImportRequest& request) {
  ASSIGN_OR_RETURN(const LogSurvey surveyed, survey(request));
  const auto all_known = [&] {
    uint64_t entries = 0;
    (void)request.each_in_log_order([&](std::span<const event::Event> events) {
      entries += events.size();
      return true;
    });
    return ImportOutcome{.added = 0, .known = entries, .journal_id = {}};
  };
  const Result<KnownEntries> known = known_entries(files, roots, request, surveyed.id);
  if (known.status().code() == StatusCode::kAlreadyExists) return all_known();
  if (!known.ok()) return known.status();

  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> run, make_run_folder(files, roots, request.job, request.run_id));
  Result<JournalDraft> draft = JournalDraft::begin(*run, surveyed.id);
  if (draft.status().code() == StatusCode::kAlreadyExists) return all_known();
  if (!draft.ok()) return draft.status();
  SealedWriter writer(draft->folder(), header_of(request, surveyed), SealedWriter::Form::kImported);
  writer.count(Counter::kMalformedEntry, request.malformed_entries);
  writer.count(Counter::kRepairedEntry, request.repaired_entries);
  ImportWriter import(writer, *known, request);
  RETURN_IF_ERROR(import.write(surveyed.untimed));
  if (import.outcome.added == 0) return import.outcome;
  RETURN_IF_ERROR(writer.finish());
  const Status published = draft->publish();
  if (published.code() == StatusCode::kAlreadyExists) return all_known();
  if (!published.ok()) return published;
  import.outcome.journal_id = id_name(surveyed.id);
  return import.outcome;
}

}  // namespace goodput::journal
