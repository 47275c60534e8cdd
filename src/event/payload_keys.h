// The keys of an event payload, and what each time key stands for.
//
// The one table that the reader, the writer and docs/formats/event.md (a test compares them) agree on.
//
//   kKeyNames[index_of(Key::kStepCount)] == "step_count"
//   kTimeKinds[index_of(Key::kStepStartTime)] == Kind::kStepStart
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "event/event.h"

namespace goodput::event {

/// Time keys first, in the order in which they decide what an entry is when it has several.
enum class Key : uint8_t {
  kJobStartTime,
  kJobEndTime,
  kStepStartTime,
  kStepEndTime,
  kHeartbeatTime,
  kProcessExitTime,
  kSliceCountsTime,
  kAcceleratorInitStartTime,  // between the line above and this one stand entries of kEventType
  kAcceleratorInitEndTime,
  kTrainingPrepStartTime,
  kTrainingPrepEndTime,
  kCompilationStartTime,
  kCompilationEndTime,
  kCheckpointSaveStartTime,
  kCheckpointSaveEndTime,
  kCheckpointRestoreStartTime,
  kCheckpointRestoreEndTime,
  kDataLoadingStartTime,
  kDataLoadingEndTime,
  kCustomStartTime,
  kCustomEndTime,
  kElasticWaitStartTime,
  kElasticWaitEndTime,
  kElasticReinitStartTime,
  kElasticReinitEndTime,
  kDisruptionTime,  // the last time key
  kJobName,
  kStepCount,
  kStep,
  kDirectory,
  kEventType,
  kSaveStartTime,
  kSaveDuration,
  kRestoreStartTime,
  kRestoreDuration,
  kCustomType,
  kElasticWaitType,
  kActiveSlices,
  kTotalSlices,
  kAvailableSlices,
  kJobEndFailed,
  kExitCode,
  kExitSignal,
  kBlocking,
  kDisruptionCause,
  kDisruptionDetail,
  kTokens,
  kSamples,
  kFlops,
  kAttemptId,
  kRunId,
  kProcessIndex,
  kSequence,
  kRole,
  kHost,
  kPid,
  kJsonPayload,  // from here on: of the envelopes that hold a payload
  kMessage,
  kMessageId,
  kEnvelopeData,
  kLogName,
  kTimestamp,
  kReceiveTimestamp,
  kInsertId,
};
constexpr size_t kKeys = static_cast<size_t>(Key::kInsertId) + 1;
constexpr size_t kTimeKeys = static_cast<size_t>(Key::kDisruptionTime) + 1;
constexpr size_t kPayloadKeys = static_cast<size_t>(Key::kPid) + 1;  // what follows is of envelopes
constexpr size_t index_of(Key key) { return static_cast<size_t>(key); }

// clang-format off
constexpr std::array<std::string_view, kKeys> kKeyNames = {
    "job_start_time", "job_end_time", "step_start_time", "step_end_time", "heartbeat_time", "process_exit_time",
    "elastic_slice_counts_timestamp", "tpu_init_start_time", "tpu_init_end_time", "training_prep_start_time",
    "training_prep_end_time", "compilation_start_time", "compilation_end_time", "checkpoint_save_start_time",
    "checkpoint_save_end_time", "checkpoint_restore_start_time", "checkpoint_restore_end_time",
    "data_loading_start_time", "data_loading_end_time", "custom_badput_event_start_time",
    "custom_badput_event_end_time", "elastic_wait_start_time", "elastic_wait_end_time", "elastic_reinit_start_time",
    "elastic_reinit_end_time", "disruption_time", "job_name", "step_count", "step", "directory", "event_type",
    "checkpoint_manager_blocking_start_time", "checkpoint_manager_blocking_duration_secs",
    "checkpoint_manager_start_time", "checkpoint_manager_duration_secs", "custom_badput_event_type",
    "elastic_wait_event_type", "active_slices", "total_slices", "available_slices", "job_end_failed", "exit_code",
    "exit_signal", "blocking", "disruption_cause", "disruption_detail", "tokens", "samples", "flops", "attempt_id",
    "run_id", "process_index", "sequence", "role", "host", "pid", "jsonPayload", "message", "messageId", "data",
    "logName", "timestamp", "receiveTimestamp", "insertId",
};

constexpr std::array<Kind, kTimeKeys> kTimeKinds = {
    Kind::kJobStart, Kind::kJobEnd, Kind::kStepStart, Kind::kStepEnd, Kind::kHeartbeat, Kind::kProcessExit,
    Kind::kSliceCounts, Kind::kAcceleratorInitStart, Kind::kAcceleratorInitEnd, Kind::kTrainingPrepStart,
    Kind::kTrainingPrepEnd, Kind::kCompilationStart, Kind::kCompilationEnd, Kind::kCheckpointSaveStart,
    Kind::kCheckpointSaveEnd, Kind::kCheckpointRestoreStart, Kind::kCheckpointRestoreEnd, Kind::kDataLoadingStart,
    Kind::kDataLoadingEnd, Kind::kCustomStart, Kind::kCustomEnd, Kind::kElasticWaitStart, Kind::kElasticWaitEnd,
    Kind::kElasticReinitStart, Kind::kElasticReinitEnd, Kind::kDisruption,
};
// clang-format on

/// The keys that decide before kEventType does: a set of bits, bit i for the key of index i.
constexpr uint64_t kFirstTimeKeys = (uint64_t{1} << index_of(Key::kAcceleratorInitStartTime)) - 1;
constexpr uint64_t kAllTimeKeys = (uint64_t{1} << kTimeKeys) - 1;
static_assert(kKeys <= 64, "sets of keys are 64 bits");

}  // namespace goodput::event
