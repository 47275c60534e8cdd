// SPDX-License-Identifier: Apache-2.0
#include "record/housekeeping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "journal/live_header.h"
#include "record/system_calls.h"

namespace goodput::record {

int Housekeeping::open_folder() {
  if (folder_.fd() < 0) {
    if (const int error = folder_.open(); error != 0) return error;
    new_names_ = true;
  }
  SegmentChain& chain = writer_.chain();
  if (staging_.is_needed(folder_.fd())) {
    if (const int error = staging_.open(folder_.root()); error != 0) return error;
    HeaderTemplate header = chain.header();
    journal::set_header_flags(header.bytes, journal::kStagedFlag);
    chain.set_header(header);
    chain.set_limit_bytes(kMaxStagedBytes);
  }
  chain.set_folder(live_folder().fd());
  return 0;
}

int Housekeeping::supply() {
  SegmentChain& chain = writer_.chain();
  if (chain.folder() < 0) {
    if (const int error = open_folder(); error != 0) {
      chain.set_failure(error);
      return error;
    }
  }
  while (chain.current() == nullptr || chain.spares() < wanted_spares()) {
    const bool was_failing = chain.failure() != 0;
    if (const int error = chain.add_segment(); error != 0) return error;
    new_names_ = true;
    if (was_failing) writer_.publish_counts();
  }
  return 0;
}

uint32_t Housekeeping::wanted_spares() const {
  // Two once a recording thread had to prepare one itself: events come faster than one spare lasts.
  return writer_.counts()[journal::Counter::kPreparedByCaller] == 0 ? 1 : 2;
}

void Housekeeping::check_files() {
  SegmentChain& chain = writer_.chain();
  if (folder_.is_gone() && folder_.open() != 0) return;
  if (staging_.is_open() && staging_.folder().is_gone() && staging_.open(folder_.root()) != 0) return;
  LiveSegment* last_bad = nullptr;
  for (LiveSegment* segment = chain.oldest(); segment != nullptr; segment = chain.after(*segment)) {
    struct stat facts;
    if (system_calls.facts(segment->fd, &facts) != 0) continue;
    if (facts.st_size >= segment->layout.segment_bytes && facts.st_nlink > 0) continue;
    segment->close();
    segment->is_spare = segment != chain.current() && segment->is_unused();
    last_bad = segment;
  }
  if (last_bad == nullptr) return;
  // The next one first, so that recorders need not wait for it.
  if (chain.after(*last_bad) == nullptr) chain.add_segment();
  new_names_ = true;
  chain.abandon_through(*last_bad);
  writer_.publish_counts();
}

void Housekeeping::retire_full(int64_t patience_ns) {
  SegmentChain& chain = writer_.chain();
  std::vector<LiveSegment*> full;
  const LiveSegment* current = chain.current();
  for (LiveSegment* segment = chain.oldest(); segment != nullptr && segment != current;
       segment = chain.after(*segment)) {
    segment->close();
    full.push_back(segment);
  }
  if (full.empty() || !writer_.quiesce(full, patience_ns)) return;
  for (LiveSegment* segment : full) {
    // What cannot be copied to its place stays staged, and mapped, until it can.
    if (staging_.is_open() && !copy_home(*segment)) return;
    chain.take_out(*segment);
    finish(*segment);
    chain.recycle(*segment);
  }
}

bool Housekeeping::copy_home(LiveSegment& segment) {
  return segment.is_spare || staging_.copy(segment, folder_.fd()) == 0;
}

void Housekeeping::finish(LiveSegment& segment) {
  struct stat facts {};
  const bool known = system_calls.facts(segment.fd, &facts) == 0;
  Retired retired{segment.number, segment.fd};
  bool keep_file = !segment.is_spare;
  if (!keep_file) {
    if (known && facts.st_nlink > 0) remove_segment(segment);
  } else if (staging_.is_open()) {
    retired.fd = staging_.release_copy(segment.number);
    remove_segment(segment);
    close(segment.fd);
  } else if (known && facts.st_nlink == 0) {
    // Deleted, or sealed by somebody who took us for dead: what was recorded since is in the mapping only.
    retired.fd = -1;
    keep_file = write_anew(segment, retired);
    close(segment.fd);
  } else if (known && facts.st_size < segment.layout.segment_bytes) {
    keep_file = false;  // truncated: what is left of it is for recovery, not for sealing
  }
  munmap(segment.base, segment.layout.segment_bytes);
  segment.base = nullptr;
  if (keep_file) {
    unsynced_.push_back(retired);
  } else if (retired.fd >= 0) {
    close(retired.fd);
  }
}

void Housekeeping::remove_segment(const LiveSegment& segment) {
  system_calls.remove_at(live_folder().fd(), SegmentName(segment.number).c_str());
}

bool Housekeeping::write_anew(const LiveSegment& segment, Retired& retired) {
  const SegmentName unfinished(segment.number, ".anew");
  const int fd = system_calls.open_at(folder_.fd(), unfinished.c_str(), O_RDWR | O_CREAT | O_TRUNC);
  if (fd < 0) return false;
  int error = system_calls.write_at(fd, {segment.base, segment.layout.segment_bytes}, 0);
  if (error == 0) {
    error = system_calls.rename_at(folder_.fd(), unfinished.c_str(), SegmentName(segment.number).c_str());
  }
  if (error != 0) {
    close(fd);
    return false;
  }
  retired.fd = fd;
  new_names_ = true;
  return true;
}

void Housekeeping::sync() {
  const uint64_t activity = writer_.activity();
  const bool is_idle = activity == synced_activity_ && unsynced_.empty() && !new_names_;
  // A staged journal is copied all the same: its sign of life goes on.
  if (is_idle && !staging_.is_open()) return;
  synced_activity_ = activity;
  sync_retired();
  if (staging_.is_open()) {
    copy_live();
    if (!has_looked_for_dead_) bring_home_staged(journal::system_environment());
    has_looked_for_dead_ = true;
  } else {
    sync_live();
  }
  const bool syncs = options_.sync_interval_seconds > 0;
  if (new_names_ && (!syncs || folder_.sync_names() == 0)) new_names_ = false;
}

void Housekeeping::sync_retired() {
  for (const Retired& retired : unsynced_) {
    if (options_.sync_interval_seconds > 0 && system_calls.sync(retired.fd) != 0) count_failed_sync();
    close(retired.fd);
    unsealed_.push_back(retired.number);
  }
  unsynced_.clear();
}

void Housekeeping::sync_live() {
  if (options_.sync_interval_seconds <= 0) return;
  SegmentChain& chain = writer_.chain();
  LiveSegment* failed = nullptr;
  for (LiveSegment* segment = chain.oldest(); segment != nullptr; segment = chain.after(*segment)) {
    if (!segment->is_unused() && system_calls.sync(segment->fd) != 0) failed = segment;
  }
  if (failed == nullptr) return;
  // Pages whose write failed count as clean: a second sync would succeed and prove nothing. Go on in another file; what
  // stands in this one is written anew when it is sealed.
  if (chain.after(*failed) == nullptr) chain.add_segment();
  chain.abandon_through(*failed);
  count_failed_sync();
}

void Housekeeping::copy_live() {
  SegmentChain& chain = writer_.chain();
  std::vector<LiveSegment*> segments;
  for (LiveSegment* segment = chain.oldest(); segment != nullptr; segment = chain.after(*segment)) {
    // The current one also when nothing stands in it yet: it says that we live.
    if (!segment->is_unused() || segment == chain.current()) segments.push_back(segment);
  }
  // The newest first: what is copied is a beginning of what was recorded, without holes.
  for (size_t i = segments.size(); i-- > 0;) {
    if (staging_.copy(*segments[i], folder_.fd()) != 0) return;
    new_names_ = true;
  }
  if (options_.sync_interval_seconds > 0 && staging_.sync() != 0) count_failed_sync();
}

void Housekeeping::count_failed_sync() {
  const Pin pin(writer_);
  writer_.count(journal::Counter::kSyncFailed);
}

void Housekeeping::seal() {
  if (options_.seal && !unsealed_.empty()) options_.seal(folder_.fd(), unsealed_);
  unsealed_.clear();
}

void Housekeeping::finish_all(int64_t patience_ns) {
  SegmentChain& chain = writer_.chain();
  writer_.close();
  LiveSegment* last = chain.current();
  while (last != nullptr && chain.after(*last) != nullptr) {
    last->close();
    last = chain.after(*last);
    last->close();
    last->is_spare = last->is_unused();
  }
  if (last != nullptr) chain.abandon_through(*last);
  retire_full(patience_ns);
  sync();
  seal();
  if (staging_.is_open() && chain.oldest() == nullptr) staging_.remove();
}

}  // namespace goodput::record
