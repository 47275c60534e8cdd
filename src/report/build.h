// A report made from a ledger: the ledger's integers turned once into the numbers that people read.
//
//   ledger::Ledger ledger(options, source);
//   …
//   Result<Report> report = build(ledger, {.job = "llama-7b", .now_ns = now_ns, .windows_ns = {3600 * kSecond}});
//
// Formulas: docs/semantics.md, Figures; docs/formats/report.md. Errors are the ledger's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "ledger/ledger.h"
#include "report/cost.h"
#include "report/report.h"

namespace goodput::report {

/// What is asked, and what is known of the job beside its events.
struct Question {
  std::string job = {};
  std::string run_id = {};
  std::map<std::string, std::string> labels = {};
  std::optional<int64_t> accelerators = {};
  std::string accelerator_type = {};
  std::optional<Price> price = {};
  int64_t now_ns = 0;
  std::optional<int64_t> from_ns = {}, to_ns = {};
  std::vector<int64_t> windows_ns = {};                      ///< lengths, each ending with the job or now
  std::vector<std::pair<int64_t, int64_t>> exclusions = {};  ///< as given
  bool with_timeline = false;
  std::vector<Finding> findings = {};  ///< of whoever read the events; the ledger's are added
  std::vector<Rank> ranks = {};
  std::optional<int64_t> first_stopped_rank = {};
};

[[nodiscard]] Result<Report> build(ledger::Ledger& ledger, const Question& question);

}  // namespace goodput::report
