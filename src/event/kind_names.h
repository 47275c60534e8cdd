// What each kind of event is called where people read it: exports, documents, messages.
//
//   name_of(Kind::kStepStart) == "step_start"
//
// Pure. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "event/event.h"

namespace goodput::event {

/// One for each Kind, by its number.
constexpr size_t kKinds = static_cast<size_t>(kLastKind) + 1;

constexpr std::array<std::string_view, kKinds> kKindNames = {"none",
                                                             "job_start",
                                                             "job_end",
                                                             "step_start",
                                                             "step_end",
                                                             "accelerator_init_start",
                                                             "accelerator_init_end",
                                                             "training_prep_start",
                                                             "training_prep_end",
                                                             "data_loading_start",
                                                             "data_loading_end",
                                                             "checkpoint_save_start",
                                                             "checkpoint_save_end",
                                                             "checkpoint_restore_start",
                                                             "checkpoint_restore_end",
                                                             "custom_start",
                                                             "custom_end",
                                                             "compilation_start",
                                                             "compilation_end",
                                                             "elastic_wait_start",
                                                             "elastic_wait_end",
                                                             "elastic_reinit_start",
                                                             "elastic_reinit_end",
                                                             "checkpoint_save",
                                                             "checkpoint_restore",
                                                             "slice_counts",
                                                             "heartbeat",
                                                             "process_exit",
                                                             "disruption"};

constexpr std::string_view name_of(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }

}  // namespace goodput::event
