#!/usr/bin/env python3
"""A Trainer of Hugging Face Transformers, recorded by goodput.integrations.transformers.

    python examples/train_transformers.py && goodput report transformers-example

The model is a small one of its own, made here: nothing is fetched. SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
from pathlib import Path

import goodput
import torch
from goodput.integrations.transformers import GoodputCallback
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Counting(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Rows of numbers, each one more than the one before."""

    def __len__(self) -> int:
        return 64

    def __getitem__(self, at: int) -> dict[str, torch.Tensor]:
        row = (torch.arange(16) + at) % 32
        return {"input_ids": row, "labels": row}


def main() -> None:
    parser = argparse.ArgumentParser(description="A Trainer that is recorded.")
    parser.add_argument("--directory", type=Path, default=Path("train_transformers.out"))
    options = parser.parse_args()

    recorder = goodput.Recorder("transformers-example")
    with recorder.job():
        with recorder.training_prep():
            torch.manual_seed(7)
            model = GPT2LMHeadModel(GPT2Config(vocab_size=32, n_positions=16, n_embd=32, n_layer=2, n_head=2))
            arguments = TrainingArguments(
                output_dir=str(options.directory),
                max_steps=20,
                per_device_train_batch_size=8,
                save_steps=10,
                eval_strategy="steps",
                eval_steps=10,
                logging_steps=5,
                report_to=[],
                use_cpu=True,
                disable_tqdm=True,
            )
            trainer = Trainer(
                model=model,
                args=arguments,
                train_dataset=Counting(),
                eval_dataset=Counting(),
                callbacks=[GoodputCallback(recorder)],
            )
        trainer.train()


if __name__ == "__main__":
    main()
