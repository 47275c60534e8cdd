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
