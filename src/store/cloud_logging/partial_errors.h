// What entries:write says of single entries, where it took some and refused others.
//
//   for (const EntryRefusal& refusal : read_partial_errors(error, batch.size())) …
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gcp/api_error.h"

namespace goodput::store {

struct EntryRefusal {
  size_t index = 0;  ///< in the request
  std::string cause;
  bool may_pass_later = false;
};

/// By index, each once. Empty: the error says nothing of single entries, and none was written.
std::vector<EntryRefusal> read_partial_errors(const gcp::ApiError& error, size_t count);

}  // namespace goodput::store
