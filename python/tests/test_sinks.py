"""What `goodput monitor` sends over HTTP, taken by the programs that it is for: OpenTelemetry's own messages, Prometheus.

SPDX-License-Identifier: Apache-2.0
"""

import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import goodput
import pytest
from receivers import FAULTS, Prometheus, Receiver, eventually, free_port, otlp_logs, otlp_values, unpacked

ROOT = Path(__file__).parents[2]
GOODPUT = ROOT / "build/release/goodput"
SOAK = os.environ.get("GOODPUT_SOAK") == "1"

# Decodes requests with the messages that OpenTelemetry publishes; what they do not know is an error.
DECODE = """
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

def attributes(holder):
    return {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in holder.attributes}

def fields_unknown(message):
    from google.protobuf import unknown_fields
    count = len(unknown_fields.UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            count += sum(map(fields_unknown, value if field.is_repeated else [value]))
    return count

def decoded(kind, path, form):
    body = open(path, "rb").read()
    message = json_format.Parse(body, kind()) if form == "http/json" else kind.FromString(body)
    assert fields_unknown(message) == 0
    return message

metrics = decoded(ExportMetricsServiceRequest, sys.argv[1], sys.argv[3])
logs = decoded(ExportLogsServiceRequest, sys.argv[2], sys.argv[3])
points = []
for metric in metrics.resource_metrics[0].scope_metrics[0].metrics:
    kind = metric.WhichOneof("data")
    for p in getattr(metric, kind).data_points:
        points.append([metric.name, kind, metric.unit, attributes(p), getattr(p, p.WhichOneof("value")), p.time_unix_nano])
print(json.dumps({
    "resource": attributes(metrics.resource_metrics[0].resource),
    "points": points,
    "logs": [[r.event_name, r.severity_number, r.body.string_value, attributes(r), r.time_unix_nano]
             for r in logs.resource_logs[0].scope_logs[0].log_records],
}))
"""

TRAIN = """
import sys, time, goodput
rec = goodput.Recorder(sys.argv[1])
first, steps, pause = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with rec.job():
    for step in range(first, first + steps):
        rec.record_step(step)
        time.sleep(pause)
"""


@pytest.fixture
def processes():
    """processes(command, …) starts one that the test's end ends."""
    started = []

    def start(*command, **options):
        started.append(subprocess.Popen([str(part) for part in command], **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def train(processes, job, first=0, steps=10**6, pause=0.005):
    return processes(sys.executable, "-c", TRAIN, job, first, steps, pause)


def record(job, steps, first=0):
    with goodput.Recorder(job) as rec, rec.job():
        for step in range(first, first + steps):
            with rec.step(step):
                time.sleep(0.002)


def run_monitor(job, *arguments, **environment):
    command = [GOODPUT, "monitor", job, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done


def metrics_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def sample(text, name, **labels):
    """The value of the one sample of that name with these labels among others; None when there is none."""
    wanted = {f'{key}="{value}"' for key, value in labels.items()}
    for line in text.splitlines():
        found = re.fullmatch(r"(\w+)\{(.*)\} (\S+)", line)
        if found and found[1] == name and wanted <= set(found[2].split(",")):
            return float(found[3])
    return None


@pytest.mark.parametrize("form", ["http/protobuf", "http/json"])
def test_opentelemetrys_own_messages_read_all_metrics_and_logs(job, tmp_path, readers, processes, form):
    trainer = train(processes, job)
    time.sleep(1)
    trainer.kill()
    trainer.wait()
    record(job, 20, first=10)
    with Receiver() as receiver:
        settings = {
            "OTEL_EXPORTER_OTLP_PROTOCOL": form,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_EXPORTER_OTLP_HEADERS": "api-key=a%20key",
            "OTEL_SERVICE_NAME": "training",
            "OTEL_RESOURCE_ATTRIBUTES": "k8s.cluster.name=c1",
        }
        run_monitor(job, "--once", "--window", "1h", "--otlp", receiver.url, **settings)
        assert [path for path, _, _ in receiver.requests] == ["/v1/metrics", "/v1/logs"]
        for path, headers, body in receiver.requests:
            assert headers["content-type"] == {"http/json": "application/json"}.get(form, "application/x-protobuf")
            assert headers["api-key"] == "a key"
            (tmp_path / path.rpartition("/")[2]).write_bytes(unpacked(headers, body))
    got = readers(DECODE, tmp_path / "metrics", tmp_path / "logs", form)
    assert got["resource"]["service.name"] == "training"
    assert got["resource"]["k8s.cluster.name"] == "c1"
    report = goodput.report(job)
    values = {(name, *sorted(labels.items())): value for name, _, _, labels, value, _ in got["points"]}
    of_job = ("job_name", job)
    assert values["ml.goodput.ratio", of_job] == pytest.approx(report.goodput_percent / 100, rel=1e-6)
    assert values["ml.goodput.ratio", of_job, ("window", "1h")] is not None
    assert values["ml.disruptions", of_job] == 1
    for source, seconds in report.badput_seconds.items():
        assert values["ml.badput.time", of_job, ("source", source)] == pytest.approx(seconds, rel=1e-6)
    assert len(values) == len(got["points"])
    kinds = {name: (kind, unit) for name, kind, unit, _, _, _ in got["points"]}
    assert kinds["ml.goodput.time"] == ("gauge", "s")
    assert kinds["goodput.exporter.updates"] == ("sum", "{update}")
    logs = {attributes["event_id"]: (event, attributes) for event, _, _, attributes, _ in got["logs"]}
    event, attributes = logs[f"{job}/disruption/0"]
    assert event == "ml.disruption"
    assert attributes["job_name"] == job
    assert attributes["resume_step"] == 10
    status = [attributes["status"] for event, attributes in logs.values() if event == "ml.job.status"]
    assert status == ["completed"]
    assert len(logs) == len(got["logs"])


def test_otlp_is_told_nothing_twice_by_monitors_one_after_the_other(job):
    record(job, 5)
    json_form = {"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
    with Receiver() as receiver:
        run_monitor(job, "--once", "--otlp", receiver.url, **json_form)
        record(job, 5, first=2)
        for _ in range(3):
            run_monitor(job, "--once", "--otlp", "env", OTEL_EXPORTER_OTLP_ENDPOINT=receiver.url, **json_form)
        ids = [record["attributes"]["event_id"].partition("/")[2] for record in otlp_logs(receiver)]
    assert len(ids) == len(set(ids))
    assert [name for name in ids if not name.startswith("status/")] == ["disruption/0"]
    assert len(receiver.bodies("/v1/metrics")) == 4


def test_a_disabled_sdk_sends_nothing(job):
    record(job, 3)
    with Receiver() as receiver:
        done = run_monitor(job, "--once", "--otlp", receiver.url, OTEL_SDK_DISABLED="true", GOODPUT_QUIET="")
        assert receiver.requests == []
        assert "OTEL_SDK_DISABLED" in done.stderr


def test_prometheus_takes_remote_writes(job, tmp_path):
    record(job, 20)
    with Prometheus(tmp_path / "prometheus") as prometheus:
        for _ in range(3):
            run_monitor(job, "--once", "--window", "1h", "--remote-write", prometheus.url + "/api/v1/write")
        report = goodput.report(job)
        assert prometheus.query("goodput_ratio{window=''}") == [
            (
                {"__name__": "goodput_ratio", "job_name": job},
                pytest.approx(report.goodput_percent / 100, rel=1e-6),
            )
        ]
        assert prometheus.query(f'count_over_time(max_productive_step{{job_name="{job}"}}[5m])')[0][1] == 3
        assert prometheus.query('job_status{status="completed"}')[0][1] == 1
        assert prometheus.query("goodput_exporter_updates_total")[0][1] == 1
        assert [labels["window"] for labels, _ in prometheus.query("goodput_ratio{window!=''}")] == ["1h"]


def test_prometheus_scrapes_a_monitor_and_promtool_has_nothing_to_say(job, tmp_path, processes):
    record(job, 20)
    port = free_port()
    processes(
        GOODPUT, "monitor", job, "--follow", "--interval", "0.5s", "--window", "1h",
        "--prometheus", f"127.0.0.1:{port}", "--tensorboard", tmp_path / "board",
    )  # fmt: skip
    with Prometheus(tmp_path / "prometheus", [f"127.0.0.1:{port}"]) as prometheus:
        wanted = f'goodput_ratio{{job_name="{job}",window=""}}'
        found = eventually(lambda: prometheus.query(wanted), 30)
        report = goodput.report(job)
        assert found[0][1] == pytest.approx(report.goodput_percent / 100, rel=1e-6)
        assert prometheus.query("goodput_exporter_sent_total")[0][1] >= 1
        assert prometheus.query("up")[0][1] == 1
    text = metrics_of(port)
    assert sample(text, "goodput_ratio", job_name=job) is not None
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def board_values(folder, tag):
    """Values of a scalar in the event files of a folder, as they came: after its tag, simple_value is field 2."""
    values = []
    for path in sorted(folder.glob("events.*")):
        for found in re.finditer(re.escape(tag.encode()) + rb"\x15(....)", path.read_bytes(), re.DOTALL):
            values.append(struct.unpack("<f", found[1])[0])
    return values


def test_a_killed_trainer_shows_in_every_exporter_within_two_intervals(job, tmp_path, processes, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    trainer = train(processes, job)
    port = free_port()
    board = tmp_path / "board"
    with Prometheus(tmp_path / "prometheus") as prometheus, Receiver() as receiver:
        processes(
            GOODPUT, "monitor", job, "--wait", "--follow", "--interval", "1s", "--prometheus", f"127.0.0.1:{port}",
            "--otlp", receiver.url, "--remote-write", prometheus.url + "/api/v1/write", "--tensorboard", board,
        )  # fmt: skip
        source = "INFRASTRUCTURE_RECOVERY"
        shown = {
            "prometheus": lambda: [sample(metrics_of(port), "badput_time_seconds", source=source) or 0],
            "remote write": lambda: [v for _, v in prometheus.query(f'badput_time_seconds{{source="{source}"}}')],
            "otlp": lambda: [v for labels, v in otlp_values(receiver, "ml.badput.time") if labels["source"] == source],
            "tensorboard": lambda: board_values(board / "goodput", "badput/infrastructure_recovery_from_disruption"),
        }
        eventually(lambda: board_values(board / "goodput", "goodput/goodput"), 20)
        eventually(lambda: prometheus.query("goodput_time_seconds > 0"), 20)
        time.sleep(1)
        assert not any(max(values(), default=0) > 0 for values in shown.values())
        trainer.kill()
        trainer.wait()
        killed = time.monotonic()
        first = {}
        while len(first) < len(shown):
            for name, values in shown.items():
                latest = max(values(), default=0)
                if latest > 0:
                    first.setdefault(name, latest)
            assert time.monotonic() - killed < 2.0, f"only {list(first)} shows it"
            time.sleep(0.05)
        for name, values in shown.items():
            eventually(lambda n=name, v=values: max(v(), default=0) > first[n] + 0.5, 10, name)


def rss_anon_kib(process):
    return int(re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())[1])


class Watched:
    """A monitor whose two HTTP sinks misbehave in one way, beside two that do not."""

    def __init__(self, processes, job, folder, fault):
        self.fault, self.board, self.port = fault, folder / f"board-{fault}", free_port()
        self.otlp, self.remote = Receiver(), Receiver()
        self.otlp.fault = self.remote.fault = fault
        self.process = processes(
            GOODPUT, "monitor", job, "--wait", "--follow", "--interval", "0.25s", "--flush-timeout", "3s",
            "--prometheus", f"127.0.0.1:{self.port}", "--tensorboard", self.board,
            "--otlp", self.otlp.url, "--remote-write", self.remote.url + "/api/v1/write",
        )  # fmt: skip


def test_endpoints_that_misbehave_harm_nobody_and_get_everything_in_the_end(job, tmp_path, processes, monkeypatch):
    """Every fault at once, each with a monitor of its own; a trainer dies and comes back meanwhile."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2000")
    seconds = 300 if SOAK else 20
    trainer = train(processes, job)
    watched = [Watched(processes, job, tmp_path, fault) for fault in FAULTS]
    time.sleep(2)
    trainer.kill()
    trainer.wait()
    time.sleep(2)
    trainer = train(processes, job, first=20)
    eventually(lambda: goodput.report(job).disruptions == 1, 10)
    time.sleep(1)
    before = [rss_anon_kib(each.process) for each in watched]
    time.sleep(seconds - 5)
    last_step = goodput.report(job).last_step
    for each, was in zip(watched, before, strict=True):
        assert rss_anon_kib(each.process) - was < 2048, each.fault
        # The others go on as if nothing were.
        text = eventually(lambda port=each.port: metrics_of(port), 5)
        assert time.time() - sample(text, "report_timestamp_seconds") < 2, each.fault
        assert sample(text, "goodput_exporter_failures_total", exporter=f"otlp {each.otlp.url}/v1/metrics") > 0
        assert len(board_values(each.board / "goodput", "step_time_seconds")) > 0.5 * last_step, each.fault
        assert each.otlp.requests == each.remote.requests == []
    for each in watched:
        each.otlp.fault = each.remote.fault = ""
    for each in watched:
        # Without being asked again: the longest pause so far was as long as the fault, but at most a minute.
        eventually(lambda e=each: e.otlp.bodies("/v1/logs") and e.remote.requests, min(2 * seconds, 80), each.fault)
        told = [record["attributes"] for record in otlp_logs(each.otlp)]
        statuses = [attributes["status"] for attributes in told if "status" in attributes]
        assert statuses[0] == statuses[-1] == "running", each.fault
        assert "down" in statuses, each.fault
        assert all(a != b for a, b in zip(statuses, statuses[1:], strict=False)), each.fault
        ids = [attributes["event_id"] for attributes in told]
        assert ids.count(f"{job}/disruption/0") == 1, each.fault
        assert len(ids) == len(set(ids)), each.fault
        each.otlp.fault = each.remote.fault = each.fault
    time.sleep(1)
    for each in watched:
        each.process.send_signal(signal.SIGTERM)
    asked = time.monotonic()
    for each in watched:
        code = each.process.wait(timeout=30)
        assert time.monotonic() - asked < 3 + 1.5, each.fault
        assert code == 3, each.fault


def test_a_monitor_killed_at_any_moment_loses_and_doubles_nothing(job, tmp_path, processes, monkeypatch, readers):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
    kills = 200 if SOAK else 20
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    board = tmp_path / "board"
    with Prometheus(tmp_path / "prometheus") as prometheus, Receiver() as receiver:
        arguments = ["--tensorboard", board, "--otlp", receiver.url]
        arguments += ["--remote-write", prometheus.url + "/api/v1/write"]
        trainer = train(processes, job)
        time.sleep(0.5)
        for kill in range(kills):
            process = processes(GOODPUT, "monitor", job, "--wait", "--follow", "--interval", "0.1s", *arguments)
            time.sleep(chance.uniform(0.02, 0.5))
            if kill % (kills // 4) == 2:
                trainer.kill()
                trainer.wait()
                trainer = train(processes, job, first=goodput.report(job).last_step + 1)
                time.sleep(0.3)
            process.kill()
            process.wait()
        trainer.kill()
        trainer.wait()
        record(job, 20, first=goodput.report(job).last_step + 1)
        run_monitor(job, "--once", *arguments)
        report = goodput.report(job)
        assert report.disruptions == 5
        run_monitor(job, "--once", "--tensorboard", tmp_path / "afresh")
        # Steps: each once, none left out.
        steps = [step_numbers(folder / "goodput") for folder in (board, tmp_path / "afresh")]
        assert steps[0] == steps[1], f"seed {seed}"
        # Records: each told, and when told again the same.
        by_id = {}
        records = otlp_logs(receiver)
        for told in records:
            assert by_id.setdefault(told["attributes"]["event_id"], told) == told, f"seed {seed}"
        assert len(records) - len(by_id) <= kills, f"seed {seed}"
        assert {f"{job}/disruption/{i}" for i in range(5)} <= set(by_id), f"seed {seed}"
        statuses = [told["attributes"]["status"] for told in by_id.values() if "status" in told["attributes"]]
        assert statuses[-1] == "completed", f"seed {seed}"
        assert all(a != b for a, b in zip(statuses, statuses[1:], strict=False)), f"seed {seed}"
        # Figures: the last ones stand, in order.
        assert prometheus.query("disruptions{window=''}")[0][1] == 5
        assert prometheus.query("goodput_time_seconds")[0][1] == pytest.approx(report.goodput_seconds, rel=1e-6)
        assert prometheus.query("resets(report_timestamp_seconds[1h])")[0][1] == 0


def step_numbers(folder):
    """The steps of step_time_seconds in the event files of a folder, as they stand."""
    steps = []
    for path in sorted(folder.glob("events.*")):
        content = path.read_bytes()
        at = 0
        while at + 12 <= len(content):
            (length,) = struct.unpack_from("<Q", content, at)
            event = content[at + 12 : at + 12 + length]
            if len(event) == length and b"step_time_seconds\x15" in event:
                steps.append(varint(event, 10) if event[9] == 0x10 else 0)
            at += 16 + length
    return steps


def varint(content, at):
    value = shift = 0
    while True:
        value |= (content[at] & 0x7F) << shift
        if content[at] < 0x80:
            return value
        at, shift = at + 1, shift + 7
