"""The program `goodput`: where it is, and this process becoming it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import os
import sys


def path() -> str:
    """Beside this file, as wheels carry it; in a checkout, where the build leaves it."""
    here = os.path.dirname(os.path.abspath(__file__))
    carried = os.path.join(here, "bin", "goodput")
    built = os.path.join(here, "..", "..", "build", "release", "goodput")
    return os.path.normpath(built) if not os.path.exists(carried) and os.path.exists(built) else carried


def run(arguments: list[str], standard_input: int) -> int:
    """Runs it to its end, without a fork of this process; its exit code, or minus the signal that ended it."""
    child = os.posix_spawn(
        path(),
        ["goodput", *arguments],
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_DUP2, standard_input, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ],
    )
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def ask(arguments: list[str]) -> tuple[int, str, str]:
    """The same without input: exit code, output, complaints."""
    import tempfile

    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        child = os.posix_spawn(
            path(),
            ["goodput", *arguments],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, output.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, complaints.fileno(), 2),
            ],
        )
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in (output, complaints):
            file.seek(0)
        return code, output.read().decode("utf-8", "replace"), complaints.read().decode("utf-8", "replace")


def main() -> None:
    try:
        os.execv(path(), ["goodput", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"goodput: starting {path()}: {error.strerror}; it is part of the wheel goodput-ml")
