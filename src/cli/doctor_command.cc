// `goodput doctor`: what is wrong with how a job is recorded, and what to do about it.
// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/follow_job.h"
#include "doctor/checks.h"
#include "doctor/gather.h"
#include "doctor/render.h"

namespace goodput::cli {
namespace {

struct DoctorOptions {
  std::string job, project;
};

int run_doctor(Context& context, const DoctorOptions& options) {
  const journal::Environment environment = journal::system_environment();
  const std::vector<journal::Root> roots = roots_of(context);
  const bool is_named = !context.globals.dir.empty() || environment("GOODPUT_DIR").has_value();
  doctor::Facts facts{.now_ns = context.now_ns,
                      .google = doctor::look_at_google(environment, options.project),
                      .folder = doctor::look_at_folder(roots, environment, is_named)};
  if (!options.job.empty()) {
    facts.job = doctor::look_at_job(posix_file_system(), roots, options.job, context.now_ns, system_clock());
  }
  const std::vector<doctor::Line> lines = doctor::examine(facts);
  const int printed =
      context.print(context.globals.json ? doctor::lines_to_json(lines, options.job, context.json_form())
                                         : doctor::render_lines(lines, options.job, context.style()));
  if (printed != kDone) return printed;
  return doctor::worst_of(lines) == doctor::Verdict::kRed ? kAnswerIsNo : kDone;
}

}  // namespace

Command doctor_command() {
  return {
      .name = "doctor",
      .group = kAsk,
      .summary = "what is wrong with how a job is recorded, and the fix",
      .examples =
          "goodput doctor\n"
          "goodput doctor --job llama-7b\n"
          "goodput doctor --job llama-7b --json",
      .define = [](CLI::App& app) -> Run {
        auto options = std::make_shared<DoctorOptions>();
        app.add_option("job,--job", options->job, "examine this job's record too: NAME or NAME@RUN")->type_name("JOB");
        app.add_option("--project", options->project, "the Google Cloud project; else the one that the machine names")
            ->type_name("PROJECT");
        return [options](Context& context) { return run_doctor(context, *options); };
      }};
}

}  // namespace goodput::cli
