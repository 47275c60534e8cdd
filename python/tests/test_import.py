"""Importing goodput costs nothing worth mentioning, and does nothing.

SPDX-License-Identifier: Apache-2.0
"""

# What is slow to import, or starts something, and is not needed to record.
SLOW = {"typing", "dataclasses", "inspect", "datetime", "json", "re", "threading", "subprocess", "asyncio", "numpy"}


def test_import_takes_at_most_20_ms(run_python):
    text = "import time; start = time.perf_counter(); import goodput; print(time.perf_counter() - start)"
    seconds = [float(run_python(text).stdout) for _ in range(9)]
    # The third quickest: what else the machine does is not ours.
    assert sorted(seconds)[2] < 0.020


def test_import_loads_nothing_slow(run_python):
    text = "import sys; before = set(sys.modules); import goodput; print(*sorted(set(sys.modules) - before))"
    loaded = set(run_python(text).stdout.split())
    assert "goodput" in loaded
    assert not loaded & SLOW


def test_import_makes_no_file_and_no_thread(run_python, folder):
    done = run_python("import goodput, os; print(len(os.listdir('/proc/self/task')))")
    assert done.stdout.strip() == "1"
    assert not folder.exists()


def test_opening_takes_at_most_5_ms(run_python):
    text = (
        "import time, goodput\n"
        "start = time.perf_counter(); rec = goodput.Recorder('job'); print(time.perf_counter() - start)"
    )
    seconds = [float(run_python(text).stdout) for _ in range(9)]
    assert sorted(seconds)[2] < 0.005
