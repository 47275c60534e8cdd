// `goodput import`: a log that somebody else wrote, kept as a journal of a job.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/move_options.h"
#include "cli/progress.h"
#include "importers/imported_log.h"
#include "journal/import_log.h"

namespace goodput::cli {
namespace {

using nlohmann::ordered_json;

Result<std::unique_ptr<importers::ImportedLog>> read_log(Context& context, const ImportOptions& options) {
  ProgressBar bar(context, "reading " + (options.file == "-" ? std::string("standard input") : options.file));
  importers::ImportOptions how{.job = options.job};
  how.progress = [&](uint64_t done, uint64_t total) {
    bar.update(static_cast<int64_t>(done), static_cast<int64_t>(total));
  };
  return importers::import_log(options.file, how);
}

/// What the entries themselves say, when they all say the same.
Result<std::string> run_id_of(const importers::ImportedLog& log) {
  std::set<std::string, std::less<>> told;
  RETURN_IF_ERROR(log.for_each_in_log_order([&](std::span<const event::Event> events) {
    for (const event::Event& event : events) {
      const std::string_view id = event.origin == nullptr ? std::string_view() : event.origin->run_id;
      if (!told.contains(id)) told.emplace(id);
    }
    return told.size() == 1;
  }));
  return told.size() == 1 ? *told.begin() : std::string();
}

Result<journal::ImportOutcome> keep_log(Context& context, importers::ImportedLog& log, const std::string& run_id) {
  ProgressBar bar(context, "importing " + log.job());
  journal::ImportRequest request{.job = log.job(),
                                 .run_id = run_id,
                                 .log = &log,
                                 .each_in_log_order = [&](auto sink) { return log.for_each_in_log_order(sink); },
                                 .writer = "goodput " GOODPUT_VERSION};
  for (const importers::ImportLoss& loss : log.losses()) {
    (loss.skipped ? request.malformed_entries : request.repaired_entries) += loss.count;
  }
  request.progress = [&](uint64_t done) { bar.update(static_cast<int64_t>(done), static_cast<int64_t>(log.events())); };
  return journal::import_log(posix_file_system(), roots_of(context), request);
}

std::string told(uint64_t count, std::string_view one, std::string_view many) {
  return count == 1 ? std::string(one) : fmt::format(fmt::runtime(many), count);
}

/// One sentence on what was added, and one for each sort of entry that was not used as it stood.
int tell(Context& context, const importers::ImportedLog& log, const std::string& run_id,
         const journal::ImportOutcome& done) {
  for (const importers::ImportLoss& loss : log.losses()) {
    context.note(fmt::format("{} {}: {} (first: line {})", loss.count,
                             loss.count == 1 ? "entry was not used as it stood" : "entries were not used as they stood",
                             loss.reason, loss.first_line));
  }
  const std::string name = log.job() + (run_id.empty() ? "" : "@" + run_id);
  const std::string known = done.known == 0 ? "" : told(done.known, ", 1 was there already", ", {} were there already");
  const std::string added =
      done.added == 0 ? std::string("nothing added") : told(done.added, "1 event added", "{} events added");
  const ordered_json answer = {{"schema", "goodput.import/1"}, {"job", log.job()},    {"run_id", run_id},
                               {"added", done.added},          {"known", done.known}, {"journal_id", done.journal_id}};
  return context.print_done(fmt::format("{}: {}{}\n", name, added, known),
                            answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

int run_import(Context& context, const ImportOptions& options) {
  const auto log = read_log(context, options);
  if (!log.ok()) return context.fail("import", log.status());
  if ((*log)->job().empty()) {
    return context.fail(
        "import", Status(StatusCode::kInvalidArgument, "the log does not name its job: --job NAME says which it is"));
  }
  const Result<std::string> run_id = options.run_id.empty() ? run_id_of(**log) : Result<std::string>(options.run_id);
  if (!run_id.ok()) return context.fail("import", run_id.status());
  const Result<journal::ImportOutcome> done = keep_log(context, **log, *run_id);
  if (!done.ok()) return context.fail("import", done.status());
  return tell(context, **log, *run_id, *done);
}

}  // namespace

Command import_command() {
  return {.name = "import",
          .group = kKeep,
          .summary = "keep a log that somebody else wrote as a job's journal",
          .examples =
              "goodput import events.jsonl --job llama-7b\n"
              "gcloud logging read 'logName:goodput_llama' --format=json | goodput import --format gcloud -",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<ImportOptions>();
            add_import_options(app, *options);
            return [options](Context& context) { return run_import(context, *options); };
          }};
}

}  // namespace goodput::cli
