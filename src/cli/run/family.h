// The processes below this one, and how to have none of them escape.
//
//   Family family;                                       // orphans below this process become its children
//   for (pid_t child : family.children()) kill(child, SIGTERM);
//
// When children() is empty no process that was started below this one is left: an orphan is handed to us the moment its
// parent dies. Children from before (this process may have been a shell) are not counted. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

namespace goodput::cli {

class Family {
 public:
  Family();

  /// Of this process and not yet waited for. Nobody else can wait for them, so their numbers stay theirs.
  [[nodiscard]] std::vector<pid_t> children() const;
  /// Was waited for: a new child may get its number.
  void forget(pid_t child);

 private:
  std::vector<pid_t> from_before_;
};

}  // namespace goodput::cli
