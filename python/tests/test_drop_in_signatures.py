"""Every public name of ml-goodput-measurement 0.2.3 exists here, every call with its signature.

The released package is installed into an environment of its own, and both are asked in fresh interpreters.

SPDX-License-Identifier: Apache-2.0
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = [
    "scripts.exclusion_query",
    "src.checkpoint_badput_calculator",
    "src.exclusion_utils",
    "src.gcp_metrics",
    "src.goodput",
    "src.goodput_cache",
    "src.goodput_elastic",
    "src.goodput_exclusion",
    "src.goodput_utils",
    "src.monitoring",
    "src.monitoring_elastic",
]

# What a module of its own module's making has, by name: signatures of functions, classes and their methods, and what
# other names stand for.
DESCRIBE = """
import importlib, inspect, json, sys

def signature(call):
    try:
        return [[p.name, str(p.kind), repr(p.default)] for p in inspect.signature(call).parameters.values()]
    except (TypeError, ValueError):
        return None

def describe(module):
    found = {}
    for name, value in vars(module).items():
        if name.startswith("__") or inspect.ismodule(value):
            continue
        if inspect.isclass(value) and value.__module__.removeprefix("ml_goodput_measurement.") in sys.argv[1:]:
            found[name] = signature(value)
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if not method.startswith("_"):
                    found[f"{name}.{method}"] = signature(function)
            if hasattr(value, "__members__"):
                found[f"{name} members"] = [[m.name, m.value] for m in value]
        elif inspect.isfunction(value) and value.__module__.startswith("ml_goodput_measurement"):
            if not name.startswith("_"):
                found[name] = signature(value)
        elif isinstance(value, (str, int, float, dict, list)) and not name.startswith("_T"):
            found[name] = value
    return found

described = {n: describe(importlib.import_module("ml_goodput_measurement." + n)) for n in sys.argv[1:]}
print(json.dumps(described, skipkeys=True))
"""

# The names that a module has for others: its own and what it takes from elsewhere, modules and typing apart.
NAME = """
import importlib, inspect, json, sys

def names(module):
    return [
        name for name, value in vars(module).items()
        if not name.startswith("_") and not inspect.ismodule(value) and getattr(value, "__module__", "") != "typing"
    ]

print(json.dumps({n: names(importlib.import_module("ml_goodput_measurement." + n)) for n in sys.argv[1:]}))
"""

# Constants for its own use, which no test of a consumer reads.
PRIVATE = {"src.goodput_exclusion"}
# A default that no two interpreters share.
NOT_COMPARED = {(module, "GoodputInfo") for module in MODULES}


# Helper functions over random numbers and intervals.
COMPUTE = """
import datetime, json, random
from ml_goodput_measurement.src import exclusion_utils, goodput_utils

chance = random.Random(7)
found = []
for count in (1, 2, 3, 7, 50, 99, 100, 101, 1099, 1100, 3000):
    times = [chance.choice([0.5, 1, 2]) * chance.lognormvariate(0, 1) for _ in range(count)]
    deviations = dict(enumerate(times))
    found.append(goodput_utils.compute_ideal_step_time(times))
    found += [goodput_utils.compute_percentile(times, percent) for percent in (0, 10, 50, 90, 99.9, 100)]
    found.append(goodput_utils.get_extra_time_from_anomalous_steps(times))
    found += [len(part) for part in goodput_utils.get_anomalous_and_normal_step_times(times)]
    for mode in goodput_utils.MonitoringWindowType:
        found.append(goodput_utils.compute_step_deviation_from_baseline(deviations, mode))
        found.append(goodput_utils.compute_step_deviation_from_baseline(deviations, mode, 20, 300, 50))
    zones = [datetime.timezone.utc, datetime.timezone.utc, None, datetime.timezone(datetime.timedelta(hours=1))]
    moments = [datetime.datetime.fromtimestamp(chance.randrange(1000), datetime.timezone.utc) for _ in range(40)]
    pairs = [(a, b) for a, b in zip(moments, moments[1:])][::3]
    pairs += [(a.replace(tzinfo=zone), b.replace(tzinfo=zone)) for zone, (a, b) in zip(zones, pairs)]
    joined = exclusion_utils.normalize_intervals(pairs)
    found += [edge for interval in joined for edge in interval]
    found.append(exclusion_utils.get_exclusion_overlap(100.5, 700.25, joined))
print(json.dumps([-1.0 if value is None else float(value) for value in found]))
"""

# What a log of saves and restores of several hosts, to both kinds of storage, comes to.
CHECKPOINTS = """
import dataclasses, json, random, types
from ml_goodput_measurement.src import checkpoint_badput_calculator as calculators

chance = random.Random(11)

def entry(kind, step, directory):
    found = {"event_type": kind, "step": step, "directory": directory, "job_name": "j"}
    names = ["checkpoint_manager_blocking", "checkpointer_blocking", "wait_for_prev", "get_old_steps"]
    if kind != "save":
        names = ["checkpoint_manager", "checkpointer"]
    for name in names:
        found[name + "_start_time"] = 1700000000.0 + step
        found[name + "_duration_secs"] = round(chance.expovariate(1), 6)
    if kind == "emergency_restore":
        found["broadcast_duration_secs"] = chance.choice([None, 0.0, 0.25, 1.5])
    return found

entries = [
    entry(chance.choice(["save", "save", "restore", "emergency_restore", "other"]), chance.randrange(9), directory)
    for directory in ["gs://b/run", "/local/run"] * 60
]
client = types.SimpleNamespace(logger=lambda name: types.SimpleNamespace(
    list_entries=lambda **how: [types.SimpleNamespace(payload=payload) for payload in entries]))
found = []
for entries in (entries, entries[:1], []):
    calculator = calculators.CheckpointBadputCalculator(calculators.CheckpointLoggerOptions("j", "log", client))
    for kind in (calculators.OPERATION_TYPE_PERSISTENT_AND_LOCAL, calculators.OPERATION_TYPE_PERSISTENT,
                 calculators.OPERATION_TYPE_LOCAL):
        for ask in (calculator.calculate_save_operation_checkpoint_manager_blocking_time,
                    calculator.calculate_restore_operation_checkpoint_manager_blocking_time):
            found.append(dataclasses.asdict(ask(kind)))
print(json.dumps(found))
"""

# What a cache of entries answers, while it is filled, when it is opened again and when it is cleared.
CACHE = """
import datetime, json, os, tempfile
from ml_goodput_measurement.src.goodput_cache import GoodputCache

found = []

def look(cache):
    found.append([cache.is_cache_empty(), cache.get_cached_entries(), cache.get_step_entries(), cache.get_step_info(),
                  str(cache.get_job_start_time()), str(cache.get_job_end_time()), str(cache.get_last_entry_info())])

with tempfile.TemporaryDirectory() as folder:
    cache = GoodputCache("j", folder)
    look(cache)
    at = datetime.datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=datetime.timezone.utc)
    cache.update_cached_entries([{"job_name": "j", "job_start_time": 1767225600.25}], (at, "a"))
    look(cache)
    cache.update_cached_entries([{"job_name": "j", "step_count": 0, "step_start_time": 1767225601.5},
                                 {"job_name": "j", "job_start_time": 1767225700.0},
                                 {"job_name": "j", "job_end_time": 1767225800.0}], (at + datetime.timedelta(1), "b"))
    cache.update_cached_entries([], (None, None))
    cache.update_step_info(17)
    look(cache)
    found.append(sorted(os.listdir(folder)))
    found.append([open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder))])
    look(GoodputCache("j", folder))
    cache.clear_cache()
    look(cache)
    found.append(os.listdir(folder))
print(json.dumps(found))
"""


def run(python, text, cwd):
    done = subprocess.run([python, "-c", text, *MODULES], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """both(text) → what the text prints with the released package, and with ours."""
    done = subprocess.run(
        ["tools/venv", "build/peers", "bench/peers/ml_goodput.txt"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    return lambda text: [run(python, text, elsewhere) for python in (ROOT / "build/peers/bin/python", sys.executable)]


@pytest.fixture(scope="module")
def described(both):
    return both(DESCRIBE)


def test_helper_functions_have_the_released_results(both):
    released, ours = both(COMPUTE)
    assert len(ours) > 150
    assert ours == pytest.approx(released, rel=1e-12)


def test_checkpoint_statistics_are_the_released_ones(both):
    released, ours = both(CHECKPOINTS)
    assert len(ours) == 18
    assert sum(statistics["total_checkpoint_manager_time"] > 0 for statistics in ours[1:6:2]) == 3
    for mine, theirs in zip(ours, released):
        assert mine == pytest.approx(theirs, rel=1e-12)


def test_the_cache_answers_as_the_released_one(both):
    released, ours = both(CACHE)
    assert ours == released


def test_every_public_name_is_here(both):
    released, ours = both(NAME)
    # Given when they are asked for, from packages that may not be installed here.
    late = {"src.gcp_metrics": {"GoogleAPIError"}, "src.goodput_utils": {"Retry"}}
    for module, names in released.items():
        assert len(names) > 1
        assert set(names) - set(ours[module]) - late.get(module, set()) == set(), module


@pytest.mark.parametrize("module", MODULES)
def test_what_is_released_is_here_with_the_same_signature(described, module):
    released, ours = (side[module] for side in described)
    assert len(released) > 1
    for name, shape in released.items():
        if module in PRIVATE and name.startswith("_"):
            continue
        assert name in ours, name
        if (module, name) not in NOT_COMPARED:
            assert ours[name] == shape, name
