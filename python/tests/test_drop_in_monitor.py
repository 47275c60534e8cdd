"""ml_goodput_measurement's monitors: what they write, print and take.

SPDX-License-Identifier: Apache-2.0
"""

import json
import logging
import os
import re
import time
from unittest import mock

import numpy as np
import pytest
from ml_goodput_measurement import (
    goodput,
    goodput_elastic,
    goodput_utils,
    monitoring,
    monitoring_elastic,
)

ELASTIC = {"badput/elastic_slice_down", "badput/elastic_scale_up", "badput/elastic_reinitialization"}
NO_CLOUD = goodput_utils.GCPOptions(enable_gcp_goodput_metrics=False, enable_gcp_step_deviation_metrics=False)


@pytest.fixture
def board(tmp_path):
    return tmp_path / "board"


def monitor_of(job, board, kind=monitoring.GoodputMonitor, **options):
    options = {"monitoring_enabled": True, "gcp_options": NO_CLOUD, **options}
    return kind(job, f"goodput_{job}", str(board), 1, **options)


def train(job, steps=20):
    recorder = goodput.GoodputRecorder(job, f"goodput_{job}", True)
    recorder.record_job_start_time()
    for step in range(steps):
        recorder.record_step_start_time(step)
        time.sleep(0.002)
    recorder.record_custom_badput_event_start_time(custom_badput_event_type="EVAL")
    time.sleep(0.01)
    recorder.record_custom_badput_event_end_time(custom_badput_event_type="EVAL")
    recorder.record_job_end_time()


def test_the_cumulative_uploader_writes_goodput_and_badput(job, board, readers):
    monitor = monitor_of(job, board, include_badput_breakdown=True)
    monitor.start_goodput_uploader()
    train(job)
    monitor.stop_goodput_uploader()
    scalars = readers.load(board / "goodput")["scalars"]
    percent, breakdown, step = goodput.GoodputCalculator(job, "log").get_job_goodput(include_badput_breakdown=True)
    assert scalars["goodput/goodput"][-1] == [step, pytest.approx(percent, rel=1e-5)]
    names = {f"badput/{kind.name.lower()}" for kind in goodput.BadputType if kind.name != "CUSTOM_BADPUT_EVENTS"}
    assert {tag for tag in scalars if tag.startswith("badput/")} == names | {"badput/custom_badput_events/eval"}
    for kind in (goodput.BadputType.OTHER, goodput.BadputType.TPU_INITIALIZATION):
        assert scalars[f"badput/{kind.name.lower()}"][-1][1] == pytest.approx(breakdown[kind], abs=1e-4)
    assert not {"step_deviation", "step_time_seconds"} & set(scalars)


def test_without_a_breakdown_there_is_no_badput(job, board, readers):
    monitor = monitor_of(job, board)
    train(job)
    monitor.start_goodput_uploader()
    monitor.stop_goodput_uploader()
    assert set(readers.load(board / "goodput")["scalars"]) == {"goodput/goodput", "goodput/ideal"}


def test_the_step_deviation_uploader_measures_against_the_configured_step_time(job, board, readers):
    train(job)
    monitor = monitor_of(job, board, include_step_deviation=True, configured_ideal_step_time=1)
    monitor.start_step_deviation_uploader()
    monitor.stop_step_deviation_uploader()
    scalars = readers.load(board / "goodput")["scalars"]
    expected = goodput.GoodputCalculator(job, "log").get_step_deviation(1)
    assert scalars["step_deviation"] == [[step, pytest.approx(value, rel=1e-5)] for step, value in expected.items()]
    assert "goodput/goodput" not in scalars


def test_step_deviation_must_be_asked_for(job, board, caplog):
    monitor = monitor_of(job, board)
    with caplog.at_level(logging.INFO), mock.patch("os.posix_spawn") as spawn:
        monitor.start_step_deviation_uploader()
        monitor.stop_step_deviation_uploader()
    assert not spawn.called
    assert "Step deviation monitoring is disabled." in caplog.text


@pytest.mark.parametrize(
    ("windows", "tags"),
    [([3600, 86400], {"1h", "24h"}), (3600, {"1h"}), ((np.int64(60),), {"1m"}), (np.int32(3600), {"1h"})],
)
def test_rolling_windows_are_a_list_or_one_integer(job, board, readers, windows, tags):
    train(job)
    monitor = monitor_of(job, board)
    monitor.start_rolling_window_goodput_uploader(rolling_windows_seconds=windows)
    monitor.stop_rolling_window_goodput_uploader()
    scalars = readers.load(board / "goodput")["scalars"]
    assert set(scalars) == {f"rolling_goodput/{tag}" for tag in tags}


def test_all_uploaders_are_one_process_with_one_file(job, board, readers):
    monitor = monitor_of(job, board, include_badput_breakdown=True, include_step_deviation=True)
    with mock.patch("os.posix_spawn", wraps=os.posix_spawn) as spawn:
        monitor.start_goodput_uploader()
        monitor.start_step_deviation_uploader()
        monitor.start_rolling_window_goodput_uploader([60])
    assert spawn.call_count == 1
    train(job)
    monitor.stop_rolling_window_goodput_uploader()
    monitor.stop_step_deviation_uploader()
    monitor.stop_goodput_uploader()
    assert len(list((board / "goodput").glob("events.*"))) == 1
    scalars = readers.load(board / "goodput")["scalars"]
    assert {"goodput/goodput", "rolling_goodput/1m", "badput/other"} <= set(scalars)
    assert [step for step, _ in scalars["step_deviation"]] == list(range(19))


def test_the_lines_that_people_grep_for_are_printed(job, board, caplog):
    monitor = monitor_of(job, board, include_step_deviation=True)
    with caplog.at_level(logging.INFO, "ml_goodput_measurement"):
        monitor.start_goodput_uploader()
        monitor.start_goodput_uploader()
        pid = monitor._process.pid
        monitor.start_step_deviation_uploader()
        monitor.start_rolling_window_goodput_uploader([60])
        train(job)
        monitor.stop_step_deviation_uploader()
        monitor.stop_rolling_window_goodput_uploader()
        monitor.stop_goodput_uploader()
    lines = [(record.name, record.levelname, record.getMessage()) for record in caplog.records]
    name = "ml_goodput_measurement.src.monitoring"
    for level, text in (
        ("INFO", f"Cumulative goodput monitoring process started for job: {job} (PID: {pid})"),
        ("WARNING", f"The goodput uploader (PID: {pid}) is already running."),
        ("INFO", f"Step deviation process started for job: {job} (PID: {pid})"),
        ("INFO", f"Rolling window goodput uploader process started for job: {job} (PID: {pid})"),
        ("INFO", f"[PID: {pid}] Performing final goodput query and upload for job: {job}"),
    ):
        assert (name, level, text) in lines
    final = rf"Final goodput query and upload for job: {re.escape(job)} and logger: goodput_{re.escape(job)}"
    final += r" completed with total goodput: \d+\.\d\d%, last step: 19"
    assert re.fullmatch(final, lines[-1][2])


def test_a_stop_without_a_start_uploads_once(job, board, readers, caplog):
    train(job)
    with caplog.at_level(logging.INFO):
        monitor_of(job, board).stop_goodput_uploader()
    assert f"Final goodput query and upload for job: {job}" in caplog.text
    assert readers.load(board / "goodput")["scalars"]["goodput/goodput"][-1][0] == 19


@pytest.mark.parametrize("skips", ["constructor", "argument"])
def test_the_last_upload_can_be_skipped(job, board, skips):
    monitor = monitor_of(job, board, skip_final_flush=skips == "constructor")
    monitor.start_goodput_uploader()
    time.sleep(0.3)
    train(job)
    monitor.stop_goodput_uploader(*([True] if skips == "argument" else []))
    monitor.stop_goodput_uploader(skip_final_flush=True)
    assert not list((board / "goodput").glob("events.*"))
    assert monitor._process.pid is None


@pytest.mark.parametrize("timeout", [0.5, 0, None, 10])
def test_a_last_upload_is_bounded(job, board, timeout):
    monitor = monitor_of(job, board, final_flush_timeout_seconds=timeout)
    monitor.start_goodput_uploader()
    train(job, 3)
    began = time.monotonic()
    monitor.stop_goodput_uploader()
    assert time.monotonic() - began < 5
    assert monitor._process.pid is None


def test_a_monitor_that_nobody_holds_ends(job, board):
    monitor = monitor_of(job, board)
    monitor.start_goodput_uploader()
    process = monitor._process
    del monitor
    assert process.pid is None


def test_without_monitoring_every_call_does_nothing(job, board, caplog):
    with caplog.at_level(logging.INFO), mock.patch("os.posix_spawn") as spawn:
        monitor = monitor_of(job, board, monitoring_enabled=False)
        for call in ("goodput", "step_deviation"):
            getattr(monitor, f"start_{call}_uploader")()
            getattr(monitor, f"stop_{call}_uploader")(skip_final_flush=None)
        monitor.start_rolling_window_goodput_uploader([60])
        monitor.stop_rolling_window_goodput_uploader()
        monitoring_elastic.ElasticGoodputMonitor(job, "log", str(board), 30).start_goodput_uploader()
    assert not spawn.called
    assert "Monitoring is disabled. GoodputMonitor will not be initialized." in caplog.text


def test_the_environment_overrides_options(job, board, monkeypatch, caplog):
    monkeypatch.setenv("ML_GOODPUT_GCS_SYNC_INTERVAL_SECONDS", "120")
    monkeypatch.setenv("ML_GOODPUT_CACHE_DIR", "/nowhere")
    config = monitor_of(job, board)._worker_config
    assert (config["gcs_sync_interval_seconds"], config["cache_dir"]) == (120, "/nowhere")
    monkeypatch.setenv("ML_GOODPUT_GCS_SYNC_INTERVAL_SECONDS", "often")
    assert monitor_of(job, board)._worker_config["gcs_sync_interval_seconds"] == 3600
    assert "Invalid ML_GOODPUT_GCS_SYNC_INTERVAL_SECONDS: often" in caplog.text


def test_options_of_one_monitor_do_not_change_those_of_the_next(job, board):
    options = monitoring.GCPOptions()
    monitor_of(job, board, gcp_options=options)
    assert options == monitoring.GCPOptions() == monitoring_elastic.GCPOptions()
    assert options.enable_gcp_goodput_metrics


def test_elastic_monitors_have_the_elastic_types(job, board, readers):
    recorder = goodput_elastic.ElasticGoodputRecorder(job, "log", True)
    recorder.record_job_start_time()
    recorder.record_elastic_wait_start_time("elastic_scale_up")
    time.sleep(0.02)
    recorder.record_elastic_wait_end_time("elastic_scale_up")
    train(job)
    monitor = monitor_of(
        job,
        board,
        monitoring_elastic.ElasticGoodputMonitor,
        include_badput_breakdown=True,
        include_slice_efficiency=True,
    )
    assert monitor._worker_config["include_slice_efficiency"]
    monitor.start_goodput_uploader()
    monitor.stop_goodput_uploader()
    scalars = readers.load(board / "goodput")["scalars"]
    assert set(scalars) >= ELASTIC
    assert scalars["badput/elastic_scale_up"][-1][1] > 0


def test_a_folder_that_is_taken_breaks_nothing_in_the_trainer(job, board, caplog):
    train(job)
    first, second = monitor_of(job, board), monitor_of(job, board, final_flush_timeout_seconds=1)
    first.start_goodput_uploader()
    holder = first._process.pid
    while not (board / "goodput/.goodput.lock").exists():
        time.sleep(0.01)
    second.start_goodput_uploader()
    second.stop_goodput_uploader()
    assert f"(process {holder} on" in caplog.text
    first.stop_goodput_uploader()


def test_a_bucket_is_no_folder_and_without_credentials_nothing_at_all(job, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.delenv("GOODPUT_QUIET")
    monitor = monitor_of(job, "gs://bucket/board")
    monitor.start_goodput_uploader()
    train(job)
    monitor.stop_goodput_uploader()
    assert "going on without" in capfd.readouterr().err
    assert not list(tmp_path.glob("gs:*"))


def test_what_the_released_package_has_read_of_a_job_is_taken_over_once(job, board, tmp_path):
    at = time.time() - 1000
    lines = [{"job_name": job, "job_start_time": at}]
    lines += [{"job_name": job, "step_count": n, "step_start_time": at + 10 + n} for n in range(100)]
    lines += [{"job_name": job, "job_end_time": at + 110}]
    (tmp_path / f"{job}_timeline.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    answers = []
    for _ in range(2):
        calculator = goodput.GoodputCalculator(job, "log", cache_dir=str(tmp_path))
        answers.append(calculator.get_job_goodput())
    assert answers[0][0] == pytest.approx(100 / 110 * 100)
    assert answers[0][2] == 99
    assert answers[1] == answers[0]
    another = f"{job} elsewhere"
    (tmp_path / f"{another}_timeline.jsonl").symlink_to(tmp_path / f"{job}_timeline.jsonl")
    calculator = goodput.GoodputCalculator(another, "log", cache_dir=str(tmp_path))
    with pytest.raises(ValueError):
        calculator.get_job_goodput()


def test_figures_go_to_cloud_monitoring_where_a_project_is_named(job, board, google, service_account, monkeypatch):
    for name, value in google.environment(service_account).items():
        monkeypatch.setenv(name, value)
    options = goodput_utils.GCPOptions("project-1", "us-east5-a", "3", "TPU-v5p", "c1")
    monitor = monitor_of(job, board, gcp_options=options)
    train(job)
    monitor.start_rolling_window_goodput_uploader(3600)
    monitor.stop_rolling_window_goodput_uploader()
    monitor.start_goodput_uploader()
    monitor.stop_goodput_uploader()
    arrivals = google.monitoring.arrivals
    assert {kind.rsplit("/", 1)[-1] for kind, *_ in arrivals} == {
        *("goodput_time", "badput_time", "disruptions", "max_productive_steps", "step_time_deviation"),
        *("total_elapsed_time", "performance", "interval_goodput", "interval_badput"),
    }
    for kind, labels, where, *_ in arrivals:
        assert where == {"location": "us-east5-a", "workload_id": job, "replica_id": "3"}
        if not kind.endswith("performance"):
            assert (labels["accelerator_type"], labels["cluster_name"]) == ("TPU-v5p", "c1")


@pytest.mark.parametrize(("kind", "series"), [("rolling_window_goodput", {"interval_"}), ("step_deviation", set())])
def test_an_uploader_sends_its_own_series_only(job, board, google, service_account, monkeypatch, kind, series):
    for name, value in google.environment(service_account).items():
        monkeypatch.setenv(name, value)
    train(job)
    monitor = monitor_of(
        job, board, gcp_options=goodput_utils.GCPOptions("project-1", "l"), include_step_deviation=True
    )
    getattr(monitor, f"start_{kind}_uploader")(*([60] if series else []))
    getattr(monitor, f"stop_{kind}_uploader")()
    sent = {one.rsplit("/", 1)[-1] for one, *_ in google.monitoring.arrivals}
    assert {one[: len("interval_")] for one in sent} == series


def test_without_a_project_there_is_no_cloud_and_tensorboard_all_the_same(job, board, readers, monkeypatch, capfd):
    monkeypatch.setenv("GCE_METADATA_HOST", "127.0.0.1:1")
    monkeypatch.delenv("GOODPUT_QUIET")
    monitor = monitor_of(job, board, gcp_options=monitoring.GCPOptions())
    train(job)
    monitor.start_goodput_uploader()
    monitor.stop_goodput_uploader()
    assert readers.load(board / "goodput")["scalars"]["goodput/goodput"][-1][0] == 19
    assert "going on without: writing to Cloud Monitoring" in capfd.readouterr().err
