"""Experiment trackers: a report's figures beside the losses of the run that they are about.

    report = goodput.report("llama-7b", windows=[3600])
    goodput.integrations.trackers.log_to_wandb(report)
    goodput.integrations.trackers.log_to_mlflow(report)

The names are those of report.flat() behind a prefix: goodput/goodput_percent, goodput/badput_seconds.STALLED, …

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._report import Report

PREFIX = "goodput/"


def log_to_wandb(report: Report, run: Any = None, *, prefix: str = PREFIX) -> dict[str, float]:
    """Logs to a Weights & Biases run, the current one unless given, and makes its summary hold the latest. Returns what
    was logged. Does not commit the run's step: the figures join those that the loop logs next."""
    if run is None:
        import wandb  # type: ignore[import-not-found, unused-ignore]

        run = wandb.run
        if run is None:
            raise ValueError("logging a report to Weights & Biases: no run is active; call wandb.init() or give one")
    figures = {prefix + name: value for name, value in report.flat().items()}
    run.log(figures, commit=False)
    run.summary.update(figures)
    return figures


def log_to_mlflow(
    report: Report, *, run_id: str | None = None, step: int | None = None, prefix: str = PREFIX
) -> dict[str, float]:
    """Logs to an MLflow run, the active one unless given; `step` is the job's highest productive one unless given.
    Returns what was logged. Characters that MLflow refuses in names (of custom events) become underscores."""
    import mlflow  # type: ignore[import-not-found, unused-ignore]

    figures = {prefix + re.sub(r"[^\w\-. /:]", "_", name): value for name, value in report.flat().items()}
    mlflow.log_metrics(figures, step=report.max_productive_step if step is None else step, run_id=run_id)
    return figures
