// SPDX-License-Identifier: Apache-2.0
#include "store/cloud_logging/log_writer.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "gcp/endpoints.h"
#include "store/cloud_logging/partial_errors.h"

namespace goodput::store {
namespace {

using Json = nlohmann::ordered_json;

/// The monitored resource, as Google's own client finds it out.
Json resource_of(const gcp::CloudEnvironment& here, const std::string& project) {
  if (!here.cluster.empty()) {
    const std::string& location = here.cluster_location.empty() ? here.zone : here.cluster_location;
    return {{"type", "k8s_container"},
            {"labels", {{"project_id", project}, {"location", location}, {"cluster_name", here.cluster}}}};
  }
  if (!here.instance_id.empty()) {
    return {{"type", "gce_instance"},
            {"labels", {{"project_id", project}, {"instance_id", here.instance_id}, {"zone", here.zone}}}};
  }
  return {{"type", "global"}, {"labels", {{"project_id", project}}}};
}

}  // namespace

Result<std::unique_ptr<CloudLogWriter>> CloudLogWriter::open(const CloudLogOptions& options, const std::string& job,
                                                             const std::string& run_id) {
  const gcp::Endpoint endpoint = gcp::logging_endpoint(options.environment);
  ASSIGN_OR_RETURN(
      std::shared_ptr<gcp::Credentials> credentials,
      gcp::credentials_for(endpoint, {.environment = options.environment, .is_cancelled = options.is_cancelled}));
  return std::unique_ptr<CloudLogWriter>(
      new CloudLogWriter(options, endpoint.url + "/v2/entries:write", std::move(credentials), job, run_id));
}

CloudLogWriter::CloudLogWriter(const CloudLogOptions& options, std::string url,
                               std::shared_ptr<gcp::Credentials> credentials, const std::string& job,
                               const std::string& run_id)
    : options_(options),
      url_(std::move(url)),
      job_(job),
      run_id_(run_id),
      client_(std::move(credentials), {.timeout_ns = options.timeout_ns, .is_cancelled = options.is_cancelled}),
      surroundings_(options.environment, {.project = options.address.project, .is_cancelled = options.is_cancelled}) {}

/// The request up to its entries; asks the machine where it is, until it tells.
Result<std::string> CloudLogWriter::opening() {
  if (opening_.empty()) {
    ASSIGN_OR_RETURN(const gcp::CloudEnvironment here, surroundings_.read());
    const Json head = {{"logName", log_name(options_.address)},
                       {"resource", resource_of(here, options_.address.project)},
                       {"partialSuccess", true}};
    opening_ = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    opening_.back() = ',';
    opening_ += R"("entries":[)";
  }
  return opening_;
}

WriteOutcome CloudLogWriter::write(std::span<const event::Event> events) {
  WriteOutcome outcome;
  if (events.empty()) return outcome;
  const Result<std::string> begun = opening();
  if (!begun.ok()) {
    outcome.status = begun.status();
    return outcome;
  }
  EntryBatch batch(job_, run_id_, *begun);
  size_t too_long = 0;  // of those that are not done yet
  for (size_t at = 0; at < events.size();) {
    const EntryBatch::Added added = batch.add(events[at]);
    if (added == EntryBatch::Added::kFull) {
      if (!send(batch, outcome)) return outcome;
      outcome.done = at;
      outcome.refused += std::exchange(too_long, 0);
      continue;
    }
    if (added == EntryBatch::Added::kTooLong) {
      ++too_long;
      outcome.refusal = "it is longer than a log entry may be";
    }
    ++at;
  }
  if (batch.size() > 0 && !send(batch, outcome)) return outcome;
  outcome.done = events.size();
  outcome.refused += too_long;
  return outcome;
}

/// False, with the outcome's status set, when some of the batch is still to be written.
bool CloudLogWriter::send(EntryBatch& batch, WriteOutcome& outcome) {
  const gcp::RestAnswer answer = client_.send({.url = url_, .body = batch.body()});
  const size_t count = batch.size();
  batch.clear();
  if (!answer.error.has_value()) return true;
  const gcp::ApiError& error = *answer.error;
  const Status whole = error.to_status("writing to the log " + log_name(options_.address));
  const std::vector<EntryRefusal> refusals = read_partial_errors(error, count);
  bool is_left_over = refusals.empty();
  for (const EntryRefusal& refusal : refusals) is_left_over = is_left_over || refusal.may_pass_later;
  if (is_left_over) {
    // Those that were written are sent again with those that were not: they are found once all the same.
    outcome.status = refusals.empty() ? whole : Status(StatusCode::kUnavailable, whole.message());
    outcome.retry_after_ns = error.retry_delay_ns;
    return false;
  }
  outcome.refused += refusals.size();
  outcome.refusal = refusals.back().cause;
  return true;
}

}  // namespace goodput::store
