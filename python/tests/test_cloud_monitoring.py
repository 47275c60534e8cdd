"""What `goodput monitor --cloud-monitoring` writes, as the server that stands for Google took it.

SPDX-License-Identifier: Apache-2.0
"""

import json
import subprocess
import time

import goodput
import pytest
from google_fixtures import ROOT

GOODPUT = ROOT / "build/release/goodput"

# Which series 0.2.3 sends for an elastic job with a custom event and a rolling window: types, labels, kinds of value.
INCUMBENT = """
import json, sys
from types import SimpleNamespace
from ml_goodput_measurement.src import goodput_utils as u, monitoring as m
sent = []
sender = SimpleNamespace(send_metrics=lambda metrics, context=None: sent.extend(metrics))
badput = {kind: 1.0 for kind in u.BadputType}
badput[u.BadputType.CUSTOM_BADPUT_EVENTS] = {"EVAL": 1.0}
slices = {"stepping_slice_efficiency": 0.5, "available_slice_efficiency": 0.5}
totals = {"goodput_time": {u.GoodputType.TOTAL: 1.0}, "badput_time": badput, "disruption_count": 1, "max_productive_step": 1,
          "step_time_deviation": {1: 0.5, 2: 0.5}, "total_elapsed_time": 1.0, "ideal_step_time": 1.0, **slices}
window = {"interval_goodput": {u.GoodputType.TOTAL: 1.0}, "interval_badput": badput, "interval_size": 3600, **slices}
options = SimpleNamespace(location="us-east5-a", replica_id="0", acc_type="TPU-v5p", cluster_name="c1")
config = {"gcp_options": options, "job_name": sys.argv[1], "include_slice_efficiency": True}
m._upload_goodput_metrics_to_gcm(sender, totals, config)
m._upload_interval_goodput_metrics_to_gcm(sender, window, config)
print(json.dumps([[s["metric_type"], s.get("metric_labels", {}), s["resource_labels"], s["value_type"].name] for s in sent]))
"""


def record(job, steps=20, elastic=False):
    with goodput.Recorder(job) as rec, rec.job():
        if elastic:
            rec.slice_counts(active=2, total=4, available=3)
        for step in range(steps):
            with rec.step(step):
                time.sleep(0.002)
        with rec.custom("eval"):
            time.sleep(0.01)


def monitor(job, environment, *arguments, code=0):
    command = [GOODPUT, "monitor", job, "--cloud-monitoring", "project-1", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == code, done.stderr
    return done


def keys(arrivals):
    """[(type, labels, resource's labels, kind of value)] in an order."""
    kinds = {int: "INT", float: "DOUBLE"}
    found = [
        [kind, labels, where, "INT" if "disruptions" in kind or "max_prod" in kind else kinds[float]]
        for kind, labels, where, _, _ in arrivals
    ]
    return sorted(found, key=json.dumps)


def test_every_series_of_the_incumbent_arrives_with_its_labels_and_no_other(job, google, service_account, peers):
    record(job, elastic=True)
    google.metadata.values["instance/attributes/cluster-name"] = "c1"
    environment = google.environment(service_account)
    environment["GOODPUT_QUIET"] = ""
    done = monitor(job, environment, "--once", "--window", "1h")
    theirs = subprocess.run([peers, "-c", INCUMBENT, job], check=True, capture_output=True, text=True)
    expected = sorted(json.loads(theirs.stdout), key=lambda one: json.dumps([one[0], one[1], one[2], one[3]]))
    for one in expected:
        one[1] = dict(sorted(one[1].items()))
    ours = keys(google.monitoring.arrivals)
    for one in ours:
        one[1] = dict(sorted(one[1].items()))
    assert sorted(ours, key=json.dumps) == sorted(expected, key=json.dumps)
    assert len({one[0] for one in ours}) == 11
    assert f"{{'message': 'Sent Goodput metrics to GCM Monitoring.', 'metrics_count': {len(ours)}}}" in done.stderr


def test_values_are_the_reports(job, google, service_account):
    record(job)
    monitor(job, google.environment(service_account), "--once", "--window", "1h")
    report, points = goodput.report(job), google.monitoring.points

    def one(name):
        ((_, value),) = points(name)
        return value

    assert one("goodput_time") == pytest.approx(report.goodput_seconds)
    assert one("total_elapsed_time") == pytest.approx(report.elapsed_seconds)
    assert one("performance") == pytest.approx(report.ideal_step_time_seconds, abs=1e-8)
    assert one("step_time_deviation") == pytest.approx(report.step_time_deviation_seconds, abs=1e-8)
    assert one("max_productive_steps") == report.max_productive_step
    assert one("disruptions") == 0
    assert one("interval_goodput") == pytest.approx(report.goodput_percent, abs=1e-5)
    badput = {labels["badput_source"]: value for labels, value in points("badput_time")}
    assert badput["CUSTOM_BADPUT_EVENTS.EVAL"] == pytest.approx(report.custom_badput_seconds["EVAL"])
    assert sum(badput.values()) + one("goodput_time") == pytest.approx(report.elapsed_seconds)


def test_off_google_cloud_nothing_waits_and_options_name_what_no_machine_tells(job, google, service_account):
    record(job)
    environment = {**google.environment(service_account), "GCE_METADATA_HOST": "127.0.0.1:1"}
    start = time.monotonic()
    monitor(job, environment, "--once", "--cloud-cluster", "mine", "--cloud-replica", "7")
    assert time.monotonic() - start < 5
    (_, labels, where, _, _) = google.monitoring.arrivals[0]
    assert where == {"location": "global", "workload_id": job, "replica_id": "7"}
    assert (labels["cluster_name"], labels["accelerator_type"]) == ("mine", "UNKNOWN")


def test_more_series_than_a_call_takes_go_in_several(job, google, service_account):
    with goodput.Recorder(job) as rec, rec.job():
        rec.record_step(0)
        for i in range(250):
            with rec.custom(f"event-{i}"):
                pass
        rec.record_step(1)
    windows = [argument for hours in (1, 2, 3) for argument in ("--window", f"{hours}h")]
    monitor(job, google.environment(service_account), "--once", *windows)
    assert google.monitoring.calls == 2
    sources = [labels["badput_source"] for labels, _ in google.monitoring.points("badput_time")]
    assert len(sources) == len(set(sources)) == 64 + 1 + 9
    assert len(google.monitoring.points("interval_badput")) == 3 * len(sources)


def test_own_metrics_where_googles_are_not_open(job, google, service_account):
    record(job)
    prefix = "custom.googleapis.com/goodput/"
    monitor(job, google.environment(service_account), "--once", "--cloud-metric-prefix", prefix)
    assert {kind.rpartition("/")[0] + "/" for kind, *_ in google.monitoring.arrivals} == {prefix}
    assert google.monitoring.descriptors.find(prefix + "disruptions")["valueType"] == "INT64"


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        ({"kind": "status", "status": 429, "times": 2}, 1),
        ({"kind": "status", "status": 503, "times": 1}, 1),
        ({"kind": "reset", "times": 1}, 1),
        ({"kind": "garbage", "times": 1}, 1),
        ({"kind": "lost_answer", "times": 1}, 2),
    ],
)
def test_trouble_that_passes_loses_nothing(job, google, service_account, fault, calls):
    record(job)
    google.faults.add("/timeSeries", **fault)
    google.monitoring.write_period_seconds = 1
    monitor(job, google.environment(service_account), "--once", "--cloud-write-period", "1s")
    assert google.monitoring.calls == calls
    assert google.faults.left() == 0
    assert len(google.monitoring.points("goodput_time")) == calls  # more only where an answer was lost


def test_series_that_were_refused_are_sent_again_alone_a_period_later(job, google, service_account):
    record(job)
    google.faults.add("/timeSeries", kind="partial", indexes=[0, 3], times=1)
    monitor(job, google.environment(service_account), "--once", "--cloud-write-period", "2s")
    arrivals = google.monitoring.arrivals
    seen = [json.dumps([kind, labels], sort_keys=True) for kind, labels, *_ in arrivals]
    assert len(seen) == len(set(seen))  # nothing twice
    assert google.monitoring.calls == 2
    first, again = arrivals[0], arrivals[-2:]
    assert {one[0].rpartition("/")[2] for one in again} == {"goodput_time", "badput_time"}
    assert all(one[4] - first[4] >= 2 * 10**9 for one in again)


def test_write_period_is_kept_however_often_the_monitor_looks(job, google, service_account):
    google.monitoring.write_period_seconds = 3
    environment = google.environment(service_account)
    command = [GOODPUT, "monitor", job, "--cloud-monitoring", "project-1", "--interval", "0.2s", "--wait", "--follow"]
    command += ["--cloud-write-period", "3s"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    record(job)
    time.sleep(4)
    record(job)  # one more attempt, so that the last word says something new
    process.terminate()
    _, told = process.communicate(timeout=30)
    assert process.returncode == 0, told
    ends = [end for kind, _, _, _, end in google.monitoring.arrivals if kind.endswith("goodput_time")]
    assert len(ends) >= 3
    assert all(later - earlier >= 3 * 10**9 for earlier, later in zip(ends, ends[1:]))
    assert google.monitoring.points("disruptions")[-1][1] == 1


def test_token_that_ends_is_replaced_without_loss(job, google, service_account):
    google.tokens.lifetime_seconds = 1  # over before it is asked for again
    record(job)
    google.faults.add("/timeSeries", kind="status", status=401, times=1)
    monitor(job, google.environment(service_account), "--once")
    assert google.monitoring.calls == 1
    assert google.tokens.issued == 2


@pytest.mark.parametrize(
    ("denied", "disabled", "says"),
    [({"monitoring.timeSeries.create"}, set(), "monitoring.timeSeries.create"), (set(), {"monitoring"}, "disabled")],
)
def test_missing_right_is_told_and_ends_at_once(job, google, service_account, denied, disabled, says):
    record(job)
    google.denied, google.disabled = denied, disabled
    environment = {**google.environment(service_account), "GOODPUT_QUIET": ""}
    start = time.monotonic()
    done = monitor(job, environment, "--once")
    assert time.monotonic() - start < 5
    assert "PERMISSION_DENIED" in done.stderr
    assert says in done.stderr


def test_server_that_hangs_holds_the_end_no_longer_than_allowed(job, google, service_account):
    record(job)
    google.faults.add("/timeSeries", kind="hang")
    start = time.monotonic()
    monitor(job, google.environment(service_account), "--once", "--flush-timeout", "1s", code=3)
    assert time.monotonic() - start < 3


def test_credentials_that_are_wrong_are_told_before_anything_starts(job, google, tmp_path):
    record(job)
    path = tmp_path / "key.json"
    path.write_text('{"type": "service_account", "client_email": "a"}')
    environment = {**google.environment(path), "GOODPUT_QUIET": ""}
    done = monitor(job, environment, "--once", code=2)
    assert f'the credential file {path}: the field "private_key" is missing' in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_metadata_server_that_is_not_ready_for_a_moment_loses_nothing(job, google, service_account):
    record(job)
    google.faults.add("/computeMetadata/", kind="status", status=503, times=2)
    google.metadata.values["instance/attributes/cluster-name"] = "c1"
    monitor(job, google.environment(service_account), "--once")
    assert google.faults.left() == 0
    for _, _, where, *_ in google.monitoring.arrivals:
        assert where["location"] == "us-east5-a"
    assert google.monitoring.calls == 1


def test_one_series_that_is_refused_for_good_leaves_the_sink_well(job, google, service_account):
    record(job)
    google.faults.add("/timeSeries", kind="partial", indexes=[3], word="INVALID_ARGUMENT", times=1)
    environment = {**google.environment(service_account), "GOODPUT_QUIET": ""}
    done = monitor(job, environment, "--once")
    assert f"'metrics_count': {len(google.monitoring.arrivals)}" in done.stderr
    assert "series left out for an hour: 1, of badput_time: " in done.stderr


def test_a_second_monitor_of_the_same_series_sends_nothing_and_names_the_first(job, google, service_account):
    record(job)
    google.monitoring.write_period_seconds = 0
    environment = {**google.environment(service_account), "GOODPUT_QUIET": ""}
    command = [GOODPUT, "monitor", job, "--cloud-monitoring", "project-1", "--follow", "--interval", "60s"]
    first = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    while google.monitoring.calls == 0:
        time.sleep(0.02)
    # The project is typed otherwise, the series are the same.
    command = [GOODPUT, "monitor", job, "--cloud-monitoring", "auto", "--once"]
    second = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert f"goodput monitor {job} (process {first.pid} on " in second.stderr
    assert google.monitoring.calls == 1
    monitor(job, environment, "--once", "--cloud-replica", "1")
    assert google.monitoring.calls == 2
    first.terminate()
    first.communicate(timeout=30)
