// A small file that somebody else writes, as text.
//
//   ASSIGN_OR_RETURN(const std::string token, read_text_file(path, "reading the token file " + path));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"

namespace goodput::gcp {

/// All of it. `doing` begins the message of a failure; kNotFound when there is no such file, kUnreadable when it is
/// longer than any credential (1 MiB) or cannot be read.
Result<std::string> read_text_file(const std::string& path, const std::string& doing);

}  // namespace goodput::gcp
