"""Intervals of time that are to be left out of a job's account.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import logging


def normalize_intervals(intervals: list[tuple[datetime.datetime, datetime.datetime]]) -> list[tuple[float, float]]:
    """The intervals as POSIX seconds, sorted, overlapping ones joined; those that are not UTC or empty left out."""
    joined: list[tuple[datetime.datetime, datetime.datetime]] = []
    for start, end in sorted(interval for interval in intervals or [] if _is_usable(*interval)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return [(start.timestamp(), end.timestamp()) for start, end in joined]


def _is_usable(start: datetime.datetime, end: datetime.datetime) -> bool:
    if start.tzinfo != datetime.timezone.utc or end.tzinfo != datetime.timezone.utc:
        logging.warning("Skipping interval [%s , %s]: Timezone is not UTC", start, end)
        return False
    if start >= end:
        logging.warning("Skipping interval [%s , %s]: Start time is after or equal to End time.", start, end)
        return False
    return True


def get_exclusion_overlap(start: float, end: float, exclusions: list[tuple[float, float]]) -> float:
    """How many seconds of [start, end] the intervals of normalize_intervals() cover."""
    return sum((max(0.0, min(end, upto) - max(start, since)) for since, upto in exclusions), 0.0)
