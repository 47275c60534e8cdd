"""What the tests share: a folder of their own for journals, and what was recorded there.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import sys

import pytest
from goodput import _binding
from google_fixtures import google, key_pair, peers, service_account  # noqa: F401 fixtures for all


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where this test's journals are; nothing of the machine's own surroundings decides an identity."""
    for name in list(os.environ):
        if name.startswith(("GOODPUT_", "SLURM_", "TORCHELASTIC_", "JOBSET_")) or name in ("RANK", "PMI_RANK"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GOODPUT_DIR", str(tmp_path / "journals"))
    monkeypatch.setenv("GOODPUT_QUIET", "1")
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
