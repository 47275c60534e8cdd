#!/usr/bin/env python3
"""A fit of PyTorch Lightning, recorded by goodput.integrations.lightning.

    python examples/train_lightning.py && goodput report lightning-example

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
from pathlib import Path

import goodput
import lightning
import torch
from goodput.integrations.lightning import Checkpoints, GoodputCallback


class Line(lightning.LightningModule):
    """A line through points."""

    def __init__(self, fails_at_step: int | None) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.fails_at_step = fails_at_step

    def training_step(self, batch: torch.Tensor, _: int) -> torch.Tensor:
        if self.global_step == self.fails_at_step:
            raise RuntimeError("a failure in the middle of a fit")
        return (self.layer(batch) - 2 * batch).square().mean()

    def validation_step(self, batch: torch.Tensor, _: int) -> None:
        self.log("validation_loss", (self.layer(batch) - 2 * batch).square().mean())

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description="A fit of PyTorch Lightning that is recorded.")
    parser.add_argument("--directory", type=Path, default=Path("train_lightning.out"))
    parser.add_argument("--fails-at-step", type=int)
    options = parser.parse_args()

    recorder = goodput.Recorder("lightning-example")
    trainer = lightning.Trainer(
        max_epochs=2,
        accelerator="cpu",
        default_root_dir=options.directory,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        callbacks=[GoodputCallback(recorder)],
        plugins=[Checkpoints(recorder)],
    )
    points = torch.linspace(-1, 1, 80).reshape(-1, 1)
    batches = torch.utils.data.DataLoader(points, batch_size=8)
    trainer.fit(Line(options.fails_at_step), batches, batches)


if __name__ == "__main__":
    main()
