// SPDX-License-Identifier: Apache-2.0
#include "importers/origin_table.h"

namespace goodput::importers {
namespace {

using event::Origin;

bool equal(const Origin& a, const Origin& b) {
  return a.process_index == b.process_index && a.pid == b.pid && a.attempt_id == b.attempt_id && a.run_id == b.run_id &&
         a.role == b.role && a.host == b.host;
}

/// Equal for equal origins only: every text goes behind its length.
std::string key_of(const Origin& origin) {
  std::string key = std::to_string(origin.process_index) + ' ' + std::to_string(origin.pid);
  for (const std::string_view text : {origin.attempt_id, origin.run_id, origin.role, origin.host}) {
    key += ' ' + std::to_string(text.size()) + ' ';
    key += text;
  }
  return key;
}

}  // namespace

std::optional<uint32_t> OriginTable::intern(const Origin* origin) {
  if (origin == nullptr) return 0;
  if (latest_ != 0 && equal(*origin, *at(latest_))) return latest_;
  std::string key = key_of(*origin);
  if (const auto known = ids_.find(key); known != ids_.end()) return latest_ = known->second;
  if (held_.size() == kMaxOrigins) return std::nullopt;
  Held& held = held_.emplace_back();
  held.origin.process_index = origin->process_index;
  held.origin.pid = origin->pid;
  held.texts.reserve(origin->attempt_id.size() + origin->run_id.size() + origin->role.size() + origin->host.size());
  const auto keep = [&](std::string_view text) {
    const size_t begin = held.texts.size();
    held.texts += text;
    return std::string_view(held.texts).substr(begin);
  };
  held.origin.attempt_id = keep(origin->attempt_id);
  held.origin.run_id = keep(origin->run_id);
  held.origin.role = keep(origin->role);
  held.origin.host = keep(origin->host);
  latest_ = static_cast<uint32_t>(held_.size());
  ids_.emplace(std::move(key), latest_);
  return latest_;
}

}  // namespace goodput::importers
