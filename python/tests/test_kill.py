"""A recording interpreter is killed at random moments: no event whose call had returned is lost, and none is invented.

The victim notes what it has recorded in a shared mapping that outlives it, after each call.

SPDX-License-Identifier: Apache-2.0
"""

import json
import mmap
import os
import random
import shutil
import signal
import struct
import time

import goodput
from goodput import _binding

KILLS = 10_000 if os.environ.get("GOODPUT_SOAK") == "1" else 200
# Every fortieth event has a name of its own, every other fortieth a step's end.
NAMED, ENDED = 7, 9


def record_for_ever(acknowledged):
    rec = goodput.Recorder("victim")
    n = 0
    while True:
        if n % 40 == NAMED:
            rec.custom(f"eval {n}").__enter__()
        elif n % 40 == ENDED:
            with rec.step(n):
                pass
        else:
            rec.record_step(n)
        n += 1
        acknowledged[0:8] = struct.pack("<q", n)


def events_of(folder):
    """The numbers of the events found; anything that the victim does not record fails."""
    if not folder.exists() or not list(folder.glob("v1/*/*/*/*")):
        return []
    try:
        lines = _binding.journal_payloads("victim").splitlines()
    except goodput.GoodputError:
        return []
    found = []
    for payload in map(json.loads, lines):
        if "step_start_time" in payload:
            found.append(payload["step_count"])
            assert payload["step_count"] % 40 != NAMED
        elif "step_end_time" in payload:
            assert payload["step_count"] % 40 == ENDED
        elif "custom_badput_event_start_time" in payload:
            n = int(payload["custom_badput_event_type"].removeprefix("eval "))
            assert n % 40 == NAMED
            found.append(n)
        else:
            assert "heartbeat_time" in payload, payload
    return found


def test_no_acknowledged_event_is_lost_and_none_is_invented(folder):
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    acknowledged = mmap.mmap(-1, 8)
    total = 0
    for kill in range(KILLS):
        shutil.rmtree(folder, ignore_errors=True)
        acknowledged[0:8] = bytes(8)
        victim = os.fork()
        if victim == 0:
            try:
                record_for_ever(acknowledged)
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0, 0.03))
        os.kill(victim, signal.SIGKILL)
        assert os.WTERMSIG(os.waitpid(victim, 0)[1]) == signal.SIGKILL
        recorded = struct.unpack("<q", acknowledged[0:8])[0]
        found = events_of(folder)
        assert found[:recorded] == list(range(recorded)), f"kill {kill} of seed {seed}"
        # What was under way may be there or not.
        assert found[recorded:] in ([], [recorded]), f"kill {kill} of seed {seed}"
        total += recorded
    assert total > KILLS * 100
