#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes src/base/upper_table.h: what str.upper() of this Python does to every code point.

Usage: tools/make_upper_table.py > src/base/upper_table.h

Code points that map to one other are kept as runs (every `step`-th code point from first to last is
moved by `delta`), those that map to several as a list. The table follows the Unicode version of the
Python that runs this script; it is written once and kept, so that all builds agree.
"""

import sys
import unicodedata


def mappings():
    for point in range(0x80, sys.maxunicode + 1):
        if 0xD800 <= point <= 0xDFFF:
            continue
        upper = chr(point).upper()
        if upper != chr(point):
            yield point, [ord(c) for c in upper]


def runs(simple):
    """[(code point, delta)] in order -> [(first, last, step, delta)], each as long as it can be"""
    out = []
    i = 0
    while i < len(simple):
        first, delta = simple[i]
        best = (first, 1)
        for step in (1, 2):
            last, j = first, i + 1
            while j < len(simple) and simple[j] == (last + step, delta):
                last, j = last + step, j + 1
            if last > best[0]:
                best = (last, step)
        last, step = best
        out.append((first, last, step, delta))
        i += (last - first) // step + 1
    return out


def rows(items, per_line):
    for i in range(0, len(items), per_line):
        print("    " + " ".join(items[i : i + per_line]))


def main():
    every = list(mappings())
    simple = runs([(p, u[0] - p) for p, u in every if len(u) == 1])
    several = [(p, u + [0] * (3 - len(u))) for p, u in every if len(u) > 1]
    print(f"""// Upper case of every code point beyond ASCII that has one, Unicode {unicodedata.unidata_version}.
// Written by tools/make_upper_table.py; do not edit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace goodput::upper_table {{

/// Every `step`-th code point from first to last has its upper case `delta` further on.
struct Run {{
  uint32_t first, last;
  int32_t step, delta;
}};

/// A code point whose upper case is two or three (0 fills the third).
struct Several {{
  uint32_t point;
  uint32_t upper[3];
}};

// clang-format off
constexpr Run kRuns[] = {{""")
    rows([f"{{0x{a:X}, 0x{b:X}, {s}, {d}}}," for a, b, s, d in simple], 5)
    print("};\n\nconstexpr Several kSeveral[] = {")
    rows([f"{{0x{p:X}, {{{', '.join(f'0x{c:X}' for c in u)}}}}}," for p, u in several], 3)
    print("""};
// clang-format on

}  // namespace goodput::upper_table""")


if __name__ == "__main__":
    main()
