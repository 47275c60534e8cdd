#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/report/terminal/width_table.inc: which characters take no column of a terminal, which take two, and which
must never reach it as they are. From the Unicode tables of the Python that runs it.

Usage: tools/make_width_table.py > src/report/terminal/width_table.inc
"""

import sys
import unicodedata


def kind(code):
    char = chr(code)
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return "escaped"  # controls, bidirectional marks, joiners, private use, line separators
    if category in ("Mn", "Me") or 0x1160 <= code <= 0x11FF:
        return "zero"  # combining marks, and the Hangul letters that join the one before them
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return "two"
    return "one"


def ranges(wanted):
    start = None
    for code in range(0x80, 0x110000):
        if kind(code) == wanted:
            start = code if start is None else start
        elif start is not None:
            yield start, code - 1
            start = None
    if start is not None:
        yield start, 0x10FFFF


def main():
    print(f"// Made by tools/make_width_table.py from Unicode {unicodedata.unidata_version}. Do not edit.")
    print("// SPDX-License-Identifier: Apache-2.0")
    for name, wanted in (("kZeroColumns", "zero"), ("kTwoColumns", "two"), ("kEscaped", "escaped")):
        found = list(ranges(wanted))
        print(f"constexpr std::array<CodeRange, {len(found)}> {name} = {{{{")
        line = "   "
        for first, last in found:
            item = f" {{0x{first:X}, 0x{last:X}}},"
            if len(line) + len(item) > 118:
                print(line)
                line = "   "
            line += item
        print(line)
        print("}};")


if __name__ == "__main__":
    sys.exit(main())
