"""On Google Cloud a recorder's events go to Cloud Logging by themselves, and readers elsewhere find them there.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import json
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
    for name in ("GOODPUT_STORE", "PROJECT_ID", *cloud_store._HINTS):
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
            "GOODPUT_STORE": "auto",
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
    where = f"--dir={os.environ['GOODPUT_DIR']}"
    agent = ["goodput", "agent", where, "--by-recorder", f"--job={job}", f"--to={shipped_to}"]
    assert spawned == ([] if shipped_to is None else [agent])


def test_an_agent_whose_log_cannot_be_written_ships_all_the_same(cloud):
    (Path(os.environ["GOODPUT_DIR"]) / f"agent-{os.geteuid()}.log").mkdir(parents=True)
    assert cloud.train(0, 5).wait(20) == 0
    cloud.until(lambda: len(cloud.steps()) == 5)


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
    cloud.until(lambda: len(cloud.steps()) == 20)
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


# On another machine: what a calculator answers.
CALCULATOR = """
import json, sys
from ml_goodput_measurement import goodput, goodput_elastic
kind = goodput_elastic.ElasticGoodputCalculator if "elastic" in sys.argv[2:] else goodput.GoodputCalculator
retention = float(sys.argv[3]) if len(sys.argv) > 3 else None
calculator = kind(job_name=sys.argv[1], logger_name=f"goodput_{sys.argv[1]}", max_logs_retention_period=retention)
percent, badput, step = calculator.get_job_goodput(include_badput_breakdown=True)
seconds = calculator.get_job_goodput_details()
print(json.dumps([step, seconds["goodput_time"][goodput.GoodputType.TOTAL], seconds["total_elapsed_time"],
                  {kind.name: value for kind, value in badput.items()}, len(calculator.get_step_deviation())]))
"""

# The same of 0.2.3, whose client is led to the server that stands for Google.
INCUMBENT = """
import json, sys
from google.cloud import logging
sys.path.insert(0, "tests/google")
from ml_goodput_measurement import goodput
percent, badput, step = 0, 0, 0
class Log(goodput._CloudLogger):
    def __init__(self): pass
    def write_cloud_logging_entry(self, entry): raise AssertionError
    def read_cloud_logging_entries(self, start_time=None, end_time=None, last_entry_info=None):
        return json.load(sys.stdin), None
calculator = goodput.GoodputCalculator(sys.argv[1], f"goodput_{sys.argv[1]}", Log(), cache_dir=sys.argv[2])
percent, badput, step = calculator.get_job_goodput(include_badput_breakdown=True)
print(json.dumps([percent, step]))
"""


@pytest.fixture
def elsewhere(cloud, tmp_path):
    """elsewhere(*command) → the finished process, on a machine that has no journal of the job."""

    def run(*command, **variables):
        environment = {**cloud.environment, "GOODPUT_DIR": str(tmp_path / "elsewhere"), **variables}
        return subprocess.run(
            [*map(str, command)], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60
        )

    return run


def calculated(run, job, *arguments, **variables):
    done = run(sys.executable, "-c", CALCULATOR, job, *arguments, **variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def killed_run(cloud):
    """Two attempts, the first of them killed; all of it shipped."""
    first = cloud.train(0, 20, stay=60)
    cloud.until(lambda: len(cloud.steps()) == 20)
    first.kill()
    first.wait()
    assert cloud.train(15, 30).wait(20) == 0
    cloud.until(lambda: not cloud.agents())


def test_a_calculator_elsewhere_answers_as_one_where_it_was_recorded(cloud, job, elsewhere, peers, tmp_path):
    killed_run(cloud)
    here = calculated(elsewhere, job, GOODPUT_DIR=os.environ["GOODPUT_DIR"])
    asked = len(cloud.google.requests)
    there = calculated(elsewhere, job)
    assert len(cloud.google.requests) > asked, "it has no journal"
    assert here[0] == there[0] == 29
    assert there[1:3] == pytest.approx(here[1:3], abs=1e-4)
    assert there[3].pop("CUSTOM_BADPUT_EVENTS") == here[3].pop("CUSTOM_BADPUT_EVENTS") == {}
    assert there[3] == pytest.approx(here[3], abs=1e-3)
    assert there[4] == here[4]
    assert "receiveTimestamp" not in cloud.google.logging.filters[-1]
    assert calculated(elsewhere, job, "elastic")[1] == pytest.approx(here[1], abs=1e-4)
    assert "receiveTimestamp" in cloud.google.logging.filters[-1], "what was read is not read again"
    incumbent = subprocess.run(
        [peers, "-c", INCUMBENT, job, tmp_path], input=json.dumps(cloud.payloads()), capture_output=True, text=True
    )
    assert incumbent.returncode == 0, incumbent.stderr
    assert json.loads(incumbent.stdout.splitlines()[-1])[1] == 29


def test_a_job_that_is_nowhere_is_a_value_error_that_names_where_it_was_looked_for(cloud, job, elsewhere):
    done = elsewhere(sys.executable, "-c", CALCULATOR, job)
    assert "ValueError" in done.stderr
    assert f"cloud-logging://project-1/goodput_{job}: it has no entries of it" in done.stderr


def store_of(job):
    return f"cloud-logging://project-1/goodput_{job}"


def test_commands_and_functions_read_a_store(cloud, job, elsewhere):
    killed_run(cloud)
    for command in ("report", "attempts", "disruptions", "ranks"):
        named = elsewhere(GOODPUT, command, job, "--store", store_of(job), "--json")
        assert named.returncode == 0, named.stderr
        usual = elsewhere(GOODPUT, command, job, "--json", GOODPUT_STORE=store_of(job))
        assert usual.returncode == 0, usual.stderr
    text = "import goodput, sys; print(goodput.report(sys.argv[1], store=sys.argv[2]).last_step)"
    assert elsewhere(sys.executable, "-c", text, job, store_of(job)).stdout == "29\n"
    # Bounded by the retention period there is nothing: all of it is older.
    done = elsewhere(sys.executable, "-c", CALCULATOR, job, "plain", "0.5")
    assert "ValueError" in done.stderr
    assert "it has no entries of it of the last" in done.stderr
    command = [GOODPUT, "monitor", job, "--store", store_of(job), "--tensorboard", "board", "--once"]
    done = elsewhere(*command, "--retention", "0.5s")
    assert done.returncode != 0
    assert "it has no entries of it of the last" in done.stderr


def test_runs_of_a_name_are_told_apart_in_a_store(cloud, job, elsewhere):
    for run, last in (("first", 5), ("second", 8)):
        cloud.environment["GOODPUT_RUN_ID"] = run
        assert cloud.train(0, last).wait(20) == 0
    cloud.until(lambda: not cloud.agents())

    def last_step(name):
        done = elsewhere(GOODPUT, "report", name, "--store", store_of(job), "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["last_step"]

    assert (last_step(job), last_step(f"{job}@first"), last_step(f"{job}@second")) == (7, 4, 7)


def test_a_monitor_elsewhere_follows_the_log_and_goes_on_where_it_was(cloud, job, elsewhere, readers, tmp_path):
    trainer = cloud.train(0, 20, stay=60)
    cloud.until(lambda: len(cloud.steps()) == 20)
    environment = {**cloud.environment, "GOODPUT_DIR": str(tmp_path / "elsewhere")}
    board = tmp_path / "board"
    command = [GOODPUT, "monitor", job, "--store", store_of(job), "--tensorboard", board, "--interval", "0.5s"]

    def written():
        if not (board / "goodput").exists():
            return {}
        return readers.load(board / "goodput")["scalars"]

    watcher = subprocess.Popen(command, env=environment)
    try:
        cloud.until(lambda: len(written().get("step_time_seconds", [])) == 19, 30)
        watcher.kill()
        watcher.wait()
        trainer.kill()
        trainer.wait()
        questions = len(cloud.google.logging.filters)
        watcher = subprocess.Popen([*command, "--linger", "0.2s"], env=environment)
        assert cloud.train(20, 30).wait(20) == 0
        assert watcher.wait(60) == 0
    finally:
        watcher.kill()
        watcher.wait()
    assert all("receiveTimestamp" in question for question in cloud.google.logging.filters[questions:])
    steps = [step for step, _ in written()["step_time_seconds"]]
    assert steps == sorted(set(steps)), "each once"
    assert set(range(18)) | set(range(20, 29)) <= set(steps)


def test_a_drop_in_monitor_elsewhere_exports_what_the_log_says(cloud, job, elsewhere, readers, tmp_path):
    assert cloud.train(0, 10).wait(20) == 0
    cloud.until(lambda: not cloud.agents())
    text = """
import sys
from ml_goodput_measurement import monitoring
options = monitoring.GCPOptions(enable_gcp_goodput_metrics=False)
monitor = monitoring.GoodputMonitor(sys.argv[1], f"goodput_{sys.argv[1]}", sys.argv[2], 30, True, gcp_options=options)
monitor.start_goodput_uploader()
monitor.stop_goodput_uploader()
"""
    done = elsewhere(sys.executable, "-c", text, job, tmp_path / "board")
    assert done.returncode == 0, done.stderr
    assert readers.load(tmp_path / "board/goodput")["scalars"]["goodput/goodput"][-1][0] == 9
