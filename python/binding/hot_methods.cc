// SPDX-License-Identifier: Apache-2.0
#include "bound_recorder.h"
#include "scope.h"
#include "values.h"

namespace goodput::binding {
namespace {

/// The recorder of `self`; nullptr before its __init__ (a subclass may have forgotten to call it).
BoundRecorder* bound(PyObject* self) { return nb::inst_ready(self) ? nb::inst_ptr<BoundRecorder>(self) : nullptr; }

/// Records the beginning of a step whose number is no plain int. The clock is read first: a number may have to come
/// from a device.
Read record_slow_step(Recorder& recorder, PyObject* object, const StepWork& work, int64_t& step) {
  const int64_t clock_ns = recorder.clock_ns();
  const Read read = read_step(object, step);
  if (read == Read::kValue) recorder.step_since(clock_ns, step, work);
  if (read == Read::kBad) recorder.drop_bad_value();
  return read;
}

PyObject* record_step(PyObject* self, PyObject* number) {
  BoundRecorder* recorder = bound(self);
  if (recorder == nullptr) Py_RETURN_NONE;
  int64_t step = 0;
  if (PyLong_CheckExact(number)) {
    if (read_step(number, step) == Read::kValue) {
      recorder->recorder->step(step);
    } else {
      recorder->recorder->drop_bad_value();
    }
  } else if (record_slow_step(*recorder->recorder, number, {}, step) == Read::kRaised) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

/// Reads tokens=, samples= and flops=. False with an exception set.
bool read_work(Recorder& recorder, PyObject* const* values, PyObject* names, StepWork& work) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    double* field = PyUnicode_CompareWithASCIIString(name, "tokens") == 0    ? &work.tokens
                    : PyUnicode_CompareWithASCIIString(name, "samples") == 0 ? &work.samples
                    : PyUnicode_CompareWithASCIIString(name, "flops") == 0   ? &work.flops
                                                                             : nullptr;
    if (field == nullptr) {
      PyErr_Format(PyExc_TypeError, "step() got an unexpected keyword argument '%U'", name);
      return false;
    }
    if (values[i] == Py_None) continue;
    double number = 0;
    const Read read = read_number(values[i], number);
    if (read == Read::kRaised) return false;
    if (read == Read::kValue) *field = number;
    if (read == Read::kBad) recorder.drop_bad_value();
  }
  return true;
}

/// A scope of the step that has begun: the one of before where nobody holds it any more, in this thread or another.
PyObject* scope_of_step(BoundRecorder& bound, int64_t step) {
  PyObject* spare = bound.step_scope.ptr();
  if (spare != nullptr && Py_REFCNT(spare) == 1) {
    nb::inst_ptr<Scope>(spare)->take_step(step);
    return Py_NewRef(spare);
  }
  try {
    nb::object made = nb::cast(Scope(bound.recorder, {.event = Event::kStep, .step = step}, /*begun=*/true));
    bound.step_scope = made;
    return made.release().ptr();
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

PyObject* scope_of_nothing() {
  try {
    return nb::cast(Scope(std::make_shared<Recorder>(), {.event = Event::kStep})).release().ptr();
  } catch (const std::exception&) {
    return PyErr_NoMemory();
  }
}

PyObject* step(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (count != 1) {
    PyErr_Format(PyExc_TypeError, "step() takes 1 positional argument but %zd were given", count);
    return nullptr;
  }
  BoundRecorder* recorder = bound(self);
  if (recorder == nullptr) return scope_of_nothing();
  int64_t number = 0;
  if (names == nullptr && PyLong_CheckExact(arguments[0]) && read_step(arguments[0], number) == Read::kValue) {
    recorder->recorder->step(number);
    return scope_of_step(*recorder, number);
  }
  StepWork work;
  const int64_t clock_ns = recorder->recorder->clock_ns();
  if (names != nullptr && !read_work(*recorder->recorder, arguments + count, names, work)) return nullptr;
  const Read read = read_step(arguments[0], number);
  if (read == Read::kRaised) return nullptr;
  if (read == Read::kBad) {
    recorder->recorder->drop_bad_value();
    return scope_of_nothing();
  }
  recorder->recorder->step_since(clock_ns, number, work);
  return scope_of_step(*recorder, number);
}

constexpr const char* kRecordStepText =
    "record_step($self, step, /)\n--\n\n"
    "Step `step` begins. Any object with __index__; what is none is dropped and counted.";
constexpr const char* kStepText =
    "step($self, step, /, *, tokens=None, samples=None, flops=None)\n--\n\n"
    "Step `step` begins; leaving the `with` block ends it. Its work makes throughput known.";

}  // namespace

const PyType_Slot* hot_slots() {
  static PyMethodDef methods[] = {
      {"record_step", record_step, METH_O, kRecordStepText},
      {"step", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(step)), METH_FASTCALL | METH_KEYWORDS,
       kStepText},
      {nullptr, nullptr, 0, nullptr},
  };
  static const PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  return slots;
}

}  // namespace goodput::binding
