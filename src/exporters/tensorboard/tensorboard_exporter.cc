// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/tensorboard_exporter.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/host_name.h"
#include "base/lower.h"
#include "exporters/disruption_text.h"
#include "exporters/incumbent_names.h"
#include "exporters/metrics.h"
#include "exporters/tensorboard/read_records.h"
#include "report/words.h"

namespace goodput::exporters {
namespace {

constexpr std::string_view kFilePrefix = "events.out.tfevents.";
constexpr std::string_view kFileSuffix = ".goodput";
constexpr const char* kStepTime = "step_time_seconds";
constexpr const char* kStepDeviation = "step_deviation";
constexpr const char* kDisruptions = "disruptions";

std::string writer_host() {
  const std::string name = host_name();
  return name.empty() ? "localhost" : name;
}

/// What a folder refuses now it may take later.
Status refused(std::string_view doing, std::string_view name, int error_number) {
  return {StatusCode::kUnavailable, error_status(doing, name, error_number).message()};
}

double percent_of(double seconds, double elapsed_seconds) {
  return elapsed_seconds > 0 ? 100 * seconds / elapsed_seconds : 0;
}

/// The seconds in the name of an event file of ours; 0 for any other file.
int64_t seconds_of(std::string_view name) {
  if (!name.starts_with(kFilePrefix) || !name.ends_with(kFileSuffix)) return 0;
  int64_t seconds = 0;
  std::from_chars(name.data() + kFilePrefix.size(), name.data() + name.size(), seconds);
  return seconds;
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
  std::string folder = directory + "/goodput";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return refused("making the TensorBoard folder", folder, failed.value());
  const std::string lock_path = folder + "/.goodput.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0) return refused("opening", lock_path, errno);
  struct flock whole = {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  // Of the open file, not of the process: two exporters of one process exclude each other too.
  if (fcntl(lock, F_OFD_SETLK, &whole) != 0) {
    char other[256] = {};
    const ssize_t got = ::pread(lock, other, sizeof(other) - 1, 0);
    ::close(lock);
    return Status(StatusCode::kAlreadyExists, fmt::format("writing to the TensorBoard folder {}: {} already does",
                                                          folder, got > 0 ? other : "another process"));
  }
  const std::string words = fmt::format("{} (process {} on {})", owner, getpid(), writer_host());
  if (ftruncate(lock, 0) == 0) (void)!::pwrite(lock, words.data(), words.size(), 0);
  std::unique_ptr<TensorBoardExporter> made(new TensorBoardExporter(std::move(folder), lock));
  made->read_back();
  return made;
}

TensorBoardExporter::~TensorBoardExporter() {
  if (file_ >= 0) ::close(file_);
  ::close(lock_);
}

/// Which steps and disruptions earlier files have.
void TensorBoardExporter::read_back() {
  std::vector<std::pair<int64_t, std::filesystem::path>> files;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(directory_, failed)) {
    const int64_t seconds = seconds_of(entry.path().filename().string());
    if (seconds > 0) files.emplace_back(seconds, entry.path());
  }
  std::sort(files.begin(), files.end());
  if (!files.empty()) newest_file_seconds_ = files.back().first;
  for (const auto& [seconds, path] : files) {
    read_records(path.string(), [&](std::string_view tag, int64_t step, float value) {
      if (tag == kStepTime) written_.add({step, value});
      if (tag == kDisruptions) next_disruption_ = std::max(next_disruption_, step + 1);
    });
  }
}

/// A later file than any there is: readers take them in that order.
Status TensorBoardExporter::open_file(int64_t now_ns) {
  const int64_t seconds = std::max(now_ns / 1'000'000'000, newest_file_seconds_ + 1);
  const std::string path =
      fmt::format("{}/{}{:010d}.{}.{}{}", directory_, kFilePrefix, seconds, writer_host(), getpid(), kFileSuffix);
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return refused("making", path, errno);
  newest_file_seconds_ = seconds;
  records_ = std::make_unique<EventRecords>(now_ns);
  records_->layout(now_ns, charts());
  return {};
}

Status TensorBoardExporter::send(const Update& update) {
  if (file_ < 0) RETURN_IF_ERROR(open_file(wall_time_ns()));
  RETURN_IF_ERROR(write_out());  // what a disk did not take before: until it does, nothing is added
  if (update.figures.steps) add_steps(update);
  if (update.figures.goodput) add_disruptions(update.report);
  add_totals(update.report, update.figures);
  return write_out();
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
    // Told once it is known what it cost.
    if (disruption.index < next_disruption_ || !disruption.recovery_seconds.has_value()) continue;
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
    for (const auto& [name, seconds] : report.custom_badput_seconds) {
      put("badput/custom_badput_events/" + lower(name), percent_of(seconds, report.elapsed_seconds));
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
  while (!unwritten_.empty()) {
    const ssize_t wrote = ::write(file_, unwritten_.data(), unwritten_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return refused("appending to", directory_, errno);
    unwritten_.erase(0, static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace goodput::exporters
