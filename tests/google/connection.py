"""One connection to the server: reads requests, strikes with faults, and gives each to whom it is for.

SPDX-License-Identifier: Apache-2.0
"""

import datetime
import http.server
import json
import os
import socket
import struct
import time
import urllib.parse

from . import control
from .errors import ApiError
from .metadata import BASE as METADATA
from .tokens import OAuthError


class Connection(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    @property
    def google(self):
        return self.server.google

    def _handle(self):
        url = urllib.parse.urlsplit(self.path)
        path = urllib.parse.unquote(url.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.google.requests.append((self.command, path))
        if path.startswith("/control/"):
            status, answer = control.handle(self.google, self.command, path, body)
            return self._answer(status, answer)
        fault = self.google.faults.take(path)
        if fault is not None and self._strike(fault):
            return None
        status, answer = self._ask(path, query, body, fault if fault and fault.kind == "partial" else None)
        if fault is not None and fault.kind == "lost_answer":
            return self._reset()
        return self._answer(status, answer, path)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _handle  # noqa: N815 what the base class calls

    def _ask(self, path, query, body, fault):
        try:
            if path.startswith("/token") or path == "/v1/token":
                return 200, self.google.tokens.answer(f"{self.google.url}{path}", body)
            if path.startswith(METADATA):
                return self.google.metadata.answer(path, self.headers)
            if path.endswith(":generateAccessToken"):
                return 200, self._impersonate()
            return 200, self.google.call(self.command, path, query, self.headers, body, fault)
        except OAuthError as error:
            return 400, error.body
        except ApiError as error:
            return error.http_status, error.body()

    def _impersonate(self):
        self.google.tokens.check(self.headers.get("Authorization"))
        ends = datetime.datetime.fromtimestamp(time.time() + self.google.tokens.lifetime_seconds, datetime.timezone.utc)
        return {"accessToken": self.google.tokens.issue("acting"), "expireTime": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def _answer(self, status, answer, path=""):
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(text.encode())))
        if path.startswith(METADATA):
            self.send_header("Metadata-Flavor", "Google")
        self.end_headers()
        self.wfile.write(text.encode())

    def _reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
        self.wfile = self.rfile = open(os.devnull, "r+b", buffering=0)  # noqa: SIM115 the base class closes it

    def _strike(self, fault):
        """Whether that was all of the answer."""
        if fault.kind in ("partial", "lost_answer"):
            return False
        if fault.kind == "status":
            word = fault.word or {429: "RESOURCE_EXHAUSTED", 401: "UNAUTHENTICATED", 500: "INTERNAL"}.get(
                fault.status, "UNAVAILABLE"
            )
            self._answer(fault.status, {"error": {"code": fault.status, "message": "as told", "status": word}})
        elif fault.kind == "hang":
            self.google.faults.ended.wait(fault.seconds)
            self._reset()
        elif fault.kind == "reset":
            self._reset()
        elif fault.kind == "garbage":
            self.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n")
            self.close_connection = True
        elif fault.kind == "drip":
            self._drip(fault)
        return True

    def _drip(self, fault):
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        ends = time.monotonic() + fault.seconds
        ended = self.google.faults.ended
        try:
            while time.monotonic() < ends and not ended.wait(0.05):
                self.wfile.write(b" ")
        except OSError:
            pass
        self._reset()
