"""What a monitor sends to, for tests: an HTTP server that keeps what it gets and can be made to misbehave; Prometheus itself.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import gzip
import json
import socket
import socketserver
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


class Receiver:
    """Answers 200 to everything and keeps it, until `fault` names a way to misbehave; "" mends it."""

    def __init__(self):
        self.requests = []  # (path, headers, body), as they came
        self._fault = ""
        self._ended = threading.Event()
        receiver = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with contextlib.suppress(OSError):
                    receiver._serve(self.request)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._make = lambda port: Server(("127.0.0.1", port), Handler)
        self._server = self._make(0)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    @property
    def fault(self):
        return self._fault

    @fault.setter
    def fault(self, fault):
        self._fault = fault
        if fault == "refuse" and self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
        elif not self._server:
            self._server = self._make(self.port)
            threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def bodies(self, path):
        return [unpacked(headers, body) for at, headers, body in list(self.requests) if at == path]

    def _wait_while(self, fault):
        while self._fault == fault and not self._ended.wait(0.05):
            pass

    def _serve(self, connection):
        stream = connection.makefile("rb")
        while line := stream.readline():
            path = line.decode().split(" ")[1]
            headers = {}
            while (line := stream.readline().decode().strip()) != "":
                name, _, value = line.partition(": ")
                headers[name.lower()] = value
            body = stream.read(int(headers.get("content-length", 0)))
            if self._fault:
                self._misbehave(connection, self._fault)
                return
            self.requests.append((path, headers, body))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    def _misbehave(self, connection, fault):
        if fault == "hang":
            self._wait_while(fault)
        elif fault == "drip":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while self._fault == fault and not self._ended.wait(0.2):
                connection.sendall(b"x")
        elif fault == "garbage":
            connection.sendall(bytes(range(256)) * 64)
        elif fault == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif fault == "429":
            connection.sendall(b"HTTP/1.1 429 Too Many\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\nbusy")
        elif fault == "503":
            connection.sendall(b"HTTP/1.1 503 Broken\r\nContent-Length: 6\r\n\r\nbroken")


FAULTS = ["refuse", "hang", "drip", "garbage", "reset", "429", "503"]


def unpacked(headers, body):
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body


def otlp_logs(receiver):
    """The log records of OTLP's JSON as they came, each with its attributes as a dict."""
    records = []
    for body in receiver.bodies("/v1/logs"):
        for record in json.loads(body)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
            values = {a["key"]: next(iter(a["value"].values())) for a in record["attributes"]}
            records.append({**record, "attributes": values})
    return records


def otlp_values(receiver, name):
    """Each value of a metric in OTLP's JSON as it came, with its attributes."""
    values = []
    for body in receiver.bodies("/v1/metrics"):
        for metric in json.loads(body)["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]:
            if metric["name"] != name:
                continue
            for point in metric["gauge"]["dataPoints"]:
                attributes = {a["key"]: a["value"]["stringValue"] for a in point["attributes"]}
                values.append((attributes, point["asDouble"]))
    return values


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """Debian's Prometheus, with its remote write receiver, scraping `targets` every second."""

    def __init__(self, folder, targets=()):
        folder.mkdir()
        scrape = [{"job_name": "goodput", "static_configs": [{"targets": list(targets)}]}] if targets else []
        config = {"global": {"scrape_interval": "1s"}, "scrape_configs": scrape}
        (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        self.url = f"http://127.0.0.1:{free_port()}"
        command = [
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address={self.url.removeprefix('http://')}",
            "--web.enable-remote-write-receiver",
            "--log.level=warn",
        ]
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)

    def __enter__(self):
        for _ in range(300):
            try:
                urllib.request.urlopen(self.url + "/-/ready", timeout=5)
                return self
            except (urllib.error.URLError, OSError):
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.1)
        raise AssertionError(self.log.read_text())

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def query(self, expression):
        """[(labels, value), …] as its HTTP API answers."""
        url = f"{self.url}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        answer = json.load(urllib.request.urlopen(url, timeout=10))
        assert answer["status"] == "success", answer
        return [(each["metric"], float(each["value"][1])) for each in answer["data"]["result"]]


def eventually(condition, seconds, what=""):
    """The condition's first true value; fails when there is none for so long."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, what or condition
        time.sleep(0.05)
    return value
