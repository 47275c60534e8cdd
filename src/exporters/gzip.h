// A body as `Content-Encoding: gzip` wants it.
//
//   request.body = gzip(body);
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace goodput::exporters {

std::string gzip(std::string_view bytes);

}  // namespace goodput::exporters
