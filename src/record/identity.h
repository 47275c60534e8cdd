// Whose journal it is, and where it goes: what a caller did not say comes from the environment.
//
//   const Identity identity = resolve_identity(options, journal::system_environment());
//   identity.job, identity.attempt_id, identity.process_index, identity.labels, identity.roots …
//
// Pure but for the environment that it is given, and the random attempt id of a rank 0 that no launcher named.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "goodput/recorder_types.h"
#include "journal/roots.h"

namespace goodput::record {

struct Identity {
  std::string job;
  std::string run_id;
  std::string attempt_id;
  std::string role;
  int64_t process_index = 0;
  std::string host;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<int64_t> accelerators;
  std::string accelerator_type;
  std::vector<journal::Root> roots;  ///< one when it was named; else the defaults, in the order in which they are tried
};

Identity resolve_identity(const RecorderOptions& options, const journal::Environment& environment);

/// GOODPUT_LABELS and --label: "team=nlp,owner=ada". Pairs without '=' or key are left out.
std::vector<std::pair<std::string, std::string>> parse_labels(const std::string& text);

/// A whole number, or nothing.
std::optional<int64_t> parse_integer(const std::string& text);

/// For ids: they need to differ, not to be secret.
void fill_random(std::span<uint8_t> bytes);

}  // namespace goodput::record
