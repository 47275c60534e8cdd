// The configuration file: what a user would otherwise type each time. TOML; docs/guides/configuration.md describes it.
//
//   Result<Config> config = load_config(globals.config);
//   const std::vector<std::string>* dead_after = config->find("report.dead-after");
//   std::optional<double> price = config->price_of("H100");
//
// Values; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace goodput::cli {

class Config {
 public:
  /// The texts of a key (one, or those of an array): `dir`, or `COMMAND.OPTION`, with `-` or `_` between words.
  /// Null when the file does not have it. Valid as long as this.
  [[nodiscard]] const std::vector<std::string>* find(const std::string& key) const;

  /// Of one accelerator-hour, from the table `[prices]`; types are told apart without regard to case.
  [[nodiscard]] std::optional<double> price_of(std::string_view accelerator_type) const;

  /// All keys but those of `[prices]`, in the form that find() takes.
  [[nodiscard]] std::vector<std::string> keys() const;

  /// Where it was read from; empty when there was no file.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  friend Result<Config> load_config(const std::string& path);
  friend Result<Config> parse_config(std::string_view text, const std::string& path);

  std::map<std::string, std::vector<std::string>> values_;
  std::map<std::string, double> prices_;
  std::string path_;
};

/// The file at `path`, which must be there; or, where `path` is empty, the default file if it is there:
/// $XDG_CONFIG_HOME/goodput/config.toml, else ~/.config/goodput/config.toml.
Result<Config> load_config(const std::string& path);

/// The same of a text. `path` is for messages.
Result<Config> parse_config(std::string_view text, const std::string& path);

}  // namespace goodput::cli
