// A job's figures and news to whatever speaks OTLP over HTTP: an OpenTelemetry collector, or one of the many backends.
//
//   ASSIGN_OR_RETURN(OtlpSettings settings, otlp_settings("http://collector:4318", system_environment()));
//   OtlpExporter otlp(std::move(settings), own_families, memory);
//   otlp.send(update);                    // all families as metrics; a log record for each thing that happened
//
// Records are told once: what was told, and what is being told, is kept in the memory, so that a restart goes on there.
// A record whose telling was cut off by a kill comes again, the same in every field, its attribute `event_id` too. What
// the receiver did not take of one signal is sent again without the other. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "exporters/exporter.h"
#include "exporters/http_sink.h"
#include "exporters/memory.h"
#include "exporters/metrics.h"
#include "exporters/otlp/otlp_settings.h"

namespace google::protobuf {
class MessageLite;
}

namespace goodput::exporters {

class OtlpExporter final : public Exporter {
 public:
  /// `own`: families of the program, asked for at each send; may be empty.
  OtlpExporter(OtlpSettings settings, std::function<std::vector<Family>()> own, Memory memory);
  ~OtlpExporter() override;

  [[nodiscard]] std::string name() const override { return name_; }
  Status send(const Update& update) override;
  [[nodiscard]] bool takes_steps() const override { return false; }
  [[nodiscard]] int64_t retry_after_ns() const override;
  [[nodiscard]] uint64_t rejected() const override { return rejected_; }
  [[nodiscard]] std::string rejection() const override { return rejection_; }
  void cancel() override;

 private:
  struct News;

  Status send_metrics(const report::Report& report);
  Status send_news(const Update& update);
  void keep_told();
  Status post(const OtlpSignal& signal, HttpSink& sink, const google::protobuf::MessageLite& message, std::string json);

  OtlpSettings settings_;
  std::function<std::vector<Family>()> own_;
  Memory memory_;
  std::string name_;
  HttpSink metrics_sink_, logs_sink_;
  std::unique_ptr<News> news_;
  int64_t since_ns_;
  int64_t metrics_of_ns_ = 0;  ///< the report whose metrics need not be sent again
  uint64_t rejected_ = 0;
  std::string rejection_;
};

}  // namespace goodput::exporters
