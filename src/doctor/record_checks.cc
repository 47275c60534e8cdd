// What the findings of a report mean for whoever runs the job, and who recorded at all.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "doctor/checks.h"
#include "report/words.h"

namespace goodput::doctor {
namespace {

using report::Finding;
using report::Severity;

constexpr std::array kNameKinds = {std::string_view("name_reused")};
constexpr std::array kWriterKinds = {std::string_view("two_writers")};
constexpr std::array kClockKinds = {std::string_view("clock_skew"), std::string_view("overlapping_attempts"),
                                    std::string_view("wall_clock_step")};
constexpr std::array kOpenKinds = {std::string_view("unclosed_event"), std::string_view("open_events_limit")};

template <size_t N>
bool is_one_of(std::string_view kind, const std::array<std::string_view, N>& kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool is_loss(std::string_view kind) {
  return !is_one_of(kind, kNameKinds) && !is_one_of(kind, kWriterKinds) && !is_one_of(kind, kClockKinds) &&
         !is_one_of(kind, kOpenKinds);
}

Verdict verdict_of(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return Verdict::kGreen;
    case Severity::kWarning:
      return Verdict::kYellow;
    case Severity::kError:
      return Verdict::kRed;
  }
  return Verdict::kRed;
}

/// The gravest of those that `is_meant` picks, with a word about the others; `when_none` where there is none.
template <typename IsMeant>
Opinion opinion_on(const Facts& facts, IsMeant is_meant, std::string_view when_none) {
  std::vector<const Finding*> meant;
  for (const Finding& finding : facts.job->report.findings) {
    if (is_meant(finding.kind)) meant.push_back(&finding);
  }
  if (meant.empty()) return {.seen = std::string(when_none)};
  const auto graver = [](const Finding* a, const Finding* b) { return a->severity > b->severity; };
  std::stable_sort(meant.begin(), meant.end(), graver);
  Opinion opinion{.verdict = verdict_of(meant[0]->severity), .seen = meant[0]->message, .fix = meant[0]->fix};
  if (meant.size() > 1) opinion.seen += fmt::format(" {} more in `goodput report`.", meant.size() - 1);
  if (opinion.verdict == Verdict::kGreen) opinion.fix.clear();
  return opinion;
}

template <size_t N>
Opinion opinion_on(const Facts& facts, const std::array<std::string_view, N>& kinds, std::string_view when_none) {
  return opinion_on(
      facts, [&](std::string_view kind) { return is_one_of(kind, kinds); }, when_none);
}

}  // namespace

Opinion check_lead(const Facts& facts) {
  const JobFacts& job = *facts.job;
  if (job.has_lead && job.absence.empty()) {
    const std::vector<report::Attempt>& attempts = job.report.attempts;
    const bool has_host = !attempts.empty() && !attempts.back().host.empty();
    return {.seen = fmt::format("Process 0 recorded{}; the job is {}.", has_host ? " on " + attempts.back().host : "",
                                report::to_word(job.report.status))};
  }
  if (job.has_lead) return {Verdict::kYellow, "Process 0 has opened its journal and recorded nothing yet.", "Wait."};
  if (job.has_launcher && !job.has_others) {
    return {Verdict::kRed, "`goodput run` launched this job, and no training process recorded under its name.",
            "Give the recorder in the script the name of --job (GOODPUT_JOB holds it), and see that it is on."};
  }
  if (job.has_others) {
    return {Verdict::kRed, "Other processes recorded, process 0 did not: without the lead nothing can be accounted.",
            "Let process 0 record too: enabled=True there (logging_enabled=True in the drop-in), and RANK or "
            "GOODPUT_PROCESS_INDEX 0 for it."};
  }
  if (job.absence.empty()) return {.seen = "Recorded by somebody else's program."};
  return {Verdict::kRed, job.absence + ".",
          "Check the name and the folder (--dir, GOODPUT_DIR); a recorder that is off (enabled=False, or "
          "logging_enabled=False of the drop-in) leaves nothing."};
}

Opinion check_run_name(const Facts& facts) { return opinion_on(facts, kNameKinds, "Used for one run."); }

Opinion check_writers(const Facts& facts) {
  return opinion_on(facts, kWriterKinds, "One process records as the lead.");
}

Opinion check_clocks(const Facts& facts) {
  return opinion_on(facts, kClockKinds, "Each attempt begins after the one before it.");
}

Opinion check_open_events(const Facts& facts) {
  return opinion_on(facts, kOpenKinds, "Every event that began has ended, or still may.");
}

Opinion check_losses(const Facts& facts) {
  return opinion_on(facts, is_loss, "All that was recorded is there and was used.");
}

}  // namespace goodput::doctor
