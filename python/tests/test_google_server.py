"""Google's own clients are at home with the server that stands for Google in these tests, and meet its limits.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess

from google_fixtures import ROOT

LOGGING = """
import json, sys
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import logging
client = logging.Client(project="p", credentials=AnonymousCredentials(), _use_grpc=False,
                        client_options={"api_endpoint": sys.argv[1]})
logger = client.logger("goodput_x/y")
logger.log_struct({"job_name": "a \\"b\\"", "step_count": 5, "step_start_time": 1767225600.25}, severity="INFO")
batch = logger.batch()
for step in range(1500):
    batch.log_struct({"job_name": "j", "step_count": step}, severity="INFO", insert_id=f"{step:08d}",
                     timestamp=__import__("datetime").datetime.now(__import__("datetime").timezone.utc))
batch.commit(partial_success=True)
found = {}
names = {"quoted": 'jsonPayload.job_name="a \\\\"b\\\\""', "all": 'jsonPayload.job_name="j"',
         "late": 'jsonPayload.job_name="j" AND (jsonPayload.step_count>=1498 OR jsonPayload.step_count=3)',
         "none": 'severity>=WARNING jsonPayload.job_name="j"'}
for name, text in names.items():
    found[name] = [e.payload["step_count"] for e in logger.list_entries(filter_=text, page_size=1000000)]
try:
    logger.log_struct({"text": "x" * 300000})
    found["long"] = "written"
except exceptions.BadRequest as error:
    found["long"] = error.message
print(json.dumps(found))
"""

MONITORING = """
import json, sys, time
import grpc
from google.api_core import exceptions
from google.cloud import monitoring_v3 as m
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport
from google.cloud.monitoring_v3.types import CreateTimeSeriesSummary
transport = MetricServiceGrpcTransport(channel=grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}"))
client = m.MetricServiceClient(transport=transport)
def series(name, value, replica="0", **labels):
    one = m.TimeSeries()
    one.metric.type = "compute.googleapis.com/workload/" + name
    one.metric.labels.update(labels)
    one.resource.type = "compute.googleapis.com/Workload"
    one.resource.labels.update({"location": "us-east5-a", "workload_id": "j", "replica_id": replica})
    kind = "int64_value" if isinstance(value, int) else "double_value"
    seconds = time.time()
    interval = {"end_time": {"seconds": int(seconds), "nanos": int(seconds % 1 * 1e9)}}
    one.points = [m.Point({"interval": interval, "value": {kind: value}})]
    return one
def create(*all_series):
    try:
        client.create_time_series(name="projects/p", time_series=list(all_series))
        return "ok"
    except exceptions.GoogleAPICallError as error:
        summary = [d.success_point_count for d in error.details if isinstance(d, CreateTimeSeriesSummary)]
        summary += [CreateTimeSeriesSummary.deserialize(d.value).success_point_count for d in error.details
                    if hasattr(d, "type_url")]
        return [error.grpc_status_code.name, error.message, *summary]
found = {
    "good": create(series("goodput_time", 5.0, goodput_source="TOTAL", accelerator_type="a"), series("disruptions", 2)),
    "again": create(series("goodput_time", 6.0, goodput_source="TOTAL", accelerator_type="a"), series("max_productive_steps", 7)),
    "label": create(series("performance", 1.0, "1", accelerator_type="a")),
    "type": create(series("disruptions", 1.5, "1")),
    "many": create(*[series("performance", 1.0, str(i)) for i in range(201)]),
}
end = int(time.time()) + 1
interval = m.TimeInterval({"start_time": {"seconds": end - 100}, "end_time": {"seconds": end}})
def listed(name):
    text = f'metric.type="compute.googleapis.com/workload/{name}" AND resource.labels.workload_id="j"'
    request = {"name": "projects/p", "filter": text, "interval": interval, "view": m.ListTimeSeriesRequest.TimeSeriesView.FULL}
    return [[p.value.double_value or p.value.int64_value for p in s.points] for s in client.list_time_series(request=request)]
found["listed"] = [listed("goodput_time"), listed("max_productive_steps")]
print(json.dumps(found))
"""


def run(peers, text, *arguments):
    environment = {**os.environ, "NO_GCE_CHECK": "true"}
    done = subprocess.run(
        [peers, "-c", text, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_googles_logging_client_writes_and_finds_entries(google, peers):
    google.tokens.allows_anonymous = True
    found = run(peers, LOGGING, google.url)
    assert found["quoted"] == [5]
    assert found["all"] == list(range(1500))
    assert found["late"] == [3, 1498, 1499]
    assert found["none"] == []
    assert "exceeds maximum size" in found["long"]
    assert google.logging.entries[0]["logName"] == "projects/p/logs/goodput_x%2Fy"
    lists = [path for _, path in google.requests if path == "/v2/entries:list"]
    assert len(lists) == 5  # one more, since 1500 entries are two pages of what was clamped


def test_googles_monitoring_client_meets_the_same_checks_over_grpc(google, peers):
    google.tokens.allows_anonymous = True
    command = [peers, "-m", "tests.google.grpc_front", google.url]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as front:
        try:
            found = run(peers, MONITORING, front.stdout.readline().strip())
        finally:
            front.kill()
    assert found["good"] == "ok"
    code, message, stored = found["again"]
    assert (code, stored) == ("INVALID_ARGUMENT", 1)
    assert message.startswith(
        "One or more TimeSeries could not be written: One or more points were written more frequently"
    )
    assert message.endswith("timeSeries[0]")
    assert "Unrecognized metric labels: [accelerator_type]" in found["label"][1]
    assert "must be INT64" in found["type"][1]
    assert "between 1 and 200" in found["many"][1]
    assert found["listed"] == [[[5.0]], [[7]]]
