"""`goodput monitor --tensorboard gs://…`: one object that only grows, as TensorBoard's own reader and Google's client see it.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import shutil
import subprocess
import time

import goodput
import pytest
from google_fixtures import ROOT, record_until_killed
from receivers import eventually

GOODPUT = ROOT / "build/release/goodput"
BOARD = "gs://bucket/boards/7b"
FOLDER = "boards/7b/goodput/"


def record(job, first, last):
    with goodput.Recorder(job) as rec, rec.job():
        for step in range(first, last):
            with rec.step(step):
                time.sleep(0.001)


def monitor(job, *arguments, code=0, board=BOARD):
    command = [GOODPUT, "monitor", job, "--tensorboard", board, *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "GOODPUT_QUIET"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert done.returncode == code, done.stderr
    return done


def event_files(storage):
    return {name: content for name, content in storage.objects(FOLDER).items() if "tfevents" in name}


def assert_one_file_that_grew(storage):
    (name,) = event_files(storage)
    sizes = storage.sizes(name)
    assert sizes == sorted(set(sizes)), sizes
    assert list(storage.objects(FOLDER)) == [name], "no part is left behind"
    return name


def assert_every_step_once(job, readers, folder):
    """As one look from the beginning writes them to a folder."""
    monitor(job, "--once", board=folder)
    seen = readers.load(f"{BOARD}/goodput")["scalars"]
    assert seen["step_time_seconds"] == readers.load(folder / "goodput")["scalars"]["step_time_seconds"]
    return seen


def test_the_readers_of_tensorboard_see_what_a_folder_would_have(storage, readers, job, tmp_path):
    record(job, 0, 30)
    monitor(job, "--once", "--window", "1h")
    monitor(job, "--once", "--window", "1h", board=tmp_path / "board")
    seen, local = readers.load(f"{BOARD}/goodput"), readers.load(tmp_path / "board/goodput")
    assert seen["layout"] and sorted(seen["scalars"]) == sorted(local["scalars"])
    assert seen["scalars"]["step_time_seconds"] == local["scalars"]["step_time_seconds"]
    assert len(seen["scalars"]["step_deviation"]) == 29  # the last one's length is not known


def test_monitors_one_after_the_other_go_on_in_one_object_by_what_is_new(storage, readers, job, tmp_path):
    for last in (400, 420, 440):
        record(job, last - (400 if last == 400 else 20), last)
        before = len(storage.requests)
        monitor(job, "--once")
        time.sleep(1)
    sent = sum(size for request, size in storage.requests[before:] if request.startswith("POST /upload/"))
    name = assert_one_file_that_grew(storage)
    assert len(storage.sizes(name)) == 3
    assert sent < storage.sizes(name)[0] / 2, "of what was there before nothing is sent again"
    assert len(assert_every_step_once(job, readers, tmp_path / "board")["goodput/goodput"]) == 3


@pytest.mark.parametrize(
    "kind", ["lost_answer", "reset", "status"] if "GOODPUT_SOAK" in os.environ else ["lost_answer"]
)
def test_trouble_on_the_way_neither_loses_nor_doubles(storage, readers, job, tmp_path, kind):
    record(job, 0, 20)
    monitor(job, "--once")
    record(job, 20, 40)
    for request in ("POST /upload/", "/compose?", "DELETE /"):
        storage.faults.add(request, kind, status=503, times=1)
    monitor(job, "--once")
    assert not storage.faults.left()
    name = assert_one_file_that_grew(storage)
    assert len(storage.sizes(name)) == 2
    assert_every_step_once(job, readers, tmp_path / "board")


def test_a_monitor_that_is_killed_at_any_moment_is_gone_on_from(storage, readers, job, tmp_path):
    chance = random.Random(11)
    with goodput.Recorder(job) as rec, rec.job():
        step = 0
        for _ in range(200 if "GOODPUT_SOAK" in os.environ else 4):
            command = [GOODPUT, "monitor", job, "--tensorboard", BOARD, "--interval", "0.2s", "--wait"]
            running = subprocess.Popen(command)
            step = record_until_killed(rec, step, running, chance.uniform(0.1, 1.5), step_seconds=0.002)
    monitor(job, "--once")
    assert_one_file_that_grew(storage)
    assert_every_step_once(job, readers, tmp_path / "board")


def test_while_the_bucket_is_out_of_reach_the_job_is_followed_on(storage, readers, job, tmp_path):
    storage.faults.add("/b/bucket/", "hang")
    command = [GOODPUT, "monitor", job, "--tensorboard", BOARD, "--interval", "0.2s", "--wait", "--linger", "0s"]
    running = subprocess.Popen(command)
    record(job, 0, 20)
    eventually(lambda: storage.requests, 20)
    storage.faults.clear()
    assert running.wait(30) == 0
    assert_one_file_that_grew(storage)
    assert_every_step_once(job, readers, tmp_path / "board")


def test_two_writers_of_one_machine_are_one_too_many(storage, job):
    record(job, 0, 5)
    command = [GOODPUT, "monitor", job, "--tensorboard", BOARD, "--follow", "--interval", "0.2s"]
    first = subprocess.Popen(command)
    try:
        eventually(lambda: event_files(storage), 20)
        assert f"process {first.pid}" in monitor(job, "--once", code=3).stderr
    finally:
        first.kill()
        first.wait()


@pytest.mark.skipif("GOODPUT_SOAK" not in os.environ, reason="each of them rests for seconds between two writes")
def test_two_writers_of_two_machines_go_on_behind_each_other(storage, readers, job, folder, tmp_path):
    record(job, 0, 20)
    here = subprocess.Popen([GOODPUT, "monitor", job, "--tensorboard", BOARD, "--follow", "--interval", "0.2s"])
    try:
        (name,) = eventually(lambda: event_files(storage), 20)
        shutil.copytree(folder, tmp_path / "elsewhere")
        monitor(job, "--once", "--dir", tmp_path / "elsewhere")
        before = len(storage.sizes(name))
        record(job, 20, 40)
        eventually(lambda: len(storage.sizes(name)) > before + 1, 30)
    finally:
        here.kill()
        here.wait()
    monitor(job, "--once")
    assert_one_file_that_grew(storage)
    assert_every_step_once(job, readers, tmp_path / "board")


def test_the_drop_in_takes_a_bucket_as_its_folder(storage, readers, job):
    from ml_goodput_measurement import monitoring

    record(job, 0, 20)
    watcher = monitoring.GoodputMonitor(
        job, "logger", BOARD, upload_interval=1, monitoring_enabled=True, skip_final_flush=True
    )
    watcher.start_goodput_uploader()
    eventually(lambda: event_files(storage), 20)
    watcher.stop_goodput_uploader()
    assert "goodput/goodput" in readers.load(f"{BOARD}/goodput")["scalars"]
