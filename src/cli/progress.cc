// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/context.h"
#include "cli/terminal_style.h"
#include "report/terminal/chart.h"
#include "report/terminal/human.h"
#include "report/terminal/palette.h"
#include "report/terminal/text.h"

namespace goodput::cli {
namespace {

constexpr int64_t kMillisecondNs = 1'000'000;
constexpr int64_t kPatienceNs = 500 * kMillisecondNs;
constexpr int64_t kBetweenDrawsNs = 100 * kMillisecondNs;
constexpr int kBarColumns = 24;
// Carriage return, and erase to the end of the line.
constexpr const char* kEraseLine = "\r\x1b[K";

int64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

ProgressBar::ProgressBar(const Context& context, std::string what)
    : ProgressBar(context.err, !context.globals.quiet && isatty(fileno(context.err)) == 1, std::move(what),
                  detect_style(fileno(context.err), context.globals.no_color), steady_ns) {}

ProgressBar::ProgressBar(FILE* err, bool shown, std::string what, report::TerminalStyle style,
                         std::function<int64_t()> now_ns)
    : err_(err),
      shown_(shown),
      what_(std::move(what)),
      style_(style),
      now_ns_(std::move(now_ns)),
      start_ns_(now_ns_()),
      next_draw_ns_(start_ns_ + kPatienceNs) {}

ProgressBar::~ProgressBar() {
  if (!drawn_) return;
  std::fputs(kEraseLine, err_);
  std::fflush(err_);
}

void ProgressBar::update(int64_t done, int64_t total) {
  if (!shown_) return;
  const int64_t now_ns = now_ns_();
  if (now_ns < next_draw_ns_) return;
  next_draw_ns_ = now_ns + kBetweenDrawsNs;
  drawn_ = true;
  const double elapsed_seconds = static_cast<double>(now_ns - start_ns_) / 1e9;
  fmt::print(err_, "{}{}", kEraseLine, progress_line(what_, done, total, elapsed_seconds, style_));
  std::fflush(err_);
}

std::string progress_line(const std::string& what, int64_t done, int64_t total, double elapsed_seconds,
                          const report::TerminalStyle& style) {
  const int room = std::max(10, style.columns - kBarColumns - 32);
  report::Line line(report::shorten(report::printable(what, style.unicode), room, style.unicode));
  line.add(" ");
  if (total <= 0) return line.add(fmt::format("{} bytes", report::human_count(done))).render(style);
  const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const int bar_start = line.columns();
  line.add(report::plain_bar(fraction, kBarColumns, report::kAccent, style)).pad_to(bar_start + kBarColumns);
  line.add(fmt::format(" {:3.0f}%", 100 * fraction));
  if (fraction > 0 && fraction < 1) {
    line.add(fmt::format(", {} left", report::human_duration(elapsed_seconds * (1 - fraction) / fraction)));
  }
  return line.render(style);
}

}  // namespace goodput::cli
