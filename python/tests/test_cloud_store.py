"""On Google Cloud a recorder's events go to Cloud Logging by themselves, and readers elsewhere find them there.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ml_goodput_measurement import goodput, measurement
from ml_goodput_measurement.src import cloud_store

ROOT = Path(__file__).parents[2]
GOODPUT = ROOT / "build/release/goodput"

# MaxText's calls; argv: job, first step, last step, seconds to stay.
TRAINER = """
import sys, time
sys.path.insert(0, "python/tests")
from consumers import MaxTextConfig, maxtext_recorder, maxtext_record, maxtext_event, MaxTextEvent
job, first, last, stay = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
recorder = maxtext_recorder(MaxTextConfig(run_name=job, tensorboard_dir=""))
maxtext_record(recorder, "record_job_start_time")
with maxtext_event(recorder, MaxTextEvent.TPU_INIT):
    time.sleep(0.02)
for step in range(first, last):
    with maxtext_event(recorder, MaxTextEvent.DATA_LOADING):
        time.sleep(0.001)
    maxtext_record(recorder, "record_step_start_time", step)
    time.sleep(0.004)
print("trained", flush=True)
time.sleep(stay)
maxtext_record(recorder, "record_job_end_time")
"""


@pytest.fixture
def off_google_cloud(monkeypatch, tmp_path):
    """No word of Google Cloud, whatever machine this is."""
    for name in ("PROJECT_ID", *cloud_store._HINTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture
def spawned(monkeypatch):
    """The command lines of what this process started."""
    calls = []
    monkeypatch.setattr(os, "posix_spawn", lambda path, arguments, *_, **__: calls.append(list(arguments)) or 1)
    return calls


class Cloud:
    """A machine on Google Cloud: its environment, its trainers and its agents."""

    def __init__(self, google, key_file, job):
        self.google, self.job = google, job
        self.log = f"projects/project-1/logs/goodput_{job}"
        self.environment = {
            **google.environment(key_file),
            "GOODPUT_AGENT_INTERVAL": "0.2s",
            "GOODPUT_AGENT_LINGER": "1s",
        }

    def train(self, first, last, stay=0.0):
        command = [sys.executable, "-c", TRAINER, self.job, str(first), str(last), str(stay)]
        process = subprocess.Popen(command, env=self.environment, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "trained\n"
        return process

    def agents(self):
        """Ids of the processes that ship the job."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--by-recorder" in words and f"--job={self.job}".encode() in words:
                found.append(int(folder.name))
        return found

    def payloads(self):
        return self.google.logging.payloads(self.log)

    def steps(self):
        return collections.Counter(int(each["step_count"]) for each in self.payloads() if "step_start_time" in each)

    def until(self, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.payloads()[-3:]
            time.sleep(0.05)


@pytest.fixture
def cloud(google, service_account, job):
    machine = Cloud(google, service_account, job)
    yield machine
    for agent in machine.agents():
        os.kill(agent, signal.SIGKILL)


def test_off_google_cloud_no_process_is_started(job, off_google_cloud, spawned):
    goodput.GoodputRecorder(job, "log", True).record_job_start_time()
    measurement.GoodputRecorder(job_name=job, logger_name="log", logging_enabled=True)
    assert spawned == []


@pytest.mark.parametrize(
    "store, shipped_to",
    [
        ("", "cloud-logging://auto/log"),
        ("auto", "cloud-logging://auto/log"),
        ("none", None),
        ("off", None),
        ("file:///somewhere", None),
        ("cloud-logging://p/other", "cloud-logging://p/other"),
    ],
)
def test_goodput_store_says_where_events_go(job, off_google_cloud, spawned, monkeypatch, store, shipped_to):
    monkeypatch.setenv("GOODPUT_STORE", store)
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    goodput.GoodputRecorder(job, "log", True)
    wanted = [] if shipped_to is None else [["goodput", "agent", "--by-recorder", f"--job={job}", f"--to={shipped_to}"]]
    assert spawned == wanted


def test_what_is_not_to_be_shipped_starts_nothing(job, off_google_cloud, spawned, monkeypatch):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    goodput.GoodputRecorder(job, "log", False)
    goodput.GoodputRecorder(job, "log", True, object())
    monkeypatch.setenv("GOODPUT_GOOGLE_CLIENT", "python")
    goodput.GoodputRecorder(job, "log", True)
    assert spawned == []


def test_a_program_that_is_not_there_costs_the_training_nothing(job, off_google_cloud, monkeypatch, recorded):
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "p")
    monkeypatch.setattr(cloud_store._program, "path", lambda: "/nonexistent/goodput")
    goodput.GoodputRecorder(job, "log", True).record_job_start_time()
    assert len(recorded(job)) == 1


def test_a_killed_trainer_is_shipped_to_its_end(cloud):
    trainer = cloud.train(0, 20, stay=60)
    cloud.until(cloud.agents)
    trainer.kill()
    # Whoever waits for the end of the trainer's output does not wait for the agent.
    assert trainer.communicate(timeout=5)[0] == ""
    cloud.until(lambda: any("process_exit_time" in payload for payload in cloud.payloads()))
    assert cloud.steps() == dict.fromkeys(range(20), 1)
    cloud.until(lambda: not cloud.agents())  # by itself, when the job is over


def test_two_ranks_and_a_restart_have_one_agent(cloud):
    ranks = [cloud.train(0, 5, stay=3) for _ in range(2)]
    cloud.until(lambda: len(cloud.agents()) == 1)
    for rank in ranks:
        assert rank.wait(20) == 0
    assert cloud.train(5, 10).wait(20) == 0
    cloud.until(lambda: set(cloud.steps()) == set(range(10)))
    assert len(cloud.agents()) <= 1
    cloud.until(lambda: not cloud.agents())


def test_a_service_that_is_down_at_first_gets_everything_later(cloud):
    cloud.google.faults.add("/v2/entries:write", "status", status=503)
    trainer = cloud.train(0, 10, stay=2.5)
    assert not cloud.steps()
    cloud.google.faults.clear()
    cloud.until(lambda: cloud.steps() == dict.fromkeys(range(10), 1))
    trainer.kill()
    trainer.wait()


def test_an_agent_without_a_project_ends_and_says_so(job, off_google_cloud, google, folder, tmp_path):
    google.metadata.values.clear()
    environment = {**google.environment(), "GOODPUT_AGENT_LINGER": "1s"}
    command = [GOODPUT, "agent", "--job", job, "--to", "cloud-logging://auto/log"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert "GOOGLE_CLOUD_PROJECT names one" in done.stderr
