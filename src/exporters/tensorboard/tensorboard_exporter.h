// A job's figures in a folder that TensorBoard reads: `<directory>/goodput`, on a disk or in a bucket.
//
//   ASSIGN_OR_RETURN(auto board, TensorBoardExporter::open("runs/7b", "goodput monitor 7b"));
//   board->send(update);                  // appends to one event file; "gs://my-bucket/7b" is such a directory too
//
// Tags are those of ml-goodput-measurement (`goodput/goodput`, `badput/…`, `step_deviation`, in percent and seconds)
// and more: `step_time_seconds`, `goodput/ideal`, `rolling_goodput/1h`, disruptions as texts, and a layout of charts.
// What is of a step is written once; what is of the job once an update, at its last productive step. One writer a
// folder: a second one is refused and told who the first is (in a bucket, where the writers differ in machine, it goes
// on behind what the first wrote). An exporter that starts again goes on where the files in the folder end, as far as
// they are about the same run: the text `job` says whose what follows is. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "exporters/exporter.h"
#include "exporters/tensorboard/event_folder.h"
#include "exporters/tensorboard/event_records.h"
#include "exporters/tensorboard/written_steps.h"

namespace goodput::exporters {

class TensorBoardExporter final : public Exporter {
 public:
  /// kAlreadyExists: another process writes there; kUnavailable: the folder cannot be made or used. A bucket is asked
  /// with the first send() only. `owner` is what others are told of this one.
  static Result<std::unique_ptr<TensorBoardExporter>> open(const std::string& directory, const std::string& owner);

  [[nodiscard]] std::string name() const override { return "tensorboard " + folder_->path(); }
  /// kUnavailable: the file could not be written; what was not is written by the next call.
  Status send(const Update& update) override;
  [[nodiscard]] int64_t pause_ns() const override { return folder_->pause_ns(); }
  [[nodiscard]] int64_t retry_after_ns() const override { return folder_->retry_after_ns(); }
  void cancel() override { folder_->cancel(); }

 private:
  explicit TensorBoardExporter(std::unique_ptr<EventFolder> folder) : folder_(std::move(folder)) {}

  Status begin(const report::Report& report);
  void add_steps(const Update& update);
  void add_totals(const report::Report& report, const Figures& figures);
  void add_disruptions(const report::Report& report);
  Status write_out();

  std::unique_ptr<EventFolder> folder_;
  std::unique_ptr<EventRecords> records_;  ///< null: what is there has not been read yet
  std::string unwritten_;
  WrittenSteps written_;
  int64_t next_disruption_ = 0;
};

}  // namespace goodput::exporters
