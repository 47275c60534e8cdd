/* The C API: the recorder of goodput/recorder.h for C and for every language that calls C.
 *
 *   goodput_options options = GOODPUT_OPTIONS;
 *   options.job = "llama-7b";
 *   goodput_recorder* recorder = goodput_open(&options);
 *   goodput_begin(recorder, GOODPUT_JOB, NULL);
 *   goodput_step(recorder, step);
 *
 * No function fails, blocks on another thread or calls back; a NULL recorder is allowed everywhere and records nothing.
 * Strings are UTF-8 and copied; NULL is the empty string. Times are nanoseconds of wall clock since the epoch. All but
 * goodput_open() and goodput_close() may be called from any thread and in signal handlers.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GOODPUT_GOODPUT_H
#define GOODPUT_GOODPUT_H

#include <goodput/export.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

/* Not told: a time (then it is now), a step, a count. */
#define GOODPUT_UNSET INT64_MIN

/* What has a beginning and an end. */
typedef enum goodput_event {
  GOODPUT_JOB = 1,
  GOODPUT_STEP = 3, /* detail.step */
  GOODPUT_ACCELERATOR_INIT = 5,
  GOODPUT_TRAINING_PREP = 7,
  GOODPUT_DATA_LOADING = 9,        /* detail.blocking */
  GOODPUT_CHECKPOINT_SAVE = 11,    /* detail.step, detail.location */
  GOODPUT_CHECKPOINT_RESTORE = 13, /* detail.step, detail.location */
  GOODPUT_CUSTOM = 15,             /* detail.name */
  GOODPUT_COMPILATION = 17,
  GOODPUT_ELASTIC_WAIT = 19, /* detail.name: scale_up, slice_down, ... */
  GOODPUT_ELASTIC_REINIT = 21
} goodput_event;

typedef struct goodput_recorder goodput_recorder;

/* Start from GOODPUT_OPTIONS; what is left unset comes from the environment, as in goodput/recorder_types.h. */
typedef struct goodput_options {
  size_t size; /* sizeof(goodput_options) of the caller: the struct may grow at its end */
  const char* job;
  const char* run_id;
  const char* role; /* NULL: a trainer */
  const char* attempt_id;
  const char* directory;
  const char* labels; /* "team=nlp,owner=ada" */
  const char* accelerator_type;
  int64_t process_index;
  int64_t accelerators; /* of the whole job */
  double sync_interval_seconds;
  int disabled;
} goodput_options;
#define GOODPUT_OPTIONS \
  { sizeof(goodput_options), NULL, NULL, NULL, NULL, NULL, NULL, NULL, GOODPUT_UNSET, GOODPUT_UNSET, 1.0, 0 }

/* Start from GOODPUT_DETAIL. */
typedef struct goodput_detail {
  size_t size;
  const char* name;
  const char* location;
  int64_t step;
  int64_t time_ns;
  int blocking;
  int failed; /* end of a job */
} goodput_detail;
#define GOODPUT_DETAIL \
  { sizeof(goodput_detail), NULL, NULL, GOODPUT_UNSET, GOODPUT_UNSET, 0, 0 }

/* NULL when disabled, or when no job is named. */
GOODPUT_API goodput_recorder* goodput_open(const goodput_options* options);
/* Closes and frees. Nobody may use it any more. */
GOODPUT_API void goodput_close(goodput_recorder* recorder);

GOODPUT_API void goodput_step(goodput_recorder* recorder, int64_t step);
/* NaN: not told. */
GOODPUT_API void goodput_step_with_work(goodput_recorder* recorder, int64_t step, double tokens, double samples,
                                        double flops);
/* detail: NULL when there is nothing to say. */
GOODPUT_API void goodput_begin(goodput_recorder* recorder, goodput_event event, const goodput_detail* detail);
GOODPUT_API void goodput_end(goodput_recorder* recorder, goodput_event event, const goodput_detail* detail);

/* A whole save or restore, told afterwards. start_ns and step may be GOODPUT_UNSET. */
GOODPUT_API void goodput_checkpoint_statistics(goodput_recorder* recorder, goodput_event save_or_restore,
                                               int64_t start_ns, int64_t duration_ns, int64_t step,
                                               const char* location, int emergency);
GOODPUT_API void goodput_slice_counts(goodput_recorder* recorder, int64_t active, int64_t total, int64_t available);
/* cause: preempted oom signal exit hang host_lost planned manual unknown */
GOODPUT_API void goodput_disruption(goodput_recorder* recorder, const char* cause, const char* text);
GOODPUT_API void goodput_heartbeat(goodput_recorder* recorder);
/* Of a launcher: how a process ended; what does not apply is GOODPUT_UNSET. */
GOODPUT_API void goodput_process_exit(goodput_recorder* recorder, int64_t code, int64_t signal_number);

GOODPUT_API int goodput_is_recording(const goodput_recorder* recorder);
GOODPUT_API uint64_t goodput_lost_events(const goodput_recorder* recorder);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* GOODPUT_GOODPUT_H */
