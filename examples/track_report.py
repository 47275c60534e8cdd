#!/usr/bin/env python3
"""A job's figures in experiment trackers, by goodput.integrations.trackers.

    python examples/track_report.py llama-7b --wandb --mlflow sqlite:///mlflow.db

Weights & Biases is used as its environment says (WANDB_MODE=offline writes to this machine only).
SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse

import goodput
from goodput.integrations.trackers import log_to_mlflow, log_to_wandb


def main() -> None:
    parser = argparse.ArgumentParser(description="Logs a report to experiment trackers.")
    parser.add_argument("job")
    parser.add_argument("--wandb", action="store_true", help="log to Weights & Biases")
    parser.add_argument("--mlflow", metavar="URI", help="log to MLflow there")
    options = parser.parse_args()

    report = goodput.report(options.job, windows=[3600])
    if options.wandb:
        import wandb

        with wandb.init(project="goodput", name=options.job) as run:
            print(f"wandb: {len(log_to_wandb(report, run))} figures")
    if options.mlflow:
        import mlflow

        mlflow.set_tracking_uri(options.mlflow)
        with mlflow.start_run(run_name=options.job):
            print(f"mlflow: {len(log_to_mlflow(report))} figures")


if __name__ == "__main__":
    main()
