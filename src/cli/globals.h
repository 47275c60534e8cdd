// The options that every command takes, before or after its name: flag over environment over configuration file.
//
//   Globals globals;
//   add_global_options(root, globals, GlobalsFrom::kFlagsAndEnvironment);
//   add_global_options(subcommand, globals, GlobalsFrom::kFlags);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace goodput::cli {

struct Globals {
  std::string dir;          ///< empty: the default folders
  std::string store;        ///< of the flag: there and nowhere else; empty: in the folders first
  std::string usual_store;  ///< of the environment or the configuration: where to look for what the folders lack
  std::string config;       ///< empty: the default file, where it is there
  bool quiet = false;
  bool no_color = false;
  bool json = false;
};

/// The environment is read for the root only: a flag after the subcommand's name stands over it.
enum class GlobalsFrom : bool { kFlags, kFlagsAndEnvironment };

/// `globals` must live as long as `app`.
void add_global_options(CLI::App& app, Globals& globals, GlobalsFrom from);

/// The title under which help lists them.
constexpr const char* kGlobalGroup = "Options of every command";

}  // namespace goodput::cli
