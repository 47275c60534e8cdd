// What the extension module consists of, a file each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace goodput::binding {

namespace nb = nanobind;

void bind_recorder(nb::module_& module);
void bind_account(nb::module_& module);
void bind_journal(nb::module_& module);

}  // namespace goodput::binding
