// `goodput export`: a job's events, for other tools and other machines.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <variant>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/journal_source.h"
#include "cli/move_options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "event/export/csv_export.h"
#include "event/export/jsonl_export.h"
#include "event/export/trace_export.h"
#include "journal/job_log.h"

namespace goodput::cli {
namespace {

using AnyExport = std::variant<event::JsonlExport, event::CsvExport, event::TraceExport>;

AnyExport make_export(const std::string& format, const std::string& job) {
  if (format == "csv") return AnyExport(std::in_place_type<event::CsvExport>);
  if (format == "trace") return AnyExport(std::in_place_type<event::TraceExport>, job);
  return AnyExport(std::in_place_type<event::JsonlExport>, job);
}

Status write_events(journal::JobLog& log, AnyExport& format, OutputFile& output, ProgressBar& bar) {
  std::string text;
  const auto flush = [&] {
    output.write(text);
    text.clear();
    bar.update(output.bytes(), 0);
  };
  std::visit([&](auto& chosen) { chosen.begin(text); }, format);
  RETURN_IF_ERROR(log.poll([&](std::span<const event::Event> events) {
    if (output.has_failed()) return false;
    std::visit([&](auto& chosen) { chosen.append(events, text); }, format);
    flush();
    return true;
  }));
  std::visit([&](auto& chosen) { chosen.finish(text); }, format);
  flush();
  return output.finish();
}

int run_export(Context& context, const ExportOptions& options) {
  const Result<JournalSource> source = JournalSource::open(context, options.job);
  if (!source.ok()) return context.fail("export", source.status());
  const std::vector<journal::Root>& roots = source->roots();
  const Result<monitor::RunName> run = monitor::find_run(posix_file_system(), roots, options.job);
  if (!run.ok()) return context.fail("export", run.status());
  const auto log = journal::JobLog::open(posix_file_system(), roots, run->job, run->run_id, system_clock());
  if (!log.ok()) return context.fail("export", log.status());
  Result<OutputFile> output = OutputFile::open(options.output, context.out);
  if (!output.ok()) {
    context.fail("export", output.status());
    return kCannot;  // a missing folder too: the question was sound
  }
  AnyExport format = make_export(options.format, run->job);
  ProgressBar bar(context, "exporting " + options.job);
  const Status written = write_events(**log, format, *output, bar);
  if (written.code() == StatusCode::kUnavailable) return kCannot;
  return written.ok() ? kDone : context.fail("export", written);
}

}  // namespace

Command export_command() {
  return {.name = "export",
          .group = kKeep,
          .summary = "write a job's events as JSON lines, a table or a trace",
          .examples =
              "goodput export llama-7b > events.jsonl\n"
              "goodput export llama-7b --format csv --output events.csv\n"
              "goodput export llama-7b --format trace -o trace.json",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<ExportOptions>();
            add_export_options(app, *options);
            return [options](Context& context) { return run_export(context, *options); };
          }};
}

}  // namespace goodput::cli
