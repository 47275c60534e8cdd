// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/lower.h"

namespace goodput::cli {
namespace {

std::string with_dashes(std::string_view key) {
  std::string out(key);
  std::replace(out.begin(), out.end(), '_', '-');
  return out;
}

Status bad(const std::string& path, const std::string& key, const char* wanted) {
  return {StatusCode::kInvalidArgument, fmt::format("reading {}: `{}` is not {}", path, key, wanted)};
}

// The text that would stand on the command line; empty for what could not.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return std::to_string(whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (node.is_date_time() || node.is_date()) {
    std::ostringstream out;
    if (const auto* instant = node.as_date_time()) out << instant->get();
    if (const auto* date = node.as_date()) out << date->get();
    return out.str();
  }
  return std::nullopt;
}

Status add_values(const toml::table& table, const std::string& prefix, const std::string& path,
                  std::map<std::string, std::vector<std::string>>& values) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + with_dashes(name.str());
    if (const toml::table* members = node.as_table(); members != nullptr && prefix.empty()) {
      if (key != "prices") RETURN_IF_ERROR(add_values(*members, key + ".", path, values));
      continue;
    }
    std::vector<std::string>& texts = values[key];
    if (const toml::array* elements = node.as_array()) {
      for (const toml::node& element : *elements) {
        std::optional<std::string> text = text_of(element);
        if (!text) return bad(path, key, "a list of texts or numbers");
        texts.push_back(std::move(*text));
      }
      continue;
    }
    std::optional<std::string> text = text_of(node);
    if (!text) return bad(path, key, "a text, a number, true or false");
    texts.push_back(std::move(*text));
  }
  return {};
}

Status add_prices(const toml::table& root, const std::string& path, std::map<std::string, double>& prices) {
  const toml::node* node = root.get("prices");
  if (node == nullptr) return {};
  const toml::table* table = node->as_table();
  if (table == nullptr) return bad(path, "prices", "a table of accelerator types");
  for (const auto& [type, price] : *table) {
    const std::optional<double> amount = price.value<double>();
    if (!amount || !(*amount >= 0)) return bad(path, "prices." + std::string(type.str()), "a price");
    prices[lower(type.str())] = *amount;
  }
  return {};
}

std::string default_path() {
  const char* configured = std::getenv("XDG_CONFIG_HOME");
  if (configured != nullptr && configured[0] == '/') return std::string(configured) + "/goodput/config.toml";
  const char* home = std::getenv("HOME");
  return home == nullptr || home[0] == '\0' ? "" : std::string(home) + "/.config/goodput/config.toml";
}

Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  const auto failed = [&path](StatusCode code) {
    return Status(code, fmt::format("reading {}: {}", path, std::strerror(errno)));
  };
  if (file == nullptr) return failed(errno == ENOENT ? StatusCode::kNotFound : StatusCode::kUnreadable);
  std::string text;
  std::array<char, 4096> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), file.get())) text.append(block.data(), got);
  if (std::ferror(file.get()) != 0) return failed(StatusCode::kUnreadable);
  return text;
}

}  // namespace

const std::vector<std::string>* Config::find(const std::string& key) const {
  const auto found = values_.find(with_dashes(key));
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<double> Config::price_of(std::string_view accelerator_type) const {
  const auto found = prices_.find(lower(accelerator_type));
  return found == prices_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> Config::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, texts] : values_) names.push_back(key);
  return names;
}

Result<Config> parse_config(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return Status(StatusCode::kInvalidArgument, fmt::format("reading {}: line {}: {}", path, error.source().begin.line,
                                                            std::string_view(error.description())));
  }
  Config config;
  config.path_ = path;
  RETURN_IF_ERROR(add_values(parsed.table(), "", path, config.values_));
  RETURN_IF_ERROR(add_prices(parsed.table(), path, config.prices_));
  return config;
}

Result<Config> load_config(const std::string& path) {
  const std::string file = path.empty() ? default_path() : path;
  if (file.empty()) return Config();
  Result<std::string> text = read_file(file);
  const bool may_be_absent = path.empty() && text.status().code() == StatusCode::kNotFound;
  if (may_be_absent) return Config();
  if (!text.ok()) return Status(StatusCode::kUnreadable, text.status().message());
  return parse_config(*text, file);
}

}  // namespace goodput::cli
