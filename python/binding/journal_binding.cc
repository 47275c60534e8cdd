// Journals as Python reads them.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "base/clock.h"
#include "base/file_system.h"
#include "bindings.h"
#include "errors.h"
#include "event/export/jsonl_export.h"
#include "journal/job_log.h"
#include "journal/roots.h"

namespace goodput::binding {
namespace {

using nb::literals::operator""_a;

/// Every event of a run, as payloads in JSON, a line each, in the order of the log.
std::string journal_payloads(const std::string& job, const std::string& run_id, const std::string& directory) {
  const nb::gil_scoped_release others_run;
  const auto roots = journal::search_roots(directory, journal::system_environment());
  auto log = value_or_raise(journal::JobLog::open(posix_file_system(), roots, job, run_id, system_clock()));
  event::JsonlExport lines(job);
  std::string text;
  raise_unless_ok(log->poll([&](std::span<const event::Event> events) {
    lines.append(events, text);
    return true;
  }));
  return text;
}

}  // namespace

void bind_journal(nb::module_& module) {
  module.def("journal_payloads", &journal_payloads, "job"_a, "run_id"_a = "", "directory"_a = "");
}

}  // namespace goodput::binding
