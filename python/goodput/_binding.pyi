"""The extension module, made from python/binding/; this file is made by tools/stub.

SPDX-License-Identifier: Apache-2.0
"""

from collections.abc import Sequence
from typing import SupportsFloat, SupportsIndex

__version__: str

class GoodputError(Exception): ...

class Scope:
    def __enter__(self) -> Scope: ...
    def __exit__(self, type: object | None, value: object | None, traceback: object | None) -> None: ...

class Recorder:
    def __init__(
        self,
        job: object | None = None,
        run_id: object | None = None,
        process_index: object | None = None,
        attempt_id: object | None = None,
        directory: object | None = None,
        labels: object | None = None,
        accelerators: object | None = None,
        accelerator_type: object | None = None,
        enabled: bool = True,
        sync_interval_seconds: object | None = 1.0,
    ) -> None: ...
    def record_step(self, step: SupportsIndex, /) -> None:
        """
        Step `step` begins. Any object with __index__; what is none is dropped and counted.
        """

    def step(
        self,
        step: SupportsIndex,
        /,
        *,
        tokens: SupportsFloat | None = None,
        samples: SupportsFloat | None = None,
        flops: SupportsFloat | None = None,
    ) -> Scope:
        """
        Step `step` begins; leaving the `with` block ends it. Its work makes throughput known.
        """

    def _scope(
        self,
        event: int,
        name: object | None = None,
        step: object | None = None,
        location: object | None = None,
        blocking: bool = False,
    ) -> Scope: ...
    def _record(
        self,
        is_start: bool,
        event: int,
        name: object | None = None,
        step: object | None = None,
        location: object | None = None,
        failed: bool = False,
        time_ns: object | None = None,
    ) -> None: ...
    def _slice_counts(
        self, active: object | None, total: object | None, available: object | None, time_ns: object | None = None
    ) -> None: ...
    def _checkpoint_statistics(
        self,
        event: int,
        start_ns: object | None,
        duration_ns: object | None,
        step: object | None = None,
        location: object | None = None,
        emergency: bool = False,
    ) -> None: ...
    def _disruption(self, cause: object | None, detail: object | None = None) -> None: ...
    def _heartbeat(self) -> None: ...
    def _close(self) -> None: ...
    @property
    def _is_recording(self) -> bool: ...
    @property
    def _lost_events(self) -> int: ...
    @property
    def _job(self) -> str: ...
    @property
    def _attempt_id(self) -> str: ...
    @property
    def _directory(self) -> str: ...

class Account:
    @staticmethod
    def of_job(
        job: str,
        directory: str = "",
        dead_after_ns: int | None = None,
        stall_factor: float | None = None,
        stall_floor_ns: int | None = None,
    ) -> Account: ...
    @staticmethod
    def of_file(path: str, job: str) -> Account: ...
    def poll(self) -> None: ...
    def report(
        self,
        now_ns: int,
        from_ns: int | None = None,
        to_ns: int | None = None,
        windows_ns: Sequence[int] = [],
        exclusions_ns: Sequence[tuple[int, int]] = [],
        price: tuple[float, str] | None = None,
        with_timeline: bool = False,
    ) -> str: ...
    def step_times(self, now_ns: int) -> dict[int, float]: ...
    def has_job_start(self) -> bool: ...

def flat(report_json: str) -> dict[str, float]: ...
def text(report_json: str, columns: int = 80) -> str: ...
def journal_payloads(job: str, run_id: str = "", directory: str = "") -> str: ...
