// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "report/rates.h"
#include "report/terminal/human.h"

namespace goodput::report {
namespace {

struct Advice {
  std::string_view name;
  std::string_view text;  ///< {each} is the class's seconds per attempt
};

constexpr std::array<Advice, 11> kAdvice = {{
    {"ACCELERATOR_INITIALIZATION",
     "Accelerators take {each} to come up in each attempt: reuse warm hosts, and look for the slowest host with "
     "`goodput ranks`."},
    {"TRAINING_PREP",
     "Preparing the training takes {each} in each attempt: build the model and read the data index in parallel."},
    {"PROGRAM_STARTUP",
     "Compiling and warming up takes {each} in each attempt: keep a compilation cache on a disk that survives "
     "restarts."},
    {"DATA_LOADING_SYNC", "Steps wait for input: prefetch more batches, add loader workers, or move the data closer."},
    {"CHECKPOINT_SAVE", "Saves hold up the steps: save asynchronously, or less often if disruptions are rare."},
    {"CHECKPOINT_RESTORE",
     "Restoring takes {each} in each attempt: keep the latest checkpoint in memory or on local disks."},
    {"ELASTIC_SLICE_DOWN", "Much time is spent waiting for lost slices: keep a spare slice, or train on with fewer."},
    {"ELASTIC_SCALE_UP", "Much time is spent waiting for slices to join: let them come up beside the running ones."},
    {"STALLED",
     "Steps hung: set a watchdog that restarts a step after a few minutes, and look at `goodput ranks` for who stopped "
     "first."},
    {"CUSTOM_BADPUT_EVENTS", "Events of your own take training time: run them on other machines, or less often."},
    {"OTHER",
     "Nothing recorded explains this time: record the phases between steps, with `rec.custom(\"name\")` if they have "
     "no name yet."},
}};

double seconds_of(const Report& report, std::string_view name) {
  const auto found = report.badput_seconds.find(std::string(name));
  return found == report.badput_seconds.end() ? 0 : found->second;
}

double custom_seconds(const Report& report) {
  double sum = 0;
  for (const auto& [name, seconds] : report.custom_badput_seconds) sum += seconds;
  return sum;
}

std::string per_disruption(double seconds, int64_t disruptions) {
  return human_duration(mean(seconds, disruptions).value_or(seconds));
}

std::string wasted_text(const Report& report, double seconds) {
  return fmt::format(
      "Each disruption threw away {} of steps: save checkpoints more often, or save one on the notice of a "
      "preemption.",
      per_disruption(seconds, report.disruptions));
}

std::string recovery_text(const Report& report, double seconds) {
  if (report.status == JobStatus::kDown) return "The job is down: nothing restarts it. Launch it under `goodput run`.";
  return fmt::format(
      "It took {} until a new process ran after each disruption: keep spare hosts, and restart in place with "
      "`goodput run`.",
      per_disruption(seconds, report.disruptions));
}

void add_slow_steps(const Report& report, std::vector<Hint>& found) {
  if (!report.goodput_percent || !report.ideal_goodput_percent) return;
  const double lost = *report.goodput_percent - *report.ideal_goodput_percent;
  if (lost < kHintPercent) return;
  found.push_back(
      {"Slow and uneven steps cost time that counts as productive: compare the ranks' lateness with `goodput ranks`.",
       lost});
}

}  // namespace

std::vector<Hint> hints(const Report& report) {
  std::vector<Hint> found;
  if (report.provisional && report.elapsed_seconds < kHintsFromSeconds) return found;
  const auto share = [&](double seconds) { return percent(seconds, report.elapsed_seconds).value_or(0); };
  const auto attempts = static_cast<int64_t>(report.attempts.size()) + report.attempts_omitted;
  for (const Advice& advice : kAdvice) {
    const double seconds =
        advice.name == "CUSTOM_BADPUT_EVENTS" ? custom_seconds(report) : seconds_of(report, advice.name);
    if (share(seconds) < kHintPercent) continue;
    const std::string each = human_duration(mean(seconds, attempts).value_or(seconds));
    found.push_back({fmt::format(fmt::runtime(advice.text), fmt::arg("each", each)), share(seconds)});
  }
  const double wasted = seconds_of(report, "WASTED_PROGRESS");
  if (share(wasted) >= kHintPercent) found.push_back({wasted_text(report, wasted), share(wasted)});
  const double down = seconds_of(report, "INFRASTRUCTURE_RECOVERY");
  if (share(down) >= kHintPercent) found.push_back({recovery_text(report, down), share(down)});
  add_slow_steps(report, found);
  std::stable_sort(found.begin(), found.end(), [](const Hint& a, const Hint& b) { return a.percent > b.percent; });
  if (found.size() > kMostHints) found.resize(kMostHints);
  const bool no_steps = !report.last_step && report.elapsed_seconds > 0;
  if (no_steps) {
    found.insert(found.begin(),
                 {"No step was recorded, so nothing counts as progress: call `rec.record_step(i)`, or use "
                  "`with rec.step(i):`, in the training loop.",
                  0});
  }
  return found;
}

}  // namespace goodput::report
