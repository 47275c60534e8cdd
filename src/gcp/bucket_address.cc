// SPDX-License-Identifier: Apache-2.0
#include "gcp/bucket_address.h"

#include <algorithm>

namespace goodput::gcp {
namespace {

bool is_bucket_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

}  // namespace

Result<BucketAddress> parse_bucket_address(std::string_view url) {
  const auto wrong = [&](const char* why) {
    return Status(StatusCode::kInvalidArgument, "reading the address \"" + std::string(url) + "\": " + why);
  };
  if (!url.starts_with(kBucketScheme)) return wrong("it is not gs://BUCKET/FOLDER");
  const std::string_view rest = url.substr(kBucketScheme.size());
  const std::string_view bucket = rest.substr(0, rest.find('/'));
  std::string_view folder = rest.substr(std::min(rest.size(), bucket.size() + 1));
  while (folder.ends_with('/')) folder.remove_suffix(1);
  constexpr size_t kFewest = 3, kMost = 222, kMostOfFolder = 768;
  if (bucket.size() < kFewest || bucket.size() > kMost ||
      !std::all_of(bucket.begin(), bucket.end(), is_bucket_character)) {
    return wrong("a bucket's name has 3 to 222 small letters, digits, \"-\", \"_\" and \".\"");
  }
  // Names of objects have at most 1,024 bytes, and ours are put behind it.
  if (folder.size() > kMostOfFolder) return wrong("the folder's name has more than 768 bytes");
  if (folder.find_first_of("\r\n") != std::string_view::npos) return wrong("a name has no line breaks");
  return BucketAddress{.bucket = std::string(bucket), .folder = std::string(folder)};
}

std::string to_url(const BucketAddress& address) {
  return std::string(kBucketScheme) + address.bucket + (address.folder.empty() ? "" : "/" + address.folder);
}

std::string object_name(const BucketAddress& address, std::string_view name) {
  return address.folder.empty() ? std::string(name) : address.folder + "/" + std::string(name);
}

}  // namespace goodput::gcp
