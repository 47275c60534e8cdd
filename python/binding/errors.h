// goodput.GoodputError: how a Status reaches Python.
//
//   Report report = value_or_raise(std::move(result));
//
// Only outside of a training loop: recorders never raise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <utility>

#include "base/status.h"

namespace goodput::binding {

class GoodputError : public std::runtime_error {
 public:
  explicit GoodputError(const Status& status) : std::runtime_error(status.message()) {}
};

inline void raise_unless_ok(const Status& status) {
  if (!status.ok()) throw GoodputError(status);
}

template <typename T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) throw GoodputError(result.status());
  return std::move(result).value();
}

}  // namespace goodput::binding
