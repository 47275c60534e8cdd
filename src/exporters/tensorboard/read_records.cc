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

template <typename Integer>
Integer get(const char* at) {
  Integer value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

/// The message of the next record; false at the end, or where a record is not whole.
bool next_record(std::istream& file, std::string& message) {
  char head[kHead];
  if (!file.read(head, kHead)) return false;
  const auto size = get<uint64_t>(head);
  if (size > kMostBytes || masked_crc32c(std::as_bytes(std::span(head, 8))) != get<uint32_t>(head + 8)) return false;
  message.resize(size + kFoot);
  if (!file.read(message.data(), static_cast<std::streamsize>(message.size()))) return false;
  const auto sum = get<uint32_t>(message.data() + size);
  message.resize(size);
  return masked_crc32c(std::as_bytes(std::span(message))) == sum;
}

}  // namespace

void read_records(const std::string& path, FunctionRef<void(std::string_view tag, int64_t step, float value)> visit) {
  std::ifstream file(path, std::ios::binary);
  std::string message;
  tensorboard::Event event;
  while (next_record(file, message)) {
    if (!event.ParseFromString(message)) return;
    for (const tensorboard::Value& value : event.summary().value()) {
      visit(value.tag(), event.step(), value.simple_value());
    }
  }
}

}  // namespace goodput::exporters
