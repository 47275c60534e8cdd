// GOODPUT_API marks what the shared library offers; everything else in it is hidden.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define GOODPUT_API __attribute__((visibility("default")))
