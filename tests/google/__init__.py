"""Google Cloud as goodput meets it, on this machine: token endpoint, metadata server, Cloud Logging, Cloud Monitoring;
in storage.py Cloud Storage, which is fake-gcs-server behind a proxy.

    with FakeGoogle() as google:
        google.faults.add("entries:write", kind="status", status=429, times=2)
        subprocess.run([...], env=google.environment(key_file))
        assert google.logging.payloads("projects/p/logs/l") == [...]

It enforces the limits that the real services document, and answers errors in their form. Between processes the same is
to be had over HTTP: `python3 -m tests.google` prints its port, and /control/… sets and tells (control.py).

SPDX-License-Identifier: Apache-2.0
"""

from .server import FakeGoogle

__all__ = ["FakeGoogle"]
