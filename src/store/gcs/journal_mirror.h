// A folder of this machine that holds what a bucket has of a job's journals: read like any other.
//
//   ASSIGN_OR_RETURN(std::string folder, mirror_folder(environment, address));
//   JournalMirror mirror({.address = address, .folder = folder});
//   RETURN_IF_ERROR(mirror.refresh("llama-7b"));
//   FollowedJob::open(files, {{.path = mirror.folder()}}, run, …)
//
// A refresh lists the job's objects and fetches those that changed, several at a time, each verified; what the bucket
// has no longer is removed. Several processes may share a folder. One thread. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/file_system.h"
#include "gcp/bucket.h"
#include "gcp/bucket_address.h"

namespace goodput::store {

struct MirrorOptions {
  gcp::BucketAddress address;
  std::string folder;  ///< a root, as --dir names one; made where it is missing
  gcp::BucketOptions bucket{};
};

class JournalMirror {
 public:
  explicit JournalMirror(MirrorOptions options) : options_(std::move(options)) {}

  /// Of one job; "": of all. kNotFound: the bucket has no journal of it; kUnavailable: it could not be asked.
  Status refresh(std::string_view job);

  [[nodiscard]] const std::string& folder() const { return options_.folder; }
  /// Objects that were fetched, all in all.
  [[nodiscard]] size_t fetched() const { return fetched_; }

 private:
  struct Wanted;
  using AllWanted = std::vector<Wanted>;

  Result<AllWanted> list(std::string_view job);
  Status fetch(const AllWanted& wanted, bool& has_changed);
  Status fetch_one(gcp::Bucket& bucket, const Wanted& wanted);
  [[nodiscard]] bool is_current(const Wanted& wanted) const;
  void remove_others(std::string_view job, const AllWanted& wanted);
  Result<std::unique_ptr<Directory>> open_folder(const std::string& folder, bool is_to_be_made) const;

  MirrorOptions options_;
  size_t fetched_ = 0;
};

/// Where a bucket is mirrored by default: under $XDG_CACHE_HOME or ~/.cache, else in a folder of this user under
/// $TMPDIR or /tmp.
Result<std::string> mirror_folder(const Environment& environment, const gcp::BucketAddress& address);

}  // namespace goodput::store
