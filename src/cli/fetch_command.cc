// `goodput fetch`: brings what a store has of a job to this machine.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/follow_job.h"
#include "cli/journal_source.h"
#include "journal/roots.h"
#include "monitor/stored_job.h"

namespace goodput::cli {
namespace {

using nlohmann::ordered_json;

struct FetchOptions {
  std::string job;
  std::string retention;
};

Result<monitor::Fetched> fetch(const Context& context, const monitor::StoredJob& wanted) {
  if (!is_journal_store(wanted.url)) {
    return monitor::fetch_stored(posix_file_system(), roots_of(context), wanted, system_clock());
  }
  ASSIGN_OR_RETURN(const JournalSource source, JournalSource::open(context, wanted.url, wanted.name));
  ASSIGN_OR_RETURN(monitor::RunName run, monitor::find_run(posix_file_system(), source.roots(), wanted.name));
  return monitor::Fetched{.root = source.roots().front(), .run = std::move(run)};
}

int run_fetch(Context& context, const FetchOptions& options) {
  const Globals& globals = context.globals;
  monitor::StoredJob wanted{
      .url = globals.store.empty() ? globals.usual_store : globals.store, .name = options.job, .is_patient = true};
  if (!is_named_store(wanted.url)) {
    return context.fail("fetch", Status(StatusCode::kInvalidArgument,
                                        "there is nowhere to fetch from: give --store cloud-logging://PROJECT/LOG"));
  }
  if (!options.retention.empty()) {
    const Result<int64_t> retention_ns = parse_duration(options.retention);
    if (!retention_ns.ok()) return context.fail("fetch", retention_ns.status());
    wanted.retention_ns = *retention_ns;
  }
  const Result<monitor::Fetched> fetched = fetch(context, wanted);
  if (!fetched.ok()) return context.fail("fetch", fetched.status());
  const std::string name = fetched->run.job + (fetched->run.run_id.empty() ? "" : "@" + fetched->run.run_id);
  const ordered_json answer = {{"schema", "goodput.fetch/1"},
                               {"job", fetched->run.job},
                               {"run_id", fetched->run.run_id},
                               {"directory", fetched->root.path},
                               {"is_cut_off", fetched->may_be_cut_off}};
  return context.print_done(fmt::format("{}: in {}\n", name, fetched->root.path),
                            answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

}  // namespace

Command fetch_command() {
  return {
      .name = "fetch",
      .group = kKeep,
      .summary = "copy what a store has of a job to this machine",
      .examples = "goodput fetch llama-7b --store cloud-logging://my-project/goodput_llama-7b",
      .define = [](CLI::App& app) -> Run {
        auto options = std::make_shared<FetchOptions>();
        app.add_option("job", options->job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB")->required();
        app.add_option("--retention", options->retention, "how old what counts may be; by default 30d")
            ->type_name("DURATION");
        return [options](Context& context) { return run_fetch(context, *options); };
      }};
}

}  // namespace goodput::cli
