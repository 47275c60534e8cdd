// SPDX-License-Identifier: Apache-2.0
#include "importers/event_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace goodput::importers {
namespace {

Status failure(const std::string& doing, int error) {
  const StatusCode code =
      error == ENOSPC || error == EDQUOT || error == EFBIG ? StatusCode::kNoSpace : StatusCode::kUnreadable;
  return {code, doing + ": " + std::strerror(error)};
}

/// A new file without a name, or -1 with errno.
int open_nameless(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
  std::string path = directory + "/goodput-XXXXXX";  // a file system without O_TMPFILE
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

EventStore::~EventStore() {
  if (fd_ >= 0) ::close(fd_);
  spool_.memory_left += memory_taken_;
}

Status EventStore::append(const StoredEvent& stored) {
  encoder_.append(stored, open_);
  if (!stored.event.has(event::kUntimed)) {
    open_place_.first_ns = std::min(open_place_.first_ns, stored.event.time_ns);
    open_place_.last_ns = std::max(open_place_.last_ns, stored.event.time_ns);
  }
  ++events_;
  return ++open_place_.events == kEventsPerBlock ? close_block() : Status();
}

Status EventStore::finish() { return open_place_.events > 0 ? close_block() : Status(); }

Status EventStore::close_block() {
  open_place_.length = static_cast<uint32_t>(open_.size());
  if (fd_ < 0 && open_.size() > spool_.memory_left) RETURN_IF_ERROR(move_to_file());
  if (fd_ < 0) {
    spool_.memory_left -= open_.size();
    memory_taken_ += open_.size();
    in_memory_.push_back(open_);
  } else {
    open_place_.offset = file_bytes_;
    RETURN_IF_ERROR(write(open_, file_bytes_));
    file_bytes_ += open_.size();
  }
  if (open_place_.first_ns > open_place_.last_ns) {
    open_place_.first_ns = open_place_.last_ns = index_.empty() ? INT64_MIN : index_.back().last_ns;
  }
  index_.push_back(open_place_);
  open_place_ = {};
  open_.clear();
  encoder_ = {};
  return {};
}

Status EventStore::move_to_file() {
  fd_ = open_nameless(spool_.directory);
  if (fd_ < 0) return failure("making a temporary file in " + spool_.directory, errno);
  for (size_t i = 0; i < in_memory_.size(); ++i) {
    index_[i].offset = file_bytes_;
    RETURN_IF_ERROR(write(in_memory_[i], file_bytes_));
    file_bytes_ += in_memory_[i].size();
  }
  in_memory_ = {};
  spool_.memory_left += memory_taken_;
  memory_taken_ = 0;
  return {};
}

Status EventStore::write(const std::string& bytes, uint64_t offset) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::pwrite(fd_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (wrote < 0 && errno != EINTR) return failure("writing a temporary file in " + spool_.directory, errno);
    if (wrote > 0) done += static_cast<size_t>(wrote);
  }
  return {};
}

Status EventStore::load(size_t block, Block& into) const {
  const Place& place = index_[block];
  if (fd_ < 0) {
    into.bytes = in_memory_[block];
  } else {
    into.bytes.resize(place.length);
    for (size_t done = 0; done < place.length;) {
      const ssize_t got =
          ::pread(fd_, into.bytes.data() + done, place.length - done, static_cast<off_t>(place.offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return failure("reading a temporary file in " + spool_.directory, got < 0 ? errno : EIO);
      done += static_cast<size_t>(got);
    }
  }
  into.events.resize(place.events);
  into.stored.resize(place.events);
  into.details.resize(place.events);
  EventDecoder decoder(std::as_bytes(std::span(into.bytes)), origins_);
  for (size_t i = 0; i < place.events; ++i) {
    StoredEvent& stored = into.stored[i];
    CHECK(decoder.next(stored, into.details[i]));
    if (!sequences_count_) {
      stored.has_sequence = false;
      stored.event.position = {0, stored.ordinal};
    }
    into.events[i] = stored.event;
  }
  return {};
}

}  // namespace goodput::importers
