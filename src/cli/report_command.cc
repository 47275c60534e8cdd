// `goodput report`: what became of a job's time.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cli/show.h"
#include "importers/imported_log.h"
#include "report/build.h"

namespace goodput::cli {
namespace {

ledger::Options ledger_options(const ReportQuery& query) {
  ledger::Options options;
  if (query.dead_after_ns.has_value()) options.dead_after_ns = *query.dead_after_ns;
  if (query.stall_floor_ns.has_value()) options.stall_floor_ns = *query.stall_floor_ns;
  if (query.stall_factor.has_value()) options.stall_factor = ledger::Factor::of(*query.stall_factor);
  return options;
}

report::Question question_of(const ReportQuery& query, const Context& context, std::string_view accelerator_type) {
  report::Question question;
  question.now_ns = query.now_ns.value_or(context.now_ns);
  question.from_ns = query.from_ns;
  question.to_ns = query.to_ns;
  question.windows_ns = query.windows_ns;
  question.exclusions = query.exclusions_ns;
  question.with_timeline = !context.globals.json;
  question.price = price_for(query.price, context.config, accelerator_type);
  return question;
}

report::Finding finding_of(const importers::ImportLoss& loss) {
  return {
      .kind = loss.skipped ? "malformed_entry" : "repaired_entry",
      .severity = loss.skipped ? report::Severity::kWarning : report::Severity::kInfo,
      .count = static_cast<int64_t>(loss.count),
      .message = fmt::format("{} {}: {} (first: line {}).", loss.count,
                             loss.count == 1 ? "entry was not used as it stood" : "entries were not used as they stood",
                             loss.reason, loss.first_line),
      .fix = "Look at that line of the input; whoever writes it has a fault."};
}

Result<report::Report> report_of_input(const ReportQuery& query, Context& context) {
  std::unique_ptr<importers::ImportedLog> log;
  {
    ProgressBar bar(context, "reading " + (query.input == "-" ? std::string("standard input") : query.input));
    importers::ImportOptions options{.job = query.job};
    options.progress = [&](uint64_t done, uint64_t total) {
      bar.update(static_cast<int64_t>(done), static_cast<int64_t>(total));
    };
    ASSIGN_OR_RETURN(log, importers::import_log(query.input, options));
  }
  ledger::Ledger ledger(ledger_options(query), *log);
  RETURN_IF_ERROR(log->for_each_in_log_order([&](std::span<const event::Event> events) {
    ledger.push(events);
    return true;
  }));
  report::Question question = question_of(query, context, "");
  question.job = log->job();
  for (const importers::ImportLoss& loss : log->losses()) question.findings.push_back(finding_of(loss));
  return report::build(ledger, question);
}

Result<report::Report> report_of_job(const ReportQuery& query, Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<monitor::FollowedJob> job,
                   follow_job(context, query.job, ledger_options(query)));
  return job->report(question_of(query, context, job->log().job_facts().accelerator_type));
}

int run_report(Context& context, const ReportOptions& options) {
  const Result<ReportQuery> query = resolve(options, context.now_ns);
  if (!query.ok()) return context.fail("report", query.status());
  const Result<report::Report> report =
      query->input.empty() ? report_of_job(*query, context) : report_of_input(*query, context);
  if (!report.ok()) return context.fail("report", report.status());
  return show_report(context, *report);
}

}  // namespace

Command report_command() {
  return {.name = "report",
          .group = kAsk,
          .summary = "where a job's time went",
          .examples =
              "goodput report llama-7b --window 1h --window 24h\n"
              "goodput report --input events.jsonl\n"
              "gcloud logging read 'logName:goodput_llama' --format=json | goodput report --input -\n"
              "goodput report --input events.jsonl --from -24h --json\n"
              "goodput report llama-7b --store cloud-logging://my-project/goodput_llama-7b\n"
              "goodput report llama-7b --store gs://my-bucket/goodput",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<ReportOptions>();
            add_report_options(app, *options);
            return [options](Context& context) { return run_report(context, *options); };
          }};
}

}  // namespace goodput::cli
