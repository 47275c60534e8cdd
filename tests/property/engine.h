// An accounting engine as the property tests see it: events in, figures out.
//
// The ledger is one; the reference behind the same calls is another, so that the tests can be tested themselves.
//
//   ReferenceEngine engine({.now_ns = 0});
//   engine.add(batch);
//   Figures figures = engine.figures(now_ns);
//   std::unique_ptr<Engine> later = engine.resumed();
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "event/event.h"
#include "golden_figures.h"
#include "reference/accounting.h"

namespace goodput::property {

using golden::Figures;
using reference::Intervals;
using reference::Options;

/// [from_ns, to_ns) less exclusions.
struct Window {
  int64_t from_ns = 0, to_ns = 0;
  Intervals exclusions;
};

class Engine {
 public:
  virtual ~Engine() = default;

  /// One batch, in any order. The text that the events point to outlives the engine.
  virtual void add(std::span<const event::Event> batch) = 0;
  /// Everything about the job by the names of golden::reference_figures(); names that are missing are not compared.
  /// Empty while there is no job.
  virtual Figures figures(int64_t now_ns) = 0;
  /// elapsed_seconds, goodput_seconds, badput_seconds, custom_badput_seconds, slice_efficiency of a part of the job.
  virtual Figures window(int64_t now_ns, const Window& window) = 0;
  /// An engine made of this one's snapshot, that goes on where it stands.
  virtual std::unique_ptr<Engine> resumed() = 0;
};

/// Options::now_ns is not used: every question has its own.
using EngineMaker = std::function<std::unique_ptr<Engine>(const Options&)>;

class ReferenceEngine : public Engine {
 public:
  explicit ReferenceEngine(Options options) : options_(std::move(options)) {}

  void add(std::span<const event::Event> batch) override { events_.insert(events_.end(), batch.begin(), batch.end()); }
  Figures figures(int64_t now_ns) override {
    const auto job = account(now_ns);
    return job ? golden::reference_figures(*job, 0) : Figures();
  }
  Figures window(int64_t now_ns, const Window& window) override {
    const auto job = account(now_ns);
    return job ? golden::reference_window(*job, window.from_ns, window.to_ns, window.exclusions) : Figures();
  }
  std::unique_ptr<Engine> resumed() override { return std::make_unique<ReferenceEngine>(*this); }

 private:
  std::optional<reference::Accounting> account(int64_t now_ns) {
    options_.now_ns = now_ns;
    return reference::account(events_, options_);
  }

  Options options_;
  std::vector<event::Event> events_;
};

}  // namespace goodput::property
