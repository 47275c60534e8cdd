// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/read_records.h"

#include <cstring>
#include <fstream>
#include <span>

#include "base/checksum.h"
#include "exporters/proto/tensorboard.pb.h"
#include "exporters/tensorboard/masked_checksum.h"

namespace goodput::exporters {
namespace {

constexpr size_t kHead = 12, kFoot = 4;
constexpr uint64_t kMostBytes = 64 << 20;  // of a record: no exporter of ours writes more than some KiB
constexpr size_t kPieceBytes = 1 << 20;

template <typename Integer>
Integer get(const char* at) {
  Integer value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

bool checks(std::string_view bytes, const char* sum) {
  return masked_crc32c(std::as_bytes(std::span(bytes))) == get<uint32_t>(sum);
}

}  // namespace

void RecordReader::read(std::string_view bytes, VisitRecord visit) {
  if (is_damaged_) return;
  rest_ += bytes;
  tensorboard::Event event;
  std::string_view left = rest_;
  while (left.size() >= kHead) {
    const auto size = get<uint64_t>(left.data());
    is_damaged_ = size > kMostBytes || !checks(left.substr(0, 8), left.data() + 8);
    if (is_damaged_ || left.size() < kHead + size + kFoot) break;
    const std::string_view message = left.substr(kHead, size);
    is_damaged_ = !checks(message, message.data() + size) ||
                  !event.ParseFromArray(message.data(), static_cast<int>(message.size()));
    if (is_damaged_) break;
    for (const tensorboard::Value& value : event.summary().value()) {
      const bool has_text = value.tensor().string_val_size() > 0;
      visit({.tag = value.tag(),
             .step = event.step(),
             .value = value.simple_value(),
             .text = has_text ? std::string_view(value.tensor().string_val(0)) : std::string_view()});
    }
    left.remove_prefix(kHead + size + kFoot);
  }
  rest_.erase(0, rest_.size() - left.size());
}

void read_records(const std::string& path, VisitRecord visit) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(kPieceBytes, '\0');
  RecordReader records;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    records.read(std::string_view(piece).substr(0, static_cast<size_t>(file.gcount())), visit);
  }
}

}  // namespace goodput::exporters
