"""Times ml-goodput-measurement's own calculator over a payload log, fed through cloud_logger.

    python ml_goodput_cold.py EVENTS.jsonl JOB

Prints the nanoseconds of one get_job_goodput(), reading the file and starting Python left out, and the goodput in
percent, so that its answer can be held against another's.

SPDX-License-Identifier: Apache-2.0
"""

import json
import sys
import tempfile
import time

from ml_goodput_measurement import goodput


class Entries:
    """All entries of a log at once."""

    def __init__(self, entries):
        self._entries = entries

    def write_cloud_logging_entry(self, entry):
        raise AssertionError("a calculator writes nothing")

    def read_cloud_logging_entries(self, *_bounds, **_named_bounds):
        return list(self._entries), None


with open(sys.argv[1], encoding="utf-8") as file:
    entries = [json.loads(line) for line in file]
with tempfile.TemporaryDirectory() as cache:
    calculator = goodput.GoodputCalculator(
        job_name=sys.argv[2], logger_name="bench", cloud_logger=Entries(entries), cache_dir=cache
    )
    start_ns = time.perf_counter_ns()
    percent, *_ = calculator.get_job_goodput(include_badput_breakdown=True)
    print(time.perf_counter_ns() - start_ns, percent)
