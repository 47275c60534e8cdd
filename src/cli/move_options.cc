// SPDX-License-Identifier: Apache-2.0
#include "cli/move_options.h"

#include <CLI/CLI.hpp>

#include "cli/choice.h"

namespace goodput::cli {

void add_import_options(CLI::App& app, ImportOptions& options) {
  app.add_option("file", options.file, "the log; - reads standard input")->type_name("FILE")->required();
  add_choice(app, "--format", options.format, "what it is", kImportFormats);
  app.add_option("--job", options.job, "the job that it belongs to")->type_name("NAME")->envname("GOODPUT_JOB");
  app.add_option("--run-id", options.run_id, "the run of that job")->type_name("RUN")->envname("GOODPUT_RUN_ID");
}

void add_export_options(CLI::App& app, ExportOptions& options) {
  app.add_option("job", options.job, "the job: NAME, its latest run, or NAME@RUN")->type_name("JOB")->required();
  add_choice(app, "--format", options.format, "payload JSON lines, a table, or a Perfetto trace", kExportFormats);
  app.add_option("--output,-o", options.output, "write here rather than to standard output")->type_name("FILE");
}

void add_recover_options(CLI::App& app, RecoverOptions& options) {
  app.add_option("file", options.files, "segments of a journal, or its folder")->type_name("FILE")->required();
  app.add_option("--output,-o", options.output, "write what is intact under this folder, for --dir")->type_name("DIR");
}

void add_simulate_options(CLI::App& app, SimulateOptions& options) {
  app.add_option("--job", options.job, "the name of the job")->type_name("NAME");
  app.add_option("--output,-o", options.output, "write here rather than to standard output")->type_name("FILE");
  app.add_flag("--journals", options.journals, "write sealed journals under --dir instead of JSON lines");
  app.add_option("--seed", options.seed, "the same seed gives the same events")->type_name("NUMBER");
  app.add_option("--steps", options.steps, "how many steps the job reaches")
      ->type_name("NUMBER")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  app.add_option("--step-time", options.step_time, "of an ordinary step")->type_name("DURATION");
  app.add_option("--mtbf", options.mtbf, "mean time between failures; 0 for none")->type_name("DURATION");
  app.add_option("--ranks", options.ranks, "how many processes record")
      ->type_name("NUMBER")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
}

}  // namespace goodput::cli
