"""Recording by `with` blocks.

    from ml_goodput_measurement import measurement

    recorder = measurement.GoodputRecorder(job_name="llama-7b", logger_name="goodput", logging_enabled=True)
    with recorder.record_event(measurement.Event.JOB):
        with recorder.record_event(measurement.Event.STEP, step):
            train(batch)

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import enum
from types import TracebackType
from typing import Any

from ml_goodput_measurement.src import goodput


class Event(enum.Enum):
    """What record_event() takes; its value is the name in the payload's keys."""

    JOB = "job"
    ACCELERATOR_INIT = "tpu_init"
    TRAINING_PREP = "training_prep"
    DATA_LOADING = "data_loading"
    STEP = "step"  # and its number
    CUSTOM = "custom_badput_event"  # and its name
    CHECKPOINT_SAVE = "checkpoint_save"  # and, if known, the step
    CHECKPOINT_RESTORE = "checkpoint_restore"  # and, if known, the step


# What the second argument of record_event() is, for the events that take one.
_ARGUMENT = {
    Event.STEP: "step_count",
    Event.CUSTOM: "custom_badput_event_type",
    Event.CHECKPOINT_SAVE: "step",
    Event.CHECKPOINT_RESTORE: "step",
}


class _Block:
    """An event from entering to leaving."""

    __slots__ = ("_event", "_more", "_recorder")

    def __init__(self, recorder: GoodputRecorder, event: Event, more: dict[str, Any]) -> None:
        self._recorder, self._event, self._more = recorder, event, more

    def __enter__(self) -> _Block:
        self._recorder._enter(self._event, self._more)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recorder._leave(self._event, self._more, kind is not None)


class _Nothing:
    __slots__ = ()

    def __enter__(self) -> _Nothing:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


_NOTHING = _Nothing()


class GoodputRecorder(goodput.GoodputRecorder):
    """GoodputRecorder whose events are blocks; on processes without logging they cost next to nothing."""

    _depth = 0

    def record_event(self, event: Event, *args: Any, **kwargs: Any) -> Any:
        """A block of the event: its step (STEP, checkpoints) or name (CUSTOM) follows it.

        Leaving the block by an exception closes the event and marks the attempt's end as failed; the exception passes.
        """
        if self._cloud_logger is None:
            return _NOTHING
        value = next(iter((*args, *kwargs.values())), None)
        name = _ARGUMENT.get(event)
        if event is Event.CUSTOM and value is None:
            value = "unknown"
        return _Block(self, event, {} if name is None or value is None else {name: value})

    def _enter(self, event: Event, more: dict[str, Any]) -> None:
        self._depth += 1
        self._record(f"{event.value}_start_time", None, **more)

    def _leave(self, event: Event, more: dict[str, Any], failed: bool) -> None:
        self._depth -= 1
        # A step that raised is not complete, so no end is told of it; the job's own end says whether it failed.
        if event is not Event.JOB and not (event is Event.STEP and failed):
            self._record(f"{event.value}_end_time", None, **more)
        if event is Event.JOB or (failed and self._depth == 0):
            self._record("job_end_time", None, **({"job_end_failed": True} if failed else {}))
