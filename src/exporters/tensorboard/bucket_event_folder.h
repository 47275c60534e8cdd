// A folder of a bucket with one event file, an object that grows: what is new is put beside it, and both are composed
// to the object's next generation. It is never replaced by anything shorter.
//
//   ASSIGN_OR_RETURN(auto folder, BucketEventFolder::open("gs://my-bucket/runs/7b/goodput"));
//
// An exporter that starts again goes on in the same object. Every write names the generation that it goes on from, so
// that of two writers one is told, and reads what the other wrote. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exporters/tensorboard/event_folder.h"
#include "gcp/bucket.h"
#include "gcp/bucket_address.h"

namespace goodput::exporters {

class BucketEventFolder final : public EventFolder {
 public:
  /// Asks nobody. Fails where credentials are named that are not there or wrong.
  static Result<std::unique_ptr<BucketEventFolder>> open(const std::string& url);

  [[nodiscard]] const std::string& path() const override { return path_; }
  Status read_back(VisitRecord visit) override;
  Status append(std::string& unwritten) override;
  [[nodiscard]] int64_t pause_ns() const override;
  [[nodiscard]] int64_t retry_after_ns() const override { return bucket_->retry_after_ns(); }
  void cancel() override { is_cancelled_ = true; }

 private:
  explicit BucketEventFolder(gcp::BucketAddress address) : address_(std::move(address)), path_(to_url(address_)) {}

  Status read_file(const gcp::ObjectFacts& object, VisitRecord visit);
  Status begin_file(std::string_view bytes);
  Status extend_file(std::string_view bytes);
  [[nodiscard]] std::string part_prefix() const;

  gcp::BucketAddress address_;
  std::string path_;
  std::atomic<bool> is_cancelled_ = false;
  std::unique_ptr<gcp::Bucket> bucket_;
  gcp::ObjectFacts file_;  ///< without a name: the next write begins one
  uint32_t crc32c_ = 0;    ///< of all of its bytes
  std::string next_file_;  ///< the name of the one that the next write begins
  int64_t newest_file_seconds_ = 0;
  int64_t rests_until_boot_ns_ = 0;
};

}  // namespace goodput::exporters
