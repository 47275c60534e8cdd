// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include "event/event.h"

namespace goodput::binding {
namespace {

Read read_long(PyObject* object, int64_t& number) {
  int overflow = 0;
  number = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0 ? Read::kValue : Read::kBad;
}

Read read_optional(PyObject* object, std::optional<int64_t>& number, Read (*read_number)(PyObject*, int64_t&)) {
  number.reset();
  if (object == Py_None) return Read::kValue;
  int64_t value = 0;
  const Read read = read_number(object, value);
  if (read == Read::kValue) number = value;
  return read;
}

}  // namespace

Read swallow() {
  if (PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_Exception) == 0) return Read::kRaised;
  PyErr_Clear();
  return Read::kBad;
}

Read read_integer(PyObject* object, int64_t& integer) {
  if (PyLong_CheckExact(object)) return read_long(object, integer);
  if (PyBool_Check(object)) return Read::kBad;
  PyObject* number = PyNumber_Index(object);
  if (number == nullptr) return swallow();
  const Read read = read_long(number, integer);
  Py_DECREF(number);
  return read;
}

Read read_step(PyObject* object, int64_t& step) {
  const Read read = read_integer(object, step);
  const bool in_range = step >= -event::kMaxStep && step <= event::kMaxStep;
  return read == Read::kValue && !in_range ? Read::kBad : read;
}

Read read_number(PyObject* object, double& number) {
  number = PyFloat_AsDouble(object);
  return PyErr_Occurred() == nullptr ? Read::kValue : swallow();
}

Read read_text(PyObject* object, std::string& text) {
  if (!PyUnicode_Check(object)) return Read::kBad;
  Py_ssize_t length = 0;
  if (const char* utf8 = PyUnicode_AsUTF8AndSize(object, &length); utf8 != nullptr) {
    text.assign(utf8, static_cast<size_t>(length));
    return Read::kValue;
  }
  if (swallow() == Read::kRaised) return Read::kRaised;
  PyObject* bytes = PyUnicode_AsEncodedString(object, "utf-8", "replace");
  if (bytes == nullptr) return swallow();
  text.assign(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
  Py_DECREF(bytes);
  return Read::kValue;
}

Read read_optional_integer(PyObject* object, std::optional<int64_t>& integer) {
  return read_optional(object, integer, read_integer);
}

Read read_optional_step(PyObject* object, std::optional<int64_t>& step) {
  return read_optional(object, step, read_step);
}

Read read_optional_text(PyObject* object, std::string& text) {
  text.clear();
  return object == Py_None ? Read::kValue : read_text(object, text);
}

}  // namespace goodput::binding
