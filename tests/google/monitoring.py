"""Cloud Monitoring: timeSeries create and list, metricDescriptors, with their limits.

    monitoring.create(request)                                     → {} or ApiError, part of it stored perhaps
    monitoring.list({"filter": …, "interval.startTime": …})    → {"timeSeries": […]}
    monitoring.points("goodput_time")                              → [(labels, value), …] in order of arrival, for tests

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import secrets
import threading
import time

from .descriptors import MAX_LABEL_KEY, MAX_LABEL_VALUE, RESOURCES, WORKLOAD, Descriptors
from .errors import ApiError, invalid, rpc_status
from .log_filter import compile_filter, time_ns

SUMMARY = "type.googleapis.com/google.monitoring.v3.CreateTimeSeriesSummary"
MAX_SERIES = 200
VALUES = {"boolValue": "BOOL", "int64Value": "INT64", "doubleValue": "DOUBLE", "stringValue": "STRING"}
VALUES |= {"distributionValue": "DISTRIBUTION"}
OLDEST_NS = 25 * 3600 * 10**9
FUTURE_NS = 300 * 10**9
FIELDS = {"metric", "resource", "metadata", "metricKind", "valueType", "points", "unit", "description"}


def _key(series):
    return json.dumps([series["metric"], series["resource"]], sort_keys=True)


def _ranges(indexes):
    """[0, 1, 2, 5] → "0-2,5"."""
    runs = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


class CloudMonitoring:
    def __init__(self):
        self._lock = threading.Lock()
        self.descriptors = Descriptors()
        self.series = {}  # key → {"metric", "resource", "metricKind", "valueType", "points": [oldest first]}
        self.arrivals = []  # (metric type, labels, resource labels, value, endTime)
        self.write_period_seconds = 5.0
        self.calls = 0
        self._pages = {}

    def create(self, request, fault=None):
        series = request.get("timeSeries", [])
        if not series or len(series) > MAX_SERIES:
            raise invalid(f"Field timeSeries had an invalid value: it must hold between 1 and {MAX_SERIES} series.")
        if unknown := {key for one in series for key in one} - FIELDS:
            raise invalid(f"Invalid JSON payload received. Unknown name \"{min(unknown)}\" at 'time_series'.")
        keys = [_key(one) if "metric" in one and "resource" in one else None for one in series]
        if len(set(keys)) != len(keys):
            raise invalid("Field timeSeries had an invalid value: Duplicate TimeSeries encountered.")
        errors = {}
        with self._lock:
            self.calls += 1
            for index, one in enumerate(series):
                try:
                    if fault is not None and index in fault.indexes:
                        passing = fault.word in ("", "INTERNAL")
                        message = "Internal error encountered." if passing else "Unrecognized metric labels: [a]"
                        raise ApiError(fault.word or "INTERNAL", message)
                    self._write(one, keys[index])
                except ApiError as error:
                    errors[index] = error
        if errors:
            self._fail(errors, len(series))
        return {}

    @staticmethod
    def _fail(errors, total):
        causes = {}
        for index, error in errors.items():
            causes.setdefault((error.status, error.message), []).append(index)
        words = "; ".join(f"{message}: timeSeries[{_ranges(at)}]" for (_, message), at in causes.items())
        summary = {
            "@type": SUMMARY,
            "totalPointCount": total,
            "successPointCount": total - len(errors),
            "errors": [
                {"status": rpc_status(ApiError(status, "")), "pointCount": len(at)}
                for (status, _), at in causes.items()
            ],
        }
        internal = all(status == "INTERNAL" for status, _ in causes)
        message = f"One or more TimeSeries could not be written: {words}"
        raise ApiError("INTERNAL" if internal else "INVALID_ARGUMENT", message, [summary])

    def _write(self, one, key):
        value_type, point = self._checked_point(one)
        descriptor = self.descriptors.for_series(one, value_type)
        self._check_labels(one, descriptor)
        kind = one.get("metricKind", descriptor["metricKind"])
        if kind != descriptor["metricKind"] or value_type != descriptor["valueType"]:
            raise invalid(f"Value type for metric {one['metric']['type']} must be {descriptor['valueType']}")
        end_ns = self._checked_interval(point, kind)
        stored = self.series.get(key)
        if stored is not None:
            last_ns = time_ns(stored["points"][-1]["interval"]["endTime"])
            if end_ns <= last_ns:
                raise invalid(
                    "Points must be written in order. One or more of the points specified had an older end time"
                )
            if end_ns - last_ns < self.write_period_seconds * 10**9:
                raise invalid(
                    "One or more points were written more frequently than the maximum sampling period configured for the metric."
                )
        else:
            stored = {"metric": one["metric"], "resource": one["resource"], "metricKind": kind, "valueType": value_type}
            stored["points"] = []
            self.series[key] = stored
        stored["points"].append(point)
        value = next(iter(point["value"].values()))
        value = int(value) if value_type == "INT64" else value
        labels, where = one["metric"].get("labels", {}), one["resource"]["labels"]
        self.arrivals.append((one["metric"]["type"], labels, where, value, end_ns))

    @staticmethod
    def _checked_point(one):
        points = one.get("points", [])
        if len(points) != 1:
            raise invalid("Field points had an invalid value: exactly one point is required.")
        kinds = set(points[0].get("value", {}))
        if len(kinds) != 1 or not kinds <= set(VALUES):
            raise invalid("Field value had an invalid value: exactly one kind of value is required.")
        kind = kinds.pop()
        value = points[0]["value"][kind]
        if kind == "int64Value" and not isinstance(value, str):
            raise invalid("int64Value is a string in JSON.")
        if kind == "doubleValue" and (not isinstance(value, (int, float)) or not math.isfinite(value)):
            raise invalid("doubleValue must be a finite number.")
        return VALUES[kind], points[0]

    @staticmethod
    def _check_labels(one, descriptor):
        resource = one["resource"]
        wanted = RESOURCES.get(resource.get("type"))
        if wanted is None:
            raise invalid(f"The resource type {resource.get('type')} is unknown.")
        given = set(resource.get("labels", {})) - {"project_id"}
        if given != wanted:
            raise invalid(f"Resource labels must be {sorted(wanted)}, not {sorted(given)}.")
        labels = one["metric"].get("labels", {})
        if unknown := set(labels) - {label["key"] for label in descriptor.get("labels", [])}:
            raise invalid(f"Unrecognized metric labels: [{', '.join(sorted(unknown))}]")
        for key, value in {**labels, **resource["labels"]}.items():
            if len(key) > MAX_LABEL_KEY or not isinstance(value, str) or len(value) > MAX_LABEL_VALUE:
                raise invalid(f"Invalid value of label {key}.")

    @staticmethod
    def _checked_interval(point, kind):
        interval = point.get("interval", {})
        if "endTime" not in interval:
            raise invalid("interval.endTime is required.")
        end_ns, now_ns = time_ns(interval["endTime"]), time.time_ns()
        start_ns = time_ns(interval["startTime"]) if "startTime" in interval else end_ns
        if (start_ns != end_ns) if kind == "GAUGE" else (start_ns >= end_ns):
            raise invalid(f"The start time and end time of a {kind} interval do not fit.")
        if not now_ns - OLDEST_NS <= end_ns <= now_ns + FUTURE_NS:
            raise invalid("Data points cannot be written that far in the past or the future.")
        return end_ns

    def list(self, query):
        types = [part for part in query.get("filter", "").replace("(", " ").split() if part.startswith("metric.type")]
        if len(types) != 1:
            raise invalid("The filter must specify exactly one metric type.")
        matches = compile_filter(
            query["filter"].replace("metric.label.", "metric.labels.").replace("resource.label.", "resource.labels.")
        )
        if "interval.endTime" not in query:
            raise invalid("Field interval.endTime is required.")
        end_ns = time_ns(query["interval.endTime"])
        start_ns = time_ns(query.get("interval.startTime", query["interval.endTime"]))
        if token := query.get("pageToken"):
            found = self._pages.pop(token)
        else:
            found = []
            with self._lock:
                for one in filter(matches, self.series.values()):
                    points = [p for p in one["points"] if start_ns <= time_ns(p["interval"]["endTime"]) <= end_ns]
                    if points:
                        shown = {} if query.get("view") == "HEADERS" else {"points": points[::-1]}
                        found.append({key: value for key, value in one.items() if key != "points"} | shown)
        size = int(query.get("pageSize", 0)) or 100_000
        answer = {"timeSeries": found[:size]}
        if found[size:]:
            answer["nextPageToken"] = secrets.token_urlsafe(8)
            self._pages[answer["nextPageToken"]] = found[size:]
        return answer

    def points(self, name):
        """Of compute.googleapis.com/workload/name."""
        with self._lock:
            return [(labels, value) for kind, labels, _, value, _ in self.arrivals if kind == WORKLOAD + name]
