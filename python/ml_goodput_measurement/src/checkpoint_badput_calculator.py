"""What checkpoints took, by the statistics that Orbax logs of saves and restores.

    options = CheckpointLoggerOptions(job_name="llama-7b", logger_name="goodput_llama-7b")
    calculator = CheckpointBadputCalculator(options)
    calculator.calculate_save_operation_checkpoint_manager_blocking_time()

Entries come from the client's log if one is passed, else from the job's local journal. Several hosts' entries of one
step count as their mean, as in 0.2.3. An entry that lacks a number is left out.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import statistics
from collections.abc import Callable
from typing import Any, TypeVar

from goodput import GoodputError, _binding

from ml_goodput_measurement.src import google_client

_JOB_NAME = "checkpoint_job"
_LOGGER_NAME = "checkpoint_logger"

_STEP = "step"
_EVENT_TYPE = "event_type"
_DIRECTORY = "directory"

_WAIT_FOR_PREV_DURATION_SECS = "wait_for_prev_duration_secs"
_CHECKPOINTER_SAVE_DURATION_SECS = "checkpointer_blocking_duration_secs"
_CHECKPOINTER_RESTORE_DURATION_SECS = "checkpointer_duration_secs"
_GET_OLD_STEPS_DURATION_SECS = "get_old_steps_duration_secs"
_CHECKPOINT_MANAGER_SAVE_DURATION_SECS = "checkpoint_manager_blocking_duration_secs"
_CHECKPOINT_MANAGER_RESTORE_DURATION_SECS = "checkpoint_manager_duration_secs"
_BROADCAST_DURATION_SECS = "broadcast_duration_secs"

OPERATION_TYPE_SAVE = "save"
OPERATION_TYPE_RESTORE = "restore"
OPERATION_TYPE_EMERGENCY_RESTORE = "emergency_restore"

OPERATION_TYPE_LOCAL = "local"
OPERATION_TYPE_PERSISTENT = "persistent"
OPERATION_TYPE_PERSISTENT_AND_LOCAL = "persistent_and_local"

_CLOUD_LOGGING_PAGE_SIZE = 10000

# What entries call a duration → what the statistics call it.
_SAVE_TIMES = {
    _CHECKPOINT_MANAGER_SAVE_DURATION_SECS: "checkpoint_manager_blocking_time",
    _CHECKPOINTER_SAVE_DURATION_SECS: "checkpointer_blocking_time",
    _WAIT_FOR_PREV_DURATION_SECS: "wait_for_prev_time",
    _GET_OLD_STEPS_DURATION_SECS: "get_old_steps_time",
}
_RESTORE_TIMES = {
    _CHECKPOINT_MANAGER_RESTORE_DURATION_SECS: "checkpoint_manager_time",
    _CHECKPOINTER_RESTORE_DURATION_SECS: "restore_time",
}
_BROADCAST_TIME = "broadcast_time"

logger = logging.getLogger(__name__)


@dataclasses.dataclass
class SaveCheckpointManagerVerticalStepStats:
    """Of all saves, over steps."""

    total_checkpoint_manager_blocking_time: float = 0.0
    average_checkpoint_manager_blocking_time: float = 0.0
    minimum_checkpoint_manager_blocking_time: float = 0.0
    maximum_checkpoint_manager_blocking_time: float = 0.0
    standard_deviation_checkpoint_manager_blocking_time: float = 0.0

    total_checkpointer_blocking_time: float = 0.0
    average_checkpointer_blocking_time: float = 0.0
    minimum_checkpointer_blocking_time: float = 0.0
    maximum_checkpointer_blocking_time: float = 0.0
    standard_deviation_checkpointer_blocking_time: float = 0.0

    total_wait_for_prev_time: float = 0.0
    average_wait_for_prev_time: float = 0.0
    minimum_wait_for_prev_time: float = 0.0
    maximum_wait_for_prev_time: float = 0.0
    standard_deviation_wait_for_prev_time: float = 0.0

    total_get_old_steps_time: float = 0.0
    average_get_old_steps_time: float = 0.0
    minimum_get_old_steps_time: float = 0.0
    maximum_get_old_steps_time: float = 0.0
    standard_deviation_get_old_steps_time: float = 0.0


@dataclasses.dataclass
class RestoreCheckpointManagerVerticalStepStats:
    """Of all restores, over steps."""

    total_checkpoint_manager_time: float = 0.0
    average_checkpoint_manager_time: float = 0.0
    minimum_checkpoint_manager_time: float = 0.0
    maximum_checkpoint_manager_time: float = 0.0
    standard_deviation_checkpoint_manager_time: float = 0.0

    total_restore_time: float = 0.0
    average_restore_time: float = 0.0
    minimum_restore_time: float = 0.0
    maximum_restore_time: float = 0.0
    standard_deviation_restore_time: float = 0.0

    total_broadcast_time: float = 0.0
    average_broadcast_time: float = 0.0
    minimum_broadcast_time: float = 0.0
    maximum_broadcast_time: float = 0.0
    standard_deviation_broadcast_time: float = 0.0


@dataclasses.dataclass
class SaveProcessedStep:
    """Of the saves of one step."""

    step: str = ""
    total_checkpoint_manager_blocking_time: float = 0.0
    total_checkpointer_blocking_time: float = 0.0
    total_wait_for_prev_time: float = 0.0
    total_get_old_steps_time: float = 0.0
    occurrence: int = 0


@dataclasses.dataclass
class RestoreProcessedStep:
    """Of the restores of one step."""

    step: str = ""
    total_checkpoint_manager_time: float = 0.0
    total_restore_time: float = 0.0
    total_broadcast_time: float = 0.0
    broadcast_occurrence: int = 0
    occurrence: int = 0


@dataclasses.dataclass
class CheckpointLoggerOptions:
    job_name: str = _JOB_NAME
    logger_name: str = _LOGGER_NAME
    client: Any | None = None  # a google.cloud.logging.Client
    use_goodput_logger: bool = False


_Step = TypeVar("_Step", SaveProcessedStep, RestoreProcessedStep)
_Statistics = TypeVar("_Statistics", SaveCheckpointManagerVerticalStepStats, RestoreCheckpointManagerVerticalStepStats)


def _add(step: Any, seconds: dict[str, float], broadcast_seconds: float) -> None:
    for time, one in seconds.items():
        setattr(step, f"total_{time}", getattr(step, f"total_{time}") + one)
    step.occurrence += 1
    if broadcast_seconds:
        step.total_broadcast_time += broadcast_seconds
        step.broadcast_occurrence += 1


def _put(found: Any, time: str, seconds: list[float], count: int) -> None:
    """The five statistics of a time over steps; the average is over `count` of them."""
    if not seconds or not count:
        return
    setattr(found, f"total_{time}", sum(seconds))
    setattr(found, f"average_{time}", sum(seconds) / count)
    setattr(found, f"minimum_{time}", min(seconds))
    setattr(found, f"maximum_{time}", max(seconds))
    if len(seconds) > 1:
        setattr(found, f"standard_deviation_{time}", statistics.stdev(seconds))


class CheckpointBadputCalculator:
    def __init__(self, options: CheckpointLoggerOptions = CheckpointLoggerOptions()):  # noqa: B008
        self._options = options
        self._use_goodput_logger = options.use_goodput_logger
        self.logging_client = options.client
        if self.logging_client is None and google_client.is_wanted() and not options.use_goodput_logger:
            self.logging_client = google_client.open_client()
        self._logger = None if self.logging_client is None else self.logging_client.logger(options.logger_name)
        self.entries: list[dict[str, Any]] = []

    def read_entries(self) -> list[dict[str, Any]]:
        """The log's entries of saves and restores, oldest first; with use_goodput_logger, those that were set."""
        if self._use_goodput_logger:
            return self.entries
        if self._logger is None:
            return _entries_of_journal(self._options.job_name)
        job_name = json.dumps(self._options.job_name, ensure_ascii=False)
        types = (OPERATION_TYPE_SAVE, OPERATION_TYPE_RESTORE, OPERATION_TYPE_EMERGENCY_RESTORE)
        wanted = " OR ".join(f"jsonPayload.{_EVENT_TYPE}={name}" for name in types)
        entries = self._logger.list_entries(
            # A filter without a time would be given one of 24 hours by the client.
            filter_=f'severity=INFO AND jsonPayload.job_name={job_name} AND ({wanted}) AND timestamp>="1970-01-01T00:00:00Z"',
            order_by="timestamp asc",
            page_size=_CLOUD_LOGGING_PAGE_SIZE,
        )
        return [entry.payload for entry in entries]

    def _is_local_operation(self, step_stats: dict[str, Any]) -> bool:
        return not str(step_stats.get(_DIRECTORY)).startswith("gs://")

    def is_valid_save_stats(
        self, step_stats: dict[str, Any], operation_type: str | None = OPERATION_TYPE_PERSISTENT_AND_LOCAL
    ) -> bool:
        """Whether it is a save, to the kind of storage that is asked about."""
        if step_stats.get(_EVENT_TYPE) != OPERATION_TYPE_SAVE:
            return False
        if operation_type in (OPERATION_TYPE_LOCAL, OPERATION_TYPE_PERSISTENT):
            return self._is_local_operation(step_stats) == (operation_type == OPERATION_TYPE_LOCAL)
        return True

    def is_valid_restore_stats(
        self, step_stats: dict[str, Any], operation_type: str | None = OPERATION_TYPE_PERSISTENT_AND_LOCAL
    ) -> bool:
        """Whether it is a restore; from local storage only emergency restores are."""
        of_type = {
            OPERATION_TYPE_LOCAL: (OPERATION_TYPE_EMERGENCY_RESTORE,),
            OPERATION_TYPE_PERSISTENT: (OPERATION_TYPE_RESTORE,),
        }
        both = (OPERATION_TYPE_RESTORE, OPERATION_TYPE_EMERGENCY_RESTORE)
        return step_stats.get(_EVENT_TYPE) in of_type.get(str(operation_type), both)

    def calculate_save_operation_checkpoint_manager_blocking_time(
        self, operation_type: str | None = OPERATION_TYPE_PERSISTENT_AND_LOCAL
    ) -> SaveCheckpointManagerVerticalStepStats:
        def is_wanted(entry: dict[str, Any]) -> bool:
            return self.is_valid_save_stats(entry, operation_type)

        steps = self._steps(is_wanted, SaveProcessedStep, _SAVE_TIMES)
        return self._statistics(steps, SaveCheckpointManagerVerticalStepStats(), _SAVE_TIMES)

    def calculate_restore_operation_checkpoint_manager_blocking_time(
        self, operation_type: str | None = OPERATION_TYPE_PERSISTENT_AND_LOCAL
    ) -> RestoreCheckpointManagerVerticalStepStats:
        def is_wanted(entry: dict[str, Any]) -> bool:
            return self.is_valid_restore_stats(entry, operation_type)

        steps = self._steps(is_wanted, RestoreProcessedStep, _RESTORE_TIMES)
        found = self._statistics(steps, RestoreCheckpointManagerVerticalStepStats(), _RESTORE_TIMES)
        means = [step.total_broadcast_time / max(step.broadcast_occurrence, 1) for step in steps]
        _put(found, _BROADCAST_TIME, means, sum(step.broadcast_occurrence > 0 for step in steps))
        return found

    def _steps(
        self, is_wanted: Callable[[dict[str, Any]], bool], kind: type[_Step], times: dict[str, str]
    ) -> list[_Step]:
        """The entries of each step and kind of storage, added up."""
        self.entries = self.read_entries()
        steps: dict[str, _Step] = {}
        for entry in filter(is_wanted, self.entries):
            where = OPERATION_TYPE_LOCAL if self._is_local_operation(entry) else OPERATION_TYPE_PERSISTENT
            name = f"{entry.get(_STEP)}-{where}"
            try:
                seconds = {time: float(entry[key]) for key, time in times.items()}
                broadcast_seconds = float(entry.get(_BROADCAST_DURATION_SECS) or 0)
            except (KeyError, TypeError, ValueError) as error:
                logger.warning("Leaving out a checkpoint entry of step %s: %s", entry.get(_STEP), error)
                continue
            _add(steps.setdefault(name, kind(step=name)), seconds, broadcast_seconds)
        return list(steps.values())

    def _statistics(self, steps: list[_Step], found: _Statistics, times: dict[str, str]) -> _Statistics:
        for time in times.values():
            _put(found, time, [getattr(step, f"total_{time}") / step.occurrence for step in steps], len(steps))
        return found


def _entries_of_journal(job_name: str) -> list[dict[str, Any]]:
    """Saves and restores of the local journal in the form of Orbax' entries."""
    try:
        payloads = [json.loads(line) for line in _binding.journal_payloads(job_name).splitlines()]
    except GoodputError as error:
        logger.warning("Reading checkpoints of job %s: %s", job_name, error)
        return []
    statistics = [_whole(payload) for payload in payloads if _EVENT_TYPE in payload]
    # Where Orbax's logger told of them, the same saves and restores may have been recorded as events too.
    told = {_kind(entry) for entry in statistics}
    return [*statistics, *(entry for entry in _entries_of_events(payloads) if _kind(entry) not in told)]


def _kind(entry: dict[str, Any]) -> str:
    return OPERATION_TYPE_SAVE if entry[_EVENT_TYPE] == OPERATION_TYPE_SAVE else OPERATION_TYPE_RESTORE


def _entries_of_events(payloads: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Pairs of a start and an end."""
    entries = []
    began: dict[tuple[str, Any], float] = {}
    for payload in payloads:
        for what in (OPERATION_TYPE_SAVE, OPERATION_TYPE_RESTORE):
            key = (what, payload.get(_STEP))
            start, end = (payload.get(f"checkpoint_{what}_{edge}_time") for edge in ("start", "end"))
            if start is not None:
                began[key] = start
            if end is not None and key in began:
                entry = {_EVENT_TYPE: what, _STEP: payload.get(_STEP), _DIRECTORY: payload.get(_DIRECTORY, "")}
                entries.append(_whole({**entry, next(iter(_times(entry))): end - began.pop(key)}))
    return entries


def _times(entry: dict[str, Any]) -> dict[str, str]:
    return _SAVE_TIMES if entry[_EVENT_TYPE] == OPERATION_TYPE_SAVE else _RESTORE_TIMES


def _whole(entry: dict[str, Any]) -> dict[str, Any]:
    """The journal knows the whole of a save or restore, not its parts."""
    return {**dict.fromkeys(_times(entry), 0.0), **entry}


def _main() -> None:
    parser = argparse.ArgumentParser(description="Prints what the checkpoints of a job took.")
    parser.add_argument("--job_name", default=_JOB_NAME)
    parser.add_argument("--logger_name", default=_LOGGER_NAME)
    parser.add_argument("--operation_type", default=OPERATION_TYPE_PERSISTENT_AND_LOCAL)
    given = parser.parse_args()
    calculator = CheckpointBadputCalculator(CheckpointLoggerOptions(given.job_name, given.logger_name))
    for found in (
        calculator.calculate_save_operation_checkpoint_manager_blocking_time(given.operation_type),
        calculator.calculate_restore_operation_checkpoint_manager_blocking_time(given.operation_type),
    ):
        print(json.dumps(dataclasses.asdict(found), indent=2))


if __name__ == "__main__":
    _main()
