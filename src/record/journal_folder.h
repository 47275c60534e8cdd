// The folder that one journal is written to: found, made, checked and locked.
//
// Use it to open the first root that can be written, and again when the folder was deleted under the recorder.
//
//   JournalFolder folder({.roots = roots, .job = "llama-7b", .journal_id = id});
//   if (int error = folder.open(); error != 0) …          // later, again
//   prepare_segment(segment, folder.fd(), …);
//   if (folder.is_gone()) error = folder.open();          // the same names again, under the same descriptor
//
// One thread at a time; fd() may be used by all, also while open() replaces what it stands for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "journal/roots.h"

namespace goodput::record {

class JournalFolder {
 public:
  struct Place {
    std::vector<journal::Root> roots;  ///< the first that can be written is taken, once and for all
    std::string job;
    std::string run_id;
    std::array<uint8_t, 16> journal_id{};
    bool must_map_in_place = false;  ///< roots on which can_map_in_place() does not hold are passed over
  };

  explicit JournalFolder(Place place) : place_(std::move(place)) {}
  ~JournalFolder();
  JournalFolder(const JournalFolder&) = delete;
  JournalFolder& operator=(const JournalFolder&) = delete;

  /// Makes what is missing of the path (0700), the journal's own folder exclusively, and takes its lock. 0 or errno:
  /// EPERM when a folder on the way belongs to somebody else, ELOOP or ENOTDIR when one is a link.
  int open();
  /// -1 before the first open() that succeeded.
  [[nodiscard]] int fd() const { return fd_; }
  /// The root that was taken; before, the first.
  [[nodiscard]] const std::string& root() const {
    return place_.roots[taken_ < 0 ? 0 : static_cast<size_t>(taken_)].path;
  }
  /// Somebody has deleted it.
  [[nodiscard]] bool is_gone() const;
  /// Makes the names in it, and once its own and those above it, safe from a power cut. 0 or errno.
  int sync_names();
  /// Removes the lock and the folder itself, if that is all there is.
  void remove();

 private:
  int open_under(const journal::Root& root);
  int adopt(int folder, const std::vector<int>& above);

  Place place_;
  int taken_ = -1;
  int fd_ = -1;
  int lock_fd_ = -1;
  std::vector<int> above_;  // open until their names are synced
};

/// The open folder's file system is one on which a mapped store neither kills nor hangs its writer when the disk is
/// full or a server is lost: ext4, XFS, tmpfs, overlayfs.
bool can_map_in_place(int folder_fd);

}  // namespace goodput::record
