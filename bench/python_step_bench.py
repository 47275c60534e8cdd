"""One step from Python, against time.time_ns(): by record_step(i), and by `with step(i)`, which is two events.

    .venv/bin/python bench/python_step_bench.py

Each figure is the median of five alternated rounds; a round is the median of many short bursts, from which the empty
loop is taken away. One recorder, opened in the folder that TMPDIR names, as a trainer on a local disk has it.

SPDX-License-Identifier: Apache-2.0
"""

import os
import statistics
import sys
import tempfile
import time

import goodput

ROUNDS = 5
BURSTS = 500
CALLS = 100
PAUSE_NS = 200_000  # a training loop computes between its steps, and the disk keeps up with it

TIMES = "\N{MULTIPLICATION SIGN}"


def empty(rec, burst):
    for _ in burst:
        pass


def clock(rec, burst):
    for _ in burst:
        time.time_ns()


def record_step(rec, burst):
    for n in burst:
        rec.record_step(n)


def with_step(rec, burst):
    for n in burst:
        with rec.step(n):
            pass


def round_ns(contender, rec):
    """What one call costs in the median burst of a round."""
    bursts = []
    now = time.perf_counter_ns
    for first in range(0, BURSTS * CALLS, CALLS):
        burst = range(first, first + CALLS)
        start = now()
        contender(rec, burst)
        bursts.append(now() - start)
        pause_end = now() + PAUSE_NS
        while now() < pause_end:
            pass
    return statistics.median(bursts) / CALLS


def medians(contenders, rec):
    rounds = {contender: [] for contender in contenders}
    for number in range(-1, ROUNDS):  # the first does not count
        for contender in contenders:
            cost = round_ns(contender, rec)
            if number >= 0:
                rounds[contender].append(cost)
    return {contender: statistics.median(costs) for contender, costs in rounds.items()}


def main():
    os.environ["GOODPUT_QUIET"] = "1"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rec = goodput.Recorder("bench", directory=folder)
        cost = medians([empty, clock, record_step, with_step], rec)
        lost = rec.lost_events
        rec.close()
    floor_ns = cost[clock] - cost[empty]
    missed = lost > 0
    for what, contender, bar in (
        ("`rec.record_step(i)` from Python", record_step, 1.3),
        ("`with rec.step(i):` from Python", with_step, 6),
    ):
        own_ns = cost[contender] - cost[empty]
        ratio = own_ns / floor_ns
        missed = missed or ratio > bar
        print(
            f"| {what} | {ratio:.3g} {TIMES} `time.time_ns()` | at most {bar:.3g} | {'met' if ratio <= bar else 'MISSED'} "
            f"| {own_ns:.1f} ns against {floor_ns:.1f} ns |",
            flush=True,
        )
    if lost:
        print(f"recording for the bench: {lost} events were lost", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
