// SPDX-License-Identifier: Apache-2.0
#include "exporters/tensorboard/bucket_event_folder.h"

#include <algorithm>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "base/clock.h"
#include "exporters/tensorboard/read_records.h"

namespace goodput::exporters {
namespace {

// An object takes one write a second; TensorBoard looks for what is new every five. Whoever ends leaves its exporters
// ten seconds.
constexpr int64_t kRestNs = 5'000'000'000;
// Composing takes 32 objects, of which one is the file.
constexpr size_t kMostParts = 31;
constexpr size_t kPartBytes = gcp::Bucket::kPieceBytes;
// TensorBoard reads any name with "tfevents" in it, and no other.
constexpr std::string_view kPartPrefix = "goodput-part-";

}  // namespace

Result<std::unique_ptr<BucketEventFolder>> BucketEventFolder::open(const std::string& url) {
  ASSIGN_OR_RETURN(gcp::BucketAddress address, gcp::parse_bucket_address(url));
  std::unique_ptr<BucketEventFolder> made(new BucketEventFolder(std::move(address)));
  ASSIGN_OR_RETURN(made->bucket_, gcp::Bucket::open(made->address_.bucket, {.is_cancelled = &made->is_cancelled_}));
  return made;
}

std::string BucketEventFolder::part_prefix() const { return object_name(address_, kPartPrefix); }

Status BucketEventFolder::read_back(VisitRecord visit) {
  file_ = {};
  crc32c_ = 0;
  next_file_.clear();
  newest_file_seconds_ = 0;
  const std::string folder = object_name(address_, "");
  std::vector<gcp::ObjectFacts> files, parts;
  RETURN_IF_ERROR(bucket_->list(folder, [&](gcp::ObjectFacts object) {
    const std::string_view name = std::string_view(object.name).substr(folder.size());
    if (name.find('/') != std::string_view::npos) return;
    if (event_file_seconds(name) > 0) {
      files.push_back(std::move(object));
    } else if (name.starts_with(kPartPrefix)) {
      parts.push_back(std::move(object));
    }
  }));
  // Their seconds have ten digits: the order of names is theirs.
  for (const gcp::ObjectFacts& file : files) {
    newest_file_seconds_ = event_file_seconds(std::string_view(file.name).substr(folder.size()));
    RETURN_IF_ERROR(read_file(file, visit));
  }
  // Of a writer that ended before it could.
  for (const gcp::ObjectFacts& part : parts) RETURN_IF_ERROR(bucket_->remove(part));
  return {};
}

/// The last one that is whole is gone on with.
Status BucketEventFolder::read_file(const gcp::ObjectFacts& object, VisitRecord visit) {
  RecordReader records;
  uint32_t sum = 0;
  RETURN_IF_ERROR(bucket_->read(object, [&](std::string_view piece) {
    records.read(piece, visit);
    sum = crc32c(std::as_bytes(std::span(piece)), sum);
  }));
  file_ = records.is_whole() ? object : gcp::ObjectFacts{};
  crc32c_ = sum;
  return {};
}

Status BucketEventFolder::append(std::string& unwritten) {
  while (!unwritten.empty()) {
    const bool is_first = file_.name.empty();
    const size_t size = std::min(unwritten.size(), is_first ? kPartBytes : kMostParts * kPartBytes);
    const std::string_view bytes = std::string_view(unwritten).substr(0, size);
    const Status written = is_first ? begin_file(bytes) : extend_file(bytes);
    rests_until_boot_ns_ = boot_time_ns() + kRestNs;
    RETURN_IF_ERROR(written);
    unwritten.erase(0, size);
  }
  return {};
}

/// The name stays until it is known what became of it.
Status BucketEventFolder::begin_file(std::string_view bytes) {
  if (next_file_.empty()) next_file_ = object_name(address_, event_file_name(wall_time_ns(), newest_file_seconds_));
  ASSIGN_OR_RETURN(file_, bucket_->upload(next_file_, bytes, gcp::kMustNotExist));
  crc32c_ = crc32c(std::as_bytes(std::span(bytes)));
  next_file_.clear();
  return {};
}

/// The same bytes behind the same generation have the same names of parts: one that is there already is theirs.
Status BucketEventFolder::extend_file(std::string_view bytes) {
  std::vector<gcp::ObjectFacts> sources = {file_};
  uint32_t whole = crc32c_;
  for (size_t at = 0; at < bytes.size(); at += kPartBytes) {
    const std::string_view part = bytes.substr(at, kPartBytes);
    whole = crc32c(std::as_bytes(std::span(part)), whole);
    const std::string name = part_prefix() + std::to_string(file_.generation) + "-" + std::to_string(whole);
    ASSIGN_OR_RETURN(gcp::ObjectFacts there, bucket_->upload(name, part, gcp::kMustNotExist));
    sources.push_back(std::move(there));
  }
  Result<gcp::ObjectFacts> composed = bucket_->compose(file_.name, sources, whole, file_.generation);
  // Somebody else who began on this folder has removed the parts.
  if (composed.status().code() == StatusCode::kNotFound) {
    return {StatusCode::kAlreadyExists, composed.status().message()};
  }
  if (!composed.ok()) return composed.status();
  file_ = std::move(composed).value();
  crc32c_ = whole;
  // What stays behind is removed by the next one that reads back.
  for (size_t i = 1; i < sources.size(); ++i) (void)bucket_->remove(sources[i]);
  return {};
}

int64_t BucketEventFolder::pause_ns() const { return std::max<int64_t>(0, rests_until_boot_ns_ - boot_time_ns()); }

}  // namespace goodput::exporters
