// How exporters do, as metrics of the program: what each was given, sent, failed to send.
//
//   std::vector<WatchedPipe> pipes = {{pipe.name(), pipe.counters_reader()}};
//   for (const Family& family : families_of(pipes, job_labels("llama-7b", ""))) …
//
// The exporter's name is the label `exporter`, behind those of the job: monitors of many jobs may write to one
// receiver. Thread-safe as the readers are. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exporters/metrics.h"
#include "exporters/pipe/pipe.h"

namespace goodput::exporters {

struct WatchedPipe {
  std::string name;
  std::function<PipeCounters()> counters;
};

std::vector<Family> families_of(std::span<const WatchedPipe> pipes, const JobLabels& of_job);

}  // namespace goodput::exporters
