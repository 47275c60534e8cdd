// Environment variables, behind a seam that tests fill.
//
//   const Environment environment = system_environment();
//   if (const auto project = environment("GOOGLE_CLOUD_PROJECT")) use(*project);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace goodput {

/// The value of a variable, or nothing where it is unset or empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// That of this process.
inline Environment system_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

}  // namespace goodput
