// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>

#include "goodput/goodput.h"
#include "goodput/recorder.h"
#include "record/identity.h"

struct goodput_recorder {
  goodput::Recorder recorder;
};

namespace {

using goodput::Event;

static_assert(GOODPUT_UNSET == goodput::kNow);
static_assert(GOODPUT_JOB == static_cast<int>(Event::kJob) && GOODPUT_STEP == static_cast<int>(Event::kStep));
static_assert(GOODPUT_ACCELERATOR_INIT == static_cast<int>(Event::kAcceleratorInit));
static_assert(GOODPUT_TRAINING_PREP == static_cast<int>(Event::kTrainingPrep));
static_assert(GOODPUT_DATA_LOADING == static_cast<int>(Event::kDataLoading));
static_assert(GOODPUT_CHECKPOINT_SAVE == static_cast<int>(Event::kCheckpointSave));
static_assert(GOODPUT_CHECKPOINT_RESTORE == static_cast<int>(Event::kCheckpointRestore));
static_assert(GOODPUT_CUSTOM == static_cast<int>(Event::kCustom));
static_assert(GOODPUT_COMPILATION == static_cast<int>(Event::kCompilation));
static_assert(GOODPUT_ELASTIC_WAIT == static_cast<int>(Event::kElasticWait));
static_assert(GOODPUT_ELASTIC_REINIT == static_cast<int>(Event::kElasticReinit));

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : text; }

std::optional<int64_t> value_of(int64_t number) {
  if (number == GOODPUT_UNSET) return std::nullopt;
  return number;
}
std::optional<int> int_of(int64_t number) {
  if (number == GOODPUT_UNSET) return std::nullopt;
  return static_cast<int>(number);
}

/// The caller's struct as this version knows it: a shorter one, of an older header, is filled up with `unset`.
template <typename Struct>
Struct complete(const Struct* given, Struct unset) {
  if (given != nullptr) {
    const size_t size = given->size < sizeof(Struct) ? given->size : sizeof(Struct);
    std::memcpy(&unset, given, size);
  }
  return unset;
}

goodput::Detail detail_of(const goodput_detail* given) {
  const goodput_detail detail = complete(given, goodput_detail GOODPUT_DETAIL);
  return {.name = text_of(detail.name),
          .location = text_of(detail.location),
          .step = value_of(detail.step),
          .blocking = detail.blocking != 0,
          .failed = detail.failed != 0,
          .time_ns = detail.time_ns};
}

bool is_event(goodput_event event) {
  return event >= GOODPUT_JOB && event <= GOODPUT_ELASTIC_REINIT && (event & 1) != 0;
}

}  // namespace

goodput_recorder* goodput_open(const goodput_options* given) {
  const goodput_options options = complete(given, goodput_options GOODPUT_OPTIONS);
  auto* recorder = new (std::nothrow) goodput_recorder{goodput::Recorder::open({
      .job = std::string(text_of(options.job)),
      .run_id = std::string(text_of(options.run_id)),
      .role = std::string(text_of(options.role)),
      .process_index = value_of(options.process_index),
      .attempt_id = std::string(text_of(options.attempt_id)),
      .directory = std::string(text_of(options.directory)),
      .labels = goodput::record::parse_labels(std::string(text_of(options.labels))),
      .accelerators = value_of(options.accelerators),
      .accelerator_type = std::string(text_of(options.accelerator_type)),
      .enabled = options.disabled == 0,
      .sync_interval_seconds = options.sync_interval_seconds,
  })};
  if (recorder != nullptr && recorder->recorder.journal_id().empty()) {
    delete recorder;
    return nullptr;
  }
  return recorder;
}

void goodput_close(goodput_recorder* recorder) { delete recorder; }

void goodput_step(goodput_recorder* recorder, int64_t step) {
  if (recorder != nullptr) recorder->recorder.step(step);
}

void goodput_step_with_work(goodput_recorder* recorder, int64_t step, double tokens, double samples, double flops) {
  if (recorder != nullptr) recorder->recorder.step(step, {.tokens = tokens, .samples = samples, .flops = flops});
}

void goodput_begin(goodput_recorder* recorder, goodput_event event, const goodput_detail* detail) {
  if (recorder == nullptr) return;
  if (!is_event(event)) return recorder->recorder.drop_bad_value();
  recorder->recorder.begin(static_cast<Event>(event), detail_of(detail));
}

void goodput_end(goodput_recorder* recorder, goodput_event event, const goodput_detail* detail) {
  if (recorder == nullptr) return;
  if (!is_event(event)) return recorder->recorder.drop_bad_value();
  recorder->recorder.end(static_cast<Event>(event), detail_of(detail));
}

void goodput_checkpoint_statistics(goodput_recorder* recorder, goodput_event save_or_restore, int64_t start_ns,
                                   int64_t duration_ns, int64_t step, const char* location, int emergency) {
  if (recorder == nullptr) return;
  recorder->recorder.checkpoint_statistics({.event = static_cast<Event>(save_or_restore),
                                            .start_ns = start_ns,
                                            .duration_ns = duration_ns,
                                            .step = value_of(step),
                                            .location = text_of(location),
                                            .emergency = emergency != 0});
}

void goodput_slice_counts(goodput_recorder* recorder, int64_t active, int64_t total, int64_t available) {
  if (recorder != nullptr) recorder->recorder.slice_counts(active, total, available);
}

void goodput_disruption(goodput_recorder* recorder, const char* cause, const char* text) {
  if (recorder != nullptr) recorder->recorder.disruption(text_of(cause), text_of(text));
}

void goodput_heartbeat(goodput_recorder* recorder) {
  if (recorder != nullptr) recorder->recorder.heartbeat();
}

void goodput_process_exit(goodput_recorder* recorder, int64_t code, int64_t signal_number) {
  if (recorder != nullptr) recorder->recorder.process_exit({.code = int_of(code), .signal = int_of(signal_number)});
}

int goodput_is_recording(const goodput_recorder* recorder) {
  return recorder != nullptr && recorder->recorder.is_recording() ? 1 : 0;
}

uint64_t goodput_lost_events(const goodput_recorder* recorder) {
  return recorder == nullptr ? 0 : recorder->recorder.counts().lost_events;
}
