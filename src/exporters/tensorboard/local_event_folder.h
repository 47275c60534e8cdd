// A folder of this machine with event files: each exporter that opens it begins a file of its own.
//
//   ASSIGN_OR_RETURN(auto folder, LocalEventFolder::open("runs/7b/goodput", "goodput monitor 7b"));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "exporters/tensorboard/event_folder.h"

namespace goodput::exporters {

class LocalEventFolder final : public EventFolder {
 public:
  /// kAlreadyExists, naming it: another process writes there. kUnavailable: it cannot be made or used. `owner` is what
  /// others are told of this one.
  static Result<std::unique_ptr<LocalEventFolder>> open(const std::string& path, const std::string& owner);
  ~LocalEventFolder() override;

  [[nodiscard]] const std::string& path() const override { return path_; }
  Status read_back(VisitRecord visit) override;
  Status append(std::string& unwritten) override;

 private:
  LocalEventFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  Status open_file();

  std::string path_;
  int lock_ = -1;
  int file_ = -1;
  int64_t newest_file_seconds_ = 0;
};

}  // namespace goodput::exporters
