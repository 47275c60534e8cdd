// Gathers the facts: of the folder from the system, of a job from its journals. Changes nothing but what every reader
// of a job does for its folder.
//
//   facts.folder = look_at_folder(roots, environment, is_named);
//   facts.google = look_at_google(environment, "");
//   facts.job = look_at_job(files, roots, "llama-7b", now_ns, clock);
//
// What cannot be found out is left as it is: an examination has no errors of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file_system.h"
#include "doctor/facts.h"
#include "journal/roots.h"

namespace goodput::doctor {

/// `roots` as a recorder started now would try them; `is_named`: by the user, and then it is one.
FolderFacts look_at_folder(const std::vector<journal::Root>& roots, const journal::Environment& environment,
                           bool is_named);

/// Asks Google Cloud, a few seconds long at most; nothing where neither credentials nor a project point to it.
/// `project`: empty: whichever the surroundings name.
std::optional<GoogleFacts> look_at_google(const Environment& environment, const std::string& project);

/// NAME or NAME@RUN, as on every command line.
JobFacts look_at_job(FileSystem& files, const std::vector<journal::Root>& roots, const std::string& name,
                     int64_t now_ns, const Clock& clock);

}  // namespace goodput::doctor
