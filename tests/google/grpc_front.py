"""Cloud Monitoring's gRPC door: hands each message to the HTTP server as JSON, so that one set of checks holds for both.

    python -m tests.google.grpc_front http://127.0.0.1:PORT        # prints the port that it serves

Runs where google-cloud-monitoring is installed. SPDX-License-Identifier: Apache-2.0
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from concurrent import futures

import grpc
from grpc_status import rpc_status

from google.cloud.monitoring_v3 import types
from google.protobuf import any_pb2, empty_pb2, json_format
from google.rpc import status_pb2

SERVICE = "google.monitoring.v3.MetricService"


def _detail(detail):
    packed = any_pb2.Any()
    if detail["@type"].endswith("CreateTimeSeriesSummary"):
        fields = {key: value for key, value in detail.items() if key != "@type"}
        packed.Pack(types.CreateTimeSeriesSummary.pb(types.CreateTimeSeriesSummary.from_json(json.dumps(fields))))
    else:
        json_format.ParseDict(detail, packed)
    return packed


class Front:
    def __init__(self, url):
        self._url = url

    def _ask(self, context, method, path, body=None):
        headers = {key: value for key, value in context.invocation_metadata() if key == "authorization"}
        message = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, message, headers, method=method)
        try:
            return json.load(urllib.request.urlopen(request, timeout=30))
        except urllib.error.HTTPError as error:
            said = json.load(error)["error"]
            status = status_pb2.Status(message=said["message"])
            status.code = getattr(grpc.StatusCode, said["status"]).value[0]
            status.details.extend(map(_detail, said.get("details", [])))
            context.abort_with_status(rpc_status.to_status(status))

    def create_time_series(self, request, context):
        message = json_format.MessageToDict(types.CreateTimeSeriesRequest.pb(request))
        self._ask(context, "POST", f"/v3/{message.pop('name')}/timeSeries", message)
        return empty_pb2.Empty()

    def list_time_series(self, request, context):
        message = json_format.MessageToDict(types.ListTimeSeriesRequest.pb(request))
        interval = {f"interval.{key}": value for key, value in message.get("interval", {}).items()}
        plain = {key: message[key] for key in ("filter", "view", "pageSize", "pageToken") if key in message}
        path = f"/v3/{message['name']}/timeSeries?{urllib.parse.urlencode({**plain, **interval})}"
        return types.ListTimeSeriesResponse.from_json(json.dumps(self._ask(context, "GET", path)))

    def create_metric_descriptor(self, request, context):
        message = json_format.MessageToDict(types.CreateMetricDescriptorRequest.pb(request))
        answer = self._ask(context, "POST", f"/v3/{message['name']}/metricDescriptors", message["metricDescriptor"])
        return json_format.ParseDict(answer, type(types.CreateMetricDescriptorRequest.pb(request).metric_descriptor)())


def handlers(front):
    def of(function, request, serialize):
        return grpc.unary_unary_rpc_method_handler(
            function, request_deserializer=request.deserialize, response_serializer=serialize
        )

    return {
        "CreateTimeSeries": of(
            front.create_time_series, types.CreateTimeSeriesRequest, empty_pb2.Empty.SerializeToString
        ),
        "ListTimeSeries": of(
            front.list_time_series, types.ListTimeSeriesRequest, types.ListTimeSeriesResponse.serialize
        ),
        "CreateMetricDescriptor": of(
            front.create_metric_descriptor,
            types.CreateMetricDescriptorRequest,
            lambda message: message.SerializeToString(),
        ),
    }


def main():
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers(Front(sys.argv[1]))),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
