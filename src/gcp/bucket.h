// The objects of a bucket of Cloud Storage: put, composed, read, listed and removed, each under conditions.
//
//   ASSIGN_OR_RETURN(auto bucket, Bucket::open("my-bucket", {}));
//   ASSIGN_OR_RETURN(ObjectFacts object, bucket->upload("runs/a", bytes, kMustNotExist));
//   ASSIGN_OR_RETURN(object, bucket->upload("runs/a", more_bytes, object.generation));     // replaces that one only
//   ASSIGN_OR_RETURN(const std::string text, bucket->download(object));
//
// Every write names the generation that it replaces, so that no other writer's is overwritten unseen; one of which the
// answer was lost counts as done when the bucket holds what was to be written. Checksums are compared after writing and
// reading. Trouble that passes (408, 429, 5xx, no answer) is tried four times within some seconds. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/function_ref.h"
#include "base/status.h"
#include "gcp/rest.h"

namespace goodput::gcp {

struct ObjectFacts {
  std::string name{};
  int64_t generation = 0;  ///< changes with every write
  uint64_t size_bytes = 0;
  std::string crc32c{};  ///< as checksum_text() has it
};

constexpr int64_t kMustNotExist = 0;  ///< in place of a generation

/// How Cloud Storage writes a CRC-32C: base64 of its four bytes, the highest first.
std::string checksum_text(uint32_t crc32c);

/// Whether these are the object's bytes.
bool is_content(const ObjectFacts& object, std::string_view bytes);

struct BucketOptions {
  Environment environment = system_environment();
  int64_t timeout_ns = 60'000'000'000;              ///< of a request
  int64_t first_retry_ns = 1'000'000'000;           ///< doubles
  const std::atomic<bool>* is_cancelled = nullptr;  ///< ends everything early; outlives the bucket
};

/// A failure's code: kAlreadyExists: a condition does not hold, something else is there; kNotFound: no such object, or
/// bucket; kUnavailable: it may pass; kPermissionDenied: a right is missing; kUnreadable: bytes arrived damaged.
class Bucket {
 public:
  /// Asks nobody. Fails where credentials are named that are not there or wrong.
  static Result<std::unique_ptr<Bucket>> open(const std::string& name, const BucketOptions& options);

  /// The bytes become the object, in place of `over` (a generation, or kMustNotExist).
  Result<ObjectFacts> upload(const std::string& name, std::string_view bytes, int64_t over);
  /// The same of up to 32 objects one behind the other, which stay. `crc32c` is that of all their bytes.
  Result<ObjectFacts> compose(const std::string& name, std::span<const ObjectFacts> sources, uint32_t crc32c,
                              int64_t over);

  Result<ObjectFacts> find(const std::string& name);
  /// By name, all that begin with `prefix`.
  Status list(std::string_view prefix, FunctionRef<void(ObjectFacts)> give);

  /// Of this generation, in pieces of at most kPieceBytes; that they were whole is known in the end.
  Status read(const ObjectFacts& object, FunctionRef<void(std::string_view piece)> give);
  Result<std::string> download(const ObjectFacts& object);

  /// Of this generation; one that is not there any more is no failure.
  Status remove(const ObjectFacts& object);

  /// After a failure: for how long the service asked to be left alone; 0 when it did not.
  [[nodiscard]] int64_t retry_after_ns() const { return retry_after_ns_; }

  static constexpr size_t kPieceBytes = size_t{8} << 20;

 private:
  Bucket(const std::string& name, std::string url, std::shared_ptr<Credentials> credentials,
         const BucketOptions& options);

  RestAnswer ask(const RestRequest& request);
  Result<ObjectFacts> written(const RestAnswer& answer, const ObjectFacts& wanted, const std::string& doing);
  [[nodiscard]] std::string object_url(std::string_view way, std::string_view name) const;

  std::string name_, url_;
  BucketOptions options_;
  RestClient client_;
  int64_t retry_after_ns_ = 0;
};

}  // namespace goodput::gcp
