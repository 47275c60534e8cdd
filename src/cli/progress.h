// A progress bar for what takes long: on standard error, on a terminal only, and only once half a second has passed.
//
//   ProgressBar bar(context, "reading events.jsonl");
//   import(file, [&](int64_t done, int64_t total) { bar.update(done, total); });
//   // gone when it goes out of scope
//
// For one thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "report/terminal.h"

namespace goodput::cli {

struct Context;

class ProgressBar {
 public:
  /// Shown unless `context` is quiet or its `err` is no terminal.
  ProgressBar(const Context& context, std::string what);
  /// The same with everything given: for tests.
  ProgressBar(FILE* err, bool shown, std::string what, report::TerminalStyle style, std::function<int64_t()> now_ns);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws at most ten times a second. `total` is 0 when it is not known.
  void update(int64_t done, int64_t total);

 private:
  FILE* err_;
  bool shown_;
  std::string what_;
  report::TerminalStyle style_;
  std::function<int64_t()> now_ns_;
  int64_t start_ns_;
  int64_t next_draw_ns_;
  bool drawn_ = false;
};

/// The bar as one line of text: what, how far, how much longer.
std::string progress_line(const std::string& what, int64_t done, int64_t total, double elapsed_seconds,
                          const report::TerminalStyle& style);

}  // namespace goodput::cli
