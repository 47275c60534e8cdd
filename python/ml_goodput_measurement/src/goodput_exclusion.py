"""Goodput of a job less intervals that are to be left out.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
from typing import Any, Union

from ml_goodput_measurement.src import goodput_utils
from ml_goodput_measurement.src.job_account import to_ns

BadputType = goodput_utils.BadputType
UnproductiveTimeDict = dict[BadputType, Union[float, dict[str, float]]]


class GoodputExclusion:
    """What GoodputCalculator answers about a job without some of its time."""

    def _report(self, *bounds: Any, **options: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _get_job_badput_breakdown(self, total_unproductive_time: Any, total_job_time: Any) -> UnproductiveTimeDict:
        raise NotImplementedError

    def _badput_seconds(self, report: dict[str, Any]) -> UnproductiveTimeDict:
        raise NotImplementedError

    def get_job_goodput_with_exclusions(
        self,
        exclusion_intervals: list[tuple[datetime.datetime, datetime.datetime]],
        include_badput_breakdown: bool = False,
        configured_ideal_step_time: float | None = None,
    ) -> tuple[float, UnproductiveTimeDict, int, float]:
        """(goodput in percent, breakdown in percent, max productive step, seconds left out)."""
        intervals = [(to_ns(start), to_ns(end)) for start, end in exclusion_intervals or []]
        whole = self._report()
        left = self._report(exclusions=intervals) if intervals else whole
        elapsed = left["elapsed_seconds"]
        step = left["max_productive_step"]
        excluded = max(0.0, whole["elapsed_seconds"] - elapsed)
        if elapsed == 0:
            return 0.0, {}, step, excluded
        breakdown = (
            self._get_job_badput_breakdown(self._badput_seconds(left), elapsed) if include_badput_breakdown else {}
        )
        return left["goodput_seconds"] / elapsed * 100, breakdown, step, excluded
