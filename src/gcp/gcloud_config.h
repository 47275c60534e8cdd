// What gcloud was told with `gcloud config set`.
//
//   const std::string project = gcloud_project(environment);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"

namespace goodput::gcp {

/// gcloud's folder: $CLOUDSDK_CONFIG or ~/.config/gcloud; empty when there is no home.
std::string gcloud_folder(const Environment& environment);

/// The project of the active configuration; empty: none.
std::string gcloud_project(const Environment& environment);

/// The value of `key` in `section` of such a file; empty: none. Pure.
std::string ini_value(std::string_view text, std::string_view section, std::string_view key);

}  // namespace goodput::gcp
