// Reports in the text that Prometheus scrapes, in either of its two formats.
//
//   const Exposition form = exposition_for(request["Accept"]);
//   response.set("Content-Type", content_type(form));
//   response.body() = expose(reports, form);
//
// Samples of several jobs share a family, told apart by the label job_name. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exporters/metrics.h"
#include "report/report.h"

namespace goodput::exporters {

enum class Exposition : bool {
  kText,         ///< Prometheus text format 0.0.4
  kOpenMetrics,  ///< OpenMetrics 1.0
};

/// What a scraper that sends this Accept header understands best.
Exposition exposition_for(std::string_view accept);
std::string_view content_type(Exposition form);

/// Every family once, with the samples of all reports; ends with a line feed, or as OpenMetrics wants it. `more` are
/// whole families in the same form.
std::string expose(std::span<const report::Report> reports, Exposition form, std::string_view more = {});

/// Families of a program's own, as `more` takes them. A counter's name gets its `_total`.
std::string expose_families(std::span<const Family> families, Exposition form);

}  // namespace goodput::exporters
