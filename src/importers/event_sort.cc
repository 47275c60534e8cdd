// SPDX-License-Identifier: Apache-2.0
#include "importers/event_sort.h"

#include <algorithm>
#include <compare>
#include <memory>
#include <tuple>
#include <vector>

namespace goodput::importers {
namespace {

bool stands_before(const StoredEvent& a, const StoredEvent& b, Order order) {
  switch (order) {
    case Order::kTime:
      return std::tie(a.event.time_ns, a.event.position) < std::tie(b.event.time_ns, b.event.position);
    case Order::kPosition:
      return std::tie(a.event.position, a.ordinal) < std::tie(b.event.position, b.ordinal);
    case Order::kLogEntry: {
      const int64_t a_ns = a.has_key ? a.key.timestamp_ns : a.event.time_ns;
      const int64_t b_ns = b.has_key ? b.key.timestamp_ns : b.event.time_ns;
      return std::tie(a_ns, a.key.insert_id, a.key.log_hash, a.ordinal) <
             std::tie(b_ns, b.key.insert_id, b.key.log_hash, b.ordinal);
    }
  }
  return false;
}

/// A stretch of blocks of a store whose events are in order, and where in it we are.
class Run {
 public:
  Run(const EventStore& store, size_t begin, size_t end) : store_(store), next_(begin), end_(end) {}

  /// Loads the first event, or the next block's.
  Status start() {
    at_ = 0;
    block_.stored.clear();
    return next_ < end_ ? store_.load(next_++, block_) : Status();
  }
  [[nodiscard]] bool done() const { return at_ == block_.stored.size(); }
  [[nodiscard]] StoredEvent& event() { return block_.stored[at_]; }
  Status advance() { return ++at_ == block_.stored.size() ? start() : Status(); }

 private:
  const EventStore& store_;
  size_t next_;
  size_t end_;
  Block block_;
  size_t at_ = 0;
};

using Sink = FunctionRef<Status(StoredEvent&)>;

/// A store of runs, each of whole blocks.
struct Runs {
  explicit Runs(Spool& spool, const OriginTable& origins) : store(spool, origins) {}
  EventStore store;
  std::vector<size_t> begins;  // index of the first block of each

  [[nodiscard]] size_t end_of(size_t run) const { return run + 1 < begins.size() ? begins[run + 1] : store.blocks(); }
};

/// Merges runs [first, last) into `out`; among equals the earlier run goes first.
Status merge(const Runs& runs, size_t first, size_t last, Order order, Sink out) {
  std::vector<std::unique_ptr<Run>> open;
  for (size_t i = first; i < last; ++i) {
    open.push_back(std::make_unique<Run>(runs.store, runs.begins[i], runs.end_of(i)));
    RETURN_IF_ERROR(open.back()->start());
  }
  const auto later = [&](size_t a, size_t b) {
    if (stands_before(open[a]->event(), open[b]->event(), order)) return false;
    return stands_before(open[b]->event(), open[a]->event(), order) || a > b;
  };
  std::vector<size_t> heap;
  for (size_t i = 0; i < open.size(); ++i) {
    if (!open[i]->done()) heap.push_back(i);
  }
  std::ranges::make_heap(heap, later);
  while (!heap.empty()) {
    std::ranges::pop_heap(heap, later);
    Run& run = *open[heap.back()];
    RETURN_IF_ERROR(out(run.event()));
    RETURN_IF_ERROR(run.advance());
    if (run.done()) {
      heap.pop_back();
    } else {
      std::ranges::push_heap(heap, later);
    }
  }
  return {};
}

/// Sorts each stretch of `in` in memory.
Status make_runs(const EventStore& in, Order order, size_t blocks_per_run, Runs& runs) {
  std::vector<Block> blocks(std::min(blocks_per_run, in.blocks()));
  std::vector<StoredEvent*> events;
  for (size_t begin = 0; begin < in.blocks(); begin += blocks_per_run) {
    const size_t count = std::min(blocks_per_run, in.blocks() - begin);
    events.clear();
    for (size_t i = 0; i < count; ++i) {
      RETURN_IF_ERROR(in.load(begin + i, blocks[i]));
      for (StoredEvent& stored : blocks[i].stored) events.push_back(&stored);
    }
    std::ranges::stable_sort(events, [&](const auto* a, const auto* b) { return stands_before(*a, *b, order); });
    runs.begins.push_back(runs.store.blocks());
    for (const StoredEvent* stored : events) RETURN_IF_ERROR(runs.store.append(*stored));
    RETURN_IF_ERROR(runs.store.finish());
  }
  return {};
}

}  // namespace

Status sort_events(const EventStore& in, Order order, Spool& spool, const OriginTable& origins, Sink out,
                   SortBounds bounds) {
  auto runs = std::make_unique<Runs>(spool, origins);
  RETURN_IF_ERROR(make_runs(in, order, bounds.blocks_per_run, *runs));
  while (runs->begins.size() > bounds.fan_in) {
    auto merged = std::make_unique<Runs>(spool, origins);
    for (size_t first = 0; first < runs->begins.size(); first += bounds.fan_in) {
      const size_t last = std::min(first + bounds.fan_in, runs->begins.size());
      merged->begins.push_back(merged->store.blocks());
      RETURN_IF_ERROR(merge(*runs, first, last, order, [&](StoredEvent& e) { return merged->store.append(e); }));
      RETURN_IF_ERROR(merged->store.finish());
    }
    runs = std::move(merged);
  }
  return merge(*runs, 0, runs->begins.size(), order, out);
}

}  // namespace goodput::importers
