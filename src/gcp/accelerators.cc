// SPDX-License-Identifier: Apache-2.0
#include "gcp/accelerators.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/lower.h"

namespace goodput::gcp {
namespace {

/// The first whose left side stands anywhere in the machine type is it. Where ml-goodput-measurement knows a type, its
/// label is the same; it calls what is named first here "GPU" or UNKNOWN.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> kLabels = {{
    {"a4x-maxgpu", "NVIDIA-GB300"},
    {"a4x", "NVIDIA-GB200"},
    {"a4-highgpu", "NVIDIA-B200"},
    {"g4-standard", "NVIDIA-RTX-PRO-6000"},
    {"g2-standard", "NVIDIA-L4"},
    {"tpu7x", "TPU-7x"},
    {"ct6e", "TPU-v6e"},
    {"ct5p", "TPU-v5p"},
    {"ct5lp", "TPU-v5e"},
    {"ct5l", "TPU-v5e"},
    {"ct4p", "TPU-v4p"},
    {"ct3p", "TPU-v3"},
    {"ct3", "TPU-v3"},
    {"tpu-v2", "TPU-v2"},
    {"tpu", "TPU"},
    {"a3-edgegpu", "NVIDIA-H100"},
    {"a3-highgpu", "NVIDIA-H100"},
    {"a3-megagpu", "NVIDIA-H100"},
    {"a3-ultragpu", "NVIDIA-H200"},
    {"a2", "NVIDIA-A100"},
    {"gpu", "GPU"},
}};

}  // namespace

std::string accelerator_label(std::string_view machine_type, const Environment& environment) {
  if (machine_type.empty()) return "UNKNOWN";
  const std::string type = lower(machine_type);
  const std::string map = environment("GOODPUT_ACCELERATOR_MAP").value_or("");
  for (std::string_view rest = map; !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string_view::npos) continue;
    if (type.find(lower(pair.substr(0, equals))) != std::string::npos) return std::string(pair.substr(equals + 1));
  }
  for (const auto& [part, label] : kLabels) {
    if (type.find(part) != std::string::npos) return std::string(label);
  }
  return std::string(machine_type);
}

}  // namespace goodput::gcp
