// SPDX-License-Identifier: Apache-2.0
#include "journal/latest_steps.h"

#include <algorithm>

#include "journal/read_backwards.h"

namespace goodput::journal {
namespace {

constexpr uint64_t kStepBit = uint64_t{1} << static_cast<unsigned>(event::Kind::kStepStart);

/// Sorts by time and drops all but the last steps whose numbers rise.
void keep_last_rise(std::vector<StepAt>& steps) {
  std::sort(steps.begin(), steps.end(), [](const StepAt& a, const StepAt& b) { return a.boot_ns < b.boot_ns; });
  size_t first = steps.empty() ? 0 : steps.size() - 1;
  while (first > 0 && steps[first - 1].step < steps[first].step && steps.size() - first < kLatestSteps) --first;
  steps.erase(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(first));
}

}  // namespace

std::vector<StepAt> latest_steps(Directory& run_folder, const JournalFile& journal, Decompressor& decompressor) {
  std::vector<StepAt> steps;
  read_backwards(run_folder, journal, kStepBit, decompressor, [&](const StoredPart& part) {
    for (const StoredEvent& stored : part.events) {
      if (!stored.event.has_wall_time) steps.push_back({stored.event.value, stored.event.boot_ns});
    }
    return steps.size() < kLatestSteps;
  });
  keep_last_rise(steps);
  return steps;
}

}  // namespace goodput::journal
