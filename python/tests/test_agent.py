"""`goodput agent` ships what is recorded to Cloud Logging, as the server that stands for Google took it.

SPDX-License-Identifier: Apache-2.0
"""

import collections
import json
import os
import signal
import subprocess
import time

import goodput
import pytest
from google_fixtures import ROOT

GOODPUT = ROOT / "build/release/goodput"
LOG = "projects/project-1/logs/goodput_test"
STORE = "cloud-logging://project-1/goodput_test"

# What the incumbent's calculator makes of the payloads.
INCUMBENT = """
import json, sys
from ml_goodput_measurement import goodput
class Log:
    def __init__(self, payloads): self.payloads = payloads
    def write_cloud_logging_entry(self, entry): raise AssertionError
    def read_cloud_logging_entries(self, start_time=None, end_time=None, last_entry_info=None): return self.payloads, None
calculator = goodput.GoodputCalculator(sys.argv[1], "log", Log(json.load(sys.stdin)), cache_dir=sys.argv[2])
percent, badput, step = calculator.get_job_goodput(include_badput_breakdown=True)
print(json.dumps([percent, step, badput[goodput.BadputType.CUSTOM_BADPUT_EVENTS]]))
"""


def record(job, first, last):
    with goodput.Recorder(job) as rec, rec.job():
        with rec.accelerator_init():
            time.sleep(0.01)
        for step in range(first, last):
            with rec.step(step):
                time.sleep(0.002)
            if step == first + 2:
                with rec.custom("eval"):
                    time.sleep(0.02)


def agent(environment, *arguments, code=0):
    command = [GOODPUT, "agent", "--to", STORE, *map(str, arguments)]
    talkative = {name: value for name, value in environment.items() if name != "GOODPUT_QUIET"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=talkative)
    assert done.returncode == code, done.stderr
    return done


def steps_of(google, job):
    payloads = [payload for payload in google.logging.payloads(LOG) if payload["job_name"] == job]
    return collections.Counter(int(payload["step_count"]) for payload in payloads if "step_start_time" in payload)


def test_everything_is_shipped_once_and_the_next_agent_goes_on(google, service_account, job):
    environment = google.environment(service_account)
    record(job, 0, 30)
    agent(environment, "--once")
    assert steps_of(google, job) == dict.fromkeys(range(30), 1)
    shipped = len(google.logging.entries)
    agent(environment, "--once")
    assert len(google.logging.entries) == shipped, "nothing is new"
    record(job, 30, 40)
    agent(environment, "--once", "--job", job)
    assert steps_of(google, job) == dict.fromkeys(range(40), 1)


def test_trouble_on_the_way_costs_nothing(google, service_account, job):
    environment = google.environment(service_account)
    record(job, 0, 20)
    google.faults.add("/v2/entries:write", "status", status=503, times=1)
    google.faults.add("/v2/entries:write", "reset", times=1)
    agent(environment, "--once")
    assert not google.faults.left()
    assert steps_of(google, job) == dict.fromkeys(range(20), 1)


def test_a_missing_right_is_said_and_nothing_is_lost(google, service_account, job):
    environment = google.environment(service_account)
    record(job, 0, 5)
    google.denied.add("logging.logEntries.create")
    done = agent(environment, "--once", "--flush-timeout", "2s", code=3)
    assert "logging.logEntries.create" in done.stderr
    google.denied.clear()
    agent(environment, "--once")
    assert steps_of(google, job) == dict.fromkeys(range(5), 1)


@pytest.mark.parametrize("is_named", [False, True])
def test_what_a_job_that_is_over_left_unsent_is_tried_on(google, service_account, job, is_named):
    record(job, 0, 5)
    google.denied.add("logging.logEntries.create")
    command = [GOODPUT, "agent", "--to", STORE, "--interval", "0.2s", "--linger", "0.3s", "--flush-timeout", "0.2s"]
    command += ["--job", job] if is_named else []
    running = subprocess.Popen(command, env=google.environment(service_account))
    try:
        time.sleep(2)  # the job is over for longer than it is watched
        assert not steps_of(google, job)
        google.denied.clear()
        deadline = time.monotonic() + 30
        while len(steps_of(google, job)) < 5:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        if not is_named:  # which ends by itself then
            running.terminate()
        assert running.wait(20) == 0
    assert steps_of(google, job) == dict.fromkeys(range(5), 1)


def test_an_agent_of_many_jobs_ends_within_the_time_of_one(google, service_account, job):
    for number in range(8):
        record(f"{job}-{number}", 0, 3)
    google.denied.add("logging.logEntries.create")
    command = [GOODPUT, "agent", "--to", STORE, "--interval", "0.5s", "--flush-timeout", "2s"]
    running = subprocess.Popen(command, env=google.environment(service_account))
    time.sleep(1.5)
    asked = time.monotonic()
    running.terminate()
    assert running.wait(30) == 3
    assert time.monotonic() - asked < 8


def test_a_sign_of_life_that_was_refused_is_sent_when_it_may(google, service_account, job):
    google.denied.add("logging.logEntries.create")
    command = [GOODPUT, "agent", "--to", STORE, "--interval", "0.2s", "--flush-timeout", "1s"]
    with goodput.Recorder(job) as rec, rec.job():
        rec.record_step(0)
        running = subprocess.Popen(command, env=google.environment(service_account))
        try:
            time.sleep(2.5)  # signs of life were chosen, and refused
            google.denied.clear()
            deadline = time.monotonic() + 15  # half the time after which the next one is due
            while not any("heartbeat_time" in payload for payload in google.logging.payloads(LOG)):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            running.kill()
            running.wait()


def test_an_agent_that_is_killed_loses_and_doubles_nothing(google, service_account, job):
    environment = google.environment(service_account)
    with goodput.Recorder(job) as rec, rec.job():
        for step in range(200):
            with rec.step(step):
                time.sleep(0.005)
            if step % 40 == 0:
                command = [GOODPUT, "agent", "--to", STORE, "--interval", "0.1s"]
                running = subprocess.Popen(command, env=environment)
            if step % 40 == 30:
                running.send_signal(signal.SIGKILL)
                running.wait()
    agent(environment, "--once")
    assert steps_of(google, job) == dict.fromkeys(range(200), 1)


def test_an_agent_of_one_job_ends_with_it(google, service_account, job):
    record(job, 0, 5)
    agent(google.environment(service_account), "--job", job, "--interval", "0.2s", "--linger", "0.5s")
    assert sum(steps_of(google, job).values()) == 5


def test_the_log_says_what_the_journals_say(google, service_account, job, peers, tmp_path):
    environment = google.environment(service_account)
    record(job, 0, 50)
    agent(environment, "--once")
    here = goodput.report(job)
    command = [GOODPUT, "report", job, "--store", STORE, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert there["elapsed_seconds"] == pytest.approx(here.elapsed_seconds, abs=1e-5)
    assert there["goodput_seconds"] == pytest.approx(here.goodput_seconds, abs=1e-5)
    assert there["badput_seconds"] == pytest.approx(dict(here.badput_seconds), abs=1e-5)
    assert (there["last_step"], there["status"]) == (49, "completed")
    payloads = [payload for payload in google.logging.payloads(LOG) if payload["job_name"] == job]
    incumbent = subprocess.run(
        [peers, "-c", INCUMBENT, job, tmp_path], input=json.dumps(payloads), capture_output=True, text=True
    )
    assert incumbent.returncode == 0, incumbent.stderr
    percent, step, custom = json.loads(incumbent.stdout.splitlines()[-1])
    assert step == 49
    share = 100 * here.custom_badput_seconds["EVAL"] / here.elapsed_seconds
    assert custom == {"EVAL": pytest.approx(share, rel=0.01)}
    assert percent == pytest.approx(here.goodput_percent, abs=5)  # it counts loading and the last step otherwise


def test_a_job_that_the_log_does_not_have_is_no(google, service_account, job):
    command = [GOODPUT, "report", job, "--store", STORE]
    done = subprocess.run(command, capture_output=True, text=True, env=google.environment(service_account))
    assert done.returncode == 1
    assert "it has no entries of it" in done.stderr


def test_without_a_place_to_ship_to_it_says_so():
    environment = {name: value for name, value in os.environ.items() if name != "GOODPUT_STORE"}
    done = subprocess.run([GOODPUT, "agent"], capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "give --to cloud-logging://PROJECT/LOG" in done.stderr


def test_a_store_that_cannot_be_read_is_said(job):
    record(job, 0, 2)
    done = subprocess.run([GOODPUT, "report", job, "--store", "s3://bucket/x"], capture_output=True, text=True)
    assert done.returncode == 2
    assert '"s3://bucket/x": it is not cloud-logging://PROJECT/LOG' in done.stderr
