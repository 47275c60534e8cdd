// The scalars of an event file, read back: what an exporter that starts again has written already.
//
//   read_records(path, [&](std::string_view tag, int64_t step, float value) { … });
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace goodput::exporters {

/// In the order of the file, up to its end or to the first record that is not whole. Values that are no scalars are
/// given as 0. A file that cannot be read has none.
void read_records(const std::string& path, FunctionRef<void(std::string_view tag, int64_t step, float value)> visit);

}  // namespace goodput::exporters
