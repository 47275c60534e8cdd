#!/usr/bin/env python3
"""Trains as MaxText does: ml_goodput_measurement's recorder and monitor around the loop, and no cloud anywhere.

    python examples/maxtext_goodput.py --base-output-directory /tmp/maxtext --interrupt-at 250
    python examples/maxtext_goodput.py --base-output-directory /tmp/maxtext
    goodput report maxtext-digits
    tensorboard --logdir /tmp/maxtext/maxtext-digits/tensorboard

The first run dies in the middle, the second goes on from the checkpoint; the report has both. What is imported here is
what MaxText imports, in its order of calls; the network is that of train_digits.py.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import contextlib
import enum
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from ml_goodput_measurement import goodput, monitoring
from sklearn.datasets import load_digits
from train_digits import Checkpoint, Digits, Network

CHECKPOINT_PERIOD = 100
EVAL_INTERVAL = 200


class GoodputEvent(enum.Enum):
    JOB = "job"
    TPU_INIT = "tpu_init"
    TRAINING_PREPARATION = "training_preparation"
    DATA_LOADING = "data_loading"
    STEP = "step"


def record_goodput(recorder: Any, name: str, *arguments: Any) -> None:
    call = getattr(recorder, name, None)
    if call:
        call(*arguments)


@contextlib.contextmanager
def maybe_record_goodput(recorder: Any, event: GoodputEvent, *arguments: Any) -> Iterator[None]:
    """The event's end is told when the block was left without an exception."""
    record_goodput(recorder, f"record_{event.value}_start_time", *arguments)
    yield
    record_goodput(recorder, f"record_{event.value}_end_time", *arguments)


@contextlib.contextmanager
def maybe_monitor_goodput(config: argparse.Namespace) -> Iterator[None]:
    """Goodput in TensorBoard while the block runs; goodput works in a process of its own."""
    monitor = monitoring.GoodputMonitor(
        job_name=config.run_name,
        logger_name=f"goodput_{config.run_name}",
        tensorboard_dir=str(config.output / "tensorboard"),
        upload_interval=config.goodput_upload_interval_seconds,
        monitoring_enabled=config.monitor_goodput,
        pathway_enabled=False,
        include_badput_breakdown=True,
        include_step_deviation=True,
        step_deviation_interval_seconds=config.goodput_upload_interval_seconds,
        gcp_options=monitoring.GCPOptions(enable_gcp_goodput_metrics=False, enable_gcp_step_deviation_metrics=False),
    )
    try:
        monitor.start_goodput_uploader()
        monitor.start_step_deviation_uploader()
        yield
    finally:
        monitor.stop_step_deviation_uploader()
        monitor.stop_goodput_uploader()


def train_loop(config: argparse.Namespace, recorder: Any) -> None:
    with maybe_record_goodput(recorder, GoodputEvent.TPU_INIT):
        checkpoint = Checkpoint(config.output)
    with maybe_record_goodput(recorder, GoodputEvent.TRAINING_PREPARATION):
        images, labels = load_digits(return_X_y=True)
        digits = Digits(images.reshape(-1, 8, 8), labels)
        network = Network()
        start_step = checkpoint.next_step()
        if start_step > 0:
            checkpoint.restore(network)
    print(f"starting at step {start_step}", flush=True)
    for step in np.arange(start_step, config.steps):
        with maybe_record_goodput(recorder, GoodputEvent.DATA_LOADING):
            batch = digits.batch(int(step))
        with maybe_record_goodput(recorder, GoodputEvent.STEP, step):
            network.train(*batch)
        if (step + 1) % CHECKPOINT_PERIOD == 0:
            checkpoint.save(network, int(step) + 1)
        if (step + 1) % EVAL_INTERVAL == 0:
            recorder.record_custom_badput_event_start_time(custom_badput_event_type="EVAL")
            print(f"step {step}: {network.accuracy(digits):.2%} right", flush=True)
            recorder.record_custom_badput_event_end_time(custom_badput_event_type="EVAL")
        if step == config.interrupt_at:
            raise SystemExit(f"interrupted at step {step}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Trains as MaxText does, without a cloud.")
    parser.add_argument("--run-name", default="maxtext-digits")
    parser.add_argument("--base-output-directory", type=Path, default=Path("maxtext_goodput.out"))
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--interrupt-at", type=int, metavar="STEP", help="stop there, as if the machine was taken away")
    parser.add_argument("--goodput-upload-interval-seconds", type=int, default=2)
    parser.add_argument("--no-monitor-goodput", dest="monitor_goodput", action="store_false")
    options = parser.parse_args()
    options.output = options.base_output_directory / options.run_name
    return options


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    config = parse_options()
    config.output.mkdir(parents=True, exist_ok=True)
    recorder = goodput.GoodputRecorder(config.run_name, f"goodput_{config.run_name}", True)
    with maybe_monitor_goodput(config):
        record_goodput(recorder, "record_job_start_time")
        train_loop(config, recorder)
        record_goodput(recorder, "record_job_end_time")
    calculator = goodput.GoodputCalculator(job_name=config.run_name, logger_name=f"goodput_{config.run_name}")
    percent, breakdown, step = calculator.get_job_goodput(include_badput_breakdown=True)
    print(f"goodput {percent:.2f} %, last productive step {step}")
    for kind, value in breakdown.items():
        if isinstance(value, float) and value > 0:
            print(f"  {kind.name:42} {value:6.2f} %")
    for name, value in breakdown[goodput.BadputType.CUSTOM_BADPUT_EVENTS].items():
        print(f"  {name:42} {value:6.2f} %")


if __name__ == "__main__":
    main()
