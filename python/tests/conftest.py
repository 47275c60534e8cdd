"""What the tests share: a folder of their own for journals, and what was recorded there.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from goodput import _binding
from google_fixtures import google, key_pair, peers, service_account, storage  # noqa: F401 fixtures for all

ROOT = Path(__file__).parents[2]

LOAD = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0}).Reload()
tags = events.Tags()
print(json.dumps({
    "scalars": {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in tags["scalars"]},
    "tensors": {tag: [[e.step, [s.decode() for s in e.tensor_proto.string_val]] for e in events.Tensors(tag)]
                for tag in tags["tensors"] if tag != "custom_scalars__config__"},
    "layout": "custom_scalars__config__" in tags["tensors"],
}))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where this test's journals are; nothing of the machine's own surroundings decides an identity."""
    for name in list(os.environ):
        if name.startswith(("GOODPUT_", "SLURM_", "TORCHELASTIC_", "JOBSET_")) or name in ("RANK", "PMI_RANK"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GOODPUT_DIR", str(tmp_path / "journals"))
    monkeypatch.setenv("GOODPUT_QUIET", "1")
    monkeypatch.setenv("GOODPUT_STORE", "none")  # of a machine on Google Cloud, too
    return tmp_path / "journals"


@pytest.fixture
def job(request):
    """A job of this test alone: recorders of one job share a journal, so one that lives on must not meet the next."""
    return request.node.name


@pytest.fixture
def recorded():
    """recorded(job) → the payloads of its journals, in order, liveness left out."""

    def read(job, run_id=""):
        payloads = [json.loads(line) for line in _binding.journal_payloads(job, run_id).splitlines()]
        return [payload for payload in payloads if "heartbeat_time" not in payload]

    return read


@pytest.fixture
def run_python():
    """run_python(text) → the finished process of a fresh interpreter."""

    def run(text, *arguments, **options):
        options = {"timeout": 60, "capture_output": True, "text": True, **options}
        return subprocess.run([sys.executable, "-c", text, *arguments], **options)

    return run


@pytest.fixture(scope="session")
def readers():
    """readers(text, *arguments) → what the text prints in the readers' environment, as JSON.

    readers.load(folder) → the scalars, texts and layout that TensorBoard's own loader finds there.
    """
    subprocess.run(
        ["tools/venv", "build/readers", "bench/peers/readers.txt"], cwd=ROOT, check=True, capture_output=True
    )

    def run(text, *arguments):
        command = [ROOT / "build/readers/bin/python", "-c", text, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run.python = ROOT / "build/readers/bin/python"
    run.load = lambda folder: run(LOAD, folder)
    return run
