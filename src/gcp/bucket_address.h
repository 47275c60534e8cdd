// Where objects are: a bucket of Cloud Storage, and how their names begin in it.
//
//   ASSIGN_OR_RETURN(const BucketAddress address, parse_bucket_address("gs://my-bucket/runs/7b"));
//   object_name(address, "v1/a")                     // "runs/7b/v1/a"
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace goodput::gcp {

constexpr std::string_view kBucketScheme = "gs://";

struct BucketAddress {
  std::string bucket;
  std::string folder;  ///< without a slash at its end; empty: the whole bucket
};

/// gs://BUCKET or gs://BUCKET/FOLDER. kInvalidArgument, with the text, for what is no such address.
Result<BucketAddress> parse_bucket_address(std::string_view url);

/// "gs://my-bucket/runs/7b", the same for every way to write it.
std::string to_url(const BucketAddress& address);

/// Of what lies in the folder under that name.
std::string object_name(const BucketAddress& address, std::string_view name);

}  // namespace goodput::gcp
