// SPDX-License-Identifier: Apache-2.0
#include "ledger/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

#include "base/upper.h"

namespace goodput::ledger {

namespace {

constexpr size_t kSpellings = 1024;  // a loop uses a handful; beyond that a name costs an upper-casing each time

}  // namespace

uint64_t identity_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

CustomName Names::find_or_add(std::string_view written) {
  if (const auto found = spellings_.find(written); found != spellings_.end()) {
    if (found->second.index != kMoreCustomNames || full()) return found->second;
  }
  if (spellings_.size() >= kSpellings) spellings_.clear();
  const std::string upper_cased = upper(written);
  CustomName name{.identity = identity_of(upper_cased)};
  if (const auto found = index_of_.find(upper_cased); found != index_of_.end()) {
    name.index = found->second;
  } else if (!full()) {
    name.index = static_cast<uint16_t>(kept_.size());
    index_of_.emplace(upper_cased, name.index);
    kept_.push_back(upper_cased);
  }
  spellings_.insert_or_assign(std::string(written), name);
  return name;
}

bool Names::known(std::string_view written) const { return index_of_.contains(upper(written)); }

void Names::restore(std::vector<std::string> kept) {
  kept_ = std::move(kept);
  spellings_.clear();
  index_of_.clear();
  for (size_t i = 0; i < kept_.size(); ++i) index_of_.emplace(kept_[i], static_cast<uint16_t>(i));
}

}  // namespace goodput::ledger
