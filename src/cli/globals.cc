// SPDX-License-Identifier: Apache-2.0
#include "cli/globals.h"

#include <CLI/CLI.hpp>

namespace goodput::cli {

void add_global_options(CLI::App& app, Globals& globals, GlobalsFrom from) {
  const auto add = [&](CLI::Option* option, const char* environment) {
    option->group(kGlobalGroup);
    if (from == GlobalsFrom::kFlagsAndEnvironment) option->envname(environment);
  };
  add(app.add_option("--dir", globals.dir, "where journals are kept")->type_name("DIR"), "GOODPUT_DIR");
  // GOODPUT_STORE is something else: where to look for a job that is not here (app.cc).
  app.add_option("--store", globals.store, "read from there, as cloud-logging://PROJECT/LOG")
      ->type_name("URL")
      ->group(kGlobalGroup);
  add(app.add_option("--config", globals.config, "the configuration file")->type_name("FILE"), "GOODPUT_CONFIG");
  add(app.add_flag("--json", globals.json, "answer in JSON"), "GOODPUT_JSON");
  add(app.add_flag("--quiet", globals.quiet, "no remarks and no progress bar"), "GOODPUT_QUIET");
  add(app.add_flag("--no-color", globals.no_color, "no colours, as NO_COLOR does"), "GOODPUT_NO_COLOR");
}

}  // namespace goodput::cli
