"""MaxText's and AXLearn's runs, monitors and interruptions included, and how their tests replace what they call.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import goodput as engine
import numpy as np
import pytest
from consumers import (
    AXLearnConfig,
    AXLearnRecorder,
    MaxTextConfig,
    MaxTextEvent,
    maxtext_event,
    maxtext_monitor,
    maxtext_record,
    maxtext_recorder,
    maxtext_train,
)
from ml_goodput_measurement import goodput, goodput_elastic, monitoring

ROOT = Path(__file__).resolve().parent.parent.parent
BadputType = goodput.BadputType


@pytest.fixture
def maxtext(job, tmp_path):
    return MaxTextConfig(run_name=job, tensorboard_dir=str(tmp_path / "board"))


@pytest.fixture
def axlearn(job, tmp_path):
    return AXLearnConfig(name=job, upload_dir=str(tmp_path / "summaries"))


def breakdown_of(job, kind=goodput.GoodputCalculator):
    percent, breakdown, step = kind(job, f"goodput_{job}").get_job_goodput(include_badput_breakdown=True)
    seconds = [value for key, value in breakdown.items() if key not in (BadputType.CUSTOM_BADPUT_EVENTS,)]
    custom = sum(breakdown[BadputType.CUSTOM_BADPUT_EVENTS].values())
    assert percent + sum(seconds) - breakdown[BadputType.DATA_LOADING_ASYNC] + custom == pytest.approx(100, abs=1e-6)
    return percent, breakdown, step


def test_maxtext(job, maxtext, readers, caplog):
    with caplog.at_level(logging.INFO), maxtext_monitor(maxtext):
        maxtext_train(maxtext_recorder(maxtext), 0, 50, np.int32)
    percent, breakdown, step = breakdown_of(job)
    assert step == 49
    assert percent > 50
    assert breakdown[BadputType.TPU_INITIALIZATION] > 0
    assert breakdown[BadputType.TRAINING_PREP] > 0
    scalars = readers.load(Path(maxtext.tensorboard_dir) / "goodput")["scalars"]
    assert scalars["goodput/goodput"][-1] == [49, pytest.approx(percent, abs=1)]
    assert f"Cumulative goodput monitoring process started for job: {job}" in caplog.text
    assert f"Final goodput query and upload for job: {job}" in caplog.text


def test_maxtext_that_is_interrupted_and_resumes_where_it_was(job, maxtext, readers):
    recorder = maxtext_recorder(maxtext)
    with pytest.raises(InterruptedError), maxtext_monitor(maxtext):
        maxtext_train(recorder, 0, 50, interrupt_at=20)
    with maxtext_monitor(maxtext):
        maxtext_train(recorder, 15, 50)
    report = engine.report(job)
    assert report.disruptions == 1
    assert report.disruption_records[0].resume_step == 15
    _, breakdown, step = breakdown_of(job)
    assert step == 49
    assert breakdown[BadputType.WASTED_PROGRESS_FROM_DISRUPTION] > 0
    scalars = readers.load(Path(maxtext.tensorboard_dir) / "goodput")["scalars"]
    assert [step for step, _ in scalars["goodput/goodput"]][-1] == 49
    assert scalars["badput/wasted_progress_from_disruption"][-1][1] > 0


def test_elastic_maxtext(job, maxtext, readers):
    maxtext.elastic_enabled = True
    with maxtext_monitor(maxtext):
        recorder = maxtext_recorder(maxtext)
        for name in ("scale_up", "slice_down"):
            recorder.record_elastic_wait_start_time(event_type=f"elastic_{name}")
            recorder.record_elastic_wait_end_time(event_type=f"elastic_{name}")
        recorder.record_elastic_reinit_start_time()
        recorder.record_elastic_slice_counts(active_slices=2, total_slices=4, available_slices=2)
        recorder.record_elastic_reinit_end_time()
        maxtext_train(recorder, 0, 30)
    _, breakdown, step = breakdown_of(job, goodput_elastic.ElasticGoodputCalculator)
    assert list(breakdown) == list(BadputType)
    assert step == 29
    assert breakdown[BadputType.ELASTIC_REINITIALIZATION] > 0
    calculator = goodput_elastic.ElasticGoodputCalculator(job, "log")
    calculator.get_job_goodput()
    assert 0.4 < calculator.get_job_goodput_details()["stepping_slice_efficiency"] < 0.7
    scalars = readers.load(Path(maxtext.tensorboard_dir) / "goodput")["scalars"]
    assert scalars["badput/elastic_reinitialization"][-1][1] > 0


def test_maxtext_on_another_process_does_nothing(maxtext, folder):
    maxtext.process_index = 1
    with mock.patch("os.posix_spawn") as spawn, maxtext_monitor(maxtext):
        maxtext_train(maxtext_recorder(maxtext), 0, 3)
    assert not spawn.called
    assert not folder.exists()


def test_axlearn(job, axlearn, readers):
    run = AXLearnRecorder(axlearn)
    with run.monitors():
        run.train(1, 50)
    percent, breakdown, step = breakdown_of(job)
    assert step == 50
    assert set(breakdown[BadputType.CUSTOM_BADPUT_EVENTS]) == {"EVAL"}
    assert percent > 40
    cumulative = readers.load(Path(axlearn.upload_dir) / "goodput")["scalars"]
    assert cumulative["goodput/goodput"][-1] == [50, pytest.approx(percent, abs=1)]
    assert cumulative["badput/custom_badput_events/eval"][-1][1] > 0
    windows = readers.load(Path(axlearn.upload_dir) / f"rolling_window_{job}/goodput")["scalars"]
    assert set(windows) == {"rolling_goodput/24h", "rolling_goodput/168h"}


def test_axlearn_that_crashes_and_continues_with_the_monitors_that_it_has(job, axlearn, readers):
    run = AXLearnRecorder(axlearn)
    with pytest.raises(InterruptedError), run.monitors():
        run.train(1, 50, crash_at=20)
    with run.monitors():
        run.train(16, 50)
    report = engine.report(job)
    assert report.status == "completed"
    assert report.disruptions == 1
    start, end = (at + datetime.timedelta(seconds=s) for at, s in ((report.start, 0), (report.end, 1)))
    calculator = goodput.GoodputCalculator(job_name=job, logger_name=f"goodput_logger_{job}")
    percent, _, _, seconds, disruptions = calculator.get_job_goodput_interval(start, end)
    assert percent == pytest.approx(report.goodput_percent, abs=1e-3)
    assert seconds == pytest.approx(report.elapsed_seconds, abs=1e-3)
    assert disruptions == 1
    scalars = readers.load(Path(axlearn.upload_dir) / "goodput")["scalars"]
    assert scalars["goodput/goodput"][-1][0] == 50


def test_elastic_axlearn(job, axlearn, readers):
    axlearn.is_elastic = True
    run = AXLearnRecorder(axlearn)
    with run.monitors():
        run.recorder.record_elastic_slice_counts(active_slices=4, total_slices=4, available_slices=4)
        run.train(1, 20)
    assert breakdown_of(job, goodput_elastic.ElasticGoodputCalculator)[2] == 20
    scalars = readers.load(Path(axlearn.upload_dir) / "goodput")["scalars"]
    assert scalars["badput/elastic_slice_down"][-1][1] == 0


def test_what_their_tests_replace_can_be_replaced(maxtext, axlearn):
    start, stop = (f"ml_goodput_measurement.monitoring.GoodputMonitor.{w}_goodput_uploader" for w in ("start", "stop"))
    with mock.patch(start) as started, mock.patch(stop) as stopped:
        with maxtext_monitor(maxtext):
            started.assert_called_once_with()
        stopped.assert_called_once_with()
    recorder = "ml_goodput_measurement.goodput.GoodputRecorder.record_job_{}_time"
    with mock.patch(recorder.format("start")) as started, mock.patch(recorder.format("end")) as ended:
        made = maxtext_recorder(maxtext)
        with pytest.raises(KeyboardInterrupt), maxtext_event(made, MaxTextEvent.JOB):
            started.assert_called_once_with()
            raise KeyboardInterrupt
        ended.assert_not_called()
        maxtext_record(made, "record_job_end_time")
        ended.assert_called_once_with()
    with mock.patch("ml_goodput_measurement.monitoring.GoodputMonitor") as kind, AXLearnRecorder(axlearn).monitors():
        pass
    expected = {
        "job_name": axlearn.name,
        "logger_name": f"goodput_logger_{axlearn.name}",
        "tensorboard_dir": axlearn.upload_dir,
        "upload_interval": 30,
        "monitoring_enabled": True,
        "pathway_enabled": False,
        "include_badput_breakdown": True,
    }
    assert {**kind.call_args_list[0].kwargs, "gcp_options": None} == {**expected, "gcp_options": None}
    with mock.patch("ml_goodput_measurement.goodput_elastic.ElasticGoodputRecorder") as kind:
        maxtext.elastic_enabled = True
        maxtext_recorder(maxtext)
        kind.assert_called_once_with(maxtext.run_name, f"goodput_{maxtext.run_name}", True)


# In the environment that has Google's client, over our packages.
WITH_GOOGLES_CLIENT = """
import json, sys
from unittest import mock
from ml_goodput_measurement import goodput
assert "goodput" in sys.modules
with mock.patch("google.cloud.logging.Client") as client:
    recorder = goodput.GoodputRecorder(sys.argv[1], "goodput_log", True)
    client.return_value.logger.assert_any_call("goodput_log")
    with mock.patch("google.cloud.logging_v2.handlers.CloudLoggingHandler.emit") as emit:
        recorder.record_job_start_time()
        recorder.record_step_start_time(3)
        recorder.record_job_end_time()
    recorder.flush()
    print(json.dumps([call.args[0].msg for call in emit.call_args_list]))
with mock.patch("google.cloud.logging.Client", side_effect=OSError("no credentials")):
    goodput.GoodputRecorder(sys.argv[1], "goodput_log", True).record_job_start_time()
"""


def run_beside_google(text, *arguments, **environment):
    subprocess.run(
        ["tools/venv", "build/peers", "bench/peers/ml_goodput.txt"], cwd=ROOT, check=True, capture_output=True
    )
    done = subprocess.run(
        [ROOT / "build/peers/bin/python", "-c", text, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_googles_client_is_there_for_whoever_looks_for_it(job, recorded):
    entries = run_beside_google(WITH_GOOGLES_CLIENT, job, GOODPUT_GOOGLE_CLIENT="python")
    assert [next(key for key in entry if key.endswith("_time")) for entry in entries] == [
        "job_start_time",
        "step_start_time",
        "job_end_time",
    ]
    assert entries[1]["step_count"] == 3
    assert len(recorded(job)) == 4


SENDER = """
import json, logging, sys
from unittest import mock
from google.api_core import exceptions
from ml_goodput_measurement import gcp_metrics
records = []
handler = logging.Handler()
handler.emit = lambda record: records.append([record.levelname, record.msg if isinstance(record.msg, dict) else record.getMessage()])
logging.getLogger("ml_goodput_measurement.src.gcp_metrics").addHandler(handler)
logging.getLogger("ml_goodput_measurement.src.gcp_metrics").setLevel(logging.INFO)
with mock.patch("google.cloud.monitoring_v3.MetricServiceClient") as client:
    sender = gcp_metrics.GCPMetrics("p")
metric = {"metric_type": "compute.googleapis.com/workload/goodput_time", "value": 1.5, "value_type": gcp_metrics.ValueType.DOUBLE,
          "metric_labels": {"goodput_source": "TOTAL"}, "resource_type": "r", "resource_labels": {"location": "l"}}
sender.send_metrics([metric] * 201 + [{"metric_type": "bad"}], context={"job_name": "j"})
calls = client.return_value.create_time_series.call_args_list
assert [len(call.kwargs["time_series"]) for call in calls] == [200, 1]
assert calls[0].kwargs["name"] == "projects/p"
series = calls[0].kwargs["time_series"][0]
assert (series.metric.type, dict(series.metric.labels), dict(series.resource.labels)) == (metric["metric_type"], {"goodput_source": "TOTAL"}, {"location": "l"})
assert series.points[0].value.double_value == 1.5 and series.points[0].interval.end_time is not None
sender.send_metrics([])
client.return_value.create_time_series.side_effect = gcp_metrics.GoogleAPIError("refused")
sender.send_metrics([metric])
print(json.dumps(records))
"""


def test_the_sender_to_cloud_monitoring_uses_googles_client():
    records = run_beside_google(SENDER)
    assert records == [
        ["ERROR", "Failed to create time series for metric 'bad': 'value'"],
        [
            "INFO",
            {"message": "Sent Goodput metrics to GCM Monitoring.", "metrics_count": 201, "job_name": "j"},
        ],
        ["WARNING", "No valid time series were created, skipping GCM upload."],
        ["ERROR", "Failed to send Goodput metrics to GCM Monitoring: refused"],
    ]


SCRIPT = """
import sys, time
from ml_goodput_measurement import goodput, monitoring
job, board = sys.argv[1:]
recorder = goodput.GoodputRecorder(job, "goodput_log", True)
monitor = monitoring.GoodputMonitor(
    job_name=job, logger_name="goodput_log", tensorboard_dir=board, upload_interval=1, monitoring_enabled=True,
    include_badput_breakdown=True, include_step_deviation=True)
monitor.start_goodput_uploader()
monitor.start_step_deviation_uploader()
monitor.start_rolling_window_goodput_uploader([60, 3600])
recorder.record_job_start_time()
recorder.record_tpu_init_start_time(); recorder.record_tpu_init_end_time()
recorder.record_training_preparation_start_time(); recorder.record_training_preparation_end_time()
for step in range(50):
    recorder.record_data_loading_start_time(); recorder.record_data_loading_end_time()
    recorder.record_step_start_time(step)
    time.sleep(0.002)
recorder.record_job_end_time()
monitor.stop_goodput_uploader()
monitor.stop_step_deviation_uploader()
monitor.stop_rolling_window_goodput_uploader()
calculator = goodput.GoodputCalculator(job_name=job, logger_name="goodput_log")
percent, breakdown, step = calculator.get_job_goodput(include_badput_breakdown=True)
print(f"{percent:.2f} {step} {len(breakdown)}")
"""


def test_a_script_of_the_released_package_runs_without_a_cloud(job, tmp_path, readers):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, job, str(tmp_path / "board")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    percent, step, kinds = done.stdout.split()
    assert float(percent) > 90
    assert (step, kinds) == ("49", "11")
    assert readers.load(tmp_path / "board/goodput")["scalars"]["goodput/goodput"][-1][0] == 49
    assert monitoring.GCPOptions().project_id is None


def test_the_example_is_interrupted_and_goes_on(job, tmp_path, readers, monkeypatch):
    monkeypatch.setenv(
        "OPENBLAS_NUM_THREADS", "1"
    )  # threads that spin make matrices of this size slow on a busy machine
    command = [sys.executable, str(ROOT / "examples/maxtext_goodput.py"), "--run-name", job, "--steps", "260"]
    command += ["--base-output-directory", str(tmp_path)]
    interrupted = subprocess.run([*command, "--interrupt-at", "150"], capture_output=True, text=True, timeout=60)
    assert interrupted.returncode == 1, interrupted.stderr
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "starting at step 100" in done.stdout
    assert "last productive step 259" in done.stdout
    assert engine.report(job).disruption_records[0].resume_step == 100
    scalars = readers.load(tmp_path / job / "tensorboard/goodput")["scalars"]
    assert scalars["goodput/goodput"][-1][0] == 259
    assert scalars["badput/custom_badput_events/eval"][-1][1] > 0
