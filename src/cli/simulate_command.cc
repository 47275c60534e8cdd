// `goodput simulate`: the log of a job that never ran, to try things out on.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/time_text.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "cli/move_options.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/simulated_journals.h"
#include "event/export/jsonl_export.h"
#include "simulate/simulation.h"

namespace goodput::cli {
namespace {

Result<double> seconds_of(std::string_view option, const std::string& text) {
  const Result<int64_t> duration_ns = parse_duration(text);
  if (duration_ns.ok()) return static_cast<double>(*duration_ns) / 1e9;
  return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", option, duration_ns.status().message()));
}

Result<simulate::Options> simulation_of(const SimulateOptions& options) {
  simulate::Options made{.seed = options.seed,
                         .steps = options.steps,
                         .ranks = options.ranks,
                         .eval_every = 1'000,
                         .heartbeat_seconds = 10};
  ASSIGN_OR_RETURN(made.step_seconds, seconds_of("--step-time", options.step_time));
  ASSIGN_OR_RETURN(made.mtbf_seconds, seconds_of("--mtbf", options.mtbf));
  if (made.step_seconds <= 0) {
    return Status(StatusCode::kInvalidArgument, "--step-time: a step takes longer than nothing");
  }
  return made;
}

/// How far a job is that is told by its highest step.
class StepProgress {
 public:
  StepProgress(ProgressBar& bar, int64_t steps) : bar_(&bar), steps_(steps) {}
  void take(std::span<const event::Event> events) {
    for (const event::Event& event : events) {
      if (event.kind == event::Kind::kStepStart) highest_ = std::max(highest_, event.step + 1);
    }
    bar_->update(highest_, steps_);
  }

 private:
  ProgressBar* bar_;
  int64_t steps_;
  int64_t highest_ = 0;
};

int write_lines(Context& context, const SimulateOptions& options, simulate::Simulation& simulation) {
  Result<OutputFile> output = OutputFile::open(options.output, context.out);
  if (!output.ok()) {
    context.fail("simulate", output.status());
    return kCannot;
  }
  event::JsonlExport lines(options.job, {.with_position = false});
  std::string text;
  ProgressBar bar(context, "simulating " + options.job);
  StepProgress progress(bar, options.steps);
  simulation.run([&](std::span<const event::Event> events) {
    lines.append(events, text);
    output->write(text);
    text.clear();
    progress.take(events);
    return !output->has_failed();
  });
  const Status written = output->finish();
  if (written.ok()) return kDone;
  if (written.code() != StatusCode::kUnavailable) context.fail("simulate", written);
  return kCannot;
}

int write_journals(Context& context, const SimulateOptions& options, simulate::Simulation& simulation) {
  Result<SimulatedJournals> journals = SimulatedJournals::begin(roots_of(context), options);
  if (!journals.ok()) return context.fail("simulate", journals.status());
  {
    ProgressBar bar(context, "simulating " + options.job);
    StepProgress progress(bar, options.steps);
    simulation.run([&](std::span<const event::Event> events) {
      progress.take(events);
      return journals->take(events);
    });
  }
  const Status written = journals->finish();
  if (!written.ok()) {
    context.fail("simulate", written);
    return kCannot;
  }
  if (context.globals.quiet) return kDone;
  return context.print(
      fmt::format("{}: {} events in {} journals\n", options.job, journals->events(), journals->journals()));
}

int run_simulate(Context& context, const SimulateOptions& options) {
  const Result<simulate::Options> how = simulation_of(options);
  if (!how.ok()) return context.fail("simulate", how.status());
  if (options.journals && !options.output.empty()) {
    return context.fail("simulate", Status(StatusCode::kInvalidArgument,
                                           "--output takes JSON lines; --journals are written under --dir"));
  }
  simulate::Simulation simulation(*how);
  return options.journals ? write_journals(context, options, simulation) : write_lines(context, options, simulation);
}

}  // namespace

Command simulate_command() {
  return {.name = "simulate",
          .group = kKeep,
          .summary = "the log of a job that never ran, with failures, to try things out",
          .examples =
              "goodput simulate --seed 7 --mtbf 2h | goodput report --input -\n"
              "goodput simulate --journals --dir /tmp/demo --ranks 8 && goodput jobs --dir /tmp/demo",
          .define = [](CLI::App& app) -> Run {
            auto options = std::make_shared<SimulateOptions>();
            add_simulate_options(app, *options);
            return [options](Context& context) { return run_simulate(context, *options); };
          }};
}

}  // namespace goodput::cli
