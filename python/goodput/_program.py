"""The program `goodput`, as wheels carry it: this process becomes it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "goodput")
    try:
        os.execv(path, ["goodput", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"goodput: starting {path}: {error.strerror}; it is part of the wheel goodput-ml")
