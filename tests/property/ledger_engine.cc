// SPDX-License-Identifier: Apache-2.0
#include "property/ledger_engine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

namespace goodput::property {
namespace {

using ledger::Totals;

bool in_time_order(const event::Event& a, const event::Event& b) {
  return std::tie(a.time_ns, a.position) < std::tie(b.time_ns, b.position);
}

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }
golden::Figure number(double value) { return {value, ""}; }
golden::Figure count(std::optional<int64_t> value) {
  return value ? golden::Figure{static_cast<double>(*value), ""} : golden::Figure{};
}
golden::Figure text(std::string value) { return {std::nullopt, std::move(value)}; }

void put_classes(Figures& figures, const std::string& name, const Totals& totals, bool badput_only) {
  figures[name + "."] = {};
  for (size_t c = 0; c < ledger::kTimeClasses; ++c) {
    const auto time_class = static_cast<ledger::TimeClass>(c);
    if (badput_only &&
        (time_class == ledger::TimeClass::kProductive || time_class == ledger::TimeClass::kCustomBadputEvents)) {
      continue;
    }
    if (totals.ns[c] != 0) figures[name + "." + std::string(name_of(time_class))] = number(seconds(totals.ns[c]));
  }
}

std::string status_of(const ledger::AttemptEntry& entry) {
  if (entry.state.completed_ns.has_value()) return "completed";
  if (entry.state.failed_ns.has_value()) return "failed";
  return entry.dead ? "died" : "running";
}

class LedgerEngine : public Engine {
 public:
  LedgerEngine(std::shared_ptr<MemorySource> source, const ledger::Options& options, ledger::Ledger ledger)
      : source_(std::move(source)), options_(options), ledger_(std::move(ledger)) {}

  void add(std::span<const event::Event> batch) override {
    source_->add(batch);
    ledger_.push(batch);
  }

  Figures figures(int64_t now_ns) override {
    const Result<ledger::Overview> overview = ledger_.overview(now_ns);
    if (!overview.ok()) return {};
    Figures figures = accounted(overview->whole);
    figures["start"] = number(seconds(overview->start_ns));
    figures["end"] = number(seconds(overview->end_ns));
    figures["disruptions"] = count(overview->whole.disruptions);
    figures["max_productive_step"] = count(overview->max_productive_step);
    figures["last_step"] = count(overview->last_step);
    figures["async_data_loading_seconds"] = number(static_cast<double>(overview->overlapped_loads_ns) / 1e9);
    figures["typical_step_time_seconds"] = {};
    if (const auto& typical = overview->typical_step_ns; typical.has_value()) {
      figures["typical_step_time_seconds"].number =
          static_cast<double>(static_cast<long double>(typical->num) / static_cast<long double>(typical->den)) / 1e9;
    }
    put_steps(figures, *overview, now_ns);
    put_attempts(figures, now_ns);
    put_disruptions(figures, now_ns);
    put_findings(figures, overview->findings);
    return figures;
  }

  Figures window(int64_t now_ns, const Window& window) override {
    const Result<ledger::AccountedSpan> span =
        ledger_.account(now_ns, {.from_ns = window.from_ns, .to_ns = window.to_ns, .exclusions = window.exclusions});
    return span.ok() ? accounted(*span) : Figures();
  }

  std::unique_ptr<Engine> resumed() override {
    Result<ledger::Ledger> later = ledger::Ledger::resume(ledger_.snapshot(), options_, *source_);
    CHECK(later.ok());
    return std::make_unique<LedgerEngine>(source_, options_, std::move(later).value());
  }

 private:
  Figures accounted(const ledger::AccountedSpan& span) {
    CHECK(span.totals.sum() == span.elapsed_ns);
    Figures figures;
    const double goodput = seconds(span.totals.of(ledger::TimeClass::kProductive));
    figures["elapsed_seconds"] = number(seconds(span.elapsed_ns));
    figures["goodput_seconds"] = number(goodput);
    figures["goodput_percent"] = {};
    if (span.elapsed_ns > 0) figures["goodput_percent"].number = 100 * goodput / seconds(span.elapsed_ns);
    put_classes(figures, "badput_seconds", span.totals, true);
    figures["custom_badput_seconds."] = {};
    for (const auto& [name, ns] : span.totals.custom_ns) {
      figures["custom_badput_seconds." + std::string(ledger_.custom_name(name))] = number(seconds(ns));
    }
    if (span.slices.known_ns > 0) {
      const double whole = static_cast<double>(span.slices.known_ns) * ledger::SliceSums::kUnit;
      figures["slice_efficiency."] = {};
      figures["slice_efficiency.stepping"] = number(static_cast<double>(span.slices.stepping) / whole);
      figures["slice_efficiency.available"] = number(static_cast<double>(span.slices.available) / whole);
    } else {
      figures["slice_efficiency"] = {};
    }
    return figures;
  }

  void put_steps(Figures& figures, const ledger::Overview& overview, int64_t now_ns) {
    const auto steps = ledger_.step_figures(now_ns);
    CHECK(steps.ok());
    for (const char* name : {"ideal_step_time_seconds", "step_time_deviation_seconds", "ideal_goodput_percent"}) {
      figures[name] = {};
    }
    if (!steps->has_value()) return;
    const ledger::StepFigures& answer = steps.value().value();
    figures["ideal_step_time_seconds"] = number(answer.ideal_ns / 1e9);
    figures["step_time_deviation_seconds"] = number(answer.deviation_ns / 1e9);
    if (overview.whole.elapsed_ns > 0) {
      figures["ideal_goodput_percent"] = number(100 * static_cast<double>(overview.preserved_steps) * answer.ideal_ns /
                                                static_cast<double>(overview.whole.elapsed_ns));
    }
  }

  void put_attempts(Figures& figures, int64_t now_ns) {
    const auto attempts = ledger_.attempts(now_ns);
    CHECK(attempts.ok());
    figures["attempts."] = {};
    for (const ledger::AttemptAnswer& answer : *attempts) {
      const ledger::AttemptEntry& entry = answer.entry;
      const std::string prefix = "attempts." + std::to_string(answer.index);
      figures[prefix + "."] = {};
      figures[prefix + ".id"] = text(entry.state.id);
      figures[prefix + ".status"] = text(status_of(entry));
      figures[prefix + ".start"] = number(seconds(entry.start_ns));
      figures[prefix + ".end"] = number(seconds(entry.end_ns));
      figures[prefix + ".first_step"] = count(entry.state.first_step);
      figures[prefix + ".last_step"] = count(entry.last_step);
      figures[prefix + ".elapsed_seconds"] = number(seconds(entry.totals.sum()));
      figures[prefix + ".goodput_seconds"] = number(seconds(entry.totals.of(ledger::TimeClass::kProductive)));
      put_classes(figures, prefix + ".badput_seconds", entry.totals, true);
    }
  }

  void put_disruptions(Figures& figures, int64_t now_ns) {
    const auto disruptions = ledger_.disruptions(now_ns);
    CHECK(disruptions.ok());
    figures["disruption_records."] = {};
    for (const ledger::DisruptionAnswer& answer : *disruptions) {
      const ledger::DisruptionFacts& facts = answer.facts;
      const std::string prefix = "disruption_records." + std::to_string(answer.index);
      figures[prefix + "."] = {};
      figures[prefix + ".kind"] = text(facts.rollback ? "rollback" : "restart");
      figures[prefix + ".time"] = number(seconds(facts.ns));
      figures[prefix + ".attempt"] = count(answer.attempt);
      figures[prefix + ".planned"] = text(facts.annotation.has_value() && facts.annotation->planned ? "true" : "false");
      figures[prefix + ".completed_end"] = text(facts.completed_end ? "true" : "false");
      figures[prefix + ".last_step"] = count(facts.last_step);
      figures[prefix + ".resume_step"] = count(facts.resume_step);
      figures[prefix + ".steps_wasted"] = count(answer.waste.steps);
      figures[prefix + ".wasted_seconds"] = number(seconds(answer.waste.ns));
      figures[prefix + ".stalled_seconds"] = number(seconds(facts.stalled_ns));
      figures[prefix + ".recovery_seconds"] = {};
      if (!facts.waiting) {
        figures[prefix + ".recovery_seconds"] = number(seconds(facts.recovery_ns));
        put_classes(figures, prefix + ".recovery_by_class_seconds", facts.recovery, false);
      } else {
        figures[prefix + ".recovery_by_class_seconds."] = {};
      }
    }
  }

  static void put_findings(Figures& figures, const ledger::Findings& findings) {
    figures["findings."] = {};
    const auto of = [&](ledger::FindingKind kind) { return findings[static_cast<size_t>(kind)]; };
    figures["findings.malformed_entry"] = count(of(ledger::FindingKind::kMalformedEntry).count);
    figures["findings.clock_skew"] = count(of(ledger::FindingKind::kClockSkew).count);
    figures["findings.clock_skew_seconds"] = number(seconds(of(ledger::FindingKind::kClockSkew).ns));
    figures["findings.two_writers"] = count(of(ledger::FindingKind::kTwoWriters).count);
    figures["findings.unclosed_event"] = count(of(ledger::FindingKind::kUnclosedEvent).count);
    figures["findings.overlapping_attempts"] = count(of(ledger::FindingKind::kOverlappingAttempts).count);
    figures["findings.too_many_open_events"] = count(of(ledger::FindingKind::kOpenEventsLimit).count);
  }

  std::shared_ptr<MemorySource> source_;
  ledger::Options options_;
  ledger::Ledger ledger_;
};

}  // namespace

void MemorySource::add(std::span<const event::Event> events) {
  for (const event::Event& event : events) {
    if (event.has(event::kUntimed)) continue;
    events_.insert(std::upper_bound(events_.begin(), events_.end(), event, in_time_order), event);
  }
}

Status MemorySource::read(int64_t from_ns, int64_t to_ns, Sink sink) {
  const auto before = [](const event::Event& event, int64_t ns) { return event.time_ns < ns; };
  const auto begin = std::lower_bound(events_.begin(), events_.end(), from_ns, before);
  const auto end = std::lower_bound(begin, events_.end(), to_ns, before);
  // In spans of odd lengths: instants lie across their edges.
  for (auto at = begin; at < end;) {
    const auto length = std::min<std::ptrdiff_t>(7, end - at);
    if (!sink(std::span(&*at, static_cast<size_t>(length)))) break;
    at += length;
  }
  return {};
}

ledger::Sizes small_sizes() {
  return {.tail_most = 24,
          .tail_least = 8,
          .batch_most = 16,
          .stretches = 8,
          .exact_step_times = 10'000,
          .held_step_times = 16};
}

EngineMaker ledger_maker(const ledger::Sizes& sizes) {
  return [sizes](const Options& options) -> std::unique_ptr<Engine> {
    ledger::Options given;
    given.dead_after_ns = options.dead_after_ns;
    given.stall_factor.millionths =
        static_cast<uint64_t>(std::llround(static_cast<double>(options.stall_factor) * 1'000'000));
    given.stall_floor_ns = options.stall_floor_ns;
    given.sizes = sizes;
    auto source = std::make_shared<MemorySource>();
    ledger::Ledger ledger(given, *source);
    return std::make_unique<LedgerEngine>(source, given, std::move(ledger));
  };
}

}  // namespace goodput::property
