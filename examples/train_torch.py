#!/usr/bin/env python3
"""A PyTorch loop with torch.compile and distributed checkpoints: both recorded by goodput.integrations.torch.

    python examples/train_torch.py --directory /tmp/torch && goodput report torch-example

Run it again and it goes on from its checkpoint. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
from pathlib import Path

import goodput
import torch
from goodput.integrations import torch as goodput_torch


def latest_checkpoint(directory: Path) -> Path | None:
    saved = [path for path in directory.glob("step-*") if (path / ".metadata").exists()]
    return max(saved, key=lambda path: int(path.name.removeprefix("step-")), default=None)


def main() -> None:
    parser = argparse.ArgumentParser(description="A PyTorch loop that is recorded.")
    parser.add_argument("--directory", type=Path, default=Path("train_torch.out"))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--backend", default="inductor", help="of torch.compile")
    options = parser.parse_args()

    recorder = goodput.Recorder("torch-example")
    goodput_torch.install(recorder)
    checkpoint = goodput_torch.Checkpoint(recorder)
    with recorder.job():
        with recorder.training_prep():
            torch.manual_seed(7)
            model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
            compiled = torch.compile(model, backend=options.backend)
        first_step = 0
        if (latest := latest_checkpoint(options.directory)) is not None:
            first_step = int(latest.name.removeprefix("step-")) + 1
            weights = model.state_dict()
            checkpoint.load(weights, checkpoint_id=latest, step=first_step - 1)
            model.load_state_dict(weights)
        for step in range(first_step, first_step + options.steps):
            recorder.record_step(step)
            inputs = torch.randn(16, 32)
            loss = (compiled(inputs) - inputs.sum(dim=1, keepdim=True)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if (step + 1) % 10 == 0:
                checkpoint.save(model.state_dict(), checkpoint_id=options.directory / f"step-{step}", step=step)
    print(f"steps {first_step} to {first_step + options.steps - 1}, loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
