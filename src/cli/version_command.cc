// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "report/json.h"

namespace goodput::cli {
namespace {

int run_version(Context& context) {
  const nlohmann::ordered_json versions = {
      {"version", GOODPUT_VERSION}, {"semantics", report::kSemanticsVersion}, {"report", report::kReportSchema}};
  if (context.globals.json) return context.print(versions.dump() + "\n");
  return context.print(fmt::format("goodput {} (semantics {}, {})\n", GOODPUT_VERSION, report::kSemanticsVersion,
                                   report::kReportSchema));
}

}  // namespace

Command version_command() {
  return {.name = "version",
          .group = kSelf,
          .summary = "the version of goodput, of its accounting rules and of its report",
          .examples = "goodput version --json",
          .define = [](CLI::App&) -> Run { return run_version; }};
}

}  // namespace goodput::cli
