"""JAX and Orbax as they are released, on a CPU: what they publish is recorded, once, and only what blocks the loop.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
from pathlib import Path

import goodput
import pytest

ROOT = Path(__file__).parents[2]

BEGIN = """
import json, os, sys, threading, time, warnings
warnings.simplefilter("ignore")
import goodput, jax, jax.numpy as jnp
import orbax.checkpoint as ocp
from goodput.integrations import jax as goodput_jax
from goodput.integrations.orbax import GoodputLogger
folder, job = sys.argv[1:]
rec = goodput.Recorder(job)
state = {"w": jnp.ones((1000, 1000))}
jax.block_until_ready(state)
assert goodput_jax.install(rec) and goodput_jax.install(rec)
took = {}
def timed(name, call):
    start = time.time()
    result = call()
    took[name] = [start, time.time()]
    return result
"""
END = """
rec.close()
print(json.dumps(took))
"""


@pytest.fixture(scope="module")
def environment():
    subprocess.run(["tools/venv", "build/jax", "bench/peers/jax.txt"], cwd=ROOT, check=True, capture_output=True)
    return ROOT / "build/jax/bin/python"


@pytest.fixture
def in_jax(environment, tmp_path, job):
    """in_jax(text) → what that program, between BEGIN and END, prints as JSON."""

    def run(text):
        outcome = subprocess.run(
            [environment, "-c", BEGIN + text + END, tmp_path, job],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "JAX_PLATFORMS": "cpu"},
            capture_output=True,
            text=True,
        )
        assert outcome.returncode == 0, outcome.stderr
        return json.loads(outcome.stdout.splitlines()[-1])

    return run


def intervals(payloads, kind):
    """(start, end) of each interval of a kind, by its start; of those nested in one another the outermost."""
    times = sorted(
        [(payload[f"{kind}_start_time"], 1) for payload in payloads if f"{kind}_start_time" in payload]
        + [(payload[f"{kind}_end_time"], -1) for payload in payloads if f"{kind}_end_time" in payload],
        key=lambda at: (at[0], -at[1]),
    )
    found, depth, start = [], 0, 0.0
    for time, change in times:
        if depth == 0:
            start = time
        depth += change
        if depth == 0:
            found.append((start, time))
    return found


def seconds_inside(found, call):
    """How much of the time of a call lies in the intervals."""
    return sum(max(0.0, min(end, call[1]) - max(start, call[0])) for start, end in found)


SAVES = """
import orbax.checkpoint.experimental.v1 as v1
sync = ocp.Checkpointer(ocp.StandardCheckpointHandler())
timed("old", lambda: sync.save(folder + "/old", args=ocp.args.StandardSave(state)))
timed("v1", lambda: v1.save_pytree(folder + "/v1", state))
with v1.training.Checkpointer(folder + "/training") as training:
    timed("v1 training", lambda: training.save_pytree(0, state))
timed("old restore", lambda: sync.restore(folder + "/old"))
timed("v1 restore", lambda: v1.load_pytree(folder + "/v1"))
"""


def test_saves_that_wait_are_recorded_whole_in_both_interfaces(in_jax, recorded, job):
    took = in_jax(SAVES)
    saves = intervals(recorded(job), "checkpoint_save")
    for call in ("old", "v1", "v1 training"):
        length = took[call][1] - took[call][0]
        assert 0.5 * length < seconds_inside(saves, took[call]) <= length
    restores = intervals(recorded(job), "checkpoint_restore")
    for call in ("old restore", "v1 restore"):
        assert seconds_inside(restores, took[call]) > 0.3 * (took[call][1] - took[call][0])
    assert len(restores) == 2


ASYNC = """
manager = ocp.CheckpointManager(folder, logger=GoodputLogger(rec))
timed("save", lambda: manager.save(7, args=ocp.args.StandardSave(state)))
background = time.time()
while not os.path.exists(folder + "/7"): time.sleep(0.002)
took["background"] = [background, time.time()]
manager.wait_until_finished()
manager.restore(7, args=ocp.args.StandardRestore(state))
"""


def test_an_asynchronous_save_counts_as_long_as_it_blocks(in_jax, recorded, job):
    took = in_jax(ASYNC)
    payloads = recorded(job)
    saves = intervals(payloads, "checkpoint_save")
    assert seconds_inside(saves, took["save"]) > 0
    assert seconds_inside(saves, took["background"]) < 0.1 * (took["background"][1] - took["background"][0]) + 0.005
    statistics = [payload for payload in payloads if payload.get("event_type") == "save"]
    assert [payload["step"] for payload in statistics] == [7]
    assert [payload["step"] for payload in payloads if payload.get("event_type") == "restore"] == [7]
    # The listener and the logger tell of one save: no second of it is counted twice.
    report = goodput.report(job)
    assert report.badput_seconds["CHECKPOINT_SAVE"] < took["save"][1] - took["save"][0] + 0.5
    assert sum(report.badput_seconds.values()) + report.goodput_seconds == pytest.approx(report.elapsed_seconds)


COMPILE = """
@jax.jit
def slow(x):
    for _ in range(150): x = jnp.sin(x) @ x
    return x
x = jnp.ones((8, 8))  # to run it takes nothing beside compiling it
for step in range(8):
    rec.record_step(step)
    if step == 5:
        timed("compiles", lambda: jax.block_until_ready(slow(x)))
        elsewhere = threading.Thread(target=lambda: timed("elsewhere", lambda: jax.block_until_ready(slow(jnp.ones((9, 9))))))
        elsewhere.start(), elsewhere.join()
    time.sleep(0.02)
goodput_jax.uninstall(rec)
timed("uninstalled", lambda: jax.block_until_ready(slow(jnp.ones((10, 10)))))
"""


def test_compilation_in_the_middle_of_a_run_is_recorded_where_the_loop_waits_for_it(in_jax, recorded, job):
    took = in_jax(COMPILE)
    compilations = intervals(recorded(job), "compilation")
    assert seconds_inside(compilations, took["compiles"]) > 0.5 * (took["compiles"][1] - took["compiles"][0])
    assert seconds_inside(compilations, took["elsewhere"]) == 0
    assert seconds_inside(compilations, took["uninstalled"]) == 0
    assert goodput.report(job).badput_seconds["PROGRAM_STARTUP"] > 0.4 * (took["compiles"][1] - took["compiles"][0])


BROKEN = """
from goodput.integrations import jax as module
from jax import monitoring
class Broken:
    def _record(self, *_, **__): raise RuntimeError("a recorder that raises")
module._recorders = {Broken(): threading.get_ident()}
monitoring.record_event_duration_secs("/jax/orbax/write/async/blocking_duration_secs", 1.0)
logger = GoodputLogger(rec)
for entry in (None, {}, {"event_type": "save"}, {"event_type": "other"},
              {"event_type": "restore", "checkpoint_manager_duration_secs": float("nan")},
              {"event_type": "save", "checkpoint_manager_blocking_duration_secs": "long", "step": "x"}):
    logger.log_entry(entry)
"""


def test_neither_listener_nor_logger_raises(in_jax, recorded, job):
    in_jax(BROKEN)
    assert not [payload for payload in recorded(job) if "event_type" in payload]


DROP_IN = """
import numpy as np
from ml_goodput_measurement import measurement, goodput as drop_in
rec.close()
recorder = drop_in.GoodputRecorder(job, "logger", logging_enabled=True)
silent = drop_in.GoodputRecorder(job + "-off", "logger", logging_enabled=False)
recorder.record_job_start_time()
for step in range(3):
    recorder.record_step_start_time(step)
    timed(f"compile {step}", lambda: jax.block_until_ready(jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((100 + step, 100 + step)))))
checkpointer = ocp.StandardCheckpointer()
timed("save", lambda: checkpointer.save(folder + "/checkpoint", state))
checkpointer.wait_until_finished()
recorder.record_job_end_time()
class rec:
    close = staticmethod(lambda: None)
"""


def test_the_drop_in_recorder_listens_where_jax_is_imported(in_jax, recorded, job):
    took = in_jax(DROP_IN)
    payloads = recorded(job)
    assert seconds_inside(intervals(payloads, "checkpoint_save"), took["save"]) > 0
    for step in range(3):
        assert seconds_inside(intervals(payloads, "compilation"), took[f"compile {step}"]) > 0


def test_the_example_is_preempted_and_goes_on(environment, tmp_path, recorded):
    training = [environment, ROOT / "examples/train_jax.py", "--directory", tmp_path / "out"]
    lengths = ["--steps", "80", "--checkpoint-every", "30", "--preempt-at-step", "40"]
    outcome = subprocess.run(
        [ROOT / "build/release/goodput", "run", "--job", "digits-jax", "--", *training, *lengths],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == 0, outcome.stderr
    assert "starting at step 0\nstarting at step 41\n" in outcome.stdout
    report = goodput.report("digits-jax")
    assert report.status == "completed"
    assert report.last_step == 79
    (disruption,) = report.disruption_records
    assert (disruption.cause, disruption.last_step, disruption.resume_step) == ("preempted", 40, 41)
    assert disruption.steps_wasted == 0
    assert {"PROGRAM_STARTUP", "CHECKPOINT_SAVE", "CHECKPOINT_RESTORE"} <= set(report.badput_seconds)


def test_without_jax_it_says_so(caplog):
    from goodput.integrations import jax as goodput_jax

    assert goodput_jax.install(goodput.Recorder(enabled=False)) is False
    assert "not recorded" in caplog.text
