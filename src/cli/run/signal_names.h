// Signals by name: USR1, SIGUSR1, 10, RTMIN+3.
//
//   const Result<int> notice = parse_signal("SIGUSR1");      // 10
//   signal_name(SIGKILL);                                    // "SIGKILL"
//
// Pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::cli {

/// In any case of letters, with or without SIG, or a number. kInvalidArgument for what is no signal, and for the two
/// that no process can receive (KILL, STOP).
Result<int> parse_signal(std::string_view text);

/// "SIGTERM", "SIGRTMIN+3"; "signal 99" for a number without a name.
std::string signal_name(int signal);

}  // namespace goodput::cli
