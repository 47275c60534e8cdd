// The options of the commands that move records about: import, export, recover, simulate.
//
//   auto options = std::make_shared<ExportOptions>();
//   add_export_options(app, *options);
//   … options->format == "csv"
//
// Option structs must live as long as the app; choices are checked while the command line is read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace goodput::cli {

/// The words of --format, as completion offers them.
constexpr const char* kImportFormats = "payload|gcloud";
constexpr const char* kExportFormats = "jsonl|csv|trace";

struct ImportOptions {
  std::string file;  ///< FILE, or "-"
  std::string format = "payload";
  std::string job, run_id;
};
void add_import_options(CLI::App& app, ImportOptions& options);

struct ExportOptions {
  std::string job;
  std::string format = "jsonl";
  std::string output;  ///< empty: standard output
};
void add_export_options(CLI::App& app, ExportOptions& options);

struct RecoverOptions {
  std::vector<std::string> files;  ///< segments, or folders of journals
  std::string output;              ///< empty: nothing is written
};
void add_recover_options(CLI::App& app, RecoverOptions& options);

struct SimulateOptions {
  std::string job = "simulated";
  std::string output;  ///< empty: standard output
  bool journals = false;
  uint64_t seed = 1;
  int64_t steps = 10'000;
  std::string step_time = "1s";
  std::string mtbf = "6h";
  int64_t ranks = 1;
};
void add_simulate_options(CLI::App& app, SimulateOptions& options);

}  // namespace goodput::cli
