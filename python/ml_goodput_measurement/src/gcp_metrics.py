"""Sending figures to Cloud Monitoring with Google's own client, for programs that did so through 0.2.3.

Monitors do not use it: theirs are sent by their own process. It needs google-cloud-monitoring to be installed.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import enum
import logging
import time
from typing import Any

Enum = enum.Enum

logger = logging.getLogger(__name__)

_SERIES_PER_CALL = 200  # the service refuses more


class ValueType(Enum):
    """The types of values, by the names of their fields."""

    BOOL = "bool_value"
    INT = "int64_value"
    DOUBLE = "double_value"
    STRING = "string_value"
    DISTRIBUTION = "distribution_value"


class GCPMetrics:
    def __init__(self, project_id: str):
        from google.cloud import monitoring_v3  # type: ignore[import-not-found,unused-ignore]

        self.project_id = project_id
        self.client = monitoring_v3.MetricServiceClient()
        self.project_name = f"projects/{project_id}"

    def create_time_series(
        self,
        metric_type: str,
        value: Any,
        value_type: ValueType,
        metric_labels: dict[str, str],
        resource_type: str,
        resource_labels: dict[str, str],
        seconds: int,
        nanos: int,
    ) -> Any:
        """A monitoring_v3.TimeSeries of one point."""
        from google.cloud import monitoring_v3  # type: ignore[import-not-found,unused-ignore]

        return monitoring_v3.TimeSeries(
            metric={"type": metric_type, "labels": metric_labels or {}},
            resource={"type": resource_type, "labels": resource_labels},
            points=[
                {
                    "interval": {"end_time": {"seconds": seconds, "nanos": nanos}},
                    "value": {value_type.value: value},
                }
            ],
        )

    def send_metrics(self, metrics: list[dict[str, Any]], context: dict[str, Any] | None = None) -> None:
        """Sends points of now: metric_type, value, value_type, resource_type, resource_labels, perhaps metric_labels.

        What the service refuses is logged, as is what makes no series.
        """
        from google.api_core import exceptions  # type: ignore[import-not-found,unused-ignore]

        now = time.time()
        seconds = int(now)
        series = [one for metric in metrics if (one := self._series_of(metric, seconds, int((now - seconds) * 10**9)))]
        if not series:
            logger.warning("No valid time series were created, skipping GCM upload.")
            return
        try:
            for first in range(0, len(series), _SERIES_PER_CALL):
                self.client.create_time_series(
                    name=self.project_name, time_series=series[first : first + _SERIES_PER_CALL]
                )
        except exceptions.GoogleAPIError as error:
            logger.error("Failed to send Goodput metrics to GCM Monitoring: %s", error)
            return
        message = "Sent Goodput metrics to GCM Monitoring."
        logger.info({"message": message, "metrics_count": len(series), **(context or {})})

    def _series_of(self, metric: dict[str, Any], seconds: int, nanos: int) -> Any:
        try:
            return self.create_time_series(
                metric["metric_type"],
                metric["value"],
                metric["value_type"],
                metric.get("metric_labels", {}),
                metric["resource_type"],
                metric["resource_labels"],
                seconds,
                nanos,
            )
        except Exception as error:
            name = metric.get("metric_type", "UNKNOWN")
            logger.error("Failed to create time series for metric '%s': %s", name, error)
            return None


def __getattr__(name: str) -> Any:
    # Of packages that nothing else here needs.
    if name == "GoogleAPIError":
        from google.api_core import exceptions  # type: ignore[import-not-found,unused-ignore]

        return exceptions.GoogleAPIError
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
