// Errors as values: Status and Result<T>, and the three macros of the project.
//
// Use Status where a call may fail and Result<T> where it then has nothing to return. The message is one sentence that
// says what was being done to what: "opening /x/y: Permission denied".
//
//   Result<Header> header = read_header(bytes);
//   if (!header.ok()) return header.status();
//
// Values: copyable, no shared state, safe to hand between threads. Nothing here throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace goodput {

enum class StatusCode : unsigned char {
  kOk,
  kInvalidArgument,   ///< the caller's words make no sense
  kNotFound,          ///< no such job, file, field
  kAlreadyExists,     ///< made by somebody else
  kPermissionDenied,  ///< the system refuses
  kNoSpace,           ///< disk full, quota, file-size limit
  kUnreadable,        ///< an input that cannot be read: I/O error, a directory, not in any known format
  kUnsupported,       ///< a newer format version, a file system that cannot do it
  kUnavailable,       ///< now, but perhaps not later
  kInternal,          ///< a mistake of ours
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == StatusCode::kOk; }
  [[nodiscard]] StatusCode code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

/// A value, or why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}         // NOLINT: `return value;` is the point
  Result(Status status) : held_(std::move(status)) {}  // NOLINT: `return status;` is the point

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(held_); }
  [[nodiscard]] Status status() const { return ok() ? Status() : std::get<Status>(held_); }
  [[nodiscard]] T& value() & { return std::get<T>(held_); }
  [[nodiscard]] const T& value() const& { return std::get<T>(held_); }
  [[nodiscard]] T&& value() && { return std::get<T>(std::move(held_)); }
  [[nodiscard]] T* operator->() { return &std::get<T>(held_); }
  [[nodiscard]] const T* operator->() const { return &std::get<T>(held_); }
  [[nodiscard]] T& operator*() & { return std::get<T>(held_); }
  [[nodiscard]] const T& operator*() const& { return std::get<T>(held_); }
  [[nodiscard]] T&& operator*() && { return std::get<T>(std::move(held_)); }

 private:
  std::variant<T, Status> held_;
};

namespace detail {
[[noreturn]] inline void check_failed(const char* file, int line, const char* expression) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, expression);
  std::abort();
}
}  // namespace detail

}  // namespace goodput

/// Stops the process when an invariant of ours is broken. Never used in code that runs inside a training process.
#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::goodput::detail::check_failed(__FILE__, __LINE__, #condition))

#define RETURN_IF_ERROR(expression)                                              \
  do {                                                                           \
    if (::goodput::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define GOODPUT_CONCAT_INNER(a, b) a##b
#define GOODPUT_CONCAT(a, b) GOODPUT_CONCAT_INNER(a, b)
#define ASSIGN_OR_RETURN(lhs, expression) ASSIGN_OR_RETURN_IMPL(GOODPUT_CONCAT(result_, __LINE__), lhs, expression)
#define ASSIGN_OR_RETURN_IMPL(result, lhs, expression) \
  auto result = (expression);                          \
  if (!result.ok()) return result.status();            \
  lhs = std::move(result).value()
