// SPDX-License-Identifier: Apache-2.0
#include "importers/imported_log.h"

#include <algorithm>

#include "importers/import_state.h"

namespace goodput::importers {

using event::Event;

ImportedLog::ImportedLog(std::unique_ptr<State> state) : state_(std::move(state)) {}
ImportedLog::~ImportedLog() = default;

const std::string& ImportedLog::job() const { return state_->job; }
uint64_t ImportedLog::events() const { return state_->log->events(); }
uint64_t ImportedLog::untimed_events() const { return state_->untimed; }
const std::vector<ImportLoss>& ImportedLog::losses() const { return state_->losses; }
bool ImportedLog::in_time_order() const { return state_->by_time == nullptr; }
bool ImportedLog::has_sequences() const { return state_->has_sequences; }

Status ImportedLog::for_each_in_log_order(Sink sink) const {
  for (size_t i = 0; i < state_->log->blocks(); ++i) {
    RETURN_IF_ERROR(state_->log->load(i, state_->block));
    if (!sink(state_->block.events)) break;
  }
  return {};
}

Status ImportedLog::for_each_untimed(Sink sink) const {
  if (state_->untimed == 0) return {};
  return for_each_in_log_order([&](std::span<const Event> events) {
    std::vector<Event>& selected = state_->selected;
    selected.clear();
    std::ranges::copy_if(events, std::back_inserter(selected), [](const Event& e) { return e.has(event::kUntimed); });
    return selected.empty() || sink(selected);
  });
}

Status ImportedLog::read(int64_t from_ns, int64_t to_ns, Sink sink) {
  const EventStore& store = in_time_order() ? *state_->log : *state_->by_time;
  size_t first = 0;
  for (size_t count = store.blocks(); count > 0;) {  // the first block that ends at or after from_ns
    const size_t half = count / 2;
    const bool before = store.last_ns(first + half) < from_ns;
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  for (size_t i = first; i < store.blocks() && store.first_ns(i) < to_ns; ++i) {
    RETURN_IF_ERROR(store.load(i, state_->block));
    std::span<const Event> events = state_->block.events;
    if (store.first_ns(i) < from_ns || store.last_ns(i) >= to_ns || state_->untimed > 0) {
      std::vector<Event>& selected = state_->selected;
      selected.clear();
      std::ranges::copy_if(events, std::back_inserter(selected), [&](const Event& e) {
        return !e.has(event::kUntimed) && e.time_ns >= from_ns && e.time_ns < to_ns;
      });
      events = selected;
    }
    if (!events.empty() && !sink(events)) break;
  }
  return {};
}

}  // namespace goodput::importers
