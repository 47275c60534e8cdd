// SPDX-License-Identifier: Apache-2.0
#include "exporters/otlp/otlp_exporter.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/excerpt.h"
#include "exporters/gzip.h"
#include "exporters/otlp/otlp_json.h"
#include "exporters/otlp/otlp_messages.h"
#include "exporters/proto/otlp.pb.h"

namespace goodput::exporters {
namespace {

// As the OTLP specification says; all others are final.
bool may_pass(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

// Some 600 bytes each. An endpoint that is gone for longer than these take to come loses the oldest.
constexpr int kMaxPending = 5'000;

bool is_passing(const Status& status) { return status.code() == StatusCode::kUnavailable; }

std::string name_of(const OtlpSettings& settings) {
  return "otlp " + without_credentials(settings.metrics.url.empty() ? settings.logs.url : settings.metrics.url);
}

HttpSinkOptions options_of(const OtlpSignal& signal) {
  return {.timeout_ns = signal.timeout_ns, .certificates = signal.certificates};
}

}  // namespace

struct OtlpExporter::News {
  otlp::Told told;
  uint64_t changes_seen = 0;
};

OtlpExporter::OtlpExporter(OtlpSettings settings, std::function<std::vector<Family>()> own, Memory memory)
    : settings_(std::move(settings)),
      own_(std::move(own)),
      memory_(std::move(memory)),
      name_(name_of(settings_)),
      metrics_sink_(options_of(settings_.metrics), "sending metrics"),
      logs_sink_(options_of(settings_.logs), "sending logs"),
      news_(std::make_unique<News>()),
      since_ns_(wall_time_ns()) {
  // What cannot be read is as if nothing had been told.
  if (memory_.recall && !news_->told.ParseFromString(memory_.recall())) news_->told.Clear();
}

OtlpExporter::~OtlpExporter() = default;

Status OtlpExporter::send(const Update& update) {
  const Status metrics = send_metrics(update.report);
  const Status logs = send_news(update);
  // What may pass is tried again; what was refused for good is then not.
  if (!metrics.ok() && (logs.ok() || is_passing(metrics) || !is_passing(logs))) return metrics;
  return logs;
}

Status OtlpExporter::send_metrics(const report::Report& report) {
  if (settings_.metrics.url.empty() || report.as_of_ns == metrics_of_ns_) return {};
  otlp::MetricsRequest request;
  add_metrics(report, own_ ? own_() : std::vector<Family>(), since_ns_, settings_.resource, request);
  const Status sent =
      post(settings_.metrics, metrics_sink_, request, settings_.metrics.is_json ? otlp_json(request) : "");
  if (!is_passing(sent)) metrics_of_ns_ = report.as_of_ns;
  return sent;
}

Status OtlpExporter::send_news(const Update& update) {
  if (settings_.logs.url.empty()) return {};
  otlp::Told& told = news_->told;
  if (add_news(update, told, news_->changes_seen) > 0) keep_told();
  if (told.pending().empty()) return {};
  if (const int over = told.pending_size() - kMaxPending; over > 0) {
    told.mutable_pending()->DeleteSubrange(0, over);
    rejected_ += static_cast<uint64_t>(over);
  }
  otlp::LogsRequest request;
  add_logs(told, settings_.resource, request);
  Status sent = post(settings_.logs, logs_sink_, request, settings_.logs.is_json ? otlp_json(request) : "");
  if (is_passing(sent)) return sent;
  told.clear_pending();
  keep_told();
  return sent;
}

/// Where nothing can be kept, a restart tells anew.
void OtlpExporter::keep_told() {
  if (memory_.keep) (void)memory_.keep(news_->told.SerializeAsString());
}

Status OtlpExporter::post(const OtlpSignal& signal, HttpSink& sink, const google::protobuf::MessageLite& message,
                          std::string json) {
  HttpRequest request{.method = "POST", .url = signal.url, .headers = signal.headers};
  request.headers.emplace_back("Content-Type", signal.is_json ? "application/json" : "application/x-protobuf");
  request.body = signal.is_json ? std::move(json) : message.SerializeAsString();
  if (signal.is_gzipped) {
    request.headers.emplace_back("Content-Encoding", "gzip");
    request.body = gzip(request.body);
  }
  ASSIGN_OR_RETURN(const std::string answer, sink.post(request, may_pass));
  otlp::Response response;
  const bool is_known = signal.is_json ? read_otlp_json(answer, response) : response.ParseFromString(answer);
  // It took the rest: sending it again would double that.
  if (is_known && response.partial_success().rejected() > 0) {
    rejected_ += static_cast<uint64_t>(response.partial_success().rejected());
    rejection_ = excerpt(response.partial_success().error_message(), kMostExcerptBytes);
  }
  return {};
}

int64_t OtlpExporter::retry_after_ns() const {
  return std::max(metrics_sink_.retry_after_ns(), logs_sink_.retry_after_ns());
}

void OtlpExporter::cancel() {
  metrics_sink_.cancel();
  logs_sink_.cancel();
}

}  // namespace goodput::exporters
