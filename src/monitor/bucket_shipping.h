// Ships a job's journals to a bucket of Cloud Storage, as one of a monitor's exporters.
//
//   ASSIGN_OR_RETURN(auto shipping, BucketShipping::open({.address = address, .files = &files, .roots = roots,
//                                                         .run = run}));
//   Pipe pipe(std::move(shipping), {});                 // the updates say when to look; the journals say what is new
//
// The journals are its queue: while the bucket is out of reach nothing else waits (store/gcs/journal_shipper.h).
// Used by one thread, cancel() by any. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "exporters/exporter.h"
#include "gcp/bucket.h"
#include "gcp/bucket_address.h"
#include "store/gcs/journal_shipper.h"

namespace goodput::monitor {

struct BucketShippingOptions {
  gcp::BucketAddress address;
  FileSystem* files = nullptr;  ///< outlives the exporter
  std::vector<journal::Root> roots;
  journal::RunName run;
};

class BucketShipping final : public exporters::Exporter {
 public:
  /// Asks nobody. Fails where credentials are named that are not there or wrong.
  static Result<std::unique_ptr<BucketShipping>> open(BucketShippingOptions options);

  [[nodiscard]] std::string name() const override { return gcp::to_url(options_.address); }
  /// Ships what is new in the journals; `update` only says that it is time to look.
  Status send(const exporters::Update& update) override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] int64_t retry_after_ns() const override { return bucket_->retry_after_ns(); }
  [[nodiscard]] uint64_t rejected() const override { return shipper_->unread(); }
  [[nodiscard]] int64_t pause_ns() const override;
  void cancel() override { is_cancelled_ = true; }

 private:
  explicit BucketShipping(BucketShippingOptions options) : options_(std::move(options)) {}

  BucketShippingOptions options_;
  std::atomic<bool> is_cancelled_ = false;
  std::unique_ptr<gcp::Bucket> bucket_;
  std::unique_ptr<store::JournalShipper> shipper_;
  int64_t rests_until_boot_ns_ = 0;
};

}  // namespace goodput::monitor
