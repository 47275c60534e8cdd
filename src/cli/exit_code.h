// What the executable says by its exit code. (`goodput run` says what its child said.)
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace goodput::cli {

constexpr int kDone = 0;
constexpr int kAnswerIsNo = 1;  ///< no such job, no event in it, losses found: a sound question with "no" as its answer
constexpr int kUsage = 2;       ///< the command line or the configuration makes no sense
constexpr int kCannot = 3;      ///< an input that cannot be read, an output that cannot be written

}  // namespace goodput::cli
