"""The monitor of jobs whose number of slices changes.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime

from ml_goodput_measurement.src import goodput_utils, monitoring

GCPOptions = goodput_utils.GCPOptions


class ElasticGoodputMonitor(monitoring.GoodputMonitor):
    """Uploads also elastic waits and re-initialisation, and how many slices took part."""

    def __init__(
        self,
        job_name: str,
        logger_name: str,
        tensorboard_dir: str,
        upload_interval: int,
        monitoring_enabled: bool = False,
        include_badput_breakdown: bool = False,
        include_step_deviation: bool = False,
        include_slice_efficiency: bool = False,
        configured_ideal_step_time: float | None = None,
        step_deviation_interval_seconds: int = 10,
        gcp_options: GCPOptions = GCPOptions(),  # noqa: B008
        skip_final_flush: bool = False,
        final_flush_timeout_seconds: float | None = monitoring._PROCESS_TERMINATION_TIMEOUT_SECONDS,
        gcs_sync_interval_seconds: int = 3600,
        cache_dir: str = "/tmp",
        max_logs_retention_period: datetime.timedelta | float | None = None,
    ):
        super().__init__(
            job_name=job_name,
            logger_name=logger_name,
            tensorboard_dir=tensorboard_dir,
            upload_interval=upload_interval,
            monitoring_enabled=monitoring_enabled,
            pathway_enabled=True,
            include_badput_breakdown=include_badput_breakdown,
            include_step_deviation=include_step_deviation,
            configured_ideal_step_time=configured_ideal_step_time,
            step_deviation_interval_seconds=step_deviation_interval_seconds,
            gcp_options=gcp_options,
            skip_final_flush=skip_final_flush,
            final_flush_timeout_seconds=final_flush_timeout_seconds,
            gcs_sync_interval_seconds=gcs_sync_interval_seconds,
            cache_dir=cache_dir,
            max_logs_retention_period=max_logs_retention_period,
        )
        if self._initialized:
            self._worker_config["include_slice_efficiency"] = include_slice_efficiency
