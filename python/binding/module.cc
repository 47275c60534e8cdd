// The extension module goodput._binding: arguments checked, C++ called, answers returned. No logic is here.
// SPDX-License-Identifier: Apache-2.0
#include <nanobind/nanobind.h>

#include "bindings.h"
#include "errors.h"

namespace goodput::binding {

NB_MODULE(_binding, module) {
  // A recorder in a module's namespace lives until the process ends, and that is no leak.
  nb::set_leak_warnings(false);
  module.attr("__version__") = GOODPUT_VERSION;
  nb::exception<GoodputError>(module, "GoodputError").attr("__module__") = "goodput";
  bind_recorder(module);
  bind_account(module);
  bind_journal(module);
}

}  // namespace goodput::binding
