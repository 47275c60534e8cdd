"""The metric types that Cloud Monitoring knows: those of compute.googleapis.com/workload, which nobody can change, and what
users define or write under custom.googleapis.com.

    descriptor = descriptors.find("compute.googleapis.com/workload/goodput_time")
    descriptor["valueType"]                       # "DOUBLE"

SPDX-License-Identifier: Apache-2.0
"""

from .errors import ApiError, invalid

WORKLOAD = "compute.googleapis.com/workload/"
RESOURCES = {
    "compute.googleapis.com/Workload": {"location", "workload_id", "replica_id"},
    "global": set(),
    "generic_task": {"location", "namespace", "job", "task_id"},
    "generic_node": {"location", "namespace", "node_id"},
}
MAX_LABELS = 30
MAX_LABEL_KEY = 100
MAX_LABEL_VALUE = 1024

_ALL = ["accelerator_type", "cluster_name"]
_KNOWN = {
    "goodput_time": ("DOUBLE", ["goodput_source", *_ALL]),
    "badput_time": ("DOUBLE", ["badput_source", *_ALL]),
    "total_elapsed_time": ("DOUBLE", ["window_type", *_ALL]),
    "disruptions": ("INT64", ["window_type", *_ALL]),
    "max_productive_steps": ("INT64", _ALL),
    "step_time_deviation": ("DOUBLE", _ALL),
    "performance": ("DOUBLE", []),
    "interval_goodput": ("DOUBLE", ["goodput_source", "rolling_window_size", *_ALL]),
    "interval_badput": ("DOUBLE", ["badput_source", "rolling_window_size", *_ALL]),
    "stepping_slice_efficiency": ("DOUBLE", ["window_type", "rolling_window_size", *_ALL]),
    "available_slice_efficiency": ("DOUBLE", ["window_type", "rolling_window_size", *_ALL]),
}


def _labels(keys):
    return [{"key": key, "valueType": "STRING"} for key in keys]


class Descriptors:
    def __init__(self):
        self._known = {
            WORKLOAD + name: {
                "type": WORKLOAD + name,
                "metricKind": "GAUGE",
                "valueType": kind,
                "labels": _labels(keys),
            }
            for name, (kind, keys) in _KNOWN.items()
        }

    def all(self):
        return list(self._known.values())

    def find(self, metric_type):
        return self._known.get(metric_type)

    def create(self, descriptor):
        metric_type = descriptor.get("type", "")
        if not metric_type.startswith(("custom.googleapis.com/", "workload.googleapis.com/")):
            raise ApiError("PERMISSION_DENIED", f"Metric type {metric_type} is not the user's to define.")
        if descriptor.get("metricKind") not in ("GAUGE", "CUMULATIVE"):
            raise invalid("metricKind must be GAUGE or CUMULATIVE for a user-defined metric.")
        if descriptor.get("valueType") not in ("BOOL", "INT64", "DOUBLE", "STRING", "DISTRIBUTION"):
            raise invalid("valueType is required.")
        if len(descriptor.get("labels", [])) > MAX_LABELS:
            raise invalid(f"A metric may have at most {MAX_LABELS} labels.")
        self._known[metric_type] = descriptor
        return descriptor

    def delete(self, metric_type):
        if metric_type.startswith(WORKLOAD) or metric_type not in self._known:
            raise ApiError("NOT_FOUND", f"Could not find descriptor for metric '{metric_type}'.")
        del self._known[metric_type]

    def for_series(self, series, value_type):
        """Known, or made from the first series that is written."""
        metric_type = series["metric"]["type"]
        if (known := self._known.get(metric_type)) is not None:
            return known
        kind = series.get("metricKind", "GAUGE")
        return self.create(
            {
                "type": metric_type,
                "metricKind": kind,
                "valueType": series.get("valueType", value_type),
                "labels": _labels(series["metric"].get("labels", {})),
            }
        )
