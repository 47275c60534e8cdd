// Accounts and their reports, as Python asks for them.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "account.h"
#include "bindings.h"
#include "errors.h"
#include "report/json.h"
#include "report/terminal.h"

namespace goodput::binding {
namespace {

using nb::literals::operator""_a;

/// None leaves each as the engine has it.
ledger::Options options_of(std::optional<int64_t> dead_after_ns, std::optional<double> stall_factor,
                           std::optional<int64_t> stall_floor_ns) {
  ledger::Options options;
  if (dead_after_ns) options.dead_after_ns = *dead_after_ns;
  if (stall_factor) options.stall_factor = ledger::Factor::of(*stall_factor);
  if (stall_floor_ns) options.stall_floor_ns = *stall_floor_ns;
  return options;
}

std::unique_ptr<Account> of_job(const std::string& job, const std::string& directory,
                                std::optional<int64_t> dead_after_ns, std::optional<double> stall_factor,
                                std::optional<int64_t> stall_floor_ns) {
  return value_or_raise(Account::of_job(job, directory, options_of(dead_after_ns, stall_factor, stall_floor_ns)));
}

std::unique_ptr<Account> of_file(const std::string& path, const std::string& job) {
  const nb::gil_scoped_release others_run;
  return value_or_raise(Account::of_file(path, job, {}));
}

/// The report as JSON.
std::string report(Account& account, int64_t now_ns, std::optional<int64_t> from_ns, std::optional<int64_t> to_ns,
                   std::vector<int64_t> windows_ns, std::vector<std::pair<int64_t, int64_t>> exclusions_ns,
                   std::optional<std::pair<double, std::string>> price, bool with_timeline) {
  const nb::gil_scoped_release others_run;
  report::Question question{.now_ns = now_ns,
                            .from_ns = from_ns,
                            .to_ns = to_ns,
                            .windows_ns = std::move(windows_ns),
                            .exclusions = std::move(exclusions_ns),
                            .with_timeline = with_timeline};
  if (price) question.price = report::Price{price->first, price->second};
  return report::to_json(value_or_raise(account.report(question)));
}

std::map<int64_t, double> step_times(Account& account, int64_t now_ns) {
  const nb::gil_scoped_release others_run;
  std::map<int64_t, double> seconds;
  raise_unless_ok(account.ledger().step_times(
      now_ns, std::numeric_limits<int64_t>::min(), [&](int64_t step, const ledger::StepTime& time) {
        seconds[step] = static_cast<double>(time.ns) / static_cast<double>(time.steps) / 1e9;
      }));
  return seconds;
}

}  // namespace

void bind_account(nb::module_& module) {
  nb::class_<Account>(module, "Account")
      .def_static("of_job", &of_job, "job"_a, "directory"_a = "", "dead_after_ns"_a = nb::none(),
                  "stall_factor"_a = nb::none(), "stall_floor_ns"_a = nb::none())
      .def_static("of_file", &of_file, "path"_a, "job"_a)
      .def("poll",
           [](Account& account) {
             const nb::gil_scoped_release others_run;
             raise_unless_ok(account.poll());
           })
      .def("report", &report, "now_ns"_a, "from_ns"_a = nb::none(), "to_ns"_a = nb::none(),
           "windows_ns"_a = std::vector<int64_t>(), "exclusions_ns"_a = std::vector<std::pair<int64_t, int64_t>>(),
           "price"_a = nb::none(), "with_timeline"_a = false)
      .def("step_times", &step_times, "now_ns"_a)
      .def("has_job_start", [](Account& account) { return value_or_raise(account.has_job_start()); });
  module.def(
      "flat", [](const std::string& json) { return report::flat(value_or_raise(report::parse_report(json))); },
      "report_json"_a);
  module.def(
      "text",
      [](const std::string& json, int columns) {
        return report::render_report(value_or_raise(report::parse_report(json)), {.columns = columns});
      },
      "report_json"_a, "columns"_a = 80);
}

}  // namespace goodput::binding
