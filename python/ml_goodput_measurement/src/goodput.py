"""GoodputRecorder and GoodputCalculator, as programs written for ml-goodput-measurement call them.

The recorder writes to the job's local journal, which survives the process; the calculator reads it. Where a cloud logger
is passed, everything flows through that instead.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import json
import logging
import sys
from typing import Any, Optional, Union

import goodput as _goodput
from goodput import _binding
from goodput import _recorder as _events

from ml_goodput_measurement.src import (
    bucket_store,
    checkpoint_badput_calculator,
    cloud_store,
    goodput_cache,
    goodput_exclusion,
    goodput_utils,
    google_client,
    timeline_file,
)
from ml_goodput_measurement.src.job_account import JobAccount, to_ns

get_timestamp_from_log_entry = goodput_utils.get_timestamp_from_log_entry
get_extra_time_from_anomalous_steps = goodput_utils.get_extra_time_from_anomalous_steps
compute_ideal_step_time = goodput_utils.compute_ideal_step_time

BadputType = goodput_utils.BadputType
CheckpointLoggerOptions = checkpoint_badput_calculator.CheckpointLoggerOptions
CheckpointBadputCalculator = checkpoint_badput_calculator.CheckpointBadputCalculator
GoodputType = goodput_utils.GoodputType
GoodputCache = goodput_cache.GoodputCache
GoodputInfo = goodput_utils.GoodputInfo  # NOLINT(name)
MetricType = goodput_utils.MetricType
IntervalMetricType = goodput_utils.IntervalMetricType
StepInfo = goodput_utils.StepInfo  # NOLINT(name)
# Seconds or percent by type; of custom events by their names in upper case.
UnproductiveTimeDict = dict[BadputType, Union[float, dict[str, float]]]
WorkloadMetricDetails = goodput_utils.WorkloadMetricDetails
IntervalWorkloadMetricDetails = goodput_utils.IntervalWorkloadMetricDetails

_JOB_NAME = "job_name"
_STEP_COUNT = "step_count"
_STEP_START_TIME = "step_start_time"
_STEP_END_TIME = "step_end_time"
_JOB_START_TIME = "job_start_time"
_JOB_END_TIME = "job_end_time"
_JOB_END_FAILED = "job_end_failed"
_TPU_INIT_START_TIME = "tpu_init_start_time"
_TPU_INIT_END_TIME = "tpu_init_end_time"
_TRAINING_PREPARATION_START_TIME = "training_prep_start_time"
_TRAINING_PREPARATION_END_TIME = "training_prep_end_time"
_DATA_LOADING_START_TIME = "data_loading_start_time"
_DATA_LOADING_END_TIME = "data_loading_end_time"
_CUSTOM_BADPUT_EVENT_TYPE = "custom_badput_event_type"
_CUSTOM_BADPUT_EVENT_START_TIME = "custom_badput_event_start_time"
_CUSTOM_BADPUT_EVENT_END_TIME = "custom_badput_event_end_time"
_ELASTIC_WAIT_EVENT_TYPE = "elastic_wait_event_type"
_SLICE_COUNTS_TIME = "elastic_slice_counts_timestamp"
# What a payload has as integers, whatever integers the caller has.
_INTEGERS = (_STEP_COUNT, "active_slices", "total_slices", "available_slices")

_CLOUD_LOGGING_PAGE_SIZE = 1000000
_CLOUD_LOGGING_DEFAULT_RETENTION = datetime.timedelta(days=7)

logger = logging.getLogger(__name__)

_Time = Optional[datetime.datetime]

# Which event of a journal a payload's key of time stands for: (its kind, whether it is the beginning).
_EVENT_OF_KEY = {
    _STEP_START_TIME: (_events.STEP, True),
    _STEP_END_TIME: (_events.STEP, False),
    _JOB_START_TIME: (_events.JOB, True),
    _JOB_END_TIME: (_events.JOB, False),
    _TPU_INIT_START_TIME: (_events.ACCELERATOR_INIT, True),
    _TPU_INIT_END_TIME: (_events.ACCELERATOR_INIT, False),
    _TRAINING_PREPARATION_START_TIME: (_events.TRAINING_PREP, True),
    _TRAINING_PREPARATION_END_TIME: (_events.TRAINING_PREP, False),
    _DATA_LOADING_START_TIME: (_events.DATA_LOADING, True),
    _DATA_LOADING_END_TIME: (_events.DATA_LOADING, False),
    _CUSTOM_BADPUT_EVENT_START_TIME: (_events.CUSTOM, True),
    _CUSTOM_BADPUT_EVENT_END_TIME: (_events.CUSTOM, False),
    "checkpoint_save_start_time": (_events.CHECKPOINT_SAVE, True),
    "checkpoint_save_end_time": (_events.CHECKPOINT_SAVE, False),
    "checkpoint_restore_start_time": (_events.CHECKPOINT_RESTORE, True),
    "checkpoint_restore_end_time": (_events.CHECKPOINT_RESTORE, False),
    "elastic_wait_start_time": (_events.ELASTIC_WAIT, True),
    "elastic_wait_end_time": (_events.ELASTIC_WAIT, False),
    "elastic_reinit_start_time": (_events.ELASTIC_REINIT, True),
    "elastic_reinit_end_time": (_events.ELASTIC_REINIT, False),
}


class _CloudLogger:
    """Stands where 0.2.3 talks to Cloud Logging: entries go to the job's local journal, and are read from it."""

    def __init__(
        self,
        job_name: str,
        log_name: str,
        max_logs_retention_period: datetime.timedelta | None = None,
        *,
        background_grace_period_s: float = 5.0,
        background_batch_size: int = 100,
        background_max_latency_s: float = 2.0,
    ):
        self.job_name = job_name
        self.log_name = log_name
        self.job_start_time: _Time = None
        self.retention_period = max_logs_retention_period or _CLOUD_LOGGING_DEFAULT_RETENTION
        # Only the process that is the job's clock has logging enabled, whatever number its launcher gave it.
        self._recorder = _goodput.Recorder(str(job_name), process_index=0)
        client = google_client.open_client() if google_client.is_wanted() else None
        self._google_log: google_client.GoogleLog | None = None
        if client is not None:
            self._google_log = google_client.GoogleLog(
                client, log_name, background_grace_period_s, background_batch_size, background_max_latency_s
            )
            self.project_id, self.logger = self._google_log.project_id, self._google_log.logger

    def record(self, key: str, at: Any, more: dict[str, Any]) -> None:
        """An event that happens now, or at a time of its own."""
        if self._google_log is not None:
            self._google_log.write(_entry_of(self.job_name, key, at, more))
        if key == _SLICE_COUNTS_TIME:
            time_ns = None if at is None else to_ns(at)
            self._recorder._slice_counts(more["active_slices"], more["total_slices"], more["available_slices"], time_ns)
            return
        kind, is_start = _EVENT_OF_KEY[key]
        if at is None and key == _STEP_START_TIME:
            self._recorder.record_step(_step_number(more[_STEP_COUNT]))
            return
        step = more.get(_STEP_COUNT, more.get("step"))
        self._recorder._record(
            is_start,
            kind,
            name=more.get(_CUSTOM_BADPUT_EVENT_TYPE, more.get(_ELASTIC_WAIT_EVENT_TYPE)),
            step=None if step is None else _step_number(step),
            failed=bool(more.get(_JOB_END_FAILED, False)),
            time_ns=None if at is None else to_ns(at),
        )

    def write_cloud_logging_entry(self, entry: dict[str, Any] | None) -> None:
        if entry is None or entry[_JOB_NAME] != self.job_name:
            return
        for key, value in entry.items():
            if key in _EVENT_OF_KEY or key == _SLICE_COUNTS_TIME:
                self.record(key, value, entry)

    def flush(self) -> None:
        """Nothing waits in the journal: what was recorded is there when the call returns."""
        if self._google_log is not None:
            self._google_log.flush()

    def read_cloud_logging_entries(
        self,
        start_time: _Time = None,
        end_time: _Time = None,
        last_entry_info: tuple[Any, str] | None = None,  # NOLINT(name)
    ) -> tuple[list[dict[str, Any]], tuple[Any, Any]]:
        """All that the journal holds of the job; its bounds are those of the account."""
        lines = _binding.journal_payloads(str(self.job_name)).splitlines()
        return [json.loads(line) for line in lines], (None, None)


def _step_number(step: Any) -> Any:
    """What int() takes beside integers: "5", 5.0."""
    return step if hasattr(step, "__index__") else int(step)


def _listen_to_jax(recorder: _goodput.Recorder) -> None:
    """What JAX and Orbax publish is recorded too, in a program that has them."""
    if "jax" in sys.modules:
        from goodput.integrations import jax

        jax.install(recorder)


class GoodputRecorder:
    """Tells what happens in the training process. No record_ method raises."""

    def __init__(
        self,
        job_name: str,
        logger_name: str,
        logging_enabled: Any = False,
        cloud_logger: _CloudLogger | None = None,
        *,
        background_grace_period_s: float = 5.0,
        background_batch_size: int = 100,
        background_max_latency_s: float = 2.0,
    ):
        self.job_name = job_name
        self._cloud_logger: Any = None
        if logging_enabled:
            self._cloud_logger = cloud_logger if cloud_logger is not None else _CloudLogger(job_name, logger_name)
        if type(self._cloud_logger) is _CloudLogger:
            _listen_to_jax(self._cloud_logger._recorder)
            if cloud_logger is None and not google_client.is_wanted():
                cloud_store.ship(self._cloud_logger._recorder, str(job_name), str(logger_name))

    def _record(self, key: str, at: Any, **more: Any) -> None:
        cloud_logger = self._cloud_logger
        if cloud_logger is None:
            return
        try:
            if type(cloud_logger) is _CloudLogger:
                cloud_logger.record(key, at, more)
                return
            cloud_logger.write_cloud_logging_entry(_entry_of(self.job_name, key, at, more))
        except Exception as error:
            logger.warning("Recording %s of job %s failed: %s", key, self.job_name, error)

    def flush(self) -> None:
        """Waits until a cloud logger has written what it was given."""
        if hasattr(self._cloud_logger, "flush"):
            self._cloud_logger.flush()

    def record_step_start_time(self, step: int, start_time: _Time = None) -> None:
        cloud_logger = self._cloud_logger
        # The one call of every step, without what the others may need.
        is_plain = start_time is None and type(cloud_logger) is _CloudLogger and type(step) is int
        if is_plain and cloud_logger._google_log is None:
            cloud_logger._recorder.record_step(step)
            return
        self._record(_STEP_START_TIME, start_time, step_count=step)

    def record_step_end_time(self, step: int, end_time: _Time = None) -> None:
        self._record(_STEP_END_TIME, end_time, step_count=step)

    def record_checkpoint_progress(self, step: Any, checkpoint_start_time: Any) -> None:
        """Records nothing, as in 0.2.3."""

    def record_job_start_time(self, start_time: _Time = None) -> None:
        self._record(_JOB_START_TIME, start_time)

    def record_job_end_time(self, end_time: _Time = None) -> None:
        self._record(_JOB_END_TIME, end_time)

    def record_tpu_init_start_time(self, start_time: _Time = None) -> None:
        self._record(_TPU_INIT_START_TIME, start_time)

    def record_tpu_init_end_time(self, end_time: _Time = None) -> None:
        self._record(_TPU_INIT_END_TIME, end_time)

    def record_training_preparation_start_time(self, start_time: _Time = None) -> None:
        self._record(_TRAINING_PREPARATION_START_TIME, start_time)

    def record_training_preparation_end_time(self, end_time: _Time = None) -> None:
        self._record(_TRAINING_PREPARATION_END_TIME, end_time)

    def record_data_loading_start_time(self, start_time: _Time = None) -> None:
        self._record(_DATA_LOADING_START_TIME, start_time)

    def record_data_loading_end_time(self, end_time: _Time = None) -> None:
        self._record(_DATA_LOADING_END_TIME, end_time)

    def record_custom_badput_event_start_time(
        self, start_time: _Time = None, custom_badput_event_type: str = "unknown"
    ) -> None:
        self._record(_CUSTOM_BADPUT_EVENT_START_TIME, start_time, custom_badput_event_type=custom_badput_event_type)

    def record_custom_badput_event_end_time(
        self, end_time: _Time = None, custom_badput_event_type: str = "unknown"
    ) -> None:
        self._record(_CUSTOM_BADPUT_EVENT_END_TIME, end_time, custom_badput_event_type=custom_badput_event_type)


def _entry_of(job_name: str, key: str, at: Any, more: dict[str, Any]) -> dict[str, Any]:
    """The payload of an event."""
    more = {name: int(value) if name in _INTEGERS else value for name, value in more.items()}
    return {_JOB_NAME: job_name, **more, key: _posix_seconds(at)}


def _posix_seconds(at: Any) -> float:
    if at is None:
        at = datetime.datetime.now(datetime.timezone.utc)
    return float(at.timestamp() if hasattr(at, "timestamp") else at)


# The engine's class → the type under which calculators have it.
_TYPE_OF_CLASS = {
    "ACCELERATOR_INITIALIZATION": BadputType.TPU_INITIALIZATION,
    "TRAINING_PREP": BadputType.TRAINING_PREP,
    "PROGRAM_STARTUP": BadputType.PROGRAM_STARTUP,
    "DATA_LOADING_SYNC": BadputType.DATA_LOADING_SYNC,
    "CHECKPOINT_SAVE": BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME,
    "CHECKPOINT_RESTORE": BadputType.UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME,
    "WASTED_PROGRESS": BadputType.WASTED_PROGRESS_FROM_DISRUPTION,
    "INFRASTRUCTURE_RECOVERY": BadputType.INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION,
    "ELASTIC_SLICE_DOWN": BadputType.ELASTIC_SLICE_DOWN,
    "ELASTIC_SCALE_UP": BadputType.ELASTIC_SCALE_UP,
    "ELASTIC_REINITIALIZATION": BadputType.ELASTIC_REINITIALIZATION,
    "STALLED": BadputType.OTHER,
    "OTHER": BadputType.OTHER,
}
_ELASTIC_TYPES = (BadputType.ELASTIC_SLICE_DOWN, BadputType.ELASTIC_SCALE_UP, BadputType.ELASTIC_REINITIALIZATION)
_NO_JOB_TIME = "Total job time is zero, Goodput cannot be calculated. Please fix the logging entries."
_CUT_OFF = " The job may have started before the oldest entry that the log keeps, or that the retention period admits."


class GoodputCalculator(goodput_exclusion.GoodputExclusion):
    """Answers about a job by its log: of the cloud logger if one is passed, else of the local journal, else of the store."""

    # The types that a breakdown always has; the time of others is in OTHER.
    _types = tuple(kind for kind in BadputType if kind not in _ELASTIC_TYPES)

    def __init__(
        self,
        job_name: str,
        logger_name: str,
        cloud_logger: _CloudLogger | None = None,
        using_pathways: bool = False,
        max_logs_retention_period: datetime.timedelta | float | None = None,
        gcs_path: str | None = None,
        cache_dir: str = "/tmp",
    ):
        self.job_name = job_name
        self.using_pathways = using_pathways
        self._cloud_logger = cloud_logger
        self._bucket = bucket_store.of(gcs_path)
        # A _CloudLogger of ours is the local journal.
        passed = None if type(cloud_logger) is _CloudLogger else cloud_logger
        if passed is None:
            timeline_file.import_once(str(job_name), cache_dir)
        self._account = JobAccount(
            str(job_name),
            passed,
            store=(self._bucket or cloud_store.readable(str(logger_name))) if passed is None else None,
            retention_seconds=cloud_store.retention_seconds(max_logs_retention_period),
        )
        # What get_job_goodput() answered from last, and was told of the ideal step time.
        self._answered: tuple[dict[str, Any], float | None] | None = None

    def sync_to_gcs(self) -> None:
        """Copies what is new in the job's local journal to gcs_path."""
        if self._bucket is not None:
            bucket_store.ship(str(self.job_name), self._bucket)

    def _report(self, *bounds: Any, **options: Any) -> dict[str, Any]:
        return self._account.report(*bounds, **options)

    def _badput_seconds(self, report: dict[str, Any]) -> UnproductiveTimeDict:
        seconds: UnproductiveTimeDict = {kind: 0.0 for kind in self._types}
        for name, spent in report["badput_seconds"].items():
            kind = _TYPE_OF_CLASS.get(name, BadputType.OTHER)
            if kind not in seconds:
                kind = BadputType.OTHER
            seconds[kind] += spent
        seconds[BadputType.DATA_LOADING_ASYNC] = report.get("async_data_loading_seconds") or 0.0
        seconds[BadputType.CUSTOM_BADPUT_EVENTS] = dict(report["custom_badput_seconds"])
        return seconds

    def _get_job_badput_breakdown(self, total_unproductive_time: Any, total_job_time: Any) -> UnproductiveTimeDict:
        """Percent of the job's time by type."""
        if total_job_time == 0:
            raise ValueError(_NO_JOB_TIME)

        def percent(seconds: Any) -> Any:
            if isinstance(seconds, dict):
                return {name: percent(part) for name, part in seconds.items()}
            return seconds / total_job_time * 100

        return {kind: percent(seconds) for kind, seconds in total_unproductive_time.items()}

    def get_job_goodput(
        self, include_badput_breakdown: Any = False, configured_ideal_step_time: float | None = None
    ) -> tuple[float, UnproductiveTimeDict, int]:
        """(goodput in percent, breakdown in percent or {}, max productive step) of the job until now."""
        if not self._account.has_job_start():
            raise ValueError(_NO_JOB_TIME + (_CUT_OFF if self._account.is_cut_off else ""))
        report = self._report()
        elapsed = report["elapsed_seconds"]
        if elapsed == 0:
            raise ValueError(_NO_JOB_TIME)
        self._answered = (report, configured_ideal_step_time)
        breakdown = (
            self._get_job_badput_breakdown(self._badput_seconds(report), elapsed) if include_badput_breakdown else {}
        )
        return report["goodput_seconds"] / elapsed * 100, breakdown, report["max_productive_step"]

    def get_job_goodput_interval(
        self, interval_start: datetime.datetime, interval_end: datetime.datetime
    ) -> tuple[float, UnproductiveTimeDict, int, float, int]:
        """(goodput in percent, breakdown in percent, max productive step, seconds, disruptions) of a window."""
        report = self._window(interval_start, interval_end)
        elapsed = report["elapsed_seconds"]
        breakdown = self._get_job_badput_breakdown(self._badput_seconds(report), elapsed)
        goodput = report["goodput_seconds"] / elapsed * 100
        return goodput, breakdown, report["max_productive_step"], elapsed, report["disruptions"]

    def _window(self, start: datetime.datetime, end: datetime.datetime) -> dict[str, Any]:
        report = self._report(to_ns(start), to_ns(end))
        if not report["elapsed_seconds"]:
            raise ValueError("Start time is on or after end time, cannot compute total job time.")
        return report

    def get_step_deviation(self, configured_ideal_step_time: float | None = None) -> dict[int, float]:
        """|step time - ideal step time| in seconds, by step."""
        deviations, _ = self._step_deviations(configured_ideal_step_time, self._report(), self._account.step_times())
        if not deviations:
            raise ValueError("No step times available and no previous step deviations found.")
        return deviations

    def _step_deviations(
        self, configured: float | None, report: dict[str, Any], step_times: dict[int, float]
    ) -> tuple[dict[int, float], float]:
        ideal = configured if configured is not None else report["ideal_step_time_seconds"]
        if not ideal:
            return {}, 0.0
        return {step: abs(seconds - ideal) for step, seconds in step_times.items()}, float(ideal)

    def _details_of(self, report: dict[str, Any], configured_ideal_step_time: float | None) -> dict[str, Any]:
        # Every step of the job: read only when somebody asks for details, and of the log that the report is of.
        known = self._account.known_step_times()
        deviations, ideal = self._step_deviations(configured_ideal_step_time, report, known)
        return {
            MetricType.GOODPUT_TIME.value: {GoodputType.TOTAL: report["goodput_seconds"]},
            MetricType.BADPUT_TIME.value: self._badput_seconds(report),
            MetricType.MAX_PRODUCTIVE_STEP.value: report["max_productive_step"],
            MetricType.TOTAL_ELAPSED_TIME.value: report["elapsed_seconds"],
            MetricType.DISRUPTION_COUNT.value: report["disruptions"],
            MetricType.STEP_TIME_DEVIATION.value: deviations,
            MetricType.IDEAL_STEP_TIME.value: ideal,
            MetricType.TOTAL_EXCLUDED_TIME.value: 0.0,
        }

    def get_job_goodput_details(self) -> WorkloadMetricDetails:
        """What get_job_goodput() computed last, by the values of MetricType."""
        if self._answered is None:
            logger.warning("Goodput information unavailable and will not be uploaded to GCM")
            return {
                "goodput_time": {},
                "badput_time": {},
                "max_productive_step": 0,
                "total_elapsed_time": 0.0,
                "disruption_count": 0,
                "step_time_deviation": {},
                "ideal_step_time": 0.0,
                "total_excluded_time": 0.0,
            }
        return self._details_of(*self._answered)  # type: ignore[return-value]

    def get_interval_metric_details(
        self, interval_start: datetime.datetime, interval_end: datetime.datetime
    ) -> IntervalWorkloadMetricDetails:
        """Goodput and breakdown of a window in percent, by the values of IntervalMetricType; {} of an empty one."""
        return self._interval_details(interval_start, interval_end)[0]

    def _interval_details(
        self, start: datetime.datetime, end: datetime.datetime
    ) -> tuple[IntervalWorkloadMetricDetails, dict[str, Any] | None]:
        size = int((end - start).total_seconds())
        try:
            report = self._window(start, end)
        except ValueError as error:
            logger.warning("Failed to get interval metric details: %s", error)
            return {"interval_goodput": {}, "interval_badput": {}, "interval_size": size}, None
        elapsed = report["elapsed_seconds"]
        return {
            "interval_goodput": {GoodputType.TOTAL: report["goodput_seconds"] / elapsed * 100},
            "interval_badput": self._get_job_badput_breakdown(self._badput_seconds(report), elapsed),
            "interval_size": size,
        }, report
