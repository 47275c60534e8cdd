"""GoodputMonitor: a job's figures in TensorBoard and Cloud Monitoring while it trains.

The first start_ of an uploader starts `goodput monitor` beside this process; what follows commands it. It computes and
sends there, outlives this process by the last word, and this process waits for it only where it stops an uploader.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import logging
import os
from typing import Any

from goodput._monitor_process import MonitorProcess

from ml_goodput_measurement.src import cloud_store, gcp_metrics, goodput, goodput_utils, timeline_file

BadputType = goodput_utils.BadputType
GCPOptions = goodput_utils.GCPOptions
GCPMetrics = gcp_metrics.GCPMetrics
GoodputCalculator = goodput.GoodputCalculator
IntervalMetricType = goodput_utils.IntervalMetricType
IntervalWorkloadMetricDetails = goodput_utils.IntervalWorkloadMetricDetails
MetricType = goodput_utils.MetricType
MonitoringWindowType = goodput_utils.MonitoringWindowType
ValueType = gcp_metrics.ValueType
UnproductiveTimeDict = goodput.UnproductiveTimeDict
WorkloadMetricDetails = goodput_utils.WorkloadMetricDetails

ACTIVITY_EXCLUSION_LIST = goodput_utils.ACTIVITY_EXCLUSION_LIST
_TENSORBOARD_GCS_SUBDIR = "goodput"
_TENSORBOARD_GOODPUT_LABEL = "goodput"
_TENSORBOARD_BADPUT_LABEL = "badput"
_TENSORBOARD_STEP_DEVIATION_LABEL = "step_deviation"
_PROCESS_TERMINATION_TIMEOUT_SECONDS = 10

logger = logging.getLogger(__name__)

# The names of uploaders, for the monitor's process.
_GOODPUT = "goodput"
_STEP_DEVIATION = "step deviation"
_ROLLING_WINDOW = "rolling window"


class GoodputMonitor:
    """Uploads the job's goodput, its step deviation and its rolling windows, each from its start to its stop.

    What cannot be done is logged. On processes without monitoring every call does nothing.
    """

    def __init__(
        self,
        job_name: str,
        logger_name: str,
        tensorboard_dir: str,
        upload_interval: int,
        monitoring_enabled: bool = False,
        pathway_enabled: bool = False,
        include_badput_breakdown: Any = False,
        include_step_deviation: Any = False,
        configured_ideal_step_time: float | None = None,
        step_deviation_interval_seconds: float = 10,
        gcp_options: GCPOptions = GCPOptions(),  # noqa: B008
        skip_final_flush: bool = False,
        final_flush_timeout_seconds: float | None = _PROCESS_TERMINATION_TIMEOUT_SECONDS,
        gcs_sync_interval_seconds: int = 3600,
        cache_dir: str = "/tmp",
        max_logs_retention_period: datetime.timedelta | float | None = None,
    ):
        self._initialized = bool(monitoring_enabled)
        if not self._initialized:
            logger.info("Monitoring is disabled. GoodputMonitor will not be initialized.")
            return
        self._skip_final_flush = skip_final_flush
        self._final_flush_timeout_seconds = final_flush_timeout_seconds
        self._worker_config: dict[str, Any] = {
            "job_name": job_name,
            "logger_name": logger_name,
            "tensorboard_dir": os.path.join(tensorboard_dir, _TENSORBOARD_GCS_SUBDIR),
            "upload_interval": upload_interval,
            "pathway_enabled": pathway_enabled,
            "include_badput_breakdown": include_badput_breakdown,
            "include_step_deviation": include_step_deviation,
            "configured_ideal_step_time": configured_ideal_step_time,
            "step_deviation_interval_seconds": step_deviation_interval_seconds,
            "gcp_options": gcp_options,
            "rolling_windows": [],
            "gcs_sync_interval_seconds": _sync_interval_seconds(gcs_sync_interval_seconds),
            "cache_dir": _cache_dir(cache_dir),
            "max_logs_retention_period": max_logs_retention_period,
        }
        self._process = MonitorProcess(
            str(job_name),
            _arguments(str(tensorboard_dir), gcp_options, cloud_store.retention_seconds(max_logs_retention_period)),
            usual_store=cloud_store.readable(str(logger_name)),
            flush=not skip_final_flush,
            timeout_seconds=final_flush_timeout_seconds,
        )

    def __del__(self) -> None:
        if getattr(self, "_initialized", False) and hasattr(self, "_process"):
            self._process.close()

    def start_goodput_uploader(self) -> None:
        """Uploads goodput, and badput where that was asked for, at the upload interval."""
        if self._initialized and self._start_goodput():
            self._log_start("Cumulative goodput monitoring process started for job: %s (PID: %s)")

    def stop_goodput_uploader(self, skip_final_flush: bool | None = None) -> None:
        """Uploads once more, unless that is to be skipped, and ends it."""
        if not self._initialized:
            return
        flush = self._flushes(skip_final_flush)
        job_name, logger_name = self._worker_config["job_name"], self._worker_config["logger_name"]
        if not self._process.is_running(_GOODPUT) and not (flush and self._start_goodput()):
            return
        pid = self._process.pid
        logger.info("Shutting down cumulative goodput process (PID: %s)", pid)
        if flush:
            logger.info("[PID: %s] Performing final goodput query and upload for job: %s", pid, job_name)
        answer = self._stop(_GOODPUT, flush)
        if flush and answer.get("goodput_percent") is not None:
            logger.info(
                "Final goodput query and upload for job: %s and logger: %s completed"
                " with total goodput: %.2f%%, last step: %d",
                job_name,
                logger_name,
                answer["goodput_percent"],
                answer["max_productive_step"],
            )

    def start_step_deviation_uploader(self) -> None:
        """Uploads each step's time and its distance from the ideal one, where that was asked for."""
        if not self._initialized or not self._worker_config["include_step_deviation"]:
            logger.info(
                "Step deviation monitoring is disabled. Returning without initializing step deviation uploader thread."
            )
            return
        interval = self._worker_config["step_deviation_interval_seconds"]
        ideal = self._worker_config["configured_ideal_step_time"]
        if self._start(_STEP_DEVIATION, ["steps"], interval_seconds=interval, ideal_step_seconds=ideal):
            self._log_start("Step deviation process started for job: %s (PID: %s)")

    def stop_step_deviation_uploader(self, skip_final_flush: bool | None = None) -> None:
        if self._initialized and self._process.is_running(_STEP_DEVIATION):
            logger.info("Shutting down step deviation process (PID: %s)", self._process.pid)
            self._stop(_STEP_DEVIATION, self._flushes(skip_final_flush))

    def start_rolling_window_goodput_uploader(self, rolling_windows_seconds: list[int] | int) -> None:
        """Uploads the goodput and badput of windows that end now, at the upload interval."""
        if not self._initialized:
            return
        windows = rolling_windows_seconds if hasattr(rolling_windows_seconds, "__iter__") else [rolling_windows_seconds]
        self._worker_config["rolling_windows"] = list(windows)
        interval = self._worker_config["upload_interval"]
        if self._start(_ROLLING_WINDOW, ["windows"], interval_seconds=interval, windows_seconds=[*map(float, windows)]):
            self._log_start("Rolling window goodput uploader process started for job: %s (PID: %s)")

    def stop_rolling_window_goodput_uploader(self, skip_final_flush: bool | None = None) -> None:
        if self._initialized and self._process.is_running(_ROLLING_WINDOW):
            logger.info("Shutting down rolling window process (PID: %s)", self._process.pid)
            self._stop(_ROLLING_WINDOW, self._flushes(skip_final_flush))

    def _flushes(self, skip_final_flush: bool | None) -> bool:
        return not (self._skip_final_flush if skip_final_flush is None else skip_final_flush)

    def _start_goodput(self) -> bool:
        figures = ["goodput", "badput"] if self._worker_config["include_badput_breakdown"] else ["goodput"]
        return self._start(_GOODPUT, figures, interval_seconds=self._worker_config["upload_interval"])

    def _start(self, name: str, figures: list[str], *, interval_seconds: Any, **more: Any) -> bool:
        if self._process.is_running(name):
            logger.warning("The %s uploader (PID: %s) is already running.", name, self._process.pid)
            return False
        if self._process.pid is None:
            timeline_file.import_once(str(self._worker_config["job_name"]), self._worker_config["cache_dir"])
        return self._process.start(name, figures, interval_seconds=float(interval_seconds), **more)

    def _log_start(self, message: str) -> None:
        logger.info(message, self._worker_config["job_name"], self._process.pid)

    def _stop(self, name: str, flush: bool) -> dict[str, Any]:
        timeout = self._final_flush_timeout_seconds if flush else _PROCESS_TERMINATION_TIMEOUT_SECONDS
        answer = self._process.stop(name, flush=flush, timeout_seconds=timeout) or {}
        if flush and answer.get("reason"):
            logger.warning("The final upload of %s is not complete: %s", name, answer["reason"])
        return answer


def _sync_interval_seconds(given: int) -> int:
    named = os.environ.get("ML_GOODPUT_GCS_SYNC_INTERVAL_SECONDS")
    if named is None:
        return given
    try:
        seconds = int(named)
    except ValueError:
        logger.warning("Invalid ML_GOODPUT_GCS_SYNC_INTERVAL_SECONDS: %s", named)
        return given
    logger.info("Overriding GCS sync interval to %d seconds from environment.", seconds)
    return seconds


def _cache_dir(given: str) -> str:
    named = os.environ.get("ML_GOODPUT_CACHE_DIR")
    if named is None:
        return given
    logger.info("Overriding cache directory to %s from environment.", named)
    return named


def _arguments(tensorboard_dir: str, gcp_options: GCPOptions, retention_seconds: float | None) -> list[str]:
    """Where the monitor's process exports to, and how old what it reads of a log may be."""
    arguments = [f"--tensorboard={tensorboard_dir}"]
    if retention_seconds is not None:
        arguments.append(f"--retention={retention_seconds:.3f}s")
    if not gcp_options.enable_gcp_goodput_metrics:
        return arguments
    # Where no project is named or found, the monitor's process goes on without Cloud Monitoring.
    arguments.append(f"--cloud-monitoring={gcp_options.project_id or 'auto'}")
    named = {
        "location": gcp_options.location,
        "replica": gcp_options.replica_id,
        "accelerator": gcp_options.acc_type,
        "cluster": gcp_options.cluster_name,
    }
    return arguments + [f"--cloud-{name}={value}" for name, value in named.items() if value]
