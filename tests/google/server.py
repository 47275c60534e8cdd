"""The HTTP server in front of all of it, and what a test holds in its hands.

SPDX-License-Identifier: Apache-2.0
"""

import http.server
import json
import os
import re
import threading

from .connection import Connection
from .errors import ApiError, why
from .faults import Faults
from .logging_api import CloudLogging
from .metadata import Metadata
from .monitoring import CloudMonitoring
from .tokens import Tokens

# What needs which permission, by method and path.
PERMISSIONS = [
    ("POST", r"/v2/entries:write", "logging.logEntries.create"),
    ("POST", r"/v2/entries:list", "logging.logEntries.list"),
    ("POST", r"/v3/projects/[^/]+/timeSeries", "monitoring.timeSeries.create"),
    ("GET", r"/v3/projects/[^/]+/timeSeries", "monitoring.timeSeries.list"),
    ("POST", r"/v3/projects/[^/]+/metricDescriptors", "monitoring.metricDescriptors.create"),
    ("GET", r"/v3/projects/[^/]+/metricDescriptors(/.+)?", "monitoring.metricDescriptors.get"),
    ("DELETE", r"/v3/projects/[^/]+/metricDescriptors/.+", "monitoring.metricDescriptors.delete"),
]


class FakeGoogle:
    def __init__(self, port=0):
        self.faults, self.tokens = Faults(), Tokens()
        self.metadata = Metadata(self.tokens)
        self.logging, self.monitoring = CloudLogging(), CloudMonitoring()
        self.denied = set()  # permissions that nobody has
        self.disabled = set()  # hosts whose API is not enabled: "logging", "monitoring"
        self.requests = []  # (method, path) of all that came
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Connection)
        self._server.google = self
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.faults.clear()
        self._server.shutdown()
        self._server.server_close()

    def serve_forever(self):
        self._server.serve_forever()

    def environment(self, credentials=None):
        """Variables that lead programs here instead of to Google."""
        variables = {
            "GOODPUT_LOGGING_ENDPOINT": self.url,
            "GOODPUT_MONITORING_ENDPOINT": self.url,
            "GCE_METADATA_HOST": f"127.0.0.1:{self.port}",
            "HOME": "/nonexistent",
        }
        if credentials is not None:
            variables["GOOGLE_APPLICATION_CREDENTIALS"] = str(credentials)
        return {**os.environ, **variables}

    def call(self, method, path, query, headers, body, fault):
        """The answer of an API as an object; ApiError."""
        self.tokens.check(headers.get("Authorization"))
        self._check_rights(method, path)
        request = _parse(body) if body else {}
        if path == "/v2/entries:write":
            return self.logging.write(request, len(body), fault)
        if path == "/v2/entries:list":
            return self.logging.list(request)
        what, rest = re.fullmatch(r"/v3/projects/[^/]+/([A-Za-z]+)(?:/(.+))?", path).groups()
        if what == "timeSeries":
            if method == "POST":
                return self.monitoring.create(request, fault)
            return self.monitoring.list(query)
        return self._descriptors(method, request, rest)

    def _descriptors(self, method, request, name):
        known = self.monitoring.descriptors
        if method == "POST":
            return known.create(request)
        if method == "DELETE":
            known.delete(name)
            return {}
        if name is None:
            return {"metricDescriptors": known.all()}
        if known.find(name) is None:
            raise ApiError("NOT_FOUND", f"Could not find descriptor for metric '{name}'.")
        return known.find(name)

    def _check_rights(self, method, path):
        needed = [right for verb, pattern, right in PERMISSIONS if verb == method and re.fullmatch(pattern, path)]
        if not needed:
            raise ApiError("NOT_FOUND", f"Method not found: {method} {path}")
        service = needed[0].partition(".")[0]
        if service in self.disabled:
            message = f"Cloud {service.capitalize()} API has not been used in project p before or it is disabled."
            raise ApiError("PERMISSION_DENIED", message, [why("SERVICE_DISABLED")])
        if needed[0] in self.denied:
            raise ApiError("PERMISSION_DENIED", f"Permission '{needed[0]}' denied on resource (or it may not exist).")


def _parse(body):
    def refuse(word):
        raise ApiError("INVALID_ARGUMENT", f"Invalid JSON payload received. Unexpected token: {word}")

    try:
        return json.loads(body, parse_constant=refuse)
    except ValueError as error:
        raise ApiError("INVALID_ARGUMENT", f"Invalid JSON payload received. {error}") from error
