// SPDX-License-Identifier: Apache-2.0
#include "exporters/gzip.h"

#include <zlib.h>

#include "base/status.h"

namespace goodput::exporters {

std::string gzip(std::string_view bytes) {
  constexpr int kWindowBits = 15, kGzipHeader = 16, kMemoryLevel = 8;
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits + kGzipHeader, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace goodput::exporters
