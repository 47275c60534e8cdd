// SPDX-License-Identifier: Apache-2.0
#include "journal/imported_origins.h"

#include <array>

#include "base/varint.h"
#include "journal/definitions.h"
#include "journal/live_header.h"

namespace goodput::journal {
namespace {

std::string encode(const event::Origin& origin, size_t longest) {
  std::string text;
  for (const std::string_view part : {origin.attempt_id, origin.run_id, origin.role, origin.host, origin.boot_id}) {
    const std::string_view kept = cut_text(part, longest);
    put_varint(text, kept.size());
    text += kept;
  }
  put_varint(text, zigzag(origin.process_index));
  put_varint(text, zigzag(origin.pid));
  return text;
}

bool decode(std::string_view text, event::Origin& origin) {
  auto in = std::as_bytes(std::span(text));
  for (std::string_view* part : {&origin.attempt_id, &origin.run_id, &origin.role, &origin.host, &origin.boot_id}) {
    uint64_t length = 0;
    if (!get_varint(in, length) || length > in.size()) return false;
    *part = {reinterpret_cast<const char*>(in.data()), static_cast<size_t>(length)};
    in = in.subspan(static_cast<size_t>(length));
  }
  uint64_t process_index = 0, pid = 0;
  if (!get_varint(in, process_index) || !get_varint(in, pid) || !in.empty()) return false;
  origin.process_index = unzigzag(process_index);
  origin.pid = unzigzag(pid);
  return true;
}

}  // namespace

std::string origin_text(const event::Origin& origin) {
  std::string whole = encode(origin, std::string_view::npos);
  return whole.size() <= kMaxDefinitionBytes ? whole : encode(origin, kMaxIdBytes);
}

const event::Origin* ImportedOrigins::at(const NameTable& names, uint16_t id) {
  if (id == kNoName) return nullptr;
  const std::string_view text = names[id];
  if (latest_ == nullptr || latest_->text != text) {
    const auto known = by_text_.find(text);
    if (known == by_text_.end()) {
      Held& made = held_.emplace_back();
      made.text = text;
      made.is_valid = decode(made.text, made.origin);
      by_text_.emplace(made.text, &made);
      latest_ = &made;
    } else {
      latest_ = known->second;
    }
  }
  return latest_->is_valid ? &latest_->origin : nullptr;
}

}  // namespace goodput::journal
