// SPDX-License-Identifier: Apache-2.0
#include "store/gcs/journal_mirror.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "journal/folder_names.h"
#include "journal/roots.h"
#include "journal/sealed_format.h"
#include "store/gcs/journal_objects.h"

namespace goodput::store {
namespace {

using journal::SegmentForm;

// An object takes tens of milliseconds, and a job of a thousand ranks has thousands.
constexpr size_t kAtATime = 8;
// A copy of a segment that is sealed meanwhile is gone: the listing is made anew then.
constexpr int kListings = 3;

// A refresh of another process may fetch a whole job; by then it has fetched most of what this one wants.
constexpr int64_t kLockPatienceNs = 30'000'000'000;

/// Null when another process has it for longer than that, or there can be none.
std::unique_ptr<File> lock_folder(const std::string& folder) {
  const auto directory = posix_file_system().open_directory(folder);
  if (!directory.ok()) return nullptr;
  auto file = open_or_make_file(**directory, journal::kLockFile);
  if (!file.ok() || !lock_within(**file, kLockPatienceNs).ok()) return nullptr;
  return std::move(file).value();
}

/// Of a job, or of all (""), within the store.
std::string folder_of(std::string_view job) {
  return job.empty() ? std::string(journal::kLayoutFolder) + "/" : job_prefix(job);
}

/// Those on this machine, by their names within the store.
std::vector<std::string> folders_below(const std::string& store, const std::string& within) {
  std::vector<std::string> found;
  std::error_code failed;
  for (std::filesystem::recursive_directory_iterator at(store + "/" + within, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (at->is_directory(failed)) found.push_back(at->path().lexically_relative(store).string());
  }
  return found;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

struct JournalMirror::Wanted {
  gcp::ObjectFacts object;
  SegmentObject place;
};

Status JournalMirror::refresh(std::string_view job) {
  RETURN_IF_ERROR(posix_file_system().make_directories(options_.folder));
  // Nobody removes by an old listing what another has fetched by a newer one.
  const std::unique_ptr<File> lock = lock_folder(options_.folder);
  AllWanted wanted;
  bool has_changed = true;
  for (int listing = 0; listing < kListings && has_changed; ++listing) {
    Result<AllWanted> listed = list(job);
    if (listed.status().code() == StatusCode::kNotFound && lock != nullptr) remove_others(job, {});
    ASSIGN_OR_RETURN(wanted, std::move(listed));
    has_changed = false;
    RETURN_IF_ERROR(fetch(wanted, has_changed));
  }
  if (lock != nullptr) remove_others(job, wanted);
  return {};
}

Result<JournalMirror::AllWanted> JournalMirror::list(std::string_view job) {
  ASSIGN_OR_RETURN(const auto bucket, gcp::Bucket::open(options_.address.bucket, options_.bucket));
  const std::string within = folder_of(job);
  const size_t beginning = object_name(options_.address, "").size();
  AllWanted all;
  const Status listed = bucket->list(object_name(options_.address, within), [&](gcp::ObjectFacts object) {
    auto place = parse_object_name(std::string_view(object.name).substr(beginning));
    const bool is_segment = place.has_value() && object.size_bytes <= journal::kMaxSealedBytes;
    if (is_segment) all.push_back({std::move(object), *std::move(place)});
  });
  if (listed.code() == StatusCode::kNotFound) {
    return Status(StatusCode::kUnreadable, "reading " + to_url(options_.address) + ": there is no such bucket");
  }
  RETURN_IF_ERROR(listed);
  if (!all.empty()) return all;
  const std::string what = job.empty() ? std::string("jobs") : "job \"" + std::string(job) + "\"";
  return Status(StatusCode::kNotFound,
                "looking for " + what + " in " + to_url(options_.address) + ": nothing is recorded there");
}

/// Sets `has_changed` where an object is not there any more.
Status JournalMirror::fetch(const AllWanted& wanted, bool& has_changed) {
  std::vector<const Wanted*> missing;
  for (const Wanted& each : wanted) {
    if (!is_current(each)) missing.push_back(&each);
  }
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Status failure;
  const auto work = [&] {
    auto bucket = gcp::Bucket::open(options_.address.bucket, options_.bucket);
    for (size_t i = next++; i < missing.size(); i = next++) {
      const Status fetched = bucket.ok() ? fetch_one(**bucket, *missing[i]) : bucket.status();
      const std::lock_guard lock(mutex);
      if (fetched.code() == StatusCode::kNotFound) {
        has_changed = true;
      } else if (!fetched.ok()) {
        failure = fetched;
        next = missing.size();
      } else {
        ++fetched_;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(kAtATime, missing.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return failure;
}

Status JournalMirror::fetch_one(gcp::Bucket& bucket, const Wanted& wanted) {
  ASSIGN_OR_RETURN(const std::string bytes, bucket.download(wanted.object));
  ASSIGN_OR_RETURN(const auto folder, open_folder(wanted.place.folder, true));
  // Another process may fetch it too.
  const std::string scratch = wanted.place.file + "." + std::to_string(getpid());
  (void)folder->remove_file(scratch);  // of an earlier process of that number
  const auto put = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto file, folder->open_file(scratch, Access::kCreate));
    RETURN_IF_ERROR(file->write_at(0, bytes_of(bytes)));
    return folder->rename(scratch, wanted.place.file);
  };
  const Status done = put();
  if (!done.ok()) (void)folder->remove_file(scratch);
  return done.code() == StatusCode::kNotFound ? Status(StatusCode::kUnreadable, done.message()) : done;
}

/// A sealed segment never changes but to another size.
bool JournalMirror::is_current(const Wanted& wanted) const {
  const auto folder = open_folder(wanted.place.folder, false);
  if (!folder.ok()) return false;
  const Result<FileFacts> facts = (*folder)->facts(wanted.place.file);
  if (!facts.ok() || facts->size_bytes != wanted.object.size_bytes) return false;
  if (wanted.place.segment.form == SegmentForm::kSealed) return true;
  const auto bytes = read_whole_file(**folder, wanted.place.file, wanted.object.size_bytes);
  return bytes.ok() && is_content(wanted.object, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

/// Segments that are not wanted; and of a segment that is there in both forms the one with less in it, since readers
/// take the live one for the fuller.
void JournalMirror::remove_others(std::string_view job, const AllWanted& wanted) {
  std::map<std::string, std::set<std::string>> files;
  for (const Wanted& each : wanted) files[each.place.folder].insert(each.place.file);
  for (const std::string& folder : folders_below(options_.folder, folder_of(job))) files.try_emplace(folder);
  for (const auto& [path, names] : files) {
    const auto folder = open_folder(path, false);
    const auto there = folder.ok() ? (*folder)->list() : Result<std::vector<std::string>>(folder.status());
    if (!there.ok()) continue;
    for (const std::string& name : *there) {
      const auto segment = journal::parse_segment_name(name);
      if (!segment) continue;
      bool is_useless = !names.contains(name);
      if (const std::string sealed = journal::segment_name(segment->number, SegmentForm::kSealed);
          segment->form == SegmentForm::kLive && !is_useless && names.contains(sealed)) {
        const auto count = [&](const std::string& file, SegmentForm form) {
          const auto bytes = read_whole_file(**folder, file, journal::kMaxSealedBytes);
          return bytes.ok() ? event_count(*bytes, form) : 0;
        };
        is_useless = count(sealed, SegmentForm::kSealed) >= count(name, SegmentForm::kLive);
      }
      if (is_useless) (void)(*folder)->remove_file(name);
    }
  }
}

Result<std::unique_ptr<Directory>> JournalMirror::open_folder(const std::string& folder, bool is_to_be_made) const {
  const std::string path = options_.folder + "/" + folder;
  if (is_to_be_made) RETURN_IF_ERROR(posix_file_system().make_directories(path));
  return posix_file_system().open_directory(path);
}

Result<std::string> mirror_folder(const Environment& environment, const gcp::BucketAddress& address) {
  FileSystem& files = posix_file_system();
  const std::string name = "/stores/" + journal::hash_name(to_url(address));
  std::vector<std::string> choices;
  if (const auto cache = environment("XDG_CACHE_HOME")) choices.push_back(*cache + "/goodput");
  if (const auto home = environment("HOME")) choices.push_back(*home + "/.cache/goodput");
  for (const std::string& choice : choices) {
    if (files.make_directories(choice + name).ok() && access((choice + name).c_str(), W_OK | X_OK) == 0) {
      return choice + name;
    }
  }
  const std::string shared = environment("TMPDIR").value_or("/tmp");
  const journal::Root own{.path = shared + "/goodput-" + std::to_string(geteuid()), .in_public_place = true};
  RETURN_IF_ERROR(files.make_directories(own.path));
  RETURN_IF_ERROR(journal::open_root(files, own).status());
  return own.path + name;
}

}  // namespace goodput::store
