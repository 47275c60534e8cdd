// goodput.Recorder's base class and the scopes that it gives out.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/stl/string.h>

#include <string>

#include "bound_recorder.h"
#include "scope.h"
#include "values.h"

namespace goodput::binding {
namespace {

using nb::literals::operator""_a;

/// Whether a value was read and may be used; what is bad is left as it was. What must pass is thrown.
bool taken(Read read) {
  if (read == Read::kRaised) throw nb::python_error();
  return read == Read::kValue;
}

void take_labels(nb::handle object, RecorderOptions& options) {
  if (!PyDict_Check(object.ptr())) return;
  for (const auto [key, value] : nb::borrow<nb::dict>(object)) {
    std::string name, text;
    if (!taken(read_text(key.ptr(), name))) continue;
    if (!taken(read_text(value.ptr(), text)) && !taken(read_text(nb::str(value).ptr(), text))) continue;
    options.labels.emplace_back(name, text);
  }
}

void open(BoundRecorder* place, nb::handle job, nb::handle run_id, nb::handle process_index, nb::handle attempt_id,
          nb::handle directory, nb::handle labels, nb::handle accelerators, nb::handle accelerator_type, bool enabled,
          nb::handle sync_interval_seconds) {
  RecorderOptions options{.enabled = enabled};
  if (double seconds = 0; taken(read_number(sync_interval_seconds.ptr(), seconds))) {
    options.sync_interval_seconds = seconds;
  }
  taken(read_optional_text(job.ptr(), options.job));
  taken(read_optional_text(run_id.ptr(), options.run_id));
  taken(read_optional_integer(process_index.ptr(), options.process_index));
  taken(read_optional_text(attempt_id.ptr(), options.attempt_id));
  taken(read_optional_text(directory.ptr(), options.directory));
  take_labels(labels, options);
  taken(read_optional_integer(accelerators.ptr(), options.accelerators));
  taken(read_optional_text(accelerator_type.ptr(), options.accelerator_type));
  auto recorder = std::make_shared<Recorder>();
  {
    const nb::gil_scoped_release others_run;
    *recorder = Recorder::open(options);
  }
  new (place) BoundRecorder{std::move(recorder), {}};
}

/// What an interval carries, or nothing after counting what makes no sense.
std::optional<Particulars> particulars(Recorder& recorder, int event, nb::handle name, nb::handle step,
                                       nb::handle location, bool blocking) {
  Particulars read{.event = static_cast<Event>(event), .blocking = blocking};
  const bool good = taken(read_optional_text(name.ptr(), read.name)) &&
                    taken(read_optional_step(step.ptr(), read.step)) &&
                    taken(read_optional_text(location.ptr(), read.location));
  const bool named = read.event != Event::kCustom || !read.name.empty();
  if (good && named) return read;
  recorder.drop_bad_value();
  return {};
}

Scope make_scope(BoundRecorder& self, int event, nb::handle name, nb::handle step, nb::handle location, bool blocking) {
  auto read = particulars(*self.recorder, event, name, step, location, blocking);
  if (!read) return Scope(std::make_shared<Recorder>(), {});
  return Scope(self.recorder, std::move(*read));
}

void record_end(BoundRecorder& self, bool is_start, int event, nb::handle name, nb::handle step, nb::handle location,
                bool failed, nb::handle time_ns) {
  auto read = particulars(*self.recorder, event, name, step, location, false);
  if (!read) return;
  std::optional<int64_t> time;
  if (!taken(read_optional_integer(time_ns.ptr(), time))) return self.recorder->drop_bad_value();
  read->time_ns = time.value_or(kNow);
  read->failed = failed;
  if (is_start) {
    self.recorder->begin(read->event, read->detail());
  } else {
    self.recorder->end(read->event, read->detail());
  }
}

void slice_counts(BoundRecorder& self, nb::handle active, nb::handle total, nb::handle available, nb::handle time_ns) {
  int64_t counts[3] = {};
  std::optional<int64_t> time;
  if (taken(read_integer(active.ptr(), counts[0])) && taken(read_integer(total.ptr(), counts[1])) &&
      taken(read_integer(available.ptr(), counts[2])) && taken(read_optional_integer(time_ns.ptr(), time))) {
    self.recorder->slice_counts(counts[0], counts[1], counts[2], time.value_or(kNow));
  } else {
    self.recorder->drop_bad_value();
  }
}

void disruption(BoundRecorder& self, nb::handle cause, nb::handle detail) {
  std::string cause_text, detail_text;
  if (taken(read_text(cause.ptr(), cause_text)) && taken(read_optional_text(detail.ptr(), detail_text))) {
    self.recorder->disruption(cause_text, detail_text);
  } else {
    self.recorder->drop_bad_value();
  }
}

/// What Orbax and its like tell of a whole save or restore, of every rank.
void checkpoint_statistics(BoundRecorder& self, int event, nb::handle start_ns, nb::handle duration_ns, nb::handle step,
                           nb::handle location, bool emergency) {
  CheckpointStatistics statistics{.event = static_cast<Event>(event), .emergency = emergency};
  std::optional<int64_t> start;
  std::string place;
  if (!taken(read_optional_integer(start_ns.ptr(), start)) ||
      !taken(read_integer(duration_ns.ptr(), statistics.duration_ns)) ||
      !taken(read_optional_step(step.ptr(), statistics.step)) || !taken(read_optional_text(location.ptr(), place))) {
    return self.recorder->drop_bad_value();
  }
  statistics.start_ns = start.value_or(kNow);
  statistics.location = place;
  self.recorder->checkpoint_statistics(statistics);
}

void close(BoundRecorder& self) {
  const nb::gil_scoped_release others_run;
  self.recorder->close();
}

void bind_scope(nb::module_& module) {
  nb::class_<Scope>(module, "Scope", nb::is_final())
      .def(
          "__enter__",
          [](nb::handle_t<Scope> self) {
            nb::inst_ptr<Scope>(self)->enter();
            return nb::borrow(self);
          },
          nb::sig("def __enter__(self) -> Scope"))
      .def(
          "__exit__", [](Scope& self, nb::handle type, nb::handle, nb::handle) { self.leave(!type.is_none()); },
          "type"_a.none(), "value"_a.none(), "traceback"_a.none());
}

}  // namespace

void bind_recorder(nb::module_& module) {
  bind_scope(module);
  const auto nothing = nb::none();
  nb::class_<BoundRecorder>(module, "Recorder", nb::type_slots(hot_slots()), nb::is_weak_referenceable())
      .def("__init__", &open, "job"_a = nothing, "run_id"_a = nothing, "process_index"_a = nothing,
           "attempt_id"_a = nothing, "directory"_a = nothing, "labels"_a = nothing, "accelerators"_a = nothing,
           "accelerator_type"_a = nothing, "enabled"_a = true, "sync_interval_seconds"_a.none() = 1.0)
      .def("_scope", &make_scope, "event"_a, "name"_a = nothing, "step"_a = nothing, "location"_a = nothing,
           "blocking"_a = false)
      .def("_record", &record_end, "is_start"_a, "event"_a, "name"_a = nothing, "step"_a = nothing,
           "location"_a = nothing, "failed"_a = false, "time_ns"_a = nothing)
      .def("_slice_counts", &slice_counts, "active"_a.none(), "total"_a.none(), "available"_a.none(),
           "time_ns"_a = nothing)
      .def("_checkpoint_statistics", &checkpoint_statistics, "event"_a, "start_ns"_a.none(), "duration_ns"_a.none(),
           "step"_a = nothing, "location"_a = nothing, "emergency"_a = false)
      .def("_disruption", &disruption, "cause"_a.none(), "detail"_a = nothing)
      .def("_heartbeat", [](BoundRecorder& self) { self.recorder->heartbeat(); })
      .def("_close", &close)
      .def_prop_ro("_is_recording", [](const BoundRecorder& self) { return self.recorder->is_recording(); })
      .def_prop_ro("_lost_events", [](const BoundRecorder& self) { return self.recorder->counts().lost_events; })
      .def_prop_ro("_job", [](const BoundRecorder& self) { return self.recorder->job(); })
      .def_prop_ro("_attempt_id", [](const BoundRecorder& self) { return self.recorder->attempt_id(); })
      .def_prop_ro("_directory", [](const BoundRecorder& self) { return self.recorder->directory(); });
}

}  // namespace goodput::binding
