"""One step through the drop-in's recorder, against the released package on its real asynchronous handler.

    .venv/bin/python bench/drop_in_step_bench.py build/peers/bin/python

Two interpreters that take turns; a figure is the median of five rounds.

SPDX-License-Identifier: Apache-2.0
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
BAR = 20
PEER = Path(__file__).parent / "peers/ml_goodput_step.py"


def start(python, folder):
    environment = {**os.environ, "GOODPUT_DIR": folder, "GOODPUT_QUIET": "1", "NO_GCE_CHECK": "true"}
    return subprocess.Popen(
        [python, PEER],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def round_ns(child):
    print(file=child.stdin, flush=True)
    return float(child.stdout.readline())


def main():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        children = [start(python, folder) for python in (sys.executable, sys.argv[1])]
        for child in children:
            round_ns(child)  # does not count
        rounds = [[round_ns(child) for child in children] for _ in range(ROUNDS)]
        for child in children:
            child.stdin.close()
            child.wait()
    ours_ns, released_ns = map(statistics.median, zip(*rounds))
    ratio = released_ns / ours_ns
    print(
        f"| `record_step_start_time` of the drop-in | {ratio:.3g} \N{MULTIPLICATION SIGN} cheaper than 0.2.3's | at least {BAR} "
        f"| {'met' if ratio >= BAR else 'MISSED'} | {ours_ns:.0f} ns against {released_ns / 1000:.1f} µs |",
        flush=True,
    )
    return 0 if ratio >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
