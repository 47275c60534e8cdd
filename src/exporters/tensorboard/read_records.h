// The scalars of an event file, read back: what an exporter that starts again has written already.
//
//   RecordReader records;
//   for (std::string_view piece : pieces) records.read(piece, [&](const ReadValue& read) { read.tag, read.step … });
//   if (!records.is_whole()) …                        // it ends within a record, or is damaged
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace goodput::exporters {

struct ReadValue {
  std::string_view tag;
  int64_t step = 0;
  float value = 0;        ///< of a scalar
  std::string_view text;  ///< of a text
};
using VisitRecord = FunctionRef<void(const ReadValue& read)>;

class RecordReader {
 public:
  /// The next bytes of the file: gives the records that end in them, up to the first that is damaged.
  void read(std::string_view bytes, VisitRecord visit);
  /// Up to here the file is made of records that are whole.
  [[nodiscard]] bool is_whole() const { return rest_.empty() && !is_damaged_; }

 private:
  std::string rest_;  ///< the beginning of a record
  bool is_damaged_ = false;
};

/// Of a file, in its order, up to its end or to the first record that is not whole. A file that cannot be read has
/// none.
void read_records(const std::string& path, VisitRecord visit);

}  // namespace goodput::exporters
