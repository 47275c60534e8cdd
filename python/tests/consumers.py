"""How MaxText and AXLearn call ml_goodput_measurement: the same calls in the same order, around a training loop.

    maxtext_run(config, train_step)
    AXLearnRecorder(config).run(first, last)

The loops sleep where a real one computes. No framework is imported.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import os
import time

from ml_goodput_measurement import goodput, monitoring

STEP_SECONDS = 0.004


class MaxTextEvent(enum.Enum):
    JOB = "job"
    TPU_INIT = "tpu_init"
    TRAINING_PREPARATION = "training_preparation"
    DATA_LOADING = "data_loading"
    STEP = "step"


@dataclasses.dataclass
class MaxTextConfig:
    run_name: str
    tensorboard_dir: str
    enable_goodput_recording: bool = True
    monitor_goodput: bool = True
    elastic_enabled: bool = False
    enable_pathways_goodput: bool = False
    goodput_upload_interval_seconds: int = 30
    monitor_step_time_deviation: bool = True
    step_deviation_interval_seconds: int = 30
    enable_gcp_goodput_metrics: bool = False
    enable_gcp_step_deviation_metrics: bool = False
    process_index: int = 0


def maxtext_recorder(config):
    if not config.enable_goodput_recording:
        return None
    arguments = (config.run_name, f"goodput_{config.run_name}", config.process_index == 0)
    if config.elastic_enabled:
        from ml_goodput_measurement import goodput_elastic

        recorder = goodput_elastic.ElasticGoodputRecorder(*arguments)
        recorder.record_elastic_slice_counts(available_slices=4, active_slices=4, total_slices=4)
        return recorder
    return goodput.GoodputRecorder(*arguments)


def maxtext_record(recorder, name, *arguments):
    """By the names of methods; one that is not there is no error."""
    call = getattr(recorder, name, None) if recorder else None
    if call:
        call(*arguments)


@contextlib.contextmanager
def maxtext_event(recorder, event, *arguments):
    """No end after an exception."""
    maxtext_record(recorder, f"record_{event.value}_start_time", *arguments)
    yield
    maxtext_record(recorder, f"record_{event.value}_end_time", *arguments)


@contextlib.contextmanager
def maxtext_monitor(config):
    if not config.monitor_goodput or config.process_index != 0:
        yield
        return
    made = None
    try:
        kind = monitoring.GoodputMonitor
        if config.elastic_enabled:
            from ml_goodput_measurement import monitoring_elastic

            kind = monitoring_elastic.ElasticGoodputMonitor
        options = {
            "job_name": config.run_name,
            "logger_name": f"goodput_{config.run_name}",
            "tensorboard_dir": config.tensorboard_dir,
            "upload_interval": config.goodput_upload_interval_seconds,
            "monitoring_enabled": True,
            "include_badput_breakdown": True,
            "include_step_deviation": config.monitor_step_time_deviation,
            "step_deviation_interval_seconds": config.step_deviation_interval_seconds,
            "gcp_options": monitoring.GCPOptions(
                enable_gcp_goodput_metrics=config.enable_gcp_goodput_metrics,
                enable_gcp_step_deviation_metrics=config.enable_gcp_step_deviation_metrics,
            ),
        }
        if kind is monitoring.GoodputMonitor:
            options["pathway_enabled"] = config.enable_pathways_goodput
        made = kind(**options)
        made.start_goodput_uploader()
        yield
    finally:
        if made:
            made.stop_goodput_uploader()


def maxtext_train(recorder, first, last, new_step=int, interrupt_at=None):
    """One attempt: the job's end is told only when its steps are done."""
    maxtext_record(recorder, "record_job_start_time")
    with maxtext_event(recorder, MaxTextEvent.TPU_INIT):
        time.sleep(0.02)
    with maxtext_event(recorder, MaxTextEvent.TRAINING_PREPARATION):
        time.sleep(0.02)
    for step in range(first, last):
        with maxtext_event(recorder, MaxTextEvent.DATA_LOADING):
            pass
        with maxtext_event(recorder, MaxTextEvent.STEP, new_step(step)):
            time.sleep(STEP_SECONDS)
            if step == interrupt_at:
                raise InterruptedError(step)
    maxtext_record(recorder, "record_job_end_time")


class AXLearnEvent(enum.Enum):
    JOB = "job"
    STEP = "step"
    ACCELERATOR_INIT = "tpu_init"
    TRAINING_PREPARATION = "training_preparation"
    DATA_LOADING = "data_loading"
    CUSTOM_BADPUT_EVENT = "custom_badput_event"


@dataclasses.dataclass
class AXLearnConfig:
    name: str
    upload_dir: str
    upload_interval: int = 30
    rolling_window_size: tuple = (86400, 604800)
    is_elastic: bool = False
    process_index: int = 0


class AXLearnRecorder:
    """Lazily makes a recorder and two monitors of one job, which it starts again whenever monitoring begins anew."""

    def __init__(self, config):
        self.config = config
        self._recorder = self._monitor = self._rolling = None

    @property
    def recorder(self):
        if self._recorder is None:
            kind = goodput.GoodputRecorder
            if self.config.is_elastic:
                from ml_goodput_measurement.src import goodput_elastic

                kind = goodput_elastic.ElasticGoodputRecorder
            self._recorder = kind(
                job_name=self.config.name,
                logger_name=f"goodput_logger_{self.config.name}",
                logging_enabled=(self.config.process_index == 0),
            )
        return self._recorder

    @contextlib.contextmanager
    def event(self, event, *arguments, **named):
        start = getattr(self.recorder, f"record_{event.value}_start_time", None)
        end = getattr(self.recorder, f"record_{event.value}_end_time", None)
        if start:
            start(*arguments, **named)
        yield
        if end:
            end(*arguments, **named)

    def _monitor_of(self, kind, folder, **more):
        return kind(
            job_name=self.config.name,
            logger_name=f"goodput_logger_{self.config.name}",
            tensorboard_dir=folder,
            upload_interval=self.config.upload_interval,
            monitoring_enabled=True,
            include_badput_breakdown=True,
            **more,
        )

    @contextlib.contextmanager
    def _cumulative(self, options):
        try:
            if self._monitor is None and self.config.is_elastic:
                from ml_goodput_measurement.src import monitoring_elastic

                more = {"include_step_deviation": True, "include_slice_efficiency": True}
                kind = monitoring_elastic.ElasticGoodputMonitor
                self._monitor = self._monitor_of(kind, self.config.upload_dir, gcp_options=options, **more)
            elif self._monitor is None:
                kind, more = monitoring.GoodputMonitor, {"pathway_enabled": False, "gcp_options": options}
                self._monitor = self._monitor_of(kind, self.config.upload_dir, **more)
            self._monitor.start_goodput_uploader()
            yield
        finally:
            self._monitor.stop_goodput_uploader()

    @contextlib.contextmanager
    def _windows(self, options):
        try:
            if self._rolling is None:
                folder = os.path.join(self.config.upload_dir, f"rolling_window_{self.config.name}")
                more = {"pathway_enabled": False, "gcp_options": options}
                self._rolling = self._monitor_of(monitoring.GoodputMonitor, folder, **more)
            self._rolling.start_rolling_window_goodput_uploader(self.config.rolling_window_size)
            yield
        finally:
            self._rolling.stop_rolling_window_goodput_uploader()

    @contextlib.contextmanager
    def monitors(self):
        if self.config.process_index != 0:
            yield
            return
        options = monitoring.GCPOptions(enable_gcp_goodput_metrics=False, enable_gcp_step_deviation_metrics=False)
        with self._cumulative(options), self._windows(options):
            yield

    def train(self, first, last, crash_at=None):
        """One attempt: steps count from 1, and the job's end is told after a crash too."""
        self.recorder.record_job_start_time()
        try:
            with self.event(AXLearnEvent.ACCELERATOR_INIT):
                time.sleep(0.02)
            evaluation = self.event(AXLearnEvent.CUSTOM_BADPUT_EVENT, custom_badput_event_type="EVAL")
            with self.event(AXLearnEvent.TRAINING_PREPARATION), evaluation:
                time.sleep(0.02)
            for step in range(first, last + 1):
                with self.event(AXLearnEvent.DATA_LOADING):
                    pass
                with self.event(AXLearnEvent.STEP, step):
                    time.sleep(STEP_SECONDS)
                    if step == crash_at:
                        raise InterruptedError(step)
                    if step % 10 == 0:
                        with self.event(AXLearnEvent.CUSTOM_BADPUT_EVENT, custom_badput_event_type="EVAL"):
                            time.sleep(STEP_SECONDS)
        finally:
            self.recorder.record_job_end_time()
