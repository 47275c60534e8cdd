"""What `goodput monitor` exports, read by the programs that it is for: TensorBoard and Prometheus' own parsers.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import goodput
import pytest

ROOT = Path(__file__).parents[2]
GOODPUT = ROOT / "build/release/goodput"

SERVE = """
import sys, time
from tensorboard import program
board = program.TensorBoard()
board.configure(argv=[None, "--logdir", sys.argv[1], "--port", "0", "--host", "127.0.0.1", "--samples_per_plugin", "scalars=100000"])
print(board.launch(), flush=True)
time.sleep(600)
"""

PARSE = """
import json, sys
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics
text = open(sys.argv[1]).read()
families = (openmetrics if sys.argv[2] == "openmetrics" else parser).text_string_to_metric_families(text)
print(json.dumps([[f.name, f.type, f.unit, [[s.name, s.labels, s.value] for s in f.samples]] for f in families]))
"""


def record(job, steps, first=0):
    with goodput.Recorder(job) as rec, rec.job():
        for step in range(first, first + steps):
            with rec.step(step):
                time.sleep(0.002)
        with rec.custom("eval"):
            time.sleep(0.01)


def monitor(job, *arguments):
    done = subprocess.run([GOODPUT, "monitor", job, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def serve(job, *arguments):
    """A monitor that serves /metrics, and the port that it says."""
    command = [GOODPUT, "monitor", job, *arguments, "--prometheus", "127.0.0.1:0"]
    talkative = {name: value for name, value in os.environ.items() if name != "GOODPUT_QUIET"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=talkative)
    for line in process.stderr:
        if found := re.search(r"127\.0\.0\.1:(\d+)", line):
            return process, int(found.group(1))
    raise AssertionError(f"goodput monitor ended with {process.wait()}")


def test_tensorboard_loads_what_is_written(job, tmp_path, readers):
    record(job, 50)
    monitor(job, "--once", "--window", "1h", "--tensorboard", tmp_path / "board")
    loaded = readers.load(tmp_path / "board/goodput")
    report = goodput.report(job)
    scalars = loaded["scalars"]
    assert scalars["goodput/goodput"] == [[49, pytest.approx(report.goodput_percent, rel=1e-6)]]
    assert [step for step, _ in scalars["step_time_seconds"]] == list(range(49))
    assert [step for step, _ in scalars["step_deviation"]] == list(range(49))
    assert scalars["badput/tpu_initialization"] == [[49, 0.0]]
    custom = 100 * report.custom_badput_seconds["EVAL"] / report.elapsed_seconds
    assert scalars["badput/custom_badput_events/eval"] == [[49, pytest.approx(custom, rel=1e-6)]]
    assert len(scalars["rolling_goodput/1h"]) == 1
    assert loaded["layout"]


def test_tensorboard_serves_each_step_once_after_the_monitor_was_killed(job, tmp_path, readers):
    record(job, 50)
    board = tmp_path / "board"
    arguments = [GOODPUT, "monitor", job, "--follow", "--interval", "0.1s", "--tensorboard", str(board)]
    for _ in range(3):
        process = subprocess.Popen(arguments)
        time.sleep(0.4)
        process.kill()
        process.wait()
    monitor(job, "--once", "--tensorboard", board)
    with subprocess.Popen([readers.python, "-c", SERVE, board], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = server.stdout.readline().strip()
            path = "data/plugin/scalars/scalars?run=goodput&tag=step_time_seconds"
            for _ in range(100):
                try:
                    points = json.load(urllib.request.urlopen(url + path, timeout=10))
                except (urllib.error.HTTPError, urllib.error.URLError):
                    points = []
                if len(points) >= 49:
                    break
                time.sleep(0.2)
            assert [step for _, step, _ in points] == list(range(49))
            layout = json.load(urllib.request.urlopen(url + "data/plugin/custom_scalars/layout", timeout=10))
            assert [category["title"] for category in layout["category"]] == ["goodput", "steps"]
        finally:
            server.kill()


def test_a_second_monitor_is_refused_by_the_folder_and_told_who_writes_there(job, tmp_path):
    record(job, 5)
    arguments = [GOODPUT, "monitor", job, "--tensorboard", str(tmp_path / "board")]
    first = subprocess.Popen([*arguments, "--follow"])
    try:
        lock = tmp_path / "board/goodput/.goodput.lock"
        while not (lock.exists() and lock.read_text()):
            time.sleep(0.01)
        second = subprocess.run([*arguments, "--once"], capture_output=True, text=True)
        assert second.returncode == 3
        assert f"goodput monitor {job} (process {first.pid} on" in second.stderr
    finally:
        first.terminate()
        assert first.wait(timeout=20) == 0


@pytest.mark.parametrize("form", ["text", "openmetrics"])
def test_prometheus_parsers_read_every_family(job, tmp_path, readers, form):
    record(job, 20)
    process, port = serve(job, "--follow", "--interval", "0.2s", "--window", "1h")
    try:
        accept = {"openmetrics": "application/openmetrics-text;version=1.0.0", "text": "text/plain"}[form]
        request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Accept": accept})
        for _ in range(100):
            text = urllib.request.urlopen(request, timeout=10).read().decode()
            if "goodput_ratio{" in text:
                break
            time.sleep(0.1)
        (tmp_path / "metrics").write_text(text)
        families = {name: samples for name, _, _, samples in readers(PARSE, tmp_path / "metrics", form)}
        report = goodput.report(job)
        assert families["goodput_ratio"][0] == [
            "goodput_ratio",
            {"job_name": job},
            pytest.approx(report.goodput_percent / 100, rel=1e-6),
        ]
        assert families["goodput_ratio"][1][1] == {"job_name": job, "window": "1h"}
        assert families["job_status"][-1] == ["job_status", {"job_name": job, "status": "completed"}, 1.0]
    finally:
        process.terminate()
        assert process.wait(timeout=20) == 0


def test_a_killed_trainer_shows_within_two_intervals(job, tmp_path, run_python):
    text = (
        "import sys, time, goodput\nrec = goodput.Recorder(sys.argv[1])\n"
        "with rec.job():\n for i in range(10**6):\n  rec.record_step(i)\n  time.sleep(0.01)\n"
    )
    trainer = subprocess.Popen([sys.executable, "-c", text, job])
    process, port = serve(job, "--wait", "--interval", "1s", "--linger", "2s")
    try:
        url = f"http://127.0.0.1:{port}/metrics"
        time.sleep(1.5)
        trainer.send_signal(signal.SIGKILL)
        trainer.wait()
        killed = time.monotonic()
        wanted = f'badput_time_seconds{{job_name="{job}",source="INFRASTRUCTURE_RECOVERY"}}'
        while wanted not in urllib.request.urlopen(url, timeout=10).read().decode():
            assert time.monotonic() - killed < 2.0
            time.sleep(0.05)
        assert process.wait(timeout=20) == 0  # it lingers, and ends
    finally:
        trainer.kill()
        process.kill()


def status_of(job):
    done = subprocess.run([GOODPUT, "monitor", job, "--status", "--json"], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout)["monitors"]


@pytest.mark.parametrize(("ending", "health"), [(signal.SIGTERM, "ended"), (signal.SIGKILL, "stale")])
def test_status_tells_how_a_monitor_is_and_how_it_was_started(job, tmp_path, monkeypatch, ending, health):
    record(job, steps=3)
    assert status_of(job) == (1, [])
    monkeypatch.setenv("GOODPUT_WINDOW", "1h 24h")
    monkeypatch.setenv("GOODPUT_INTERVAL", "0.2s")
    running = subprocess.Popen([GOODPUT, "monitor", job, "--tensorboard", tmp_path, "--follow"])
    try:
        deadline = time.monotonic() + 30
        while (found := status_of(job))[1] == [] or found[1][0]["sinks"][0]["sent"] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        code, (status,) = found
        assert (code, status["health"], status["pid"]) == (0, "running", running.pid)
        assert status["options"]["window"] == "1h 24h"
        assert status["options"]["interval"] == "0.2s"
        assert status["options"]["follow"] == "true"
        assert status["sinks"][0]["name"] == f"tensorboard {tmp_path}/goodput"
        assert status["sinks"][0]["failures"] == 0
    finally:
        running.send_signal(ending)
        running.wait(30)
    code, (status,) = status_of(job)
    assert (code, status["health"]) == (1, health)


def test_what_is_no_address_is_said_at_once_and_without_its_password(job):
    command = [GOODPUT, "monitor", job, "--wait", "--remote-write", "me:secret@collector"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert "--remote-write: it is no address" in done.stderr
    assert "secret" not in done.stderr
