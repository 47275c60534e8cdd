"""The recorder and calculator of jobs whose number of slices changes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
from typing import Any

from ml_goodput_measurement.src import goodput, goodput_utils

_JOB_NAME = "job_name"
_ACTIVE_SLICES = "active_slices"
_TOTAL_SLICES = "total_slices"
_AVAILABLE_SLICES = "available_slices"
_ELASTIC_SLICE_COUNTS_TIMESTAMP = "elastic_slice_counts_timestamp"

_ELASTIC_WAIT_EVENT_TYPE = "elastic_wait_event_type"
_ELASTIC_WAIT_START_TIME = "elastic_wait_start_time"
_ELASTIC_WAIT_END_TIME = "elastic_wait_end_time"
_ELASTIC_REINIT_START_TIME = "elastic_reinit_start_time"
_ELASTIC_REINIT_END_TIME = "elastic_reinit_end_time"
_TPU_INIT_START_TIME = "tpu_init_start_time"
_TPU_INIT_END_TIME = "tpu_init_end_time"
_TRAINING_PREPARATION_START_TIME = "training_prep_start_time"
_TRAINING_PREPARATION_END_TIME = "training_prep_end_time"

GoodputRecorder = goodput.GoodputRecorder


class ElasticGoodputRecorder(GoodputRecorder):
    """Tells also how many slices there are, and of waiting for them. No record_ method raises."""

    def record_elastic_slice_counts(
        self,
        active_slices: int,
        total_slices: int,
        available_slices: int,
        timestamp: datetime.datetime | None = None,
    ) -> None:
        self._record(
            _ELASTIC_SLICE_COUNTS_TIMESTAMP,
            timestamp,
            active_slices=active_slices,
            total_slices=total_slices,
            available_slices=available_slices,
        )

    def record_elastic_wait_start_time(self, event_type: str, start_time: datetime.datetime | None = None) -> None:
        self._record(_ELASTIC_WAIT_START_TIME, start_time, elastic_wait_event_type=event_type)

    def record_elastic_wait_end_time(self, event_type: str, end_time: datetime.datetime | None = None) -> None:
        self._record(_ELASTIC_WAIT_END_TIME, end_time, elastic_wait_event_type=event_type)

    def record_elastic_reinit_start_time(self, start_time: datetime.datetime | None = None) -> None:
        self._record(_ELASTIC_REINIT_START_TIME, start_time)

    def record_elastic_reinit_end_time(self, end_time: datetime.datetime | None = None) -> None:
        self._record(_ELASTIC_REINIT_END_TIME, end_time)


class ElasticGoodputCalculator(goodput.GoodputCalculator):
    """Answers with the elastic types apart, and with how many slices took part."""

    _types = tuple(goodput_utils.BadputType)

    def get_job_goodput_details(self) -> goodput_utils.ElasticWorkloadMetricDetails:
        return super().get_job_goodput_details()  # type: ignore[return-value]

    def _details_of(self, report: dict[str, Any], configured_ideal_step_time: float | None) -> dict[str, Any]:
        return {**super()._details_of(report, configured_ideal_step_time), **_slice_efficiencies(report)}

    def get_interval_metric_details(
        self, interval_start: datetime.datetime, interval_end: datetime.datetime
    ) -> goodput_utils.ElasticIntervalWorkloadMetricDetails:
        details, report = self._interval_details(interval_start, interval_end)
        return {**details, **_slice_efficiencies(report)}  # type: ignore[typeddict-item]


def _slice_efficiencies(report: dict[str, Any] | None) -> dict[str, float]:
    known = (report or {}).get("slice_efficiency")
    if not known:
        return {}
    return {"stepping_slice_efficiency": known["stepping"], "available_slice_efficiency": known["available"]}
