// The recorder as a Python object holds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <goodput/recorder.h>
#include <nanobind/nanobind.h>

#include <memory>

#include "bindings.h"

namespace goodput::binding {

struct BoundRecorder {
  /// Scopes share it: one that outlives the Python object still has a recorder to end in.
  std::shared_ptr<Recorder> recorder;
  /// The scope that step() gave out last: given out again once nobody else holds it, as after each `with`.
  nb::object step_scope;
};

/// The two methods that a training loop calls at every step, as CPython calls its own: record_step(i) by METH_O costs 7
/// ns less than through nanobind. For nb::type_slots.
const PyType_Slot* hot_slots();

}  // namespace goodput::binding
