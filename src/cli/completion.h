// Completion scripts for shells, made from the command line's own description.
//
//   goodput completion bash > /etc/bash_completion.d/goodput
//   goodput completion zsh > "${fpath[1]}/_goodput"
//
// Both complete commands, options, files and folders where an option takes them, and the words of an option that takes
// one of a few.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace goodput::cli {

/// A script for bash 4 or newer that needs no other package. Pure.
std::string bash_completion(const CLI::App& root);

/// A script for zsh's compinit, to be kept as `_goodput` in a folder of fpath. Pure.
std::string zsh_completion(const CLI::App& root);

}  // namespace goodput::cli
