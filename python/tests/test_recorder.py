"""goodput.Recorder: what it records, and that nothing it is given can stop a training loop.

SPDX-License-Identifier: Apache-2.0
"""

import copy
import multiprocessing
import os
import pickle
import threading
import time

import goodput
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies


def steps(payloads):
    return [payload["step_count"] for payload in payloads if "step_start_time" in payload]


def keys(payloads):
    """What kinds of events, by the key that holds their time."""
    return [next(key for key in payload if key.endswith(("_time", "_timestamp"))) for payload in payloads]


class Number:
    """Has __index__ and nothing else."""

    def __init__(self, call):
        self.call = call

    def __index__(self):
        return self.call()


def test_every_call_is_an_event(job, recorded):
    rec = goodput.Recorder(job)
    with rec.job():
        with rec.accelerator_init():
            pass
        with rec.training_prep(), rec.checkpoint_restore(3, location="/checkpoints"):
            pass
        with rec.data_loading():
            pass
        with rec.data_loading(blocking=True):
            pass
        with rec.step(4):
            pass
        rec.record_step(5)
        with rec.checkpoint_save(5):
            pass
        with rec.compilation(), rec.custom("eval"), rec.elastic_wait("scale_up"), rec.elastic_reinit():
            pass
        rec.disruption("preempted", "in two minutes")
        rec.slice_counts(1, 4, 3)
    rec.close()
    payloads = recorded(job)
    assert keys(payloads) == [
        "job_start_time",
        "tpu_init_start_time",
        "tpu_init_end_time",
        "training_prep_start_time",
        "checkpoint_restore_start_time",
        "checkpoint_restore_end_time",
        "training_prep_end_time",
        "data_loading_start_time",
        "data_loading_end_time",
        "data_loading_start_time",
        "data_loading_end_time",
        "step_start_time",
        "step_end_time",
        "step_start_time",
        "checkpoint_save_start_time",
        "checkpoint_save_end_time",
        "compilation_start_time",
        "custom_badput_event_start_time",
        "elastic_wait_start_time",
        "elastic_reinit_start_time",
        "elastic_reinit_end_time",
        "elastic_wait_end_time",
        "custom_badput_event_end_time",
        "compilation_end_time",
        "disruption_time",
        "elastic_slice_counts_timestamp",
        "job_end_time",
    ]
    by_key = {key: payload for payload in payloads for key in payload}
    assert by_key["checkpoint_restore_start_time"]["directory"] == "/checkpoints"
    assert by_key["checkpoint_restore_start_time"]["step"] == 3
    assert by_key["blocking"]["blocking"] is True
    assert by_key["custom_badput_event_type"]["custom_badput_event_type"] == "eval"
    assert by_key["elastic_wait_event_type"]["elastic_wait_event_type"] == "scale_up"
    assert by_key["disruption_cause"]["disruption_detail"] == "in two minutes"
    assert [by_key["active_slices"][f"{name}_slices"] for name in ("active", "total", "available")] == [1, 4, 3]
    assert "job_end_failed" not in by_key
    assert rec.lost_events == 0


def test_times_are_those_of_the_calls(job, recorded):
    rec = goodput.Recorder(job)
    before = time.time()
    with rec.step(0):
        time.sleep(0.02)
    after = time.time()
    start, end = (payload[key] for payload, key in zip(recorded(job), ("step_start_time", "step_end_time")))
    assert before - 1e-3 <= start <= end - 0.02 <= after - 0.02 + 1e-3


def test_work_of_a_step(job, recorded):
    rec = goodput.Recorder(job)
    with rec.step(1, tokens=np.int64(4096), samples=8, flops=1e15):
        pass
    with rec.step(2, tokens="many", samples=None):
        pass
    first, last = (payload for payload in recorded(job) if "step_start_time" in payload)
    assert (first["tokens"], first["samples"], first["flops"]) == (4096, 8, 1e15)
    assert not {"tokens", "samples", "flops"} & set(last)
    assert rec.lost_events == 1


@pytest.mark.parametrize("number", [7, np.int64(7), np.uint8(7), np.array(7), Number(lambda: 7)])
def test_any_integer_is_a_step_number(job, recorded, number):
    rec = goodput.Recorder(job)
    rec.record_step(number)
    with rec.step(number):
        pass
    with rec.checkpoint_save(number):
        pass
    payloads = recorded(job)
    assert steps(payloads) == [7, 7]
    assert payloads[-1]["step"] == 7
    assert rec.lost_events == 0


@pytest.mark.parametrize(
    "number",
    [
        None,
        "7",
        7.0,
        True,
        2**53 + 1,
        2**63,
        -(2**70),
        [7],
        np.array([7, 8]),
        Number(lambda: 1 / 0),
        Number(lambda: "7"),
    ],
)
def test_bad_step_numbers_are_dropped_and_counted(job, recorded, number):
    rec = goodput.Recorder(job)
    rec.record_step(number)
    with rec.step(number):
        rec.record_step(8)
    assert steps(recorded(job)) == [8]
    assert rec.lost_events == 2


def test_bad_values_elsewhere_are_dropped_and_counted(job, recorded):
    rec = goodput.Recorder(job)
    for scope in (rec.custom(None), rec.custom(""), rec.custom(5), rec.checkpoint_save("x"), rec.elastic_wait(3)):
        with scope:
            pass
    rec.slice_counts(1, "two", 3)
    rec.slice_counts(-1, 2, 3)
    rec.disruption(None)
    assert rec.lost_events == 8
    assert recorded(job) == []


def test_the_clock_is_read_before_the_number(job, recorded):
    rec = goodput.Recorder(job)
    before = time.time()
    rec.record_step(Number(lambda: (time.sleep(0.05), 3)[1]))
    (payload,) = recorded(job)
    assert payload["step_count"] == 3
    assert payload["step_start_time"] < before + 0.04
    rec.close()
    assert "slow_step_number" in [finding.kind for finding in goodput.report(job).data_quality.findings]


def test_wrong_number_of_arguments_is_a_type_error(job):
    rec = goodput.Recorder(job)
    for call in (
        lambda: rec.record_step(),
        lambda: rec.record_step(1, 2),
        lambda: rec.step(),
        lambda: rec.step(1, 2),
        lambda: rec.step(1, token=3),
        lambda: rec.custom(),
        lambda: rec.data_loading(True),
    ):
        with pytest.raises(TypeError):
            call()


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "call", [lambda rec, n: rec.record_step(n), lambda rec, n: rec.step(n), lambda rec, n: rec.checkpoint_save(n)]
)
def test_keyboard_interrupt_passes(job, call):
    with pytest.raises(KeyboardInterrupt):
        call(goodput.Recorder(job), Number(interrupt))


def test_leaving_the_job_by_an_exception_marks_its_end_as_failed(job, recorded):
    rec = goodput.Recorder(job)
    with pytest.raises(ZeroDivisionError), rec.job(), rec.step(1):
        _ = 1 / 0
    payloads = recorded(job)
    end = payloads[-1]
    assert end["job_end_failed"] is True
    assert not any("step_end_time" in payload for payload in payloads)
    assert "job_end_time" in end


def test_scopes_are_reused_only_when_nobody_holds_them(job, recorded):
    rec = goodput.Recorder(job)
    first = rec.step(1)
    with rec.step(2) as second, first:
        assert first is not second
    with rec.step(3) as third:
        pass
    del third
    with rec.step(4) as fourth, rec.step(5) as fifth:
        assert fourth is not fifth
    ends = [payload["step_count"] for payload in recorded(job) if "step_end_time" in payload]
    assert ends == [1, 2, 3, 5, 4]


def test_threads_record_side_by_side(job, recorded):
    rec = goodput.Recorder(job)

    def run(first):
        for n in range(first, first + 1000):
            with rec.step(n):
                pass

    threads = [threading.Thread(target=run, args=(k * 1000,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    payloads = recorded(job)
    assert sorted(steps(payloads)) == list(range(4000))
    assert sorted(payload["step_count"] for payload in payloads if "step_end_time" in payload) == list(range(4000))


def test_recorders_of_one_rank_share_a_journal_and_ranks_do_not(job, recorded, folder):
    first, second = goodput.Recorder(job), goodput.Recorder(job)
    other = goodput.Recorder(job, process_index=1)
    first.record_step(1)
    first.close()
    second.record_step(2)
    other.record_step(3)
    assert steps(recorded(job)) == [1, 2]
    assert len(list(folder.glob("v1/*/*/*"))) == 2


def test_options_reach_the_journal(recorded, tmp_path):
    rec = goodput.Recorder(
        "a/../b\u2713", run_id="r1", directory=tmp_path / "here", attempt_id="third", labels={"team": 7}
    )
    rec.record_step(1)
    assert rec._directory == str(tmp_path / "here")
    assert "third" in repr(rec)
    payloads = goodput._binding.journal_payloads("a/../b\u2713", "r1", str(tmp_path / "here"))
    assert '"attempt_id":"third"' in payloads


def test_a_recorder_that_is_off_does_nothing(job, folder):
    rec = goodput.Recorder(job, enabled=False)
    with rec.job(), rec.step(1), rec.custom("eval"):
        rec.record_step(2)
        rec.slice_counts(1, 2, 3)
    rec.close()
    assert not rec.is_recording
    assert rec.lost_events == 0
    assert not folder.exists()


def test_without_a_job_nothing_is_recorded(folder, monkeypatch):
    rec = goodput.Recorder()
    rec.record_step(1)
    assert not rec.is_recording
    monkeypatch.setenv("GOODPUT_JOB", "from the environment")
    assert "from the environment" in repr(goodput.Recorder())


def test_options_that_make_no_sense_do_not_raise(job, recorded):
    rec = goodput.Recorder(job, process_index="first", accelerators=[], labels={"a": "b", 3: "c"}, run_id=4)
    rec.record_step(1)
    assert steps(recorded(job)) == [1]


def test_a_subclass_that_forgets_to_initialise_records_nothing():
    class Forgetful(goodput.Recorder):
        def __init__(self):
            pass

    rec = Forgetful()
    rec.record_step(1)
    with rec.step(1):
        pass


def test_closed_recorders_count_what_they_drop(job, recorded):
    rec = goodput.Recorder(job)
    rec.record_step(1)
    rec.close()
    rec.close()
    rec.record_step(2)
    assert rec.lost_events == 1
    assert steps(recorded(job)) == [1]


def test_a_recorder_closes_with_its_block(job, recorded):
    with goodput.Recorder(job) as rec:
        rec.record_step(1)
    rec.record_step(2)
    assert steps(recorded(job)) == [1]


ANYTHING = strategies.one_of(
    strategies.none(),
    strategies.booleans(),
    strategies.integers(),
    strategies.floats(),
    strategies.text(strategies.characters()),
    strategies.binary(max_size=9),
    strategies.lists(strategies.integers(), max_size=2),
    strategies.builds(object),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=ANYTHING, b=ANYTHING, c=ANYTHING)
def test_nothing_that_is_passed_raises(job, a, b, c):
    with goodput.Recorder(job) as rec:
        rec.record_step(a)
        for scope in (
            rec.step(a, tokens=b, samples=c, flops=a),
            rec.data_loading(blocking=a),
            rec.checkpoint_save(a, location=b),
            rec.checkpoint_restore(a, location=b),
            rec.custom(a),
            rec.elastic_wait(a),
        ):
            with scope:
                pass
        rec.slice_counts(a, b, c)
        rec.disruption(a, b)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(a=ANYTHING, b=ANYTHING, c=ANYTHING)
def test_no_option_raises(job, a, b, c):
    goodput.Recorder(
        job,
        run_id=a,
        process_index=b,
        attempt_id=c,
        labels={"a": a, "b": b} if a != b else c,
        accelerators=a,
        accelerator_type=b,
        enabled=c,
        sync_interval_seconds=a,
    ).close()


def test_a_forked_child_records_nothing_until_it_opens_its_own(job, recorded):
    rec = goodput.Recorder(job)
    rec.record_step(1)
    child = os.fork()
    if child == 0:
        rec.record_step(2)
        with rec.step(3):
            pass
        rec.close()
        own = goodput.Recorder(job, process_index=1)
        own.record_step(4)
        own.close()
        os._exit(0 if own.lost_events == 0 else 1)
    assert os.waitpid(child, 0)[1] == 0
    rec.record_step(5)
    assert steps(recorded(job)) == [1, 5]


def load_batch(rec_and_index):
    rec, index = rec_and_index
    with rec.data_loading():
        rec.record_step(index)
    return index


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_data_loaders_record_nothing(job, recorded, method):
    rec = goodput.Recorder(job)
    with rec.step(0), multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(load_batch, [(rec, n) for n in range(1, 9)]) == list(range(1, 9))
    rec.record_step(9)
    assert steps(recorded(job)) == [0, 9]


def test_copies_are_the_same_recorder_and_pickles_are_off(job):
    rec = goodput.Recorder(job)
    assert copy.copy(rec) is rec
    assert copy.deepcopy([rec])[0] is rec
    assert not pickle.loads(pickle.dumps(rec)).is_recording


@pytest.mark.parametrize(
    "ending",
    [
        "",
        "rec.close()",
        "import os; os._exit(0)",
        "import sys; sys.exit(0)",
        "del rec",
        "rec.itself = None",
        "scope = rec.step(6)",
    ],
)
def test_what_was_recorded_is_kept_however_the_interpreter_ends(job, recorded, run_python, ending):
    done = run_python(
        "import atexit, sys, goodput\n"
        "class Rec(goodput.Recorder): pass\n"
        "rec = Rec(sys.argv[1])\n"
        "atexit.register(rec.record_step, 5) if 'del' not in '''" + ending + "''' else None\n"
        "rec.record_step(1)\n" + ending,
        job,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert steps(recorded(job))[0] == 1
    if ending in ("", "rec.itself = None"):
        assert steps(recorded(job)) == [1, 5]


def test_recorders_in_turn_leave_nothing_behind(job, recorded):
    threads = threading.active_count()
    for _ in range(20):
        rec = goodput.Recorder(job)
        rec.record_step(1)
        del rec
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/task")) < 20
