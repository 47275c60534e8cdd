"""ml_goodput_measurement as its consumers call it: recorders, calculators over the local journal, shapes and errors.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import datetime
import importlib.util
import time
from unittest import mock

import ml_goodput_measurement
import numpy as np
import pytest
from cloud_log import CloudLog, WholeLog
from ml_goodput_measurement import goodput, goodput_elastic, goodput_utils, measurement

MODULES = ml_goodput_measurement.__all__
UTC = datetime.timezone.utc
START = datetime.datetime(2026, 1, 1, tzinfo=UTC)


def after(seconds):
    return START + datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    "text",
    [
        "import ml_goodput_measurement as m; a = m.NAME; import ml_goodput_measurement.src.NAME as b",
        "import ml_goodput_measurement.NAME as a; from ml_goodput_measurement.src import NAME as b",
        "import ml_goodput_measurement.src.NAME as b; from ml_goodput_measurement import NAME as a",
        "from importlib import import_module as i; b = i('ml_goodput_measurement.src.NAME');"
        " a = i('ml_goodput_measurement.NAME')",
    ],
)
def test_a_module_is_one_object_under_both_names(run_python, name, text):
    text = text.replace("NAME", name)
    done = run_python(
        f"{text}\nimport sys\nassert a is b is sys.modules['ml_goodput_measurement.{name}']"
        f" is sys.modules['ml_goodput_measurement.src.{name}']"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_found_as_submodules(name):
    assert importlib.util.find_spec(f"ml_goodput_measurement.{name}") is not None
    assert importlib.util.find_spec(f"ml_goodput_measurement.src.{name}") is not None
    assert pytest.importorskip(f"ml_goodput_measurement.{name}") is getattr(ml_goodput_measurement, name)


def test_classes_can_be_patched_under_either_name():
    with mock.patch("ml_goodput_measurement.goodput.GoodputRecorder.record_job_start_time") as start:
        goodput.GoodputRecorder("job", "log", True, CloudLog()).record_job_start_time()
        start.assert_called_once_with()
    with mock.patch("ml_goodput_measurement.src.goodput.GoodputRecorder") as recorder:
        assert goodput.GoodputRecorder is recorder
    assert issubclass(goodput_elastic.ElasticGoodputRecorder, goodput.GoodputRecorder)
    assert issubclass(goodput_elastic.ElasticGoodputCalculator, goodput.GoodputCalculator)


def test_entries_have_the_keys_and_values_of_the_wire_format():
    log = CloudLog()
    recorder = goodput_elastic.ElasticGoodputRecorder("job", "log", True, log)
    at = START.timestamp()
    recorder.record_job_start_time(START)
    recorder.record_tpu_init_start_time(START)
    recorder.record_tpu_init_end_time(START)
    recorder.record_training_preparation_start_time(START)
    recorder.record_training_preparation_end_time(START)
    recorder.record_data_loading_start_time(START)
    recorder.record_data_loading_end_time(START)
    recorder.record_step_start_time(np.int32(5), START)
    recorder.record_step_end_time(5, START)
    recorder.record_custom_badput_event_start_time(START, custom_badput_event_type="eval")
    recorder.record_custom_badput_event_end_time(end_time=START)
    recorder.record_elastic_slice_counts(available_slices=3, active_slices=np.int64(1), total_slices=4, timestamp=START)
    recorder.record_elastic_wait_start_time("elastic_scale_up", START)
    recorder.record_elastic_wait_end_time(event_type="elastic_scale_up", end_time=START)
    recorder.record_elastic_reinit_start_time(START)
    recorder.record_elastic_reinit_end_time(START)
    recorder.record_checkpoint_progress(5, START)
    recorder.record_job_end_time(START)
    recorder.flush()
    expected = [
        {"job_start_time": at},
        {"tpu_init_start_time": at},
        {"tpu_init_end_time": at},
        {"training_prep_start_time": at},
        {"training_prep_end_time": at},
        {"data_loading_start_time": at},
        {"data_loading_end_time": at},
        {"step_count": 5, "step_start_time": at},
        {"step_count": 5, "step_end_time": at},
        {"custom_badput_event_type": "eval", "custom_badput_event_start_time": at},
        {"custom_badput_event_type": "unknown", "custom_badput_event_end_time": at},
        {"active_slices": 1, "total_slices": 4, "available_slices": 3, "elastic_slice_counts_timestamp": at},
        {"elastic_wait_event_type": "elastic_scale_up", "elastic_wait_start_time": at},
        {"elastic_wait_event_type": "elastic_scale_up", "elastic_wait_end_time": at},
        {"elastic_reinit_start_time": at},
        {"elastic_reinit_end_time": at},
        {"job_end_time": at},
    ]
    assert log.entries == [{"job_name": "job", **entry} for entry in expected]
    assert [list(entry) for entry in log.entries] == [["job_name", *entry] for entry in expected]
    assert {type(entry["step_count"]) for entry in log.entries if "step_count" in entry} == {int}


def test_times_are_now_unless_given_and_naive_ones_are_local():
    log = CloudLog()
    recorder = goodput.GoodputRecorder("job", "log", True, log)
    before = time.time()
    recorder.record_job_start_time()
    naive = datetime.datetime(2026, 3, 29, 12, 0)
    recorder.record_step_start_time(1, naive)
    assert before - 1e-3 <= log.entries[0]["job_start_time"] <= time.time()
    assert log.entries[1]["step_start_time"] == naive.timestamp()


class Failing(CloudLog):
    def write_cloud_logging_entry(self, entry):
        raise ConnectionError("no route")


@pytest.mark.parametrize("cloud_logger", [None, CloudLog(), Failing()])
def test_record_methods_never_raise(job, cloud_logger):
    recorder = goodput_elastic.ElasticGoodputRecorder(job, "log", True, cloud_logger)
    for bad in (None, "x", object(), float("nan"), 2**70):
        recorder.record_step_start_time(bad)
        recorder.record_step_end_time(bad)
        recorder.record_job_start_time(bad)
        recorder.record_custom_badput_event_start_time(bad, bad)
        recorder.record_elastic_slice_counts(bad, bad, bad, bad)
        recorder.record_elastic_wait_start_time(bad, bad)
    recorder.flush()


def test_a_disabled_recorder_does_nothing(folder):
    recorder = goodput.GoodputRecorder(job_name="job", logger_name="log", logging_enabled=False)
    assert recorder._cloud_logger is None
    recorder.record_job_start_time()
    recorder.record_step_start_time(1)
    recorder.flush()
    assert not folder.exists()


def test_unknown_names_are_attribute_errors():
    recorder = goodput.GoodputRecorder("job", "log")
    assert getattr(recorder, "record_step_start", None) is None
    assert not hasattr(recorder, "record_elastic_wait_start_time")
    assert hasattr(goodput_elastic.ElasticGoodputRecorder("job", "log"), "record_elastic_reinit_end_time")


@contextlib.contextmanager
def maxtext_record(recorder, event, *args):
    """How MaxText records an event: by the names of methods, and no end after an exception."""
    start = getattr(recorder, f"record_{event}_start_time", None)
    if start is not None:
        start(*args)
    yield
    end = getattr(recorder, f"record_{event}_end_time", None)
    if end is not None:
        end(*args)


def train_as_maxtext_does(recorder, steps):
    recorder.record_job_start_time()
    with maxtext_record(recorder, "tpu_init"):
        time.sleep(0.01)
    with maxtext_record(recorder, "training_preparation"):
        time.sleep(0.01)
    for step in np.arange(steps):
        with maxtext_record(recorder, "data_loading"):
            pass
        with maxtext_record(recorder, "step", step):
            time.sleep(0.002)
    recorder.record_job_end_time()


def train_as_axlearn_does(recorder, steps):
    recorder.record_job_start_time()
    try:
        with maxtext_record(recorder, "tpu_init"):
            time.sleep(0.01)
        recorder.record_training_preparation_start_time()
        recorder.record_custom_badput_event_start_time(custom_badput_event_type="EVAL")
        time.sleep(0.01)
        recorder.record_custom_badput_event_end_time(custom_badput_event_type="EVAL")
        recorder.record_training_preparation_end_time()
        for step in range(1, steps + 1):
            with maxtext_record(recorder, "data_loading"):
                pass
            recorder.record_step_start_time(step)
            time.sleep(0.002)
    finally:
        recorder.record_job_end_time()


@pytest.mark.parametrize("train", [train_as_maxtext_does, train_as_axlearn_does])
@pytest.mark.parametrize("through_log", [True, False])
def test_what_consumers_record_is_accounted(job, train, through_log):
    log = CloudLog() if through_log else None
    train(goodput.GoodputRecorder(job, f"goodput_{job}", True, log), 20)
    calculator = goodput.GoodputCalculator(job_name=job, logger_name=f"goodput_{job}", cloud_logger=log)
    percent, breakdown, step = calculator.get_job_goodput(include_badput_breakdown=True)
    assert 30 < percent < 100
    assert step == (19 if train is train_as_maxtext_does else 20)
    assert list(breakdown) == list(goodput.BadputType)[:11]
    assert breakdown[goodput.BadputType.TPU_INITIALIZATION] > 5
    assert set(breakdown[goodput.BadputType.CUSTOM_BADPUT_EVENTS]) == (
        set() if train is train_as_maxtext_does else {"EVAL"}
    )
    flat = [value for kind, value in breakdown.items() if not isinstance(value, dict)]
    custom = sum(breakdown[goodput.BadputType.CUSTOM_BADPUT_EVENTS].values())
    overlapped = breakdown[goodput.BadputType.DATA_LOADING_ASYNC]
    assert percent + sum(flat) - overlapped + custom == pytest.approx(100, abs=1e-6)
    assert len(calculator.get_step_deviation()) == 19


def test_the_local_journal_keeps_the_times_that_are_given(job, recorded):
    recorder = goodput.GoodputRecorder(job, "log", True)
    recorder.record_job_start_time(after(0))
    recorder.record_step_start_time(7, after(1.25))
    recorder.record_step_end_time("7", after(2.5))
    recorder.record_custom_badput_event_start_time(after(3), "eval")
    recorder.record_job_end_time(after(4))
    payloads = recorded(job)
    base = START.timestamp()
    assert [payload[key] - base for payload in payloads for key in payload if key.endswith("_time")] == [
        0,
        1.25,
        2.5,
        3,
        4,
    ]
    assert payloads[2]["step_count"] == 7
    recorder._cloud_logger.write_cloud_logging_entry({"job_name": job, "step_count": 8, "step_start_time": base + 3.5})
    recorder._cloud_logger.write_cloud_logging_entry({"job_name": "another", "step_start_time": base, "step_count": 1})
    entries, _ = recorder._cloud_logger.read_cloud_logging_entries()
    assert [entry["step_count"] for entry in entries if "step_start_time" in entry] == [7, 8]


def test_calculators_follow_the_job(job):
    recorder = goodput.GoodputRecorder(job, "log", True)
    calculator = goodput.GoodputCalculator(job, "log")
    with pytest.raises(ValueError):
        calculator.get_job_goodput()
    recorder.record_job_start_time()
    for step in range(4):
        recorder.record_step_start_time(step)
        time.sleep(0.002)
        assert calculator.get_job_goodput()[1] == {}
    assert len(calculator.get_step_deviation()) == 3


def history():
    """30 s: start, 10 steps of 2 s from second 10 on, end."""
    entries = [
        {"job_start_time": 0},
        *({"step_count": n, "step_start_time": 10 + 2 * n} for n in range(10)),
        {"job_end_time": 30},
    ]
    base = START.timestamp()
    return [
        {"job_name": "job", **{k: v + base if k.endswith("time") else v for k, v in entry.items()}} for entry in entries
    ]


def test_shapes_of_answers():
    calculator = goodput.GoodputCalculator("job", "log", WholeLog(history()))
    assert calculator.get_job_goodput_details() == {
        "goodput_time": {},
        "badput_time": {},
        "max_productive_step": 0,
        "total_elapsed_time": 0.0,
        "disruption_count": 0,
        "step_time_deviation": {},
        "ideal_step_time": 0.0,
        "total_excluded_time": 0.0,
    }
    percent, breakdown, step = calculator.get_job_goodput()
    assert (round(percent, 6), breakdown, step) == (66.666667, {}, 9)
    details = calculator.get_job_goodput_details()
    assert set(details) == {metric.value for metric in goodput.MetricType}
    assert details["step_time_deviation"] == {n: 0 for n in range(9)}
    assert details["ideal_step_time"] == 2
    assert calculator.get_step_deviation(configured_ideal_step_time=1.5) == {n: 0.5 for n in range(9)}
    percent, breakdown, _, seconds, disruptions = calculator.get_job_goodput_interval(after(5), after(20))
    assert (round(percent, 6), seconds, disruptions) == (66.666667, 15, 0)
    assert breakdown[goodput.BadputType.OTHER] == pytest.approx(100 / 3)
    percent, breakdown, _, excluded = calculator.get_job_goodput_with_exclusions([(after(0), after(10))])
    assert (percent, breakdown, excluded) == (100, {}, 10)
    naive = [datetime.datetime.fromtimestamp(after(seconds).timestamp()) for seconds in (0, 10)]
    assert calculator.get_job_goodput_with_exclusions([naive])[3] == 10
    assert calculator.get_job_goodput_with_exclusions([])[3] == 0


def test_details_are_of_the_last_answer_and_cost_nothing_before_they_are_asked_for():
    log = WholeLog(history()[:6])
    calculator = goodput.GoodputCalculator("job", "log", log)
    read = []
    step_times = calculator._account.known_step_times
    calculator._account.known_step_times = lambda: read.append(1) or step_times()
    calculator.get_job_goodput()
    assert not read
    log.entries.extend(history()[6:])
    details = calculator.get_job_goodput_details()
    assert details["step_time_deviation"] == {n: 0 for n in range(4)}
    assert details["max_productive_step"] == 3  # the fifth is under way
    calculator.get_job_goodput()
    assert calculator.get_job_goodput_details()["step_time_deviation"] == {n: 0 for n in range(9)}


def test_errors_are_value_errors():
    empty = goodput.GoodputCalculator("job", "log", CloudLog())
    for call in (
        empty.get_job_goodput,
        empty.get_step_deviation,
        lambda: empty.get_job_goodput_interval(START, after(1)),
    ):
        with pytest.raises(ValueError):
            call()
    assert empty.get_interval_metric_details(START, after(9)) == {
        "interval_goodput": {},
        "interval_badput": {},
        "interval_size": 9,
    }
    without_steps = goodput.GoodputCalculator("job", "log", CloudLog(history()[:1]))
    with pytest.raises(ValueError, match="No step times"):
        without_steps.get_step_deviation()
    calculator = goodput.GoodputCalculator("job", "log", CloudLog(history()))
    with pytest.raises(ValueError, match="cannot compute total job time"):
        calculator.get_job_goodput_interval(after(40), after(50))
    assert calculator.get_job_goodput_with_exclusions([(after(-1), after(31))], True) == (0.0, {}, 9, 30)


@pytest.mark.parametrize("period", [None, datetime.timedelta(days=30), 3600, 3600.5])
def test_options_of_google_cloud_are_taken_and_nothing_is_sent(period):
    calculator = goodput.GoodputCalculator(
        job_name="job",
        logger_name="log",
        cloud_logger=CloudLog(history()),
        using_pathways=True,
        max_logs_retention_period=period,
        gcs_path="gs://bucket/path",
        cache_dir="/nowhere",
    )
    assert calculator.get_job_goodput()[2] == 9
    calculator.sync_to_gcs()


def test_entries_that_come_again_count_once_and_bad_ones_not_at_all():
    entries = history()
    noise = [
        None,
        "text",
        {"job_name": "job", "step_count": 3, "step_start_time": None},
        {"job_name": "other", "job_start_time": 1},
    ]
    log = WholeLog(entries[:6] + noise + entries[:6] + entries[6:])
    calculator = goodput.GoodputCalculator("job", "log", log)
    for _ in range(3):
        assert calculator.get_job_goodput()[0] == pytest.approx(200 / 3)


class ForgetfulLog(CloudLog):
    """Gives a cursor and does not care for it; or has no cursor and keeps only its newest entries."""

    def __init__(self, cursor, newest=None):
        super().__init__()
        self.cursor, self.newest = cursor, newest

    def read_cloud_logging_entries(self, start_time=None, end_time=None, last_entry_info=None):  # NOLINT(name)
        kept = self.entries if self.newest is None else self.entries[-self.newest :]
        return list(kept), self.cursor


def test_logs_that_do_not_care_for_a_cursor():
    log = ForgetfulLog(cursor=(START, "an id"))
    calculator = goodput.GoodputCalculator("job", "log", log)
    for count in (3, 3, 5, 12):
        log.entries = history()[:count]
        calculator.get_job_goodput()
    assert calculator.get_job_goodput()[0] == pytest.approx(200 / 3)


def test_a_first_entry_that_comes_again_takes_nothing_away():
    log = CloudLog(history()[:3])
    calculator = goodput.GoodputCalculator("job", "log", log)
    calculator.get_job_goodput()
    log.entries += [history()[0], *history()[3:]]
    assert calculator.get_job_goodput()[0] == pytest.approx(200 / 3)


def test_a_log_that_drops_its_oldest_entries_is_read_as_it_is():
    log = ForgetfulLog(cursor=None, newest=4)
    calculator = goodput.GoodputCalculator("job", "log", log)
    log.entries = history()[:4]
    calculator.get_job_goodput()
    log.entries = [
        *history()[:4],
        *({"job_name": "job", "job_start_time": START.timestamp() + n} for n in range(100, 104)),
    ]
    assert calculator.get_job_goodput()[2] == 0


def test_numbers_of_numpy_in_entries():
    entries = [{k: np.float64(v) if k.endswith("time") else v for k, v in entry.items()} for entry in history()]
    entries = [{k: np.int64(v) if k == "step_count" else v for k, v in entry.items()} for entry in entries]
    assert goodput.GoodputCalculator("job", "log", CloudLog(entries)).get_job_goodput()[2] == 9


def elastic_history():
    base = START.timestamp()
    return [
        *history()[:6],
        {"job_name": "job", "elastic_wait_event_type": "elastic_scale_up", "elastic_wait_start_time": base + 18.5},
        {"job_name": "job", "elastic_wait_event_type": "elastic_scale_up", "elastic_wait_end_time": base + 19.5},
        {
            "job_name": "job",
            "active_slices": 1,
            "total_slices": 4,
            "available_slices": 2,
            "elastic_slice_counts_timestamp": base,
        },
        *history()[6:],
    ]


def test_elastic_jobs():
    elastic = goodput_elastic.ElasticGoodputCalculator("job", "log", CloudLog(elastic_history()))
    _, breakdown, _ = elastic.get_job_goodput(include_badput_breakdown=True)
    assert list(breakdown) == list(goodput.BadputType)
    assert breakdown[goodput.BadputType.ELASTIC_SCALE_UP] == pytest.approx(100 / 30)
    details = elastic.get_job_goodput_details()
    assert (details["stepping_slice_efficiency"], details["available_slice_efficiency"]) == (0.25, 0.5)
    window = elastic.get_interval_metric_details(after(0), after(10))
    assert (window["stepping_slice_efficiency"], window["available_slice_efficiency"]) == (0.25, 0.5)
    plain = goodput.GoodputCalculator("job", "log", CloudLog(elastic_history()))
    _, breakdown, _ = plain.get_job_goodput(include_badput_breakdown=True)
    assert list(breakdown) == list(goodput.BadputType)[:11]
    assert sum(v for v in breakdown.values() if isinstance(v, float)) == pytest.approx(100 - plain.get_job_goodput()[0])


def test_measurement_records_by_blocks():
    log = CloudLog()
    recorder = measurement.GoodputRecorder(job_name="job", logger_name="log", logging_enabled=True, cloud_logger=log)
    event = measurement.Event
    with recorder.record_event(event.JOB):
        with recorder.record_event(event.ACCELERATOR_INIT):
            pass
        with recorder.record_event(event.TRAINING_PREP), recorder.record_event(event.CHECKPOINT_RESTORE, 3):
            pass
        with recorder.record_event(event.DATA_LOADING):
            pass
        with recorder.record_event(event.STEP, 4):
            pass
        with recorder.record_event(event.CUSTOM, "eval_step"), recorder.record_event(event.CHECKPOINT_SAVE):
            pass
    assert [[key for key in entry if key != "job_name"] for entry in log.entries] == [
        ["job_start_time"],
        ["tpu_init_start_time"],
        ["tpu_init_end_time"],
        ["training_prep_start_time"],
        ["step", "checkpoint_restore_start_time"],
        ["step", "checkpoint_restore_end_time"],
        ["training_prep_end_time"],
        ["data_loading_start_time"],
        ["data_loading_end_time"],
        ["step_count", "step_start_time"],
        ["step_count", "step_end_time"],
        ["custom_badput_event_type", "custom_badput_event_start_time"],
        ["checkpoint_save_start_time"],
        ["checkpoint_save_end_time"],
        ["custom_badput_event_type", "custom_badput_event_end_time"],
        ["job_end_time"],
    ]
    assert log.entries[11]["custom_badput_event_type"] == "eval_step"


def test_an_exception_closes_the_event_and_fails_the_job(job, recorded):
    recorder = measurement.GoodputRecorder(job_name=job, logger_name="log", logging_enabled=True)
    with pytest.raises(ZeroDivisionError), recorder.record_event(measurement.Event.JOB):
        recorder.record_step_start_time(1)
        with recorder.record_event(measurement.Event.CUSTOM, "eval"):
            _ = 1 / 0
    payloads = recorded(job)
    assert "custom_badput_event_end_time" in payloads[-2]
    assert payloads[-1]["job_end_failed"] is True
    assert sum("job_end_time" in payload for payload in payloads) == 1


def test_an_exception_outside_of_a_job_block_fails_the_attempt_too():
    log = CloudLog()
    recorder = measurement.GoodputRecorder("job", "log", True, log)
    recorder.record_job_start_time()
    with pytest.raises(ZeroDivisionError), recorder.record_event(measurement.Event.STEP, 1):
        _ = 1 / 0
    assert log.entries[-1]["job_end_failed"] is True
    assert not any("step_end_time" in entry for entry in log.entries)


def test_blocks_cost_next_to_nothing_without_logging():
    recorder = measurement.GoodputRecorder(job_name="job", logger_name="log")
    assert recorder.record_event(measurement.Event.STEP, 1) is recorder.record_event(measurement.Event.JOB)
    with recorder.record_event(measurement.Event.STEP, 1):
        pass


def test_helpers_have_the_results_of_the_released_ones():
    times = [1.0, 1.1, 0.9, 5.0, 1.05, 0.2, 30.0, 1.2]
    assert goodput_utils.compute_ideal_step_time(times) == pytest.approx(1.0875)
    assert goodput_utils.compute_ideal_step_time([0.5]) is None
    assert goodput_utils.compute_percentile([3, 1, 2], 50) == 2
    assert goodput_utils.get_anomalous_and_normal_step_times([1, 1, 1, 9]) == ([9], [1, 1, 1])
    assert goodput_utils.get_extra_time_from_anomalous_steps([1, 1, 1, 9]) == 8
    deviations = {n: float(n % 10) for n in range(2000)}
    assert goodput_utils.compute_step_deviation_from_baseline(deviations) == pytest.approx(3.6)
    assert goodput_utils.compute_step_deviation_from_baseline({1: -2.0, 2: 4.0}) == 3
    stamp = goodput_utils.get_timestamp_from_log_entry({"job_name": "j", "step_start_time": 5.5})
    assert stamp == datetime.datetime(1970, 1, 1, 0, 0, 5, 500_000, tzinfo=UTC)
    assert goodput_utils.GCPOptions(project_id="p").enable_gcp_goodput_metrics
