// What dashboards call the accelerator of a machine type.
//
//   accelerator_label("ct5p-hightpu-4t", environment)       // "TPU-v5p"
//   accelerator_label("n2-standard-8", environment)         // "n2-standard-8": what is not known passes through
//
// GOODPUT_ACCELERATOR_MAP comes before the table: "a4-highgpu=NVIDIA-B200,my-tpu=TPU-x". Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"

namespace goodput::gcp {

/// "UNKNOWN" for an empty machine type, as dashboards expect.
std::string accelerator_label(std::string_view machine_type, const Environment& environment);

}  // namespace goodput::gcp
