// SPDX-License-Identifier: Apache-2.0
#include "cli/run/signal_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>

namespace goodput::cli {
namespace {

/// The whole of `text` as a number, or -1.
int whole_number(std::string_view text) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// "RTMIN", "RTMIN+3", "RTMAX-1"; 0 for anything else.
int real_time_signal(std::string_view name) {
  const bool from_first = name.starts_with("RTMIN");
  if (!from_first && !name.starts_with("RTMAX")) return 0;
  const std::string_view rest = name.substr(5);
  if (rest.empty()) return from_first ? SIGRTMIN : SIGRTMAX;
  const int distance = rest[0] == (from_first ? '+' : '-') ? whole_number(rest.substr(1)) : -1;
  if (distance < 0 || distance > SIGRTMAX - SIGRTMIN) return 0;
  return from_first ? SIGRTMIN + distance : SIGRTMAX - distance;
}

int signal_number(std::string_view name) {
  if (const int number = whole_number(name); number >= 0) return number;
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    const char* known = sigabbrev_np(signal);
    if (known != nullptr && name == known) return signal;
  }
  return real_time_signal(name);
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  if (name.starts_with("SIG")) name.erase(0, 3);
  const int signal = signal_number(name);
  if (signal < 1 || signal > SIGRTMAX) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("reading '{}' as a signal: there is none of that name", text));
  }
  if (signal == SIGKILL || signal == SIGSTOP) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("waiting for {}: no process can receive it", signal_name(signal)));
  }
  return signal;
}

std::string signal_name(int signal) {
  if (const char* known = sigabbrev_np(signal); known != nullptr) return fmt::format("SIG{}", known);
  if (signal == SIGRTMIN) return "SIGRTMIN";
  if (signal > SIGRTMIN && signal <= SIGRTMAX) return fmt::format("SIGRTMIN+{}", signal - SIGRTMIN);
  return fmt::format("signal {}", signal);
}

}  // namespace goodput::cli
