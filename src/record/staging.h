// Journals that cannot be mapped where they belong: written on a file system of this machine that a mapped store is
// safe on, and copied to their place once a second.
//
// The keeper uses it when the journal's folder lies on a copy-on-write or network file system, or when
// GOODPUT_STAGING_DIR says so.
//
//   Staging staging(place, environment);
//   if (staging.is_needed(folder.fd())) error = staging.open(folder.root());
//   prepare_segment(segment, staging.fd(), …);
//   if (int error = staging.copy(segment, folder.fd()); error != 0) …      // again, next second
//
// One thread (the keeper's). Nothing here is called by a recording thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "journal/roots.h"
#include "record/journal_folder.h"
#include "record/live_segment.h"

namespace goodput::record {

/// What lies in memory is capped: with a lost server it would grow until the system kills somebody. 32 MiB: a million
/// events, three days of a step with its load every second.
constexpr uint64_t kMaxStagedBytes = uint64_t{32} * 1024 * 1024;

constexpr size_t kWordsPerPage = journal::kPageBytes / sizeof(uint64_t);

/// Names the folder that the journal belongs in, in the staged journal's own.
constexpr const char* kDestinationFile = "destination";

/// Where journals are staged: $GOODPUT_STAGING_DIR alone, else the first of /dev/shm/goodput-staging-UID, $TMPDIR/…,
/// /tmp/… that can be mapped in place.
std::vector<journal::Root> staging_roots(const journal::Environment& environment);

class Staging {
 public:
  Staging(JournalFolder::Place place, const journal::Environment& environment);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  [[nodiscard]] bool is_needed(int destination_fd) const;
  /// Makes the staged journal's folder, in a place where it can be mapped. 0 or errno.
  int open(const std::string& destination_root);
  /// -1 while nothing is staged.
  [[nodiscard]] int fd() const { return folder_.fd(); }
  [[nodiscard]] bool is_open() const { return folder_.fd() >= 0; }
  JournalFolder& folder() { return folder_; }

  /// Brings the copy up to the segment: pages in which something was committed since, and those that say who writes and
  /// that it lives. 0 or errno; what failed is copied again next time.
  int copy(const LiveSegment& segment, int destination_fd);
  /// Hands over the copy's descriptor and forgets the segment, which was copied and is written no more.
  int release_copy(uint32_t number);
  /// Syncs all copies. 0 or the first errno.
  int sync();
  /// Removes the staged folder: everything has been copied.
  void remove();

 private:
  struct Copy {
    int fd = -1;
    /// What each page was like when it was copied: of runs the committed slots, which never change; of others a
    /// checksum.
    std::vector<uint32_t> states;
  };

  struct ChangedPage {
    uint32_t offset = 0;
    uint32_t state = 0;
    std::array<uint64_t, kWordsPerPage> words;
  };

  static void add_if_changed(const LiveSegment& segment, uint32_t offset, bool is_run, const Copy& copy,
                             std::vector<ChangedPage>& changed);
  int open_copy(const LiveSegment& segment, int destination_fd, Copy*& copy);

  bool is_forced_ = false;
  JournalFolder folder_;
  std::map<uint32_t, Copy> copies_;
};

/// Copies what recorders of this machine that are dead have left staged to where it belongs, seals it there, and
/// removes it. Returns how many journals were brought home. Launchers, agents and the next recorder call it; any
/// thread.
int bring_home_staged(const journal::Environment& environment);

}  // namespace goodput::record
