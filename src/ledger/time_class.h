// The classes into which a job's wall clock is partitioned, and their names.
//
// Every instant belongs to exactly one of them (docs/semantics.md, Classes). Names are the same in JSON, terminal, page
// and Python; the drop-in package maps some of them to the names of the library that it stands in for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace goodput::ledger {

enum class TimeClass : uint8_t {
  kProductive,
  kAcceleratorInitialization,
  kTrainingPrep,
  kProgramStartup,
  kDataLoadingSync,
  kCheckpointSave,
  kCheckpointRestore,
  kWastedProgress,
  kInfrastructureRecovery,
  kCustomBadputEvents,
  kElasticSliceDown,
  kElasticScaleUp,
  kElasticReinitialization,
  kStalled,
  kOther,
};
constexpr size_t kTimeClasses = 15;

constexpr std::array<std::string_view, kTimeClasses> kTimeClassNames = {
    "PRODUCTIVE",
    "ACCELERATOR_INITIALIZATION",
    "TRAINING_PREP",
    "PROGRAM_STARTUP",
    "DATA_LOADING_SYNC",
    "CHECKPOINT_SAVE",
    "CHECKPOINT_RESTORE",
    "WASTED_PROGRESS",
    "INFRASTRUCTURE_RECOVERY",
    "CUSTOM_BADPUT_EVENTS",
    "ELASTIC_SLICE_DOWN",
    "ELASTIC_SCALE_UP",
    "ELASTIC_REINITIALIZATION",
    "STALLED",
    "OTHER",
};

constexpr std::string_view name_of(TimeClass time_class) { return kTimeClassNames[static_cast<size_t>(time_class)]; }

constexpr bool is_elastic(TimeClass time_class) {
  return time_class == TimeClass::kElasticSliceDown || time_class == TimeClass::kElasticScaleUp ||
         time_class == TimeClass::kElasticReinitialization;
}

/// Custom events are kept apart by name: an index into the ledger's names, or this for those beyond the first 256.
constexpr uint16_t kMaxCustomNames = 256;
constexpr uint16_t kMoreCustomNames = kMaxCustomNames;
constexpr std::string_view kMoreCustomName = "(MORE)";

}  // namespace goodput::ledger
