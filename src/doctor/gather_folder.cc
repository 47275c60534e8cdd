// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "doctor/gather.h"
#include "journal/folder_names.h"
#include "monitor/disk_budget.h"
#include "record/staging.h"

namespace goodput::doctor {
namespace {

struct KindName {
  uint32_t magic;
  std::string_view name;
};
// As the kernel and the file systems' own sources number them; headers name only some.
constexpr KindName kKinds[] = {
    {0x0000EF53, "ext4"},  {0x58465342, "XFS"},  {0x01021994, "tmpfs"}, {0x794C7630, "overlayfs"},
    {0x9123683E, "btrfs"}, {0x2FC12FC1, "ZFS"},  {0x00006969, "NFS"},   {0x0BD00BD0, "Lustre"},
    {0x47504653, "GPFS"},  {0x00C36400, "Ceph"}, {0x65735546, "FUSE"},  {0xFF534D42, "CIFS"},
    {0xFE534D42, "SMB"},   {0x01021997, "9p"},
};

std::string kind_of(uint32_t magic) {
  for (const KindName& kind : kKinds) {
    if (kind.magic == magic) return std::string(kind.name);
  }
  return fmt::format("file system 0x{:x}", magic);
}

/// `path`, or the nearest folder above it that is there.
std::string nearest_folder(const std::string& path) {
  std::string at = path;
  struct stat facts;
  while (at.size() > 1 && stat(at.c_str(), &facts) != 0 && errno == ENOENT) {
    const size_t slash = at.find_last_of('/');
    if (slash == std::string::npos) return ".";
    at.resize(slash == 0 ? 1 : slash);
  }
  return at;
}

/// Why the recorder would refuse `root` or fail there; empty when it would not.
std::string obstacle_of(const journal::Root& root, const std::string& nearest, bool is_local) {
  struct stat facts;
  if (root.in_public_place && lstat(root.path.c_str(), &facts) == 0) {
    if (S_ISLNK(facts.st_mode)) return "it is a link, in a place where anybody may make one";
    if (facts.st_uid != geteuid()) return "it belongs to somebody else, in a place where anybody may make folders";
  }
  if (stat(nearest.c_str(), &facts) != 0) return std::strerror(errno);
  if (!S_ISDIR(facts.st_mode)) return nearest + " is no folder";
  if (faccessat(AT_FDCWD, nearest.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return nearest == root.path ? std::strerror(errno) : nearest + ": " + std::strerror(errno);
  }
  // A server may give everybody's files another owner; a local file system does not.
  const std::string layout = root.path + "/" + journal::kLayoutFolder;
  if (is_local && lstat(layout.c_str(), &facts) == 0 && facts.st_uid != geteuid()) {
    return fmt::format("{} belongs to user {}, and this is user {}", layout, facts.st_uid, geteuid());
  }
  return {};
}

FolderFacts look_at_root(const journal::Root& root) {
  FolderFacts folder{.path = root.path};
  const std::string nearest = nearest_folder(root.path);
  folder.is_there = nearest == root.path;
  if (const int fd = open(nearest.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
    struct statfs kind;
    if (fstatfs(fd, &kind) == 0) folder.kind = kind_of(static_cast<uint32_t>(kind.f_type));
    struct statvfs space;
    if (fstatvfs(fd, &space) == 0) {
      folder.free_bytes = uint64_t{space.f_bavail} * space.f_frsize;
      if (space.f_files > 0) folder.free_files = space.f_favail;
    }
    folder.maps_in_place = record::can_map_in_place(fd);
    close(fd);
  }
  folder.obstacle = obstacle_of(root, nearest, folder.maps_in_place);
  return folder;
}

std::string staging_place(const journal::Environment& environment) {
  for (const journal::Root& root : record::staging_roots(environment)) {
    const FolderFacts place = look_at_root(root);
    if (place.obstacle.empty() && place.maps_in_place) return place.path;
  }
  return {};
}

}  // namespace

FolderFacts look_at_folder(const std::vector<journal::Root>& roots, const journal::Environment& environment,
                           bool is_named) {
  FolderFacts folder{.obstacle = "there is no such place"};
  for (size_t i = 0; i < roots.size(); ++i) {
    FolderFacts looked_at = look_at_root(roots[i]);
    const bool will_do = looked_at.obstacle.empty();
    if (i == 0 || will_do) folder = std::move(looked_at);
    if (will_do) break;
  }
  folder.is_named = is_named;
  if (!folder.maps_in_place) folder.staging = staging_place(environment);
  folder.budget_bytes = monitor::disk_budget_bytes(environment);
  return folder;
}

}  // namespace goodput::doctor
