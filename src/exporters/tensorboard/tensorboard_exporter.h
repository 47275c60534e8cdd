// A job's figures in a folder that TensorBoard reads: `<directory>/goodput`.
//
//   ASSIGN_OR_RETURN(auto board, TensorBoardExporter::open("runs/7b", "goodput monitor 7b"));
//   board->send(update);                  // appends to one event file
//
// Tags are those of ml-goodput-measurement (`goodput/goodput`, `badput/…`, `step_deviation`, in percent and seconds)
// and more: `step_time_seconds`, `goodput/ideal`, `rolling_goodput/1h`, disruptions as texts, and a layout of charts.
// What is of a step is written once; what is of the job once an update, at its last productive step. One writer a
// folder: a second one is refused and told who the first is. An exporter that starts again goes on where the files in
// the folder end. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "exporters/exporter.h"
#include "exporters/tensorboard/event_records.h"
#include "exporters/tensorboard/written_steps.h"

namespace goodput::exporters {

class TensorBoardExporter final : public Exporter {
 public:
  /// kAlreadyExists: another process writes there; kUnavailable: the folder cannot be made or used. `owner` is what
  /// others are told of this one.
  static Result<std::unique_ptr<TensorBoardExporter>> open(const std::string& directory, const std::string& owner);
  ~TensorBoardExporter() override;

  [[nodiscard]] std::string name() const override { return "tensorboard " + directory_; }
  /// kUnavailable: the file could not be written; what was not is written by the next call.
  Status send(const Update& update) override;

 private:
  TensorBoardExporter(std::string directory, int lock) : directory_(std::move(directory)), lock_(lock) {}

  void read_back();
  Status open_file(int64_t now_ns);
  void add_steps(const Update& update);
  void add_totals(const report::Report& report, const Figures& figures);
  void add_disruptions(const report::Report& report);
  Status write_out();

  std::string directory_;
  int lock_ = -1;
  int file_ = -1;
  std::unique_ptr<EventRecords> records_;
  std::string unwritten_;
  WrittenSteps written_;
  int64_t next_disruption_ = 0;
  int64_t newest_file_seconds_ = 0;
};

}  // namespace goodput::exporters
