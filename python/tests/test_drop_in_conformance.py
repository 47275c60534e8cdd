"""The golden cases, asked through GoodputCalculator with a cloud logger: the engine's answers, in the shapes of 0.2.3.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from cloud_log import CloudLog, WholeLog
from ml_goodput_measurement import goodput, goodput_elastic
from ml_goodput_measurement.src import job_account

BadputType = goodput.BadputType
CASES = sorted((Path(__file__).resolve().parent.parent.parent / "tests/golden/conformance").glob("*.json"))
# Without a job start 0.2.3 refuses to answer, and so does its stand-in.
NO_JOB_START = {"formats-4"}

TYPES = {
    "ACCELERATOR_INITIALIZATION": BadputType.TPU_INITIALIZATION,
    "CHECKPOINT_SAVE": BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME,
    "CHECKPOINT_RESTORE": BadputType.UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME,
    "WASTED_PROGRESS": BadputType.WASTED_PROGRESS_FROM_DISRUPTION,
    "INFRASTRUCTURE_RECOVERY": BadputType.INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION,
    "STALLED": BadputType.OTHER,
}


def expected_percents(expected):
    """The breakdown that is right, by type; custom events beside it."""
    percents = dict.fromkeys(BadputType, 0.0)
    for name, seconds in expected["badput_seconds"].items():
        percents[TYPES.get(name) or BadputType[name]] += seconds / expected["elapsed_seconds"] * 100
    percents[BadputType.CUSTOM_BADPUT_EVENTS] = {
        name: seconds / expected["elapsed_seconds"] * 100 for name, seconds in expected["custom_badput_seconds"].items()
    }
    return percents


def agrees(breakdown, expected):
    wanted = expected_percents(expected)
    assert breakdown.pop(BadputType.CUSTOM_BADPUT_EVENTS) == pytest.approx(
        wanted.pop(BadputType.CUSTOM_BADPUT_EVENTS), abs=1e-5
    )
    breakdown.pop(BadputType.DATA_LOADING_ASYNC)
    wanted.pop(BadputType.DATA_LOADING_ASYNC)
    assert breakdown == pytest.approx(wanted, abs=1e-5)
    return True


def moment(seconds):
    """A datetime that carries a time to the microsecond, as all times of the cases are."""
    whole = Decimal(repr(seconds))
    return datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(
        microseconds=int(whole * 1_000_000)
    )


@pytest.fixture(params=CASES, ids=lambda path: path.stem)
def case(request, monkeypatch):
    case = json.loads(request.param.read_text())
    monkeypatch.setattr(job_account, "now_ns", lambda: int(Decimal(repr(case["now"])) * 10**9))
    return case


def test_answers_are_those_of_the_engine(case):
    calculator = goodput_elastic.ElasticGoodputCalculator(case["job_name"], "log", WholeLog(case["events"]))
    expected = case["expected"]
    if case["name"] in NO_JOB_START:
        with pytest.raises(ValueError, match="job time is zero"):
            calculator.get_job_goodput()
        return
    percent, breakdown, step = calculator.get_job_goodput(include_badput_breakdown=True)
    assert percent == pytest.approx(expected["goodput_percent"], abs=1e-5)
    assert agrees(breakdown, expected)
    assert step == expected["max_productive_step"]
    details = calculator.get_job_goodput_details()
    assert details["goodput_time"] == {goodput.GoodputType.TOTAL: pytest.approx(expected["goodput_seconds"], abs=1e-5)}
    assert details["total_elapsed_time"] == pytest.approx(expected["elapsed_seconds"], abs=1e-5)
    assert details["disruption_count"] == expected["disruptions"]
    assert details["badput_time"][BadputType.DATA_LOADING_ASYNC] == pytest.approx(
        expected["async_data_loading_seconds"], abs=1e-5
    )
    assert details["ideal_step_time"] == pytest.approx(expected["ideal_step_time_seconds"] or 0, abs=1e-5)
    if details["step_time_deviation"]:
        assert calculator.get_step_deviation() == details["step_time_deviation"]
    else:
        with pytest.raises(ValueError, match="No step times"):
            calculator.get_step_deviation()


def test_windows(case):
    calculator = goodput_elastic.ElasticGoodputCalculator(case["job_name"], "log", CloudLog(case["events"]))
    for window in case["windows"]:
        start, end, expected = moment(window["from"]), moment(window["to"]), window["expected"]
        details = calculator.get_interval_metric_details(start, end)
        assert details["interval_size"] == int((end - start).total_seconds())
        if expected["goodput_percent"] is None:
            with pytest.raises(ValueError, match="cannot compute total job time"):
                calculator.get_job_goodput_interval(start, end)
            assert details["interval_goodput"] == details["interval_badput"] == {}
            continue
        percent, breakdown, _, seconds, _ = calculator.get_job_goodput_interval(start, end)
        assert percent == pytest.approx(expected["goodput_percent"], abs=1e-5)
        assert seconds == pytest.approx(expected["elapsed_seconds"], abs=1e-5)
        assert details["interval_goodput"] == {goodput.GoodputType.TOTAL: percent}
        assert details["interval_badput"] == breakdown
        assert agrees(breakdown, expected)


def test_exclusions(case):
    calculator = goodput_elastic.ElasticGoodputCalculator(case["job_name"], "log", CloudLog(case["events"]))
    for exclusion in case["exclusions"]:
        intervals = [(moment(start), moment(end)) for start, end in exclusion["intervals"]]
        expected = exclusion["expected"]
        percent, breakdown, step, excluded = calculator.get_job_goodput_with_exclusions(
            exclusion_intervals=intervals, include_badput_breakdown=True
        )
        assert step == case["expected"]["max_productive_step"]
        assert excluded == pytest.approx(case["expected"]["elapsed_seconds"] - expected["elapsed_seconds"], abs=1e-5)
        if not expected["elapsed_seconds"]:
            assert (percent, breakdown) == (0.0, {})
            continue
        assert percent == pytest.approx(expected["goodput_percent"], abs=1e-5)
        assert agrees(breakdown, expected)


def test_reading_piece_by_piece_gives_the_same_answer(case):
    log = CloudLog()
    calculator = goodput_elastic.ElasticGoodputCalculator(case["job_name"], "log", log)
    half = len(case["events"]) // 2
    for entries in (case["events"][:half], case["events"][half:]):
        log.entries += entries
        try:
            answer = calculator.get_job_goodput(include_badput_breakdown=True)
        except ValueError:
            answer = None
    assert log.reads[-1] <= len(case["events"]) - half
    whole = goodput_elastic.ElasticGoodputCalculator(case["job_name"], "log", CloudLog(case["events"]))
    if answer is not None:
        assert whole.get_job_goodput(include_badput_breakdown=True) == answer


def seconds_by_type(answer):
    """The seconds of an answer in a case's file by type; custom events beside them."""
    seconds = dict.fromkeys(BadputType, 0.0)
    for name, spent in answer["badput_seconds"].items():
        seconds[TYPES.get(name) or BadputType[name]] += spent
    for kind in (BadputType.CUSTOM_BADPUT_EVENTS, BadputType.DATA_LOADING_ASYNC):
        del seconds[kind]
    return seconds, answer["custom_badput_seconds"]


def released_agrees(case):
    """Whether 0.2.3 has the right answer."""
    released, right = case.get("upstream_0_2_3") or {}, case["expected"]
    if "goodput_seconds" not in released:
        return False
    counts = ("disruptions", "max_productive_step")
    return all(
        answer == pytest.approx(expected, abs=1e-5)
        for answer, expected in zip(seconds_by_type(released), seconds_by_type(right))
    ) and [released[key] for key in ("goodput_seconds", "elapsed_seconds", *counts)] == pytest.approx(
        [right[key] for key in ("goodput_seconds", "elapsed_seconds", *counts)], abs=1e-5
    )


def moved(entry, seconds):
    """The entry with its times later by so much."""
    times = {k: v + seconds for k, v in entry.items() if k.endswith(("_time", "_timestamp")) and isinstance(v, float)}
    return {**entry, **times}


RELEASED = [path for path in CASES if released_agrees(json.loads(path.read_text()))]


def test_many_cases_are_answered_rightly_by_the_released_package():
    assert len(RELEASED) >= 50


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_what_the_released_package_answers_rightly_is_answered_alike_now(path):
    case = json.loads(path.read_text())
    released = case["upstream_0_2_3"]
    since = time.time()
    entries = [moved(entry, since - case["now"]) for entry in case["events"]]
    calculator = goodput.GoodputCalculator(case["job_name"], "log", WholeLog(entries))
    percent, breakdown, step = calculator.get_job_goodput(include_badput_breakdown=True)
    details = calculator.get_job_goodput_details()
    # A job that runs is older at the end of a call than at its beginning, by what its last step takes.
    late = 1e-4 + (0 if any("job_end_time" in entry for entry in entries) else time.time() - since)
    elapsed = details["total_elapsed_time"]
    assert elapsed == pytest.approx(released["elapsed_seconds"], abs=late)
    assert details["goodput_time"][goodput.GoodputType.TOTAL] == pytest.approx(released["goodput_seconds"], abs=1e-4)
    assert percent == pytest.approx(released["goodput_seconds"] / elapsed * 100, abs=1e-4)
    assert (step, details["disruption_count"]) == (released["max_productive_step"], released["disruptions"])
    seconds, custom = seconds_by_type(released)
    found = {kind: value for kind, value in details["badput_time"].items() if kind in seconds}
    assert found == pytest.approx({kind: seconds[kind] for kind in found}, abs=late)
    assert details["badput_time"][BadputType.CUSTOM_BADPUT_EVENTS] == pytest.approx(custom, abs=1e-4)
    assert {kind: value / elapsed * 100 for kind, value in found.items()} == pytest.approx(
        {kind: value for kind, value in breakdown.items() if kind in found}, abs=1e-6
    )
