// SPDX-License-Identifier: Apache-2.0
#include "cli/run/restart_policy.h"

#include <algorithm>

namespace goodput::cli {

Verdict RestartPolicy::after(const Exit& exit, bool made_progress) {
  if (exit.succeeded() || !limits_.enabled) return {.next = Verdict::Next::kDone};
  if (made_progress) restarts_ = 0;
  if (exit.cannot_run() || restarts_ >= limits_.max_restarts) return {.next = Verdict::Next::kGiveUp};
  int64_t delay_ns = limits_.first_delay_ns;
  for (int i = 0; i < restarts_ && delay_ns < limits_.longest_delay_ns; ++i) delay_ns *= 2;
  ++restarts_;
  return {
      .next = Verdict::Next::kRestart, .restart = restarts_, .delay_ns = std::min(delay_ns, limits_.longest_delay_ns)};
}

}  // namespace goodput::cli
