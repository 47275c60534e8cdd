// SPDX-License-Identifier: Apache-2.0
#include "gcp/gcloud_config.h"

#include <algorithm>

#include "gcp/read_text_file.h"

namespace goodput::gcp {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string text_or_nothing(const std::string& path) {
  const Result<std::string> text = read_text_file(path, "reading " + path);
  return text.ok() ? *text : std::string();
}

}  // namespace

std::string gcloud_folder(const Environment& environment) {
  if (const auto named = environment("CLOUDSDK_CONFIG")) return *named;
  const auto home = environment("HOME");
  return home ? *home + "/.config/gcloud" : std::string();
}

std::string ini_value(std::string_view text, std::string_view section, std::string_view key) {
  bool is_inside = false;
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), text.find('\n')));
    if (!text.empty()) text.remove_prefix(1);
    if (line.starts_with('[') && line.ends_with(']')) {
      is_inside = trimmed(line.substr(1, line.size() - 2)) == section;
      continue;
    }
    const size_t equals = line.find('=');
    if (!is_inside || equals == std::string_view::npos) continue;
    if (trimmed(line.substr(0, equals)) == key) return std::string(trimmed(line.substr(equals + 1)));
  }
  return {};
}

std::string gcloud_project(const Environment& environment) {
  if (const auto named = environment("CLOUDSDK_CORE_PROJECT")) return *named;
  const std::string folder = gcloud_folder(environment);
  if (folder.empty()) return {};
  std::string name = environment("CLOUDSDK_ACTIVE_CONFIG_NAME").value_or("");
  if (name.empty()) name = trimmed(text_or_nothing(folder + "/active_config").substr(0, 256));
  if (name.empty()) name = "default";
  if (name.find('/') != std::string::npos) return {};
  return ini_value(text_or_nothing(folder + "/configurations/config_" + name), "core", "project");
}

}  // namespace goodput::gcp
