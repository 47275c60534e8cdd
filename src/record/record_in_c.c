/* The C API as a C program uses it; c_api_test.cc reads what this has recorded.
 * SPDX-License-Identifier: Apache-2.0 */
#include <goodput/goodput.h>
#include <math.h>

/* Returns the number of events lost, or -1 when it does not record. */
int64_t record_in_c(const char* directory);

int64_t record_in_c(const char* directory) {
  goodput_options options = GOODPUT_OPTIONS;
  options.job = "from C";
  options.directory = directory;
  options.labels = "team=nlp,owner=ada";
  options.process_index = 3;
  goodput_recorder* recorder = goodput_open(&options);
  if (!goodput_is_recording(recorder)) return -1;

  goodput_begin(recorder, GOODPUT_JOB, NULL);
  goodput_step(recorder, 1);
  goodput_step_with_work(recorder, 2, 4096, NAN, 1e15);

  goodput_detail eval = GOODPUT_DETAIL;
  eval.name = "eval";
  eval.time_ns = 1767225600000000000;
  goodput_begin(recorder, GOODPUT_CUSTOM, &eval);
  eval.time_ns = GOODPUT_UNSET;
  goodput_end(recorder, GOODPUT_CUSTOM, &eval);

  goodput_detail save = GOODPUT_DETAIL;
  save.step = 2;
  save.location = "gs://ckpt";
  goodput_begin(recorder, GOODPUT_CHECKPOINT_SAVE, &save);
  goodput_checkpoint_statistics(recorder, GOODPUT_CHECKPOINT_RESTORE, GOODPUT_UNSET, 99, GOODPUT_UNSET, NULL, 1);
  goodput_slice_counts(recorder, 1, 2, 2);
  goodput_disruption(recorder, "oom", "out of memory");
  goodput_heartbeat(recorder);
  goodput_process_exit(recorder, GOODPUT_UNSET, 9);
  goodput_begin(recorder, (goodput_event)2, NULL); /* no such event: dropped and counted */

  goodput_detail failed = GOODPUT_DETAIL;
  failed.failed = 1;
  goodput_end(recorder, GOODPUT_JOB, &failed);
  const int64_t lost = (int64_t)goodput_lost_events(recorder);
  goodput_close(recorder);

  goodput_step(NULL, 1);
  goodput_begin(NULL, GOODPUT_JOB, NULL);
  goodput_close(NULL);
  return lost;
}
