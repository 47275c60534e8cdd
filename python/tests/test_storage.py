"""Journals in a bucket of Cloud Storage: shipped by `goodput agent`, read with --store, whatever happens on the way.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import random
import re
import subprocess
import time

import goodput
import pytest
from google_fixtures import ROOT, record_until_killed
from receivers import eventually

GOODPUT = ROOT / "build/release/goodput"
STORE = "gs://bucket/jobs of/mine"
PREFIX = "jobs of/mine/"
SOAK = "GOODPUT_SOAK" in os.environ

# What Google's own client makes of what is there, and of the server.
OFFICIAL = """
import json, pathlib, sys
from google.api_core.exceptions import PreconditionFailed
from google.cloud import storage
client = storage.Client(project="p")
bucket = client.bucket("bucket")

def refused(call):
    try: call()
    except PreconditionFailed: return True
    return False

blob = bucket.blob("own/a b")
blob.upload_from_string(b"hello ", if_generation_match=0, checksum="crc32c")
first = blob.generation
twice = refused(lambda: bucket.blob("own/a b").upload_from_string(b"other", if_generation_match=0))
part = bucket.blob("own/part")
part.upload_from_string(b"world", if_generation_match=0)
stale = refused(lambda: bucket.blob("own/a b").compose([blob, part], if_generation_match=first + 1))
import time; time.sleep(1.1)
blob.compose([blob, part], if_generation_match=first)
kept = refused(lambda: part.delete(if_generation_match=1))
part.delete(if_generation_match=part.generation)
whole = bucket.blob("own/a b").download_as_bytes(checksum="crc32c").decode()
folder = pathlib.Path(sys.argv[2])
for found in client.list_blobs("bucket", prefix=sys.argv[1]):
    path = folder / found.name[len(sys.argv[1]):]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.download_as_bytes(checksum="crc32c"))
print(json.dumps([twice, stale, kept, whole, [b.name for b in client.list_blobs("bucket", prefix="own/")]]))
"""


def record(job, first, last, **options):
    with goodput.Recorder(job, **options) as rec, rec.job():
        for step in range(first, last):
            with rec.step(step):
                time.sleep(0.001)


def run(*arguments, code=0, **options):
    environment = {name: value for name, value in os.environ.items() if name != "GOODPUT_QUIET"}
    done = subprocess.run(
        [GOODPUT, *map(str, arguments)], capture_output=True, text=True, timeout=100, env=environment, **options
    )
    assert done.returncode == code, done.stderr
    return done


def agent(*arguments, code=0):
    return run("agent", "--to", STORE, "--once", *arguments, code=code)


def lasting(answer):
    """Of a report what does not depend on when it was asked for."""
    report = json.loads(answer)
    report.pop("as_of")
    return report


def uploads(storage):
    return [request for request, _ in storage.requests if request.startswith("POST /upload/")]


def files_below(folder):
    segments = [path for path in folder.rglob("*") if path.suffix in (".live", ".sealed")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in segments}


def shipped(storage):
    return {name.removeprefix(PREFIX): content for name, content in storage.objects(PREFIX).items()}


def all_steps(job):
    """Of the job in the bucket, in the order of the export."""
    lines = run("export", job, "--store", STORE).stdout.splitlines()
    return [payload["step_count"] for payload in map(json.loads, lines) if "step_start_time" in payload]


def assert_nothing_shrank(storage):
    for name in {name for name, _ in storage.writes}:
        sizes = storage.sizes(name)
        assert sizes == sorted(sizes), name
        if name.endswith(".sealed"):
            assert len(sizes) == 1, name


def test_the_bucket_mirrors_the_folder_and_answers_like_it(storage, readers, job, folder, tmp_path):
    record(job, 0, 50)
    record(job, 50, 80, process_index=1)
    agent()
    here = run("report", job, "--json").stdout  # seals nothing that was not sealed
    assert shipped(storage) == files_below(folder)
    assert lasting(run("report", job, "--store", STORE, "--json").stdout) == lasting(here)
    for command in ("attempts", "ranks", "disruptions"):
        assert json.loads(run(command, job, "--store", STORE, "--json").stdout) == json.loads(
            run(command, job, "--json").stdout
        )
    assert run("export", job, "--store", STORE).stdout == run("export", job).stdout
    assert json.loads(run("jobs", "--store", STORE, "--json").stdout)["jobs"][0]["job"] == job
    answer = readers(OFFICIAL, PREFIX, tmp_path / "copy")
    assert answer == [True, True, True, "hello world", ["own/a b"]]
    assert lasting(run("report", job, "--dir", tmp_path / "copy", "--json").stdout) == lasting(here)


def test_what_was_shipped_is_not_sent_again_nor_fetched_again(storage, job):
    record(job, 0, 20)
    agent()
    run("report", job, "--store", STORE)
    sent = len(uploads(storage))
    fetched = len(storage.requests)
    agent()
    assert len(uploads(storage)) == sent
    before = len(storage.requests)
    run("report", job, "--store", STORE)
    assert [request.split("?")[0] for request, _ in storage.requests[before:]] == ["GET /storage/v1/b/bucket/o"]
    assert fetched > sent


def test_what_the_bucket_has_no_longer_is_not_answered_from_the_mirror(storage, job):
    record(job, 0, 5)
    agent()
    first = set(storage.objects(PREFIX))
    record(job, 5, 9)
    agent()
    assert all_steps(job) == list(range(9))
    for name in first:
        storage.remove(name)
    assert all_steps(job) == list(range(5, 9))
    for name in storage.objects(PREFIX):
        storage.remove(name)
    assert "nothing is recorded there" in run("report", job, "--store", STORE, code=1).stderr
    record(job, 9, 12)  # an agent that starts again ships what this machine has
    agent()
    assert all_steps(job) == list(range(12))


def test_a_job_that_runs_is_copied_as_it_grows(storage, job):
    with goodput.Recorder(job) as rec, rec.job():
        for last in (10, 600):
            for step in range(last - 10 if last == 10 else 10, last):
                with rec.step(step):
                    pass
            agent()
            assert all_steps(job) == list(range(last))
            assert json.loads(run("report", job, "--store", STORE, "--json").stdout)["status"] == "running"
            time.sleep(1)  # between two writes of an object
        copies = [name for name in storage.objects(PREFIX) if name.endswith(".live")]
        assert copies
    agent()
    assert not [name for name in storage.objects(PREFIX) if name.endswith(".live")]
    assert all_steps(job) == list(range(600))
    assert json.loads(run("report", job, "--store", STORE, "--json").stdout)["status"] == "completed"
    assert_nothing_shrank(storage)


@pytest.mark.parametrize("kind", ["lost_answer", "reset", "429", "503"] if SOAK else ["lost_answer", "429"])
def test_trouble_on_the_way_costs_nothing(storage, job, folder, kind):
    record(job, 0, 20)
    how = {"kind": "status", "status": int(kind)} if kind.isdigit() else {"kind": kind}
    for request in ("POST /upload/", "GET /storage/v1/b/bucket/o?", "GET /download/"):
        storage.faults.add(request, **how, times=1)
    agent()
    assert all_steps(job) == list(range(20))
    assert not storage.faults.left()
    assert shipped(storage) == files_below(folder)
    assert_nothing_shrank(storage)


def test_while_the_bucket_is_out_of_reach_nothing_is_lost(storage, job, folder):
    storage.faults.add("/b/bucket/", "hang")
    running = subprocess.Popen([GOODPUT, "agent", "--to", STORE, "--interval", "0.2s", "--flush-timeout", "5s"])
    try:
        record(job, 0, 20)
        eventually(lambda: storage.requests, 20)
        assert not storage.objects(PREFIX)
        storage.faults.clear()
        eventually(lambda: shipped(storage) and shipped(storage) == files_below(folder), 30)
    finally:
        running.terminate()
        assert running.wait(20) == 0
    assert all_steps(job) == list(range(20))


def test_a_bucket_that_is_not_there_is_said(storage, job):
    record(job, 0, 5)
    done = run("agent", "--to", "gs://another/x", "--once", "--flush-timeout", "1s", code=3)
    assert "gs://another/x" in done.stderr
    assert "there is no such bucket" in run("report", job, "--store", "gs://another/x", code=3).stderr
    assert "nothing is recorded there" in run("report", job, "--store", STORE, code=1).stderr
    assert "a bucket's name has" in run("report", job, "--store", "gs:///x", code=2).stderr
    agent()
    assert all_steps(job) == list(range(5))


def test_an_agent_that_is_killed_loses_and_doubles_nothing(storage, job, folder):
    chance = random.Random(7)
    with goodput.Recorder(job) as rec, rec.job():
        step = 0
        for _ in range(200 if SOAK else 8):
            running = subprocess.Popen([GOODPUT, "agent", "--to", STORE, "--interval", "0.1s"])
            step = record_until_killed(rec, step, running, chance.uniform(0.1, 0.9), step_seconds=0.0002)
    agent()
    assert all_steps(job) == list(range(step))
    assert shipped(storage) == files_below(folder)
    assert_nothing_shrank(storage)


TRAINER = """
import os, signal, sys, goodput
with goodput.Recorder(sys.argv[1]) as rec, rec.job():
    for step in range(100):
        with rec.step(step): pass
    print("recorded", flush=True)
    sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_disk_that_lost_what_it_had_shown_takes_nothing_from_the_bucket(storage, job, folder):
    trainer = subprocess.Popen(
        [ROOT / ".venv/bin/python", "-c", TRAINER, job], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert trainer.stdout.readline() == "recorded\n"
    agent()
    trainer.communicate("\n")
    live = min(folder.rglob("*.live"))  # others are prepared only
    content = bytearray(live.read_bytes())
    content[8192 + 40 * 32 : 8192 + 12 * 4096] = bytes(12 * 4096 - 40 * 32)  # its runs, but for the first slots
    live.write_bytes(content)
    time.sleep(3.5)  # until its process counts as dead
    run("report", job)
    agent()
    agent()
    assert re.search(r"\.sealed$", "\n".join(storage.objects(PREFIX)), re.MULTILINE)
    assert all_steps(job) == list(range(100))


def test_the_drop_in_copies_a_journal_and_finds_it_on_another_machine(storage, job, folder, monkeypatch, caplog):
    from ml_goodput_measurement.src import bucket_store
    from ml_goodput_measurement.src.goodput import GoodputCalculator

    record(job, 0, 50)
    for path in ("gs://bucket", "gs://bucket/deep/er"):
        here = GoodputCalculator(job, "logger", gcs_path=path)
        here.sync_to_gcs()
        answered = here.get_job_goodput(include_badput_breakdown=True)
        with monkeypatch.context() as elsewhere:
            elsewhere.setenv("GOODPUT_DIR", str(folder.parent / "elsewhere"))
            there = GoodputCalculator(job, "logger", gcs_path=path)
            assert there.get_job_goodput(include_badput_breakdown=True) == answered
    assert not caplog.records
    monkeypatch.setattr(bucket_store._program, "path", lambda: "/nonexistent/goodput")
    GoodputCalculator(job, "logger", gcs_path="gs://bucket").sync_to_gcs()
    assert "is not copied to gs://bucket" in caplog.text


def test_a_monitor_elsewhere_follows_what_arrives(storage, readers, job, folder):
    board = folder.parent / "board"
    command = [GOODPUT, "monitor", job, "--dir", folder.parent / "elsewhere", "--store", STORE]
    shipping = subprocess.Popen([GOODPUT, "agent", "--to", STORE, "--interval", "0.2s"])
    try:
        with goodput.Recorder(job) as rec, rec.job():
            rec.record_step(0)
            eventually(lambda: storage.objects(PREFIX), 20)
            watcher = subprocess.Popen([*command, "--tensorboard", board, "--interval", "0.3s", "--linger", "0s"])
            for step in range(1, 60):
                rec.record_step(step)
                time.sleep(0.05)
        assert watcher.wait(30) == 0
    finally:
        shipping.kill()
        shipping.wait()
    seen = readers.load(board / "goodput")["scalars"]
    assert [step for step, _ in seen["step_time_seconds"]] == list(range(59))  # of the last one no end is known
    assert len({step for step, _ in seen["goodput/goodput"]}) >= 2, "it saw the job grow"
