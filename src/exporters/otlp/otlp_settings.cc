// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_settings.h"

#include <fmt/format.h>

#include <charconv>

#include "base/host_name.h"
#include "base/lower.h"
#include "exporters/http_sink.h"

namespace goodput::exporters {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kDefaultEndpoint = "http://localhost:4318";

/// A variable and its value; no value when it is not set.
struct Variable {
  std::string name;
  std::string value{};

  [[nodiscard]] bool is_set() const { return !value.empty(); }
  [[nodiscard]] Status wrong(std::string_view why) const {
    return {StatusCode::kInvalidArgument, fmt::format("{}={}: {}", name, value, why)};
  }
};

Variable variable(const Environment& environment, std::string name) {
  std::string value = environment(name.c_str()).value_or("");
  return {std::move(name), std::move(value)};
}

/// That of the signal, where it is set, before that of all.
Variable of_signal(const Environment& environment, std::string_view signal, std::string_view what) {
  Variable own = variable(environment, fmt::format("OTEL_EXPORTER_OTLP_{}_{}", signal, what));
  return own.is_set() ? own : variable(environment, fmt::format("OTEL_EXPORTER_OTLP_{}", what));
}

std::string below(std::string url, std::string_view path) {
  while (url.ends_with('/')) url.pop_back();
  return url + std::string(path);
}

Result<std::string> address(std::string_view url, const Environment& environment, std::string_view signal,
                            std::string_view path) {
  constexpr std::string_view kNoAddress = "it is no address of the form http://HOST:PORT";
  if (url != "env") {
    if (!is_http_address(url)) return Status(StatusCode::kInvalidArgument, fmt::format("{}: {}", url, kNoAddress));
    return below(std::string(url), path);
  }
  const Variable own = variable(environment, fmt::format("OTEL_EXPORTER_OTLP_{}_ENDPOINT", signal));
  if (own.is_set()) return is_http_address(own.value) ? Result<std::string>(own.value) : own.wrong(kNoAddress);
  const Variable all = variable(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (all.is_set() && !is_http_address(all.value)) return all.wrong(kNoAddress);
  return below(all.is_set() ? all.value : kDefaultEndpoint, path);
}

Status set_timeout(const Variable& given, OtlpSignal& out) {
  if (!given.is_set()) return {};
  int64_t milliseconds = 0;
  const char* const end = given.value.data() + given.value.size();
  const auto [stop, error] = std::from_chars(given.value.data(), end, milliseconds);
  constexpr int64_t kMostMilliseconds = 600'000;
  if (error != std::errc() || stop != end || milliseconds <= 0 || milliseconds > kMostMilliseconds) {
    return given.wrong("it is to be between 1 and 600000 milliseconds");
  }
  out.timeout_ns = milliseconds * 1'000'000;
  return {};
}

Status set_protocol(const Variable& given, OtlpSignal& out) {
  if (!given.is_set() || given.value == "http/protobuf") return {};
  out.is_json = given.value == "http/json";
  if (out.is_json) return {};
  if (given.value == "grpc") {
    return {StatusCode::kUnsupported, fmt::format("{}=grpc: OTLP is sent over HTTP only, as http/protobuf or http/json "
                                                  "(collectors listen for that on port 4318)",
                                                  given.name)};
  }
  return given.wrong("it is neither http/protobuf nor http/json");
}

Result<Pairs> pairs(const Variable& given) {
  Result<Pairs> parsed = parse_pairs(given.value);
  // Its value may be a secret.
  if (!parsed.ok()) return Status(StatusCode::kInvalidArgument, given.name + ": " + parsed.status().message());
  return parsed;
}

Result<OtlpSignal> signal(std::string_view url, const Environment& environment, std::string_view name,
                          std::string_view path) {
  OtlpSignal out;
  if (variable(environment, fmt::format("OTEL_{}_EXPORTER", name)).value == "none") return out;
  ASSIGN_OR_RETURN(out.url, address(url, environment, name, path));
  ASSIGN_OR_RETURN(out.headers, pairs(of_signal(environment, name, "HEADERS")));
  RETURN_IF_ERROR(set_timeout(of_signal(environment, name, "TIMEOUT"), out));
  RETURN_IF_ERROR(set_protocol(of_signal(environment, name, "PROTOCOL"), out));
  const Variable compression = of_signal(environment, name, "COMPRESSION");
  out.is_gzipped = compression.value == "gzip";
  if (compression.is_set() && !out.is_gzipped && compression.value != "none") {
    return compression.wrong("it is neither gzip nor none");
  }
  out.certificates = of_signal(environment, name, "CERTIFICATE").value;
  return out;
}

void put(Pairs& attributes, std::string_view key, std::string value) {
  std::erase_if(attributes, [&](const auto& pair) { return pair.first == key; });
  attributes.emplace_back(key, std::move(value));
}

/// What the variables say goes before what we know.
Result<Pairs> resource(const Environment& environment) {
  Pairs out = {{"service.name", "goodput"}, {"service.version", GOODPUT_VERSION}};
  if (const std::string host = host_name(); !host.empty()) out.emplace_back("host.name", host);
  ASSIGN_OR_RETURN(Pairs given, pairs(variable(environment, "OTEL_RESOURCE_ATTRIBUTES")));
  for (auto& [key, value] : given) put(out, key, std::move(value));
  if (Variable name = variable(environment, "OTEL_SERVICE_NAME"); name.is_set()) put(out, "service.name", name.value);
  return out;
}

}  // namespace

Result<OtlpSettings> otlp_settings(std::string_view url, const Environment& environment) {
  OtlpSettings settings;
  settings.is_disabled = lower(variable(environment, "OTEL_SDK_DISABLED").value) == "true";
  if (settings.is_disabled) return settings;
  ASSIGN_OR_RETURN(settings.metrics, signal(url, environment, "METRICS", "/v1/metrics"));
  ASSIGN_OR_RETURN(settings.logs, signal(url, environment, "LOGS", "/v1/logs"));
  ASSIGN_OR_RETURN(settings.resource, resource(environment));
  return settings;
}

}  // namespace goodput::exporters
