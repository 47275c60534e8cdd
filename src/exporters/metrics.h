// A report as metrics: families of samples, named once for Prometheus and OTLP alike.
//
// Use it in exporters whose sinks take numbers with labels; docs/formats/report.md ("One word, everywhere") lists them.
//
//   for (const Family& family : metrics_of(report)) {
//     for (const Sample& sample : family.samples) send(family.name, sample.labels, sample.value);
//   }
//
// What is absent in the report has no sample. The number of samples is bounded by classes, windows and
// kMaxCustomEvents (exporters/custom_events.h); nothing here grows with attempts, ranks or steps. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.h"

namespace goodput::exporters {

struct Sample {
  std::vector<std::pair<std::string, std::string>> labels;  ///< those of the job left out; values are UTF-8
  double value = 0;
};

struct Family {
  std::string name;       ///< Prometheus: base unit at the end, no `_total`
  std::string otlp_name;  ///< dotted
  std::string unit;       ///< UCUM, as OTLP wants it: "s", "1", "{step}"
  std::string help;       ///< one sentence
  std::vector<Sample> samples;
  bool is_counter = false;  ///< never falls while a process lives; its Prometheus name then ends in `_total`
};

/// In a fixed order; families without samples are left out. None is a counter: all of these may fall.
std::vector<Family> metrics_of(const report::Report& report);

using JobLabels = std::vector<std::pair<std::string, std::string>>;
/// What every sample of the job carries: job_name; run_id where it has one.
JobLabels job_labels(const std::string& job, const std::string& run_id);
JobLabels job_labels(const report::Report& report);

/// A window's length as it is typed: "1h", "24h", "90s".
std::string window_label(double window_seconds);

}  // namespace goodput::exporters
