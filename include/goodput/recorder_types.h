// The plain values that goodput/recorder.h takes and gives: options, kinds of events and what they carry.
//
//   goodput::Recorder::open({.job = "llama-7b", .labels = {{"team", "nlp"}}, .accelerators = 1024});
//   recorder.begin(goodput::Event::kCustom, {.name = "eval", .time_ns = when});
//
// Times are nanoseconds of wall clock since the epoch; kNow is the moment of the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace goodput {

/// What has a beginning and an end.
enum class Event : uint8_t {
  kJob = 1,
  kStep = 3,
  kAcceleratorInit = 5,
  kTrainingPrep = 7,
  kDataLoading = 9,
  kCheckpointSave = 11,
  kCheckpointRestore = 13,
  kCustom = 15,  ///< Detail::name
  kCompilation = 17,
  kElasticWait = 19,  ///< Detail::name: scale_up, slice_down, …
  kElasticReinit = 21,
};

constexpr int64_t kNow = std::numeric_limits<int64_t>::min();

struct RecorderOptions {
  std::string job{};                       ///< empty: GOODPUT_JOB
  std::string run_id{};                    ///< empty: GOODPUT_RUN_ID
  std::string role{};                      ///< empty: a trainer; else launcher, monitor, …
  std::optional<int64_t> process_index{};  ///< else from the environment (GOODPUT_PROCESS_INDEX, RANK, …), else 0
  std::string attempt_id{};  ///< empty: from the environment (GOODPUT_ATTEMPT_ID, torchelastic, Slurm, JobSet)
  std::string directory{};   ///< empty: GOODPUT_DIR, else the first default folder that can be written
  std::vector<std::pair<std::string, std::string>> labels{};  ///< besides those of GOODPUT_LABELS and the scheduler
  std::optional<int64_t> accelerators{};                      ///< of the whole job; else GOODPUT_ACCELERATORS
  std::string accelerator_type{};                             ///< else GOODPUT_ACCELERATOR_TYPE
  bool enabled = true;
  double sync_interval_seconds = 1;  ///< a machine that dies takes so much with it; 0: the system syncs when it likes
};

/// Work of a step; NaN: not told.
struct StepWork {
  double tokens = std::numeric_limits<double>::quiet_NaN();
  double samples = std::numeric_limits<double>::quiet_NaN();
  double flops = std::numeric_limits<double>::quiet_NaN();
};

/// What an event may carry; each field where its kind has a use for it.
struct Detail {
  std::string_view name{};      ///< custom events, elastic waits
  std::string_view location{};  ///< checkpoints
  std::optional<int64_t> step{};
  bool blocking = false;  ///< data loading that blocks training
  bool failed = false;    ///< a job's end
  StepWork work{};        ///< a step's beginning
  int64_t time_ns = kNow;
};

/// A whole save or restore as a checkpoint library tells it afterwards.
struct CheckpointStatistics {
  Event event = Event::kCheckpointSave;  ///< or kCheckpointRestore
  int64_t start_ns = kNow;               ///< kNow: not told
  int64_t duration_ns = 0;               ///< of a save, its blocking part
  std::optional<int64_t> step{};
  std::string_view location{};
  bool emergency = false;  ///< restored from an emergency checkpoint
};

/// How a process ended; neither: not known.
struct ProcessExit {
  std::optional<int> code{};
  std::optional<int> signal{};
};

/// Of a journal so far.
struct RecorderCounts {
  uint64_t lost_events = 0;         ///< all causes together
  uint64_t lost_no_space = 0;       ///< disk full, quota, file-size limit
  uint64_t lost_no_access = 0;      ///< read-only or missing folder
  uint64_t lost_bad_value = 0;      ///< steps, times or names that no report could use
  uint64_t prepared_by_caller = 0;  ///< a recording thread had to prepare a segment itself
};

}  // namespace goodput
