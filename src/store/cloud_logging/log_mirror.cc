// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_mirror.h"

#include <fmt/format.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "journal/folder_names.h"
#include "journal/sealed_writer.h"

namespace goodput::store {
namespace {

using Json = nlohmann::json;

constexpr const char* kMirrorsFolder = "stores";  // under a root, beside its journals
constexpr const char* kPlaceFile = "place";
constexpr const char* kPlaceScratch = "place.new";
constexpr uint64_t kMostPlaceBytes = 256 << 20;
/// 65,536 entries: as many as fill a segment, some 25 MB while they wait.
constexpr size_t kMostWaiting = journal::kEventsPerSegment;
/// Another process takes at most a few requests for what is new; a first reading may take minutes.
constexpr int64_t kTurnPatienceNs = 20'000'000'000;

/// Locks of files do not keep out threads of the same process.
std::mutex& one_thread() {
  static std::mutex mutex;
  return mutex;
}

Result<std::unique_ptr<Directory>> make_folder(FileSystem& files, const journal::Root& root, const std::string& name) {
  RETURN_IF_ERROR(files.make_directories(root.path));
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> folder, journal::open_root(files, root));
  for (const std::string& part : {std::string(kMirrorsFolder), name}) {
    ASSIGN_OR_RETURN(folder, open_or_make_directory(*folder, part));
  }
  return folder;
}

bool is_place(const Json& json) {
  return json.is_object() && json.contains("cursor") && json["cursor"].is_string() && json.contains("is_cut_off") &&
         json["is_cut_off"].is_boolean() && json.contains("malformed") && json["malformed"].is_number_unsigned() &&
         json.contains("repaired") && json["repaired"].is_number_unsigned();
}

}  // namespace

Result<std::unique_ptr<LogMirror>> LogMirror::open(FileSystem& files, const std::vector<journal::Root>& roots,
                                                   const CloudLogOptions& options, const std::string& job,
                                                   const LogReaderOptions& how) {
  // What another bound left out would be missing.
  const std::string name =
      journal::hash_name(fmt::format("{}\n{}\n{}", log_name(options.address), job, how.retention_ns));
  Status failure(StatusCode::kNotFound, "keeping a log's entries: no place is known for them");
  for (const journal::Root& root : roots) {
    Result<std::unique_ptr<Directory>> folder = make_folder(files, root, name);
    if (!folder.ok()) {
      failure = folder.status();
      continue;
    }
    journal::Root own{.path = root.path + "/" + kMirrorsFolder + "/" + name};
    return std::unique_ptr<LogMirror>(
        new LogMirror(files, std::move(folder).value(), std::move(own), options, job, how));
  }
  return failure;
}

LogMirror::LogMirror(FileSystem& files, std::unique_ptr<Directory> folder, journal::Root root,
                     const CloudLogOptions& options, const std::string& job, const LogReaderOptions& how)
    : folder_(std::move(folder)),
      root_(std::move(root)),
      options_(options),
      job_(job),
      how_(how),
      journal_(files, root_, job) {}

Status LogMirror::update() {
  const std::scoped_lock one(one_thread());
  ASSIGN_OR_RETURN(const std::unique_ptr<File> turn, wait_for_turn());
  RETURN_IF_ERROR(go_on());
  has_progressed_ = false;
  Status kept;
  const auto flush = [&] {
    if (kept.ok()) kept = journal_.flush();
    if (kept.ok()) kept = save();
  };
  const Status read = reader_->poll([&](const LogRecord& record) {
    has_progressed_ = true;
    journal_.add(record.payload, record.timestamp_ns, record.position);
    if (journal_.waiting() >= kMostWaiting) flush();
  });
  flush();
  if (kept.ok()) return read;
  // The next one begins where the last place was saved.
  reader_.reset();
  return kept;
}

Result<std::unique_ptr<File>> LogMirror::wait_for_turn() {
  ASSIGN_OR_RETURN(std::unique_ptr<File> file, open_or_make_file(*folder_, journal::kLockFile));
  const Status locked = lock_within(*file, kTurnPatienceNs);
  if (locked.ok()) return file;
  if (locked.code() != StatusCode::kUnavailable) return locked;
  return Status(StatusCode::kUnavailable,
                "reading the log " + log_name(options_.address) + ": another process still takes it to here");
}

/// With the place up to which the log was read: by this one, or by another since.
Status LogMirror::go_on() {
  const auto bytes = read_whole_file(*folder_, kPlaceFile, kMostPlaceBytes);
  const std::string text =
      bytes.ok() ? std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()) : std::string();
  if (reader_ != nullptr && text == saved_) return {};
  const Json place = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  LogReaderOptions how = how_;
  may_be_cut_off_ = false;
  if (is_place(place)) {
    how.cursor = place["cursor"];
    may_be_cut_off_ = place["is_cut_off"];
    journal_.set_flaws({.malformed = place["malformed"], .repaired = place["repaired"]});
  }
  Result<std::unique_ptr<CloudLogReader>> reader = CloudLogReader::open(options_, job_, how);
  if (!reader.ok() && !how.cursor.empty()) {
    // A place that is none: all of it again, of which nothing counts twice.
    how.cursor.clear();
    reader = CloudLogReader::open(options_, job_, how);
  }
  if (!reader.ok()) return reader.status();
  reader_ = std::move(*reader);
  saved_ = text;
  return {};
}

Status LogMirror::save() {
  may_be_cut_off_ = may_be_cut_off_ || reader_->may_be_cut_off();
  const std::string text = Json{{"cursor", reader_->cursor()},
                                {"is_cut_off", may_be_cut_off_},
                                {"malformed", journal_.flaws().malformed},
                                {"repaired", journal_.flaws().repaired}}
                               .dump();
  RETURN_IF_ERROR(replace_file(*folder_, kPlaceFile, kPlaceScratch, std::as_bytes(std::span(text))));
  saved_ = text;
  return {};
}

}  // namespace goodput::store
