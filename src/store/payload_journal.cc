// SPDX-License-Identifier: Apache-2.0
#include "store/payload_journal.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "journal/folder_names.h"
#include "journal/imported_origins.h"
#include "journal/journal_draft.h"
#include "journal/log_identity.h"
#include "journal/run_folder.h"
#include "journal/sealed_writer.h"

namespace goodput::store {
namespace {

/// The journal of a run: the same in every process.
journal::JournalId journal_id(std::string_view job, std::string_view run_id) {
  journal::LogIdentity identity(job, run_id);
  identity.add("a log that goes on somewhere else");
  return identity.id();
}

Result<uint32_t> last_segment(Directory& journal) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, journal.list());
  uint32_t last = 0;
  for (const std::string& name : names) {
    if (const auto parsed = journal::parse_segment_name(name)) last = std::max(last, parsed->number);
  }
  // A listing may miss the latest names.
  while (journal.facts(journal::segment_name(last + 1, journal::SegmentForm::kSealed)).ok()) ++last;
  return last;
}

}  // namespace

void PayloadJournal::add(std::string_view payload, int64_t at_ns, const event::Position& position) {
  const event::Payload& read = reader_.read(payload);
  if (!read.is_of(job_)) return;
  if (read.verdict == event::Verdict::kMalformed) ++flaws_.malformed;
  if (read.verdict != event::Verdict::kEvent) return;
  if (read.repaired) ++flaws_.repaired;
  Held& held = events_.emplace_back();
  held.event = read.event;
  held.at_ns = read.event.has(event::kUntimed) ? at_ns : read.event.time_ns;
  if (!read.has_position) held.event.position = position;
  held.name = read.event.name;
  held.event.name = held.name;
  held.event.origin = intern(read.event.origin);
  if (read.event.detail == nullptr) return;
  held.detail = *read.event.detail;
  for (const auto& [own, view] : {std::pair{&held.location, &held.detail.location},
                                  {&held.cause, &held.detail.cause},
                                  {&held.text, &held.detail.text}}) {
    *own = *view;
    *view = *own;
  }
  held.event.detail = &held.detail;
}

const event::Origin* PayloadJournal::intern(const event::Origin* origin) {
  if (origin == nullptr) return nullptr;
  std::unique_ptr<HeldOrigin>& known = origins_[journal::origin_text(*origin)];
  if (known == nullptr) {
    known = std::make_unique<HeldOrigin>(HeldOrigin{.attempt_id = std::string(origin->attempt_id),
                                                    .run_id = std::string(origin->run_id),
                                                    .role = std::string(origin->role),
                                                    .host = std::string(origin->host),
                                                    .origin = *origin});
    known->origin.attempt_id = known->attempt_id;
    known->origin.run_id = known->run_id;
    known->origin.role = known->role;
    known->origin.host = known->host;
    known->origin.boot_id = {};
  }
  return &known->origin;
}

Status PayloadJournal::flush() {
  std::map<std::string, std::vector<Held*>> by_run;
  for (Held& held : events_) {
    by_run[held.event.origin == nullptr ? std::string() : std::string(held.event.origin->run_id)].push_back(&held);
  }
  Status status;
  for (auto& [run_id, events] : by_run) {
    if (status.ok()) status = write(run_id, std::move(events));
  }
  events_.clear();
  return status;
}

Status PayloadJournal::write(const std::string& run_id, std::vector<Held*> events) {
  const auto place = [](const Held* held) { return std::tuple(held->at_ns, held->event.position); };
  std::stable_sort(events.begin(), events.end(), [&](const Held* a, const Held* b) { return place(a) < place(b); });
  ASSIGN_OR_RETURN(const auto run, journal::make_run_folder(*files_, {root_}, job_, run_id));
  const journal::JournalId id = journal_id(job_, run_id);
  ASSIGN_OR_RETURN(const auto folder, open_or_make_directory(*run, journal::id_name(id)));
  ASSIGN_OR_RETURN(const uint32_t written, last_segment(*folder));
  // A reader takes a time of zero for a header that is lost.
  int64_t open_ns = std::max<int64_t>(events.front()->at_ns, 1);
  if (written > 0) {
    ASSIGN_OR_RETURN(const journal::LiveHeader header, journal::read_journal_header(*run, id));
    open_ns = header.open_wall_ns;
  }
  journal::SealedWriter writer(*folder,
                               {.journal_id = id,
                                .header_flags = journal::kImportedFlag | journal::kGrowingFlag,
                                .open_boot_ns = open_ns,
                                .open_wall_ns = open_ns,
                                .job = job_,
                                .run_id = run_id,
                                .role = "import"},
                               journal::SealedWriter::Form::kImported, journal::kEventsPerSegment, written);
  writer.count(journal::Counter::kMalformedEntry, flaws_.malformed);
  writer.count(journal::Counter::kRepairedEntry, flaws_.repaired);
  for (const Held* held : events) RETURN_IF_ERROR(writer.append(held->event, held->at_ns));
  return writer.finish();
}

}  // namespace goodput::store
