// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace goodput::exporters {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Variables = std::map<std::string, std::string>;

Result<OtlpSettings> settings(std::string_view url, const Variables& variables) {
  return otlp_settings(url, [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() || found->second.empty() ? std::nullopt : std::optional(found->second);
  });
}

TEST(OtlpSettings, AddressesAreBuiltAsTheSpecificationSays) {
  struct Case {
    const char* url;
    Variables variables;
    const char *metrics, *logs;
  };
  const Case cases[] = {
      {"http://c:4318", {}, "http://c:4318/v1/metrics", "http://c:4318/v1/logs"},
      {"https://c/otlp/", {}, "https://c/otlp/v1/metrics", "https://c/otlp/v1/logs"},
      {"http://typed:1",
       {{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m"}},
       "http://typed:1/v1/metrics",
       "http://typed:1/v1/logs"},
      {"env", {}, "http://localhost:4318/v1/metrics", "http://localhost:4318/v1/logs"},
      {"env",
       {{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}},
       "http://localhost:4318/v1/metrics",
       "http://localhost:4318/v1/logs"},
      {"env", {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/x"}}, "http://c:1/x/v1/metrics", "http://c:1/x/v1/logs"},
      {"env",
       {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"}, {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://l:2/as/is"}},
       "http://c:1/v1/metrics",
       "http://l:2/as/is"},
      {"env", {{"OTEL_LOGS_EXPORTER", "none"}}, "http://localhost:4318/v1/metrics", ""},
      {"http://c", {{"OTEL_METRICS_EXPORTER", "none"}}, "", "http://c/v1/logs"},
  };
  for (const Case& each : cases) {
    const auto got = settings(each.url, each.variables);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->metrics.url, each.metrics);
    EXPECT_EQ(got->logs.url, each.logs);
  }
}

TEST(OtlpSettings, ASignalsOwnVariableGoesBeforeThatOfAll) {
  const auto got = settings("http://c", {{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20all"},
                                         {"OTEL_EXPORTER_OTLP_LOGS_HEADERS", "authorization=Bearer%20logs,x=1"},
                                         {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                         {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "100"},
                                         {"OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"},
                                         {"OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "none"},
                                         {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"},
                                         {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"}});
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_THAT(got->metrics.headers, ElementsAre(Pair("authorization", "Bearer all")));
  EXPECT_THAT(got->logs.headers, ElementsAre(Pair("authorization", "Bearer logs"), Pair("x", "1")));
  EXPECT_EQ(got->metrics.timeout_ns, 100'000'000);
  EXPECT_EQ(got->logs.timeout_ns, 2'500'000'000);
  EXPECT_TRUE(got->metrics.is_gzipped);
  EXPECT_FALSE(got->logs.is_gzipped);
  EXPECT_TRUE(got->metrics.is_json);
  EXPECT_FALSE(got->logs.is_json);
  EXPECT_EQ(got->metrics.certificates, "/ca.pem");
}

TEST(OtlpSettings, TheServiceIsNamedByItsVariableThenByTheResource) {
  const auto plain = settings("http://c", {});
  EXPECT_THAT(plain->resource, Contains(Pair("service.name", "goodput")));
  const Variables of_resource = {{"OTEL_RESOURCE_ATTRIBUTES", "service.name=mine,k8s.cluster.name=c%2C1"}};
  const auto attributes = settings("http://c", of_resource);
  EXPECT_THAT(attributes->resource, Contains(Pair("service.name", "mine")));
  EXPECT_THAT(attributes->resource, Contains(Pair("k8s.cluster.name", "c,1")));
  Variables both = of_resource;
  both["OTEL_SERVICE_NAME"] = "first";
  EXPECT_THAT(settings("http://c", both)->resource, Contains(Pair("service.name", "first")));
}

TEST(OtlpSettings, WhatMakesNoSenseNamesItsVariable) {
  const std::pair<const char*, const char*> wrong[] = {
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"},
      {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "ftp://c"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
      {"OTEL_EXPORTER_OTLP_TIMEOUT", "0"},
      {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "10s"},
      {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
      {"OTEL_EXPORTER_OTLP_PROTOCOL", "thrift"},
      {"OTEL_EXPORTER_OTLP_HEADERS", "api-key: secret"},
      {"OTEL_RESOURCE_ATTRIBUTES", "lonely"},
      {"OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "deflate"},
  };
  for (const auto& [name, value] : wrong) {
    const auto got = settings("env", {{name, value}});
    ASSERT_FALSE(got.ok()) << name << "=" << value;
    EXPECT_THAT(got.status().message(), HasSubstr(name));
    EXPECT_THAT(got.status().message(), testing::Not(HasSubstr("secret")));
  }
  EXPECT_FALSE(settings("collector:4318", {}).ok());
}

TEST(OtlpSettings, DisabledAsksForNothingElse) {
  const auto got = settings("http://c", {{"OTEL_SDK_DISABLED", "True"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->is_disabled);
  EXPECT_FALSE(settings("http://c", {{"OTEL_SDK_DISABLED", "1"}})->is_disabled);
}

}  // namespace
}  // namespace goodput::exporters
