// `goodput end`: the end of a job that nobody will restart, recorded for it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/host_name.h"
#include "base/time_text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/job_options.h"
#include "journal/journal_draft.h"
#include "journal/log_identity.h"
#include "journal/sealed_writer.h"

namespace goodput::cli {
namespace {

using monitor::FollowedJob;
using monitor::RunName;
using nlohmann::ordered_json;

std::string name_of(const RunName& run) { return run.job + (run.run_id.empty() ? "" : "@" + run.run_id); }

struct End {
  int64_t time_ns = 0;     ///< the last sign of life: an end now would make training out of the time since
  std::string attempt_id;  ///< of the last attempt, as its launch names it; empty: the log names none
};

Result<End> end_of(FollowedJob& job) {
  report::Question question;
  question.now_ns = 0;  // as of the last event, whatever the time is now
  ASSIGN_OR_RETURN(const report::Report report, job.report(std::move(question)));
  End end{.time_ns = report.end_ns, .attempt_id = {}};
  if (report.attempts.empty()) return end;
  end.attempt_id = report.attempts.back().id;
  for (const journal::Attempt& attempt : job.log().attempts()) {
    if (attempt.id == end.attempt_id) end.attempt_id = attempt.base;
  }
  return end;
}

/// The folder of the run where it has one.
Result<std::unique_ptr<Directory>> folder_of(const Context& context, const RunName& run) {
  for (const journal::Root& root : roots_of(context)) {
    const auto folder = journal::open_root(posix_file_system(), root);
    if (folder.ok() && journal::open_run_folder(**folder, run.job, run.run_id).ok()) {
      return journal::make_run_folder(posix_file_system(), {root}, run.job, run.run_id);
    }
  }
  return journal::make_run_folder(posix_file_system(), roots_of(context), run.job, run.run_id);
}

/// A journal of a monitor with one event, whose process is gone: it is recorded now, and happened then.
Status record_end(const Context& context, const RunName& run, const End& end, bool failed) {
  journal::LogIdentity identity(run.job, run.run_id);
  identity.add(std::string_view(failed ? "failed end" : "completed end"));
  identity.add(static_cast<uint64_t>(end.time_ns));
  const journal::LiveHeader header{.journal_id = identity.id(),
                                   .open_boot_ns = context.now_ns,
                                   .open_wall_ns = context.now_ns,
                                   .pid = getpid(),
                                   .job = run.job,
                                   .run_id = run.run_id,
                                   .attempt_id = end.attempt_id,
                                   .role = "monitor",
                                   .host = host_name(),
                                   .boot_id = "goodput end",  // no machine's: nobody is taken for alive
                                   .writer = "goodput " GOODPUT_VERSION};
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> folder, folder_of(context, run));
  ASSIGN_OR_RETURN(journal::JournalDraft draft, journal::JournalDraft::begin(*folder, header.journal_id));
  journal::SealedWriter writer(draft.folder(), header, journal::SealedWriter::Form::kRecorded);
  const event::Event event{
      .time_ns = end.time_ns, .kind = event::Kind::kJobEnd, .flags = failed ? uint8_t{event::kFailed} : uint8_t{0}};
  RETURN_IF_ERROR(writer.append(event, context.now_ns));
  RETURN_IF_ERROR(writer.finish());
  return draft.publish();
}

std::string_view word_of(report::JobStatus status) {
  return status == report::JobStatus::kFailed ? "failed" : "completed";
}

int cannot(Context& context, const Status& status) {
  context.fail("end", status);
  return kCannot;
}

/// The status with which the job has ended already.
Result<std::optional<report::JobStatus>> status_of(FollowedJob& job, int64_t now_ns) {
  report::Question question;
  question.now_ns = now_ns;
  ASSIGN_OR_RETURN(const report::Report report, job.report(std::move(question)));
  const bool ended = report.status == report::JobStatus::kCompleted || report.status == report::JobStatus::kFailed;
  return ended ? std::optional(report.status) : std::nullopt;
}

/// `words` takes the status, and the time where one was recorded.
int tell(Context& context, const RunName& run, report::JobStatus status, std::string_view words,
         std::optional<int64_t> time_ns) {
  const std::string time = time_ns ? format_time(*time_ns) : "";
  ordered_json answer = {
      {"schema", "goodput.end/1"}, {"job", run.job}, {"run_id", run.run_id}, {"status", word_of(status)}};
  answer["recorded_end"] = time_ns ? ordered_json(time) : ordered_json();
  return context.print_done(
      fmt::format("{}: {}\n", name_of(run), fmt::format(fmt::runtime(words), word_of(status), time)),
      answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

int run_end(Context& context, const EndOptions& options) {
  const Result<RunName> run = monitor::find_run(posix_file_system(), roots_of(context), options.job);
  if (!run.ok()) return context.fail("end", run.status());
  const auto job = follow_run(context, *run, {});
  if (!job.ok()) return context.fail("end", job.status());
  if (const std::optional<std::string> who = who_is_alive((*job)->log())) {
    return cannot(context,
                  Status(StatusCode::kUnavailable, fmt::format("ending job \"{}\": it is alive ({}); its own end "
                                                               "counts, or stop it first",
                                                               name_of(*run), *who)));
  }
  const auto ended = status_of(**job, context.now_ns);
  if (!ended.ok()) return context.fail("end", ended.status());
  const report::JobStatus wanted = options.failed ? report::JobStatus::kFailed : report::JobStatus::kCompleted;
  if (*ended == wanted) return tell(context, *run, wanted, "has {} already", std::nullopt);
  if (ended->has_value()) {
    return cannot(context, Status(StatusCode::kAlreadyExists, fmt::format("ending job \"{}\": it has {} already",
                                                                          name_of(*run), word_of(**ended))));
  }
  const Result<End> end = end_of(**job);
  if (!end.ok()) return context.fail("end", end.status());
  const Status recorded = record_end(context, *run, *end, options.failed);
  if (!recorded.ok()) return cannot(context, recorded);
  return tell(context, *run, wanted, "{} at {}, its last sign of life", end->time_ns);
}

}  // namespace

Command end_command() {
  return {.name = "end",
          .group = kKeep,
          .summary = "record the end of a job that nobody will restart",
          .examples =
              "goodput end llama-7b --failed\n"
              "goodput end llama-7b@second",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<EndOptions>();
            add_end_options(app, *options);
            return [options](Context& context) { return run_end(context, *options); };
          }};
}

}  // namespace goodput::cli
