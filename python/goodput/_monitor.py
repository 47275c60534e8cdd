"""Watching a job from beside it, as a context manager.

    with goodput.monitor("llama-7b", tensorboard="runs/llama-7b"):
        train()

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Union

from ._monitor_process import MonitorProcess

_Duration = Union[datetime.timedelta, float]
_ALL = "all"
_FIGURES = ("goodput", "badput", "windows", "steps")


def _seconds(duration: _Duration) -> float:
    return duration.total_seconds() if isinstance(duration, datetime.timedelta) else float(duration)


class Monitor:
    """A `goodput monitor` that runs while the block does, in a process of its own. Nothing here raises."""

    def __init__(
        self, process: MonitorProcess, interval_seconds: float, windows_seconds: Sequence[float], timeout_seconds: float
    ) -> None:
        self._process = process
        self._interval_seconds = interval_seconds
        self._windows_seconds = windows_seconds
        self._timeout_seconds = timeout_seconds

    @property
    def pid(self) -> int | None:
        """Of the monitor's process; None when it does not run."""
        return self._process.pid

    def start(self) -> None:
        """Starts it, if it does not run."""
        if self._process.is_running(_ALL):
            return
        self._process.start(
            _ALL, _FIGURES, interval_seconds=self._interval_seconds, windows_seconds=self._windows_seconds
        )

    def stop(self) -> bool:
        """Exports the last word and ends it; False when not everything was sent in time."""
        answer = self._process.stop(_ALL, timeout_seconds=self._timeout_seconds)
        return answer is not None and bool(answer["flushed"])

    def __enter__(self) -> Monitor:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


class _NoMonitor(Monitor):
    """Of a process that is not to have one."""

    def __init__(self) -> None:
        super().__init__(MonitorProcess(""), 0, (), 0)

    def start(self) -> None:
        pass


def monitor(
    job: str,
    *,
    run_id: str | None = None,
    directory: str | os.PathLike[str] | None = None,
    store: str | None = None,
    tensorboard: str | os.PathLike[str] | None = None,
    prometheus: str | None = None,
    remote_write: str | None = None,
    otlp: str | None = None,
    cloud_monitoring: str | None = None,
    interval: _Duration = 30.0,
    windows: Sequence[_Duration] = (),
    flush_timeout_seconds: float = 10.0,
    enabled: bool = True,
) -> Monitor:
    """A monitor of `job` while a `with` block runs, or from start() to stop().

    It runs beside this process, waits for the job's first event, exports at the interval, and once more at the end,
    bounded by the timeout. Should this process be killed, it exports that too. Only one process of a job needs one:
    enabled=rank == 0. Durations are seconds or timedeltas. Where it exports to is said as on the command line:
    `prometheus` is "HOST:PORT", `cloud_monitoring` a project or "auto", the others are URLs. With a `store`
    ("cloud-logging://PROJECT/LOG") it follows the job there, wherever that runs.
    """
    if not enabled:
        return _NoMonitor()
    sinks = {
        "tensorboard": None if tensorboard is None else os.fspath(tensorboard),
        "prometheus": prometheus,
        "remote-write": remote_write,
        "otlp": otlp,
        "cloud-monitoring": cloud_monitoring,
    }
    arguments = [f"--flush-timeout={flush_timeout_seconds}"]
    arguments += [f"--{name}={where}" for name, where in sinks.items() if where is not None]
    process = MonitorProcess(
        f"{job}@{run_id}" if run_id is not None else job,
        arguments,
        directory=None if directory is None else os.fspath(directory),
        store=store,
        timeout_seconds=flush_timeout_seconds,
    )
    return Monitor(process, _seconds(interval), [_seconds(window) for window in windows], flush_timeout_seconds)
