// Text of unknown origin made fit for a terminal: escaped, measured in columns, shortened and wrapped.
//
// Use printable() on every name that a user, a log or a machine gave, before anything else is done with it: what comes
// out holds no control character, no bidirectional mark and no broken UTF-8, so it can neither move the cursor nor turn
// text around. The other functions take printable text.
//
//   std::string name = printable("evil\x1b[2J", true);          // "evil\x1b[2J" as ten visible characters
//   columns_of("評価");                                         // 4
//   shorten("a-very-long-run-name-0042", 12, true);             // "a-very-…0042"
//
// Widths are those of Unicode's East Asian Width table, the same on every machine. Pure functions; nothing throws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goodput::report {

/// `raw` with everything that must not reach a terminal written as \xHH (a byte) or \uHHHH (a character). Without
/// `unicode` every character beyond ASCII is.
std::string printable(std::string_view raw, bool unicode);

/// The columns that printable text takes: 0 for combining marks, 2 for wide characters.
int columns_of(std::string_view text);

/// At most `columns` columns of it: its beginning, an ellipsis and its end, where names of one kind differ.
std::string shorten(std::string_view text, int columns, bool unicode);

/// Lines of at most `columns` columns, broken at spaces where there are any; never empty.
std::vector<std::string> wrap(std::string_view text, int columns);

}  // namespace goodput::report
