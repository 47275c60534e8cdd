// SPDX-License-Identifier: Apache-2.0
#include "exporters/prometheus/exposition.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <vector>

#include "base/utf8.h"
#include "exporters/metrics.h"

namespace goodput::exporters {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

void append_escaped(std::string_view text, bool in_quotes, std::string& out) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && in_quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

void append_labels(const Labels& labels, std::string& out, bool& any) {
  for (const auto& [name, value] : labels) {
    out += any ? "," : "{";
    any = true;
    out += name;
    out += "=\"";
    std::string valid;
    append_repaired(valid, value);
    append_escaped(valid, true, out);
    out += '"';
  }
}

void append_number(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

/// A family, and the samples of all jobs as lines.
struct Merged {
  const Family* family = nullptr;
  std::string lines;
};

std::string sample_name(const Family& family) { return family.name + (family.is_counter ? "_total" : ""); }

void append_samples(const Family& family, const Labels& of_job, std::string& lines) {
  for (const Sample& sample : family.samples) {
    lines += sample_name(family);
    bool any = false;
    append_labels(of_job, lines, any);
    append_labels(sample.labels, lines, any);
    lines += any ? "} " : " ";
    append_number(sample.value, lines);
    lines += '\n';
  }
}

void append_family(const Family& family, std::string_view lines, Exposition form, std::string& out) {
  const bool is_open = form == Exposition::kOpenMetrics;
  // OpenMetrics names the family, the older format its samples.
  const std::string name = is_open ? family.name : sample_name(family);
  out += "# HELP " + name + " ";
  append_escaped(family.help, is_open, out);
  out += "\n# TYPE " + name + (family.is_counter ? " counter\n" : " gauge\n");
  if (is_open && name.ends_with("_seconds")) out += "# UNIT " + name + " seconds\n";
  out += lines;
}

}  // namespace

Exposition exposition_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") != std::string_view::npos ? Exposition::kOpenMetrics
                                                                               : Exposition::kText;
}

std::string_view content_type(Exposition form) {
  return form == Exposition::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                          : "text/plain; version=0.0.4; charset=utf-8";
}

std::string expose(std::span<const report::Report> reports, Exposition form, std::string_view more) {
  std::vector<std::vector<Family>> families;
  std::vector<std::string> order;
  std::map<std::string, Merged, std::less<>> merged;
  families.reserve(reports.size());
  for (const report::Report& report : reports) {
    const Labels of_job = job_labels(report);
    for (const Family& family : families.emplace_back(metrics_of(report))) {
      const auto [entry, is_new] = merged.try_emplace(family.name);
      if (is_new) {
        order.push_back(family.name);
        entry->second.family = &family;
      }
      append_samples(family, of_job, entry->second.lines);
    }
  }
  std::string out;
  for (const std::string& name : order) {
    const Merged& entry = merged.find(name)->second;
    append_family(*entry.family, entry.lines, form, out);
  }
  out += more;
  if (form == Exposition::kOpenMetrics) out += "# EOF\n";
  return out;
}

std::string expose_families(std::span<const Family> families, Exposition form) {
  std::string out;
  for (const Family& family : families) {
    std::string lines;
    append_samples(family, {}, lines);
    append_family(family, lines, form, out);
  }
  return out;
}

}  // namespace goodput::exporters
