"""What goodput answers about a job, as values.

The fields of Report are the keys of the JSON object that docs/formats/report.md describes; an answer that is not there is
None, never 0. Times are datetimes in UTC.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, Union

from . import _binding, _store

_T = TypeVar("_T")
_Moment = Union[datetime.datetime, float]
_Duration = Union[datetime.timedelta, float]

_NANOSECONDS = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def _decoded(kind: type[_T], members: Mapping[str, Any]) -> _T:
    """A dataclass from its JSON object: keys of newer versions are ignored, absent ones have their default."""
    values = {}
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        if field.name in members:
            value = members[field.name]
            decode = field.metadata.get("decode")
            values[field.name] = decode(value) if decode is not None and value is not None else value
    return kind(**values)


def _as(decode: Callable[[Any], Any], **options: Any) -> Any:
    return dataclasses.field(metadata={"decode": decode}, **options)


def _moment(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)


def _time() -> Any:
    return _as(_moment)


def _maybe_time() -> Any:
    return _as(_moment, default=None)


def _one(kind: type) -> Any:
    return _as(lambda members: _decoded(kind, members), default=None)


def _many(kind: type) -> Any:
    return _as(lambda items: tuple(_decoded(kind, item) for item in items), default=())


def _map() -> Any:
    return dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class StepTimePercentiles:
    p50: float
    p90: float
    p99: float
    max: float


@dataclasses.dataclass(frozen=True)
class SliceEfficiency:
    stepping: float
    available: float


@dataclasses.dataclass(frozen=True)
class Attempt:
    index: int
    id: str
    host: str
    start: datetime.datetime = _time()
    end: datetime.datetime = _time()
    status: str = "running"
    exit_code: int | None = None
    exit_signal: int | None = None
    first_step: int | None = None
    last_step: int | None = None
    elapsed_seconds: float = 0.0
    goodput_seconds: float = 0.0
    badput_seconds: Mapping[str, float] = _map()


@dataclasses.dataclass(frozen=True)
class Disruption:
    index: int
    kind: str
    time: datetime.datetime = _time()
    attempt: int = 0
    planned: bool = False
    cause: str = "unknown"
    cause_source: str = "none"
    detail: str = ""
    completed_end: bool = False
    last_step: int | None = None
    resume_step: int | None = None
    steps_wasted: int = 0
    wasted_seconds: float = 0.0
    stalled_seconds: float = 0.0
    recovery_seconds: float | None = None
    recovery_by_class_seconds: Mapping[str, float] = _map()


@dataclasses.dataclass(frozen=True)
class Window:
    window_seconds: float
    start: datetime.datetime = _time()
    end: datetime.datetime = _time()
    elapsed_seconds: float = 0.0
    goodput_seconds: float = 0.0
    goodput_percent: float | None = None
    badput_seconds: Mapping[str, float] = _map()
    custom_badput_seconds: Mapping[str, float] = _map()
    disruptions: int = 0


@dataclasses.dataclass(frozen=True)
class Exclusion:
    start: datetime.datetime = _time()
    end: datetime.datetime = _time()


@dataclasses.dataclass(frozen=True)
class Rank:
    process_index: int
    host: str
    last_heartbeat: datetime.datetime | None = _maybe_time()
    lateness_seconds: Mapping[str, float | None] = _map()


@dataclasses.dataclass(frozen=True)
class Finding:
    kind: str
    severity: str
    count: int
    seconds: float | None = None
    first: datetime.datetime | None = _maybe_time()
    message: str = ""
    fix: str = ""


@dataclasses.dataclass(frozen=True)
class DataQuality:
    findings: tuple[Finding, ...] = _many(Finding)


@dataclasses.dataclass(frozen=True)
class Timeline:
    start: datetime.datetime = _time()
    end: datetime.datetime = _time()
    buckets: int = 0
    seconds: Mapping[str, list[float]] = _map()


@dataclasses.dataclass(frozen=True)
class Report:
    """The answer about a job; printed, it is the page of `goodput report`."""

    schema: str
    semantics: int
    job: str
    run_id: str
    labels: Mapping[str, str]
    status: str
    provisional: bool
    clipped: bool
    elapsed_seconds: float
    goodput_seconds: float
    goodput_percent: float | None
    start: datetime.datetime = _time()
    end: datetime.datetime = _time()
    as_of: datetime.datetime = _time()
    badput_seconds: Mapping[str, float] = _map()
    custom_badput_seconds: Mapping[str, float] = _map()
    async_data_loading_seconds: float = 0.0
    max_productive_step: int = 0
    last_step: int | None = None
    steps_per_second: float | None = None
    ideal_step_time_seconds: float | None = None
    step_time_deviation_seconds: float | None = None
    ideal_goodput_percent: float | None = None
    step_time_percentiles_seconds: StepTimePercentiles | None = _one(StepTimePercentiles)
    slice_efficiency: SliceEfficiency | None = _one(SliceEfficiency)
    disruptions: int = 0
    unplanned_disruptions: int = 0
    mtbf_seconds: float | None = None
    mtbf_interval_seconds: tuple[float, float] | None = _as(tuple, default=None)
    mttr_seconds: float | None = None
    accelerators: int | None = None
    accelerator_type: str = ""
    accelerator_hours: Mapping[str, float] | None = None
    cost: Mapping[str, float] | None = None
    currency: str = ""
    attempts: tuple[Attempt, ...] = _many(Attempt)
    disruption_records: tuple[Disruption, ...] = _many(Disruption)
    omitted: Mapping[str, int] = _map()
    windows: tuple[Window, ...] = _many(Window)
    exclusions: tuple[Exclusion, ...] = _many(Exclusion)
    ranks: tuple[Rank, ...] = _many(Rank)
    first_stopped_rank: int | None = None
    data_quality: DataQuality = _as(lambda members: _decoded(DataQuality, members), default=DataQuality())
    timeline: Timeline | None = _one(Timeline)
    _json: str = dataclasses.field(default="", repr=False, compare=False)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """What to_json() gave, or `goodput report --json`, or the HTTP API."""
        try:
            return dataclasses.replace(_decoded(cls, json.loads(text)), _json=text)
        except (TypeError, ValueError, AttributeError) as error:
            raise _binding.GoodputError(f"reading a report: {error}") from error

    def to_json(self, *, indent: int | None = None) -> str:
        """The JSON object, on one line unless `indent` is given."""
        return json.dumps(json.loads(self._json), indent=indent, ensure_ascii=False)

    def flat(self) -> dict[str, float]:
        """Every number by its dotted name, for metric stores and experiment trackers."""
        return _binding.flat(self._json)

    def __str__(self) -> str:
        return _binding.text(self._json)

    def __repr__(self) -> str:
        percent = "no goodput yet" if self.goodput_percent is None else f"{self.goodput_percent:.2f} % goodput"
        return f"<goodput.Report of job {self.job!r}: {percent} of {self.elapsed_seconds:.1f} s, {self.status}>"

    def _repr_html_(self) -> str:
        from ._report_html import html_of

        return html_of(self)


def _moment_ns(moment: _Moment | None) -> int | None:
    """Nanoseconds of a datetime (a naive one is local time) or of POSIX seconds."""
    if moment is None:
        return None
    if isinstance(moment, datetime.datetime):
        return (moment.astimezone(datetime.timezone.utc) - _EPOCH) // datetime.timedelta(microseconds=1) * 1000
    return round(moment * _NANOSECONDS)


def _duration_ns(duration: _Duration | None) -> int | None:
    if duration is None:
        return None
    if isinstance(duration, datetime.timedelta):
        return duration // datetime.timedelta(microseconds=1) * 1000
    return round(duration * _NANOSECONDS)


def report(
    job: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    store: str | None = None,
    now: _Moment | None = None,
    start: _Moment | None = None,
    end: _Moment | None = None,
    windows: Iterable[_Duration] = (),
    exclusions: Iterable[tuple[_Moment, _Moment]] = (),
    price: float | None = None,
    currency: str = "USD",
    dead_after: _Duration | None = None,
    stall_factor: float | None = None,
    stall_floor: _Duration | None = None,
) -> Report:
    """What became of a job's time, from its journals on this machine, or from a store.

    `job` is NAME, its latest run, or NAME@RUN. `store` is "cloud-logging://PROJECT/LOG"; without it, one that
    GOODPUT_STORE names is asked for a job that has no journal here. Times are datetimes or POSIX seconds; durations
    timedeltas or seconds. Raises GoodputError when there is no such job.
    """
    folder = "" if directory is None else str(directory)
    bounds = (_duration_ns(dead_after), stall_factor, _duration_ns(stall_floor))
    if store is not None:
        account = _binding.Account.of_job(job, _store.fetch(job, store, directory=folder).directory, *bounds)
    else:
        try:
            account = _binding.Account.of_job(job, folder, *bounds)
        except _binding.GoodputError:
            usual = _store.usual()
            if usual is None:
                raise
            account = _binding.Account.of_job(job, _store.fetch(job, usual, directory=folder).directory, *bounds)
    account.poll()
    now_ns = _moment_ns(now)
    return Report.from_json(
        account.report(
            time.time_ns() if now_ns is None else now_ns,
            _moment_ns(start),
            _moment_ns(end),
            [ns for window in windows if (ns := _duration_ns(window)) is not None],
            [(_moment_ns(since) or 0, _moment_ns(until) or 0) for since, until in exclusions],
            None if price is None else (price, currency),
            with_timeline=True,
        ).rstrip()
    )
