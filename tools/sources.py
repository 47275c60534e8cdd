"""What the check scripts share: which files the project consists of, and C++ text without its comments.

    for path in sources.files(root, ".h", ".cc"):
        code = sources.strip_cpp(path.read_text())

SPDX-License-Identifier: Apache-2.0
"""

import argparse
import os
import re
import sys
from pathlib import Path

# Made by the build or by tools, never written by hand.
_NOT_OURS = {"build", "dist", "wheelhouse", "node_modules", "__pycache__"}


def root_from_arguments(description: str) -> Path:
    """The checkout to examine: --root DIR, by default the one that holds this script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    return parser.parse_args().root.resolve()


def files(root: Path, *suffixes: str) -> list[Path]:
    """Every file of the project with one of these suffixes (all files when none is given), in a fixed order."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if f not in _NOT_OURS and (not f.startswith(".") or f == ".ci"))
        found += [Path(folder) / name for name in sorted(names) if not suffixes or name.endswith(suffixes)]
    return found


_CPP_NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


def strip_cpp(text: str) -> str:
    """C++ text with comments removed and strings emptied; every line keeps its number."""

    def blank(match: re.Match) -> str:
        lines = "\n" * match.group().count("\n")
        return lines if match.group().startswith("/") else f'""{lines}'

    return _CPP_NOISE.sub(blank, text)


def finish(name: str, problems: list[str]) -> None:
    """Prints the problems and ends the script, with exit code 1 when there are any."""
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem{'' if len(problems) == 1 else 's'}")
    sys.exit(1 if problems else 0)
