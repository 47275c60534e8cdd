// What a stream can show: asked of the system and the environment, once, at the edge of the program.
//
//   report::TerminalStyle style = detect_style(STDOUT_FILENO, globals.no_color);
//
// Reads the environment; not while another thread changes it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/terminal.h"

namespace goodput::cli {

/// Columns: COLUMNS, else the terminal's own, else 80. Characters beyond ASCII where the locale is UTF-8. Colours on a
/// terminal that is not "dumb", unless `no_color` or NO_COLOR say no; 256 of them where TERM or COLORTERM promise them.
report::TerminalStyle detect_style(int descriptor, bool no_color);

/// Whether LC_ALL, LC_CTYPE or LANG (the first that is set) names UTF-8.
bool locale_is_utf8();

}  // namespace goodput::cli
