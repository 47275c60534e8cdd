// SPDX-License-Identifier: Apache-2.0
#include "record/identity.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/clock.h"
#include "base/host_name.h"

namespace goodput::record {
namespace {

using journal::Environment;

/// Where a rank finds its number: the first that is set and a number.
constexpr std::array kProcessIndexVariables = {"GOODPUT_PROCESS_INDEX", "RANK",     "SLURM_PROCID",
                                               "OMPI_COMM_WORLD_RANK",  "PMI_RANK", "TPU_WORKER_ID",
                                               "JOB_COMPLETION_INDEX"};

/// What an attempt's id is joined of: those that are set.
constexpr std::array kAttemptVariables = {"GOODPUT_ATTEMPT_ID",    "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT",
                                          "SLURM_JOB_ID",          "SLURM_STEP_ID",       "SLURM_RESTART_COUNT",
                                          "JOBSET_RESTART_ATTEMPT"};

struct LabelVariable {
  const char* variable;
  const char* label;
};
/// What schedulers and launchers call the job, so that people find it there.
constexpr std::array kLabelVariables = {
    LabelVariable{"SLURM_JOB_ID", "slurm.job_id"},
    LabelVariable{"SLURM_JOB_NAME", "slurm.job_name"},
    LabelVariable{"SLURM_JOB_PARTITION", "slurm.partition"},
    LabelVariable{"SLURM_CLUSTER_NAME", "slurm.cluster"},
    LabelVariable{"SLURM_STEP_ID", "slurm.step_id"},
    LabelVariable{"SLURM_RESTART_COUNT", "slurm.restart_count"},
    LabelVariable{"POD_NAMESPACE", "kubernetes.namespace"},
    LabelVariable{"POD_NAME", "kubernetes.pod"},
    LabelVariable{"NODE_NAME", "kubernetes.node"},
    LabelVariable{"JOB_NAME", "kubernetes.job"},
    LabelVariable{"JOBSET_NAME", "kubernetes.jobset"},
    LabelVariable{"JOBSET_RESTART_ATTEMPT", "kubernetes.jobset_restart_attempt"},
    LabelVariable{"RAY_JOB_ID", "ray.job_id"},
    LabelVariable{"RAY_CLUSTER_NAME", "ray.cluster"},
    LabelVariable{"TORCHELASTIC_RUN_ID", "torchelastic.run_id"},
    LabelVariable{"TORCHELASTIC_RESTART_COUNT", "torchelastic.restart_count"},
};

std::string or_variable(const std::string& given, const Environment& environment, const char* variable) {
  return given.empty() ? environment(variable).value_or("") : given;
}

int64_t process_index(const RecorderOptions& options, const Environment& environment) {
  if (options.process_index) return *options.process_index;
  for (const char* variable : kProcessIndexVariables) {
    if (const auto text = environment(variable)) {
      if (const auto index = parse_integer(*text)) return *index;
    }
  }
  return 0;
}

std::string random_attempt_id() {
  std::array<uint8_t, 8> bytes{};
  fill_random(bytes);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (const uint8_t byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

std::string attempt_id(const RecorderOptions& options, const Environment& environment, int64_t index) {
  if (!options.attempt_id.empty()) return options.attempt_id;
  std::string id;
  for (const char* variable : kAttemptVariables) {
    if (const auto part = environment(variable)) id += (id.empty() ? "" : ".") + *part;
  }
  // Of rank 0 only: others belong to the attempt of a rank 0 that lives when they start.
  if (id.empty() && index == 0 && options.role.empty()) id = random_attempt_id();
  return id;
}

std::vector<std::pair<std::string, std::string>> labels(const RecorderOptions& options,
                                                        const Environment& environment) {
  // A later word about the same key counts: the caller's over the environment's over the scheduler's.
  std::vector<std::pair<std::string, std::string>> all = options.labels;
  for (auto& label : parse_labels(environment("GOODPUT_LABELS").value_or(""))) all.push_back(std::move(label));
  for (const LabelVariable& known : kLabelVariables) {
    if (auto value = environment(known.variable)) all.emplace_back(known.label, *value);
  }
  std::vector<std::pair<std::string, std::string>> kept;
  for (auto& label : all) {
    const auto same_key = [&label](const auto& other) { return other.first == label.first; };
    if (!std::any_of(kept.begin(), kept.end(), same_key)) kept.push_back(std::move(label));
  }
  return kept;
}

}  // namespace

Identity resolve_identity(const RecorderOptions& options, const Environment& environment) {
  Identity identity;
  identity.job = or_variable(options.job, environment, "GOODPUT_JOB");
  identity.run_id = or_variable(options.run_id, environment, "GOODPUT_RUN_ID");
  identity.role = options.role;
  identity.process_index = process_index(options, environment);
  identity.attempt_id = attempt_id(options, environment, identity.process_index);
  identity.host = host_name();
  identity.labels = labels(options, environment);
  identity.accelerators = options.accelerators;
  if (!identity.accelerators) {
    if (const auto text = environment("GOODPUT_ACCELERATORS")) identity.accelerators = parse_integer(*text);
  }
  if (identity.accelerators && *identity.accelerators < 0) identity.accelerators.reset();
  identity.accelerator_type = or_variable(options.accelerator_type, environment, "GOODPUT_ACCELERATOR_TYPE");
  identity.roots = journal::search_roots(options.directory, environment);
  return identity;
}

std::vector<std::pair<std::string, std::string>> parse_labels(const std::string& text) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    const std::string pair = text.substr(start, end - start);
    const size_t equals = pair.find('=');
    if (equals != std::string::npos && equals > 0) labels.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    start = end + 1;
  }
  return labels;
}

std::optional<int64_t> parse_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void fill_random(std::span<uint8_t> bytes) {
  if (getrandom(bytes.data(), bytes.size(), GRND_NONBLOCK) == static_cast<ssize_t>(bytes.size())) return;
  // Before the pool is ready, early at boot: no other process has both this clock and this id.
  auto state = static_cast<uint64_t>(boot_time_ns()) ^ (static_cast<uint64_t>(getpid()) << 48);
  for (uint8_t& byte : bytes) {
    state = state * 6364136223846793005 + 1442695040888963407;
    byte = static_cast<uint8_t>(state >> 56);
  }
}

}  // namespace goodput::record
