// The accounting engine, over events in memory: how its costs grow.
//
//   custom events     cost per event with a custom event each tenth step against none (bar 1.3 ×)
//   ten times longer  cold compute of 10^6 steps against 10^5 (bar 12 ×)
//   poll              ten new events behind 10^7 events against behind 10^3 (bar 3 ×), and against cold (bar 1/1,000)
//   memory            growth of RssAnon for a job of 10^7 events, its events not counted (bar 16 MiB)
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "event/source.h"
#include "harness.h"
#include "ledger/ledger.h"
#include "simulate/simulation.h"

namespace goodput::bench {
namespace {

/// Makes its events when they are read: a job of any length in no memory. Steps of 350 ms ± 1 % with a load each.
class GeneratedSource : public event::Source {
 public:
  GeneratedSource(int64_t steps, int64_t custom_every) : steps_(steps), custom_every_(custom_every) {}

  Status read(int64_t from_ns, int64_t to_ns, Sink sink) override {
    event::Event batch[kBatch];
    size_t size = 0;
    const int64_t first = std::max<int64_t>(0, (from_ns - kStartNs) / kStepNs - 2);
    for (int64_t step = first; step < steps_; ++step) {
      if (at(step) >= to_ns) break;
      for (const event::Event& event : events_of(step)) {
        if (event.kind == event::Kind::kNone || event.time_ns < from_ns || event.time_ns >= to_ns) continue;
        batch[size++] = event;
        if (size == kBatch && !sink(std::span(batch, std::exchange(size, 0)))) return {};
      }
    }
    if (size > 0) sink(std::span(batch, size));
    return {};
  }

  void extend(int64_t steps) { steps_ += steps; }
  [[nodiscard]] int64_t steps() const { return steps_; }
  [[nodiscard]] int64_t events() const { return 3 * steps_ + (custom_every_ > 0 ? 2 * (steps_ / custom_every_) : 0); }
  [[nodiscard]] int64_t end_ns() const { return at(steps_); }

 private:
  static constexpr size_t kBatch = 512;
  static constexpr int64_t kStartNs = 1'767'225'600'000'000'000;
  static constexpr int64_t kStepNs = 350'000'000;

  /// Jitter of ± 1 % by a hash of the step.
  static int64_t at(int64_t step) {
    const auto hash = static_cast<uint64_t>(step) * 0x9e3779b97f4a7c15;
    return kStartNs + step * kStepNs + static_cast<int64_t>(hash >> 42) % 3'500'000;
  }

  [[nodiscard]] std::array<event::Event, 5> events_of(int64_t step) const {
    std::array<event::Event, 5> out{};
    const auto put = [&](size_t i, event::Kind kind, int64_t after_ns) {
      out[i].kind = kind;
      out[i].time_ns = at(step) + after_ns;
      out[i].position = {static_cast<uint64_t>(out[i].time_ns), i};
      out[i].step = step;
    };
    put(0, event::Kind::kStepStart, 0);
    put(1, event::Kind::kDataLoadingStart, 300'000'000);
    put(2, event::Kind::kDataLoadingEnd, 310'000'000);
    if (custom_every_ > 0 && step % custom_every_ == custom_every_ - 1) {
      put(3, event::Kind::kCustomStart, 320'000'000);
      put(4, event::Kind::kCustomEnd, 330'000'000);
      out[3].name = out[4].name = "eval";
    }
    return out;
  }

  int64_t steps_;
  int64_t custom_every_;
};

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

void push_all(ledger::Ledger& ledger, GeneratedSource& source, int64_t from_ns) {
  const Status read = source.read(from_ns, kAll, [&](std::span<const event::Event> events) {
    ledger.push(events);
    return true;
  });
  CHECK(read.ok());
}

/// Nanoseconds of generating, folding and answering.
double cold_ns(int64_t steps, int64_t custom_every) {
  GeneratedSource source(steps, custom_every);
  const double begin = monotonic_ns();
  ledger::Ledger ledger({}, source);
  push_all(ledger, source, 0);
  CHECK(ledger.overview(source.end_ns()).ok());
  return monotonic_ns() - begin;
}

/// Nanoseconds of generating the events alone.
double generate_ns(int64_t steps, int64_t custom_every) {
  GeneratedSource source(steps, custom_every);
  const double begin = monotonic_ns();
  int64_t sum = 0;
  CHECK(source
            .read(0, kAll,
                  [&](std::span<const event::Event> events) {
                    for (const event::Event& event : events) sum += event.time_ns;
                    return true;
                  })
            .ok());
  CHECK(sum != 0);
  return monotonic_ns() - begin;
}

double rss_anon_bytes() {
  FILE* status = std::fopen("/proc/self/status", "r");
  char line[256];
  double kib = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) std::sscanf(line, "RssAnon: %lf kB", &kib);
  std::fclose(status);
  return kib * 1024;
}

/// A ledger with a history, polled with ten new events at a time.
class Polled {
 public:
  explicit Polled(int64_t events) : source_(events / 3, 0), ledger_({}, source_) { push_all(ledger_, source_, 0); }

  double poll_ns() {
    const int64_t from_ns = source_.end_ns() - 100'000'000;
    source_.extend(4);
    std::vector<event::Event> fresh;
    CHECK(source_
              .read(from_ns, kAll,
                    [&](std::span<const event::Event> events) {
                      fresh.insert(fresh.end(), events.begin(), events.end());
                      return true;
                    })
              .ok());
    fresh.resize(10);
    const double begin = monotonic_ns();
    ledger_.push(fresh);
    CHECK(ledger_.overview(source_.end_ns()).ok());
    return monotonic_ns() - begin;
  }

  double polls_ns() {
    std::vector<double> costs;
    for (int i = 0; i < 200; ++i) costs.push_back(poll_ns());
    return median(costs);
  }

 private:
  GeneratedSource source_;
  ledger::Ledger ledger_;
};

int run() {
  Table table;
  const double before = rss_anon_bytes();
  {
    Polled grown(10'000'000);
    grown.poll_ns();
    const double mib = (rss_anon_bytes() - before) / (1 << 20);
    table.add({.what = "growth of RssAnon, 10^7 events", .ratio = mib, .bar = 16, .against = "1 MiB", .detail = ""});
  }
  Polled small(1'000);
  Polled large(10'000'000);
  const std::vector<double> polls = alternate({[&] { return large.polls_ns(); }, [&] { return small.polls_ns(); }});
  table.add({.what = "poll with 10 new events, 10^7 behind it",
             .ratio = polls[0] / polls[1],
             .bar = 3,
             .against = "10^3 behind it",
             .detail = Table::format("%.0f µs, %.0f µs", polls[0] / 1e3, polls[1] / 1e3)});
  const double cold = cold_ns(10'000'000 / 3, 0);
  table.add({.what = "poll, 10^7 events behind it",
             .ratio = polls[0] / cold,
             .bar = 0.001,
             .against = "cold compute",
             .detail = Table::format("cold %.2f s", cold / 1e9)});
  const std::vector<double> lengths =
      alternate({[] { return cold_ns(1'000'000, 100); }, [] { return cold_ns(100'000, 100); },
                 [] { return generate_ns(100'000, 100); }});
  table.add({.what = "cold compute, 10^6 steps",
             .ratio = lengths[0] / lengths[1],
             .bar = 12,
             .against = "10^5 steps",
             .detail = Table::format("%.1f ms, %.1f ms of which %.1f ms make the events", lengths[0] / 1e6,
                                     lengths[1] / 1e6, lengths[2] / 1e6)});
  const double with_events = GeneratedSource(40'000, 10).events();
  const double without_events = GeneratedSource(40'000, 0).events();
  const std::vector<double> custom = alternate(
      {[&] { return cold_ns(40'000, 10) / with_events; }, [&] { return cold_ns(40'000, 0) / without_events; }});
  table.add({.what = "40,000 steps with 4,000 custom events, per event",
             .ratio = custom[0] / custom[1],
             .bar = 1.3,
             .against = "without them",
             .detail = Table::format("%.1f ns, %.1f ns", custom[0], custom[1])});
  return table.exit_code();
}

}  // namespace
}  // namespace goodput::bench

int main() { return goodput::bench::run(); }
