// Numbers and texts one after the other, as cursors and indexes hold them.
//
//   FieldWriter out;
//   out.number(3);  out.signed_number(-7);  out.text("node-3");
//   FieldReader in(out.bytes());
//   const uint64_t three = in.number(/*at_most=*/10);
//   if (!in.ok()) …                                   // cut short, or something was larger than allowed
//
// A reader that has failed gives zeros and empty texts from there on. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/varint.h"

namespace goodput::journal {

class FieldWriter {
 public:
  void number(uint64_t value) { put_varint(bytes_, value); }
  void signed_number(int64_t value) { put_varint(bytes_, zigzag(value)); }
  void text(std::string_view text) {
    number(text.size());
    block(std::as_bytes(std::span(text)));
  }
  void block(std::span<const std::byte> block) { bytes_.insert(bytes_.end(), block.begin(), block.end()); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> in) : in_(in) {}
  uint64_t number(uint64_t at_most = ~uint64_t{0}) {
    uint64_t value = 0;
    if (!ok_ || !get_varint(in_, value) || value > at_most) ok_ = false;
    return ok_ ? value : 0;
  }
  int64_t signed_number() { return unzigzag(number()); }
  std::span<const std::byte> block(size_t size) {
    if (size > in_.size()) ok_ = false;
    if (!ok_) return {};
    const auto taken = in_.first(size);
    in_ = in_.subspan(size);
    return taken;
  }
  std::string text() {
    const auto bytes = block(number(in_.size()));
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// What was read makes no sense.
  void fail() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] size_t left() const { return in_.size(); }

 private:
  std::span<const std::byte> in_;
  bool ok_ = true;
};

}  // namespace goodput::journal
