// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/tensorboard_exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/lower.h"
#include "base/utf8.h"
#include "exporters/custom_events.h"
#include "exporters/disruption_text.h"
#include "exporters/incumbent_names.h"
#include "exporters/metrics.h"
#include "exporters/tensorboard/bucket_event_folder.h"
#include "exporters/tensorboard/local_event_folder.h"
#include "gcp/bucket_address.h"
#include "report/words.h"

namespace goodput::exporters {
namespace {

constexpr const char* kStepTime = "step_time_seconds";
constexpr const char* kStepDeviation = "step_deviation";
constexpr const char* kDisruptions = "disruptions";
constexpr const char* kJob = "job";

double percent_of(double seconds, double elapsed_seconds) {
  return elapsed_seconds > 0 ? 100 * seconds / elapsed_seconds : 0;
}

const std::vector<TensorBoardCategory>& charts() {
  static const std::vector<TensorBoardCategory> categories = {
      {"goodput",
       {{"goodput, %", {"goodput/goodput", "goodput/ideal"}},
        {"goodput of rolling windows, %", {"rolling_goodput/.*"}},
        {"where the rest went, %", {"badput/.*"}}}},
      {"steps", {{"step time, s", {kStepTime}}, {"distance from the ideal step time, s", {kStepDeviation}}}},
  };
  return categories;
}

/// As Markdown.
std::string describe(const report::Disruption& disruption) {
  const std::string_view kind = report::to_word(disruption.kind);
  return fmt::format("**{}**{}", kind, disruption_text(disruption).substr(kind.size()));
}

}  // namespace

Result<std::unique_ptr<TensorBoardExporter>> TensorBoardExporter::open(const std::string& directory,
                                                                       const std::string& owner) {
  std::unique_ptr<EventFolder> folder;
  if (directory.starts_with(gcp::kBucketScheme)) {
    ASSIGN_OR_RETURN(folder, BucketEventFolder::open(directory + "/goodput"));
  } else {
    ASSIGN_OR_RETURN(folder, LocalEventFolder::open(directory + "/goodput", owner));
  }
  return std::unique_ptr<TensorBoardExporter>(new TensorBoardExporter(std::move(folder)));
}

/// Which steps and disruptions of this run earlier files have; what is written from now on is behind them.
Status TensorBoardExporter::begin(const report::Report& report) {
  std::string own;
  append_repaired(own, report.run_id.empty() ? report.job : report.job + "@" + report.run_id);
  const auto forget = [&] {
    written_ = {};
    next_disruption_ = 0;
  };
  forget();
  unwritten_.clear();
  std::string whose = own;  // a file that does not say is ours
  RETURN_IF_ERROR(folder_->read_back([&](const ReadValue& read) {
    if (read.tag == kJob && std::exchange(whose, read.text) != read.text) forget();
    if (read.tag == kStepTime) written_.add({read.step, read.value});
    if (read.tag == kDisruptions) next_disruption_ = std::max(next_disruption_, read.step + 1);
  }));
  if (whose != own) forget();
  const int64_t now_ns = wall_time_ns();
  records_ = std::make_unique<EventRecords>(now_ns);
  records_->text(kJob, 0, now_ns, own);
  records_->layout(now_ns, charts());
  return {};
}

Status TensorBoardExporter::send(const Update& update) {
  if (records_ == nullptr) RETURN_IF_ERROR(begin(update.report));
  // What was not taken before: until it is, nothing is added.
  if (!unwritten_.empty()) RETURN_IF_ERROR(write_out());
  if (update.figures.steps) add_steps(update);
  if (update.figures.goodput) add_disruptions(update.report);
  add_totals(update.report, update.figures);
  RETURN_IF_ERROR(write_out());
  written_.history_is_over();
  return {};
}

void TensorBoardExporter::add_steps(const Update& update) {
  const std::optional<double>& wanted = update.figures.ideal_step_seconds;
  const std::optional<double>& ideal = wanted.has_value() ? wanted : update.report.ideal_step_time_seconds;
  for (const StepPoint& point : update.steps) {
    if (!written_.is_new(point)) continue;
    written_.add(point);
    records_->scalar(kStepTime, point.step, update.report.as_of_ns, point.seconds);
    if (ideal.has_value()) {
      records_->scalar(kStepDeviation, point.step, update.report.as_of_ns, std::abs(point.seconds - *ideal));
    }
  }
}

void TensorBoardExporter::add_disruptions(const report::Report& report) {
  for (const report::Disruption& disruption : report.disruption_records) {
    if (disruption.index < next_disruption_ || !is_settled(report, disruption)) continue;
    records_->text(kDisruptions, disruption.index, report.as_of_ns, describe(disruption));
    next_disruption_ = disruption.index + 1;
  }
}

void TensorBoardExporter::add_totals(const report::Report& report, const Figures& figures) {
  const int64_t step = report.max_productive_step;
  const int64_t now_ns = report.as_of_ns;
  const auto put = [&](const std::string& tag, double value) { records_->scalar(tag, step, now_ns, value); };
  if (figures.goodput && report.goodput_percent.has_value()) put("goodput/goodput", *report.goodput_percent);
  if (figures.goodput && report.ideal_goodput_percent.has_value()) put("goodput/ideal", *report.ideal_goodput_percent);
  if (figures.badput) {
    auto badput = incumbent_badput(report.badput_seconds);
    badput["DATA_LOADING_ASYNC"] = report.async_data_loading_seconds;
    for (const auto& [name, seconds] : badput) {
      put("badput/" + lower(name), percent_of(seconds, report.elapsed_seconds));
    }
    for (const auto& [source, seconds] :
         CustomEvents(report.custom_badput_seconds).by_source(report.custom_badput_seconds)) {
      std::string tag = lower(source);
      tag[std::string_view(report::kCustomBadput).size()] = '/';
      put("badput/" + tag, percent_of(seconds, report.elapsed_seconds));
    }
  }
  if (!figures.windows) return;
  for (const report::Window& window : report.windows) {
    if (window.goodput_percent.has_value()) {
      put("rolling_goodput/" + window_label(window.window_seconds), *window.goodput_percent);
    }
  }
}

Status TensorBoardExporter::write_out() {
  unwritten_ += records_->take();
  const Status written = folder_->append(unwritten_);
  if (written.code() != StatusCode::kAlreadyExists) return written;
  // What was to be written comes again with the update, less what the other one has written.
  records_.reset();
  return {StatusCode::kUnavailable, written.message()};
}

}  // namespace goodput::exporters
