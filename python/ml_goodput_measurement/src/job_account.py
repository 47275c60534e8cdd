"""A job's log, read from a cloud logger, the local journal or a store, and accounted by goodput's engine.

    account = JobAccount("llama-7b", cloud_logger)
    report = account.report()                # the object of `goodput report --json`
    seconds = account.step_times()           # step → seconds

What has not changed is not read again. Any thread. Errors are ValueErrors: that is what callers of calculators catch.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import hashlib
import json
import tempfile
import threading
import time
from collections.abc import Iterable
from typing import Any

import goodput as engine
from goodput import _binding, _store

NANOSECONDS = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def now_ns() -> int:
    """The time of asking."""
    return time.time_ns()


def to_ns(moment: Any) -> int:
    """A datetime (a naive one is local time) or POSIX seconds, in nanoseconds."""
    if isinstance(moment, datetime.datetime):
        return (moment.astimezone(datetime.timezone.utc) - _EPOCH) // datetime.timedelta(microseconds=1) * 1000
    return round(float(moment) * NANOSECONDS)


def _plain(value: Any) -> Any:
    """A value that JSON has no form for, numpy's and jax's numbers among them."""
    for convert in ("__index__", "__float__"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return str(value)


class _EntryFile:
    """What a cloud logger gave so far, as lines in a file that has no name."""

    def __init__(self, cloud_logger: Any) -> None:
        self._logger = cloud_logger
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        self._count = 0
        self._digest = hashlib.blake2b()  # of the lines so far
        self._cursor: tuple[Any, Any] | None = None

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self._file.fileno()}"

    def read(self) -> bool:
        """Takes what is new; False when nothing is."""
        if self._cursor is None:
            answer = self._logger.read_cloud_logging_entries()
        else:
            until = datetime.datetime.now(datetime.timezone.utc)
            answer = self._logger.read_cloud_logging_entries(
                start_time=self._cursor[0], end_time=until, last_entry_info=self._cursor
            )
        entries, cursor = answer if isinstance(answer, tuple) else (answer, None)
        lines = [f"{json.dumps(entry, default=_plain)}\n".encode("utf-8", "replace") for entry in entries or []]
        if self._is_told_again(lines):
            del lines[: self._count]
        elif self._cursor is None:
            self._start_again()
        if cursor is not None and cursor[0] is not None:
            self._cursor = (cursor[0], cursor[1])
        if not lines:
            return False
        for line in lines:
            self._digest.update(line)
            self._file.write(line)
        self._file.flush()
        self._count += len(lines)
        return True

    def _is_told_again(self, lines: list[bytes]) -> bool:
        """Whether all that there is comes again first, as from a logger without a cursor, or that does not care for it."""
        return 0 < self._count <= len(lines) and (
            hashlib.blake2b(b"".join(lines[: self._count])).digest() == self._digest.digest()
        )

    def _start_again(self) -> None:
        """Another log than before: of a logger without a cursor whose oldest entries are gone, for example."""
        self._file.seek(0)
        self._file.truncate()
        self._count, self._digest = 0, hashlib.blake2b()


# A store is asked no oftener: it counts questions by the minute.
_FETCH_SECONDS = 1.0


class JobAccount:
    def __init__(
        self,
        job_name: str,
        cloud_logger: Any = None,
        *,
        store: str | None = None,
        retention_seconds: float | None = None,
    ) -> None:
        """Of the cloud logger, if there is one; else of the local journal; else of the store."""
        self._job = job_name
        self._store = store
        self._retention_seconds = retention_seconds
        self._fetched_at: float | None = None  # the account is of the store, as of then
        self.is_cut_off = False  # what the store had before its oldest entry is gone
        self._entries = None if cloud_logger is None else _EntryFile(cloud_logger)
        self._account: _binding.Account | None = None
        self._lock = threading.Lock()

    def report(
        self,
        start: int | None = None,
        end: int | None = None,
        exclusions: Iterable[tuple[int, int]] = (),
        *,
        now: int | None = None,
    ) -> dict[str, Any]:
        """The job's report, or that of [start, end), less the exclusions; times in nanoseconds."""
        with self._lock, _as_value_error():
            account = self._current()
            text = account.report(now if now is not None else now_ns(), start, end, [], list(exclusions))
        report: dict[str, Any] = json.loads(text)
        return report

    def step_times(self) -> dict[int, float]:
        """Seconds per step, by the first step of each interval."""
        with self._lock, _as_value_error():
            return self._current().step_times(now_ns())

    def known_step_times(self) -> dict[int, float]:
        """The same of what was read already."""
        with self._lock, _as_value_error():
            return (self._account or self._current()).step_times(now_ns())

    def has_job_start(self) -> bool:
        with self._lock, _as_value_error():
            return self._current().has_job_start()

    def _current(self) -> _binding.Account:
        if self._entries is None:
            if self._account is None:
                self._account = self._open()
            elif self._fetched_at is not None and time.monotonic() - self._fetched_at >= _FETCH_SECONDS:
                self._fetch()
            self._account.poll()
        elif self._entries.read() or self._account is None:
            self._account = _binding.Account.of_file(self._entries.path, self._job)
        return self._account

    def _open(self) -> _binding.Account:
        try:
            return _binding.Account.of_job(self._job)
        except engine.GoodputError as error:
            if self._store is None:
                raise
            try:
                return _binding.Account.of_job(self._job, self._fetch())
            except engine.GoodputError as elsewhere:
                raise engine.GoodputError(f"{error}; {elsewhere}") from elsewhere

    def _fetch(self) -> str:
        assert self._store is not None
        fetched = _store.fetch(self._job, self._store, retention_seconds=self._retention_seconds)
        self._fetched_at, self.is_cut_off = time.monotonic(), fetched.is_cut_off
        return fetched.directory


class _as_value_error:  # noqa: N801
    """Turns an error of the engine into what callers of calculators catch."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if isinstance(error, engine.GoodputError):
            raise ValueError(f"Goodput cannot be calculated: {error}") from error
