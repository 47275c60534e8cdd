// What Python hands over, as values of C++; and how each may fail.
//
// For every function of the binding: whatever the object, reading it never raises what a training loop would see.
//
//   int64_t number = 0;
//   if (read_step(object, number) == Read::kRaised) return nullptr;   // KeyboardInterrupt and its like pass
//
// With the GIL held. An Exception that a conversion raises is swallowed and reads as kBad; what is no Exception
// (KeyboardInterrupt, SystemExit) is left set, as kRaised.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <goodput/recorder.h>

#include <cstdint>
#include <optional>
#include <string>

namespace goodput::binding {

enum class Read : uint8_t { kValue, kBad, kRaised };

/// An integer, or whatever has __index__; no truth value, which is no number in a log either.
Read read_integer(PyObject* object, int64_t& integer);
/// The same within the limits of a step number.
Read read_step(PyObject* object, int64_t& step);
/// A number, or whatever has __float__.
Read read_number(PyObject* object, double& number);
/// A str, its lone surrogates as question marks; nothing else is a name.
Read read_text(PyObject* object, std::string& text);

/// The same where None means "not told".
Read read_optional_integer(PyObject* object, std::optional<int64_t>& integer);
Read read_optional_step(PyObject* object, std::optional<int64_t>& step);
Read read_optional_text(PyObject* object, std::string& text);

/// After a conversion failed: clears an Exception. kRaised when there is something that must pass.
Read swallow();

}  // namespace goodput::binding
