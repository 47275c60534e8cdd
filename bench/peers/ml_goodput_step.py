"""Times record_step_start_time() of whichever ml_goodput_measurement this interpreter has, round by round.

    python ml_goodput_step.py < lines           # for each line: the nanoseconds of one call in a round's median burst

The released package gets Google's real client, handler and background thread; only what would send is a stub, so that no
network is part of the figure.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import statistics
import sys
import time
from unittest import mock

BURSTS = 200
CALLS = 20
PAUSE_SECONDS = 0.002  # a training loop computes between its steps


class Nowhere:
    """Takes what would be sent."""

    def write_entries(self, *entries, **options):
        pass


@contextlib.contextmanager
def client_without_network():
    try:
        import google.cloud.logging
        from google.auth.credentials import AnonymousCredentials
    except ImportError:
        yield  # ours needs none
        return
    client = google.cloud.logging.Client(project="bench", credentials=AnonymousCredentials(), _use_grpc=False)
    client._logging_api = Nowhere()
    with mock.patch("google.cloud.logging.Client", return_value=client):
        yield


def round_ns(recorder):
    bursts = []
    for first in range(0, BURSTS * CALLS, CALLS):
        start = time.perf_counter_ns()
        for step in range(first, first + CALLS):
            recorder.record_step_start_time(step)
        bursts.append(time.perf_counter_ns() - start)
        time.sleep(PAUSE_SECONDS)
    return statistics.median(bursts) / CALLS


def main():
    from ml_goodput_measurement import goodput

    with client_without_network():
        recorder = goodput.GoodputRecorder("bench", "goodput_bench", True)
    for _ in sys.stdin:
        print(round_ns(recorder), flush=True)


if __name__ == "__main__":
    main()
