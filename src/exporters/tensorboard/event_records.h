// The bytes of a TensorBoard event file: records with scalars, texts and the layout of charts.
//
// Use it to make what goes to the end of one file; who keeps the file (a disk, a bucket) is another's business. The
// first thing in a file is its version, and one file is written by one EventRecords.
//
//   EventRecords records;                                            // begins with the file's version
//   records.scalar("goodput/goodput", step, now_ns, 87.5);
//   file.append(records.take());
//
// A tag's first scalar carries its display name, so that every loader shows it. Steps of one tag must not fall: loaders
// drop what stands at and beyond a step that comes again. Nothing fails. One thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace goodput::exporters {

/// A chart with one line for each tag that one of the patterns (regular expressions) matches from its start.
struct TensorBoardChart {
  std::string title;
  std::vector<std::string> tags;
};
struct TensorBoardCategory {
  std::string title;
  std::vector<TensorBoardChart> charts;
};

class EventRecords {
 public:
  explicit EventRecords(int64_t now_ns);
  ~EventRecords();
  EventRecords(EventRecords&&) noexcept;
  EventRecords& operator=(EventRecords&&) noexcept;

  void scalar(std::string_view tag, int64_t step, int64_t wall_ns, double value);
  /// Markdown, in the page "Text".
  void text(std::string_view tag, int64_t step, int64_t wall_ns, std::string_view markdown);
  /// Charts of the page "Custom Scalars"; once a file.
  void layout(int64_t wall_ns, const std::vector<TensorBoardCategory>& categories);

  /// What was added since the last call.
  [[nodiscard]] std::string take();
  [[nodiscard]] size_t size_bytes() const { return bytes_.size(); }

 private:
  struct Message;
  void append();

  std::unique_ptr<Message> message_;  ///< used again for every record
  std::set<std::string, std::less<>> named_;
  std::string last_tag_;  ///< known to be named
  std::string bytes_;
};

/// A tag as tensorboardX writes it: every character but letters, digits, `-`, `/`, `_` and `.` is `_`, and none begins
/// with `/`.
std::string clean_tag(std::string_view tag);

}  // namespace goodput::exporters
