// SPDX-License-Identifier: Apache-2.0
#include "monitor/bucket_shipping.h"

#include <algorithm>

#include "base/clock.h"

namespace goodput::monitor {
namespace {

// An object takes one write a second, and a look has one for each segment that is being written. Looks come every ten
// seconds by default; this is for those that come faster, and leaves room for the last word within any flush.
constexpr int64_t kRestNs = 2'000'000'000;

}  // namespace

Result<std::unique_ptr<BucketShipping>> BucketShipping::open(BucketShippingOptions options) {
  std::unique_ptr<BucketShipping> made(new BucketShipping(std::move(options)));
  const BucketShippingOptions& how = made->options_;
  ASSIGN_OR_RETURN(made->bucket_, gcp::Bucket::open(how.address.bucket, {.is_cancelled = &made->is_cancelled_}));
  made->shipper_ = std::make_unique<store::JournalShipper>(
      *made->bucket_, how.address, store::ShipperOptions{.files = how.files, .roots = how.roots, .run = how.run});
  return made;
}

Status BucketShipping::send(const exporters::Update&) {
  const Status shipped = shipper_->ship();
  rests_until_boot_ns_ = boot_time_ns() + kRestNs;
  // Whatever it was, the journals have the events, and somebody may put it right.
  return shipped.ok() ? Status() : Status(StatusCode::kUnavailable, shipped.message());
}

int64_t BucketShipping::pause_ns() const { return std::max<int64_t>(0, rests_until_boot_ns_ - boot_time_ns()); }

}  // namespace goodput::monitor
