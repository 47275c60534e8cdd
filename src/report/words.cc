// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <array>
#include <cstddef>

namespace goodput::report {
namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 5> kJobStatusWords = {"running", "completed", "failed", "stalled", "down"};
constexpr std::array<std::string_view, 4> kAttemptStatusWords = {"running", "completed", "failed", "died"};
constexpr std::array<std::string_view, 2> kDisruptionKindWords = {"restart", "rollback"};
constexpr std::array<std::string_view, 3> kSeverityWords = {"info", "warning", "error"};

template <typename Enum, size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& words, std::string_view word) {
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_word(JobStatus status) { return kJobStatusWords.at(static_cast<size_t>(status)); }
std::string_view to_word(AttemptStatus status) { return kAttemptStatusWords.at(static_cast<size_t>(status)); }
std::string_view to_word(DisruptionKind kind) { return kDisruptionKindWords.at(static_cast<size_t>(kind)); }
std::string_view to_word(Severity severity) { return kSeverityWords.at(static_cast<size_t>(severity)); }

template <>
std::optional<JobStatus> from_word(std::string_view word) {
  return find<JobStatus>(kJobStatusWords, word);
}
template <>
std::optional<AttemptStatus> from_word(std::string_view word) {
  return find<AttemptStatus>(kAttemptStatusWords, word);
}
template <>
std::optional<DisruptionKind> from_word(std::string_view word) {
  return find<DisruptionKind>(kDisruptionKindWords, word);
}
template <>
std::optional<Severity> from_word(std::string_view word) {
  return find<Severity>(kSeverityWords, word);
}

}  // namespace goodput::report
