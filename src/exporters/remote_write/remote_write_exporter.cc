// SPDX-License-Identifier: Apache-2.0
#include "exporters/remote_write/remote_write_exporter.h"

#include <fmt/format.h>
#include <snappy.h>

#include <algorithm>
#include <iterator>

#include "base/time_text.h"
#include "exporters/proto/remote_write.pb.h"
#include "exporters/remote_write/write_request.h"

namespace goodput::exporters {
namespace {

bool may_pass(int status) { return status == 429 || status >= 500; }

std::string compressed(const remote_write::WriteRequest& request) {
  const std::string plain = request.SerializeAsString();
  std::string out;
  snappy::Compress(plain.data(), plain.size(), &out);
  return out;
}

std::set<std::string> difference(const std::set<std::string>& before, const std::set<std::string>& now) {
  std::set<std::string> gone;
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(), std::inserter(gone, gone.end()));
  return gone;
}

}  // namespace

RemoteWriteExporter::RemoteWriteExporter(RemoteWriteOptions options, std::function<std::vector<Family>()> own)
    : options_(std::move(options)), own_(std::move(own)), sink_({.timeout_ns = options_.timeout_ns}, "remote write") {}

Status RemoteWriteExporter::send(const Update& update) {
  const int64_t time_ns = update.report.as_of_ns;
  constexpr int64_t kMillisecondNs = 1'000'000;
  // The wall clock was set back: receivers refuse what is older than what they have.
  if (time_ns / kMillisecondNs <= sent_ns_ / kMillisecondNs) {
    return {StatusCode::kInvalidArgument, fmt::format("remote write to {}: a report of {} is older than what was sent",
                                                      without_credentials(options_.url), format_time(time_ns))};
  }
  remote_write::WriteRequest message;
  std::set<std::string> series = add_series(update.report, own_ ? own_() : std::vector<Family>(), message);
  add_stale(difference(series_, series), time_ns, message);
  HttpRequest request{.method = "POST", .url = options_.url, .headers = options_.headers, .body = compressed(message)};
  request.headers.emplace_back("Content-Encoding", "snappy");
  request.headers.emplace_back("Content-Type", "application/x-protobuf");
  request.headers.emplace_back("X-Prometheus-Remote-Write-Version", "0.1.0");
  const Result<std::string> answer = sink_.post(request, may_pass);
  if (!answer.ok()) return answer.status();
  series_ = std::move(series);
  sent_ns_ = time_ns;
  return {};
}

}  // namespace goodput::exporters
