// SPDX-License-Identifier: Apache-2.0
#include "journal/roots.h"

#include <pwd.h>
#include <unistd.h>

namespace goodput::journal {
namespace {

std::string home_folder(const Environment& environment) {
  if (const auto home = environment("HOME")) return *home;
  const passwd* entry = getpwuid(geteuid());
  return entry == nullptr || entry->pw_dir == nullptr ? "" : entry->pw_dir;
}

}  // namespace

std::vector<Root> search_roots(const std::string& named, const Environment& environment) {
  if (!named.empty()) return {{.path = named}};
  if (const auto folder = environment("GOODPUT_DIR")) return {{.path = *folder}};
  const std::string own = "/goodput-" + std::to_string(geteuid());
  std::vector<Root> all;
  if (const auto state = environment("XDG_STATE_HOME")) all.push_back({.path = *state + "/goodput"});
  if (const std::string home = home_folder(environment); !home.empty()) {
    all.push_back({.path = home + "/.local/state/goodput"});
  }
  if (const auto temporary = environment("TMPDIR")) all.push_back({.path = *temporary + own, .in_public_place = true});
  all.push_back({.path = "/dev/shm" + own, .in_public_place = true});
  return all;
}

Result<std::unique_ptr<Directory>> open_root(FileSystem& files, const Root& root) {
  if (!root.in_public_place) return files.open_directory(root.path);
  const size_t slash = root.path.rfind('/');
  ASSIGN_OR_RETURN(const std::unique_ptr<Directory> above, files.open_directory(root.path.substr(0, slash)));
  ASSIGN_OR_RETURN(std::unique_ptr<Directory> own, above->open_directory(root.path.substr(slash + 1)));
  ASSIGN_OR_RETURN(const FileFacts facts, own->facts());
  if (facts.owner != geteuid()) {
    return Status(StatusCode::kPermissionDenied, "opening " + root.path + ": it belongs to another user");
  }
  return own;
}

}  // namespace goodput::journal
