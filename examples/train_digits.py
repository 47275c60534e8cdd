#!/usr/bin/env python3
"""Trains a network to read handwritten digits, with goodput's Recorder in its loop, and survives being killed.

    goodput run --job digits -- python examples/train_digits.py --directory /tmp/digits --crash-at-step 1400
    goodput report digits

Three layers, stochastic gradient descent with momentum, checkpoints that are whole or not there. Each batch is a function
of its step's number, so a run that was killed and resumed ends with the same weights as one that was not.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path

import goodput
import numpy as np
from sklearn.datasets import load_digits

BATCH = 64
RATE = 0.01
MOMENTUM = 0.9
SEED = 7


class Digits:
    """Images of 10 x 10 pixels from 0 to 1, an empty row and column all around, with the digits they show."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images = np.pad(images.astype(np.float32) / 16, ((0, 0), (1, 1), (1, 1)))
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    def flat(self) -> np.ndarray:
        return self.images[:, 1:9, 1:9].reshape(len(self), 64)

    def batch(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """The batch of a step: drawn at random and moved by up to a pixel, the same whenever it is asked for."""
        random = np.random.default_rng([SEED, step])
        chosen = random.integers(len(self), size=BATCH)
        rows = random.integers(3, size=(BATCH, 1, 1)) + np.arange(8)[:, None]
        columns = random.integers(3, size=(BATCH, 1, 1)) + np.arange(8)
        moved = self.images[chosen[:, None, None], rows, columns]
        return moved.reshape(BATCH, 64), self.labels[chosen]


class Network:
    """Layers of weights and biases, and how they last moved."""

    def __init__(self, widths: tuple[int, ...] = (64, 1024, 1024, 10)) -> None:
        random = np.random.default_rng(SEED)
        self.values: list[np.ndarray] = []
        for inputs, outputs in zip(widths, widths[1:]):
            scale = np.sqrt(2 / inputs, dtype=np.float32)
            self.values.append(random.standard_normal((inputs, outputs), dtype=np.float32) * scale)
            self.values.append(np.zeros(outputs, dtype=np.float32))
        self.velocity = [np.zeros_like(value) for value in self.values]

    def forward(self, pixels: np.ndarray) -> list[np.ndarray]:
        """What each layer sees, and at last the scores."""
        seen = [pixels]
        for weights, bias in zip(self.values[::2], self.values[1::2]):
            seen.append(np.maximum(seen[-1], 0) @ weights + bias if len(seen) > 1 else pixels @ weights + bias)
        return seen

    def train(self, pixels: np.ndarray, labels: np.ndarray) -> float:
        """One step of gradient descent. Returns the loss."""
        seen = self.forward(pixels)
        scores = seen[-1] - seen[-1].max(axis=1, keepdims=True)
        chances = np.exp(scores)
        chances /= chances.sum(axis=1, keepdims=True)
        rows = np.arange(len(labels))
        loss = float(-np.log(chances[rows, labels] + 1e-12).mean())
        chances[rows, labels] -= 1
        slope = chances / len(labels)
        for layer in reversed(range(len(seen) - 1)):
            visible = np.maximum(seen[layer], 0) if layer else pixels
            moves = (visible.T @ slope, slope.sum(axis=0))
            if layer:
                slope = (slope @ self.values[2 * layer].T) * (seen[layer] > 0)
            for at, move in zip((2 * layer, 2 * layer + 1), moves):
                self.velocity[at] *= MOMENTUM
                self.velocity[at] -= RATE * move
                self.values[at] += self.velocity[at]
        return loss

    def accuracy(self, digits: Digits) -> float:
        return float((self.forward(digits.flat())[-1].argmax(axis=1) == digits.labels).mean())


class Checkpoint:
    """The one file that a run resumes from: the number of the next step, and all numbers of the network."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "checkpoint.npz"

    def save(self, network: Network, next_step: int) -> None:
        """Whole or not there, whenever the process or the machine dies."""
        beside = self.path.with_suffix(".new")
        with beside.open("wb") as file:
            np.savez(file, *network.values, *network.velocity, next_step=next_step)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)

    def next_step(self) -> int:
        """The step to go on with: 0 when there is no checkpoint."""
        if not self.path.exists():
            return 0
        with np.load(self.path) as saved:
            return int(saved["next_step"])

    def restore(self, network: Network) -> None:
        with np.load(self.path) as saved:
            for at, numbers in enumerate(network.values + network.velocity):
                numbers[...] = saved[f"arr_{at}"]


def crash_once(directory: Path) -> None:
    """Dies as a process dies that is out of memory or on a failing machine: once, so that the next attempt gets further."""
    try:
        (directory / "crashed").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def train(options: argparse.Namespace, recorder: goodput.Recorder) -> None:
    with recorder.training_prep():
        options.directory.mkdir(parents=True, exist_ok=True)
        images, labels = load_digits(return_X_y=True)
        images = images.reshape(-1, 8, 8)
        is_test = np.arange(len(labels)) % 6 == 0
        training, test = Digits(images[~is_test], labels[~is_test]), Digits(images[is_test], labels[is_test])
        network = Network()
        checkpoint = Checkpoint(options.directory)
    first_step = checkpoint.next_step()
    if first_step > 0:
        with recorder.checkpoint_restore(first_step):
            checkpoint.restore(network)
    print(f"starting at step {first_step}", flush=True)

    steps_per_epoch = len(training) // BATCH
    for step in range(first_step, options.epochs * steps_per_epoch):
        with recorder.data_loading(blocking=True):
            pixels, digits = training.batch(step)
        with recorder.step(step):
            loss = network.train(pixels, digits)
        if step == options.crash_at_step:
            crash_once(options.directory)
        if (step + 1) % options.checkpoint_every == 0:
            with recorder.checkpoint_save(step):
                checkpoint.save(network, step + 1)
        if (step + 1) % (options.evaluate_every * steps_per_epoch) == 0:
            with recorder.custom("eval"):
                accuracy = network.accuracy(test)
            print(
                f"epoch {(step + 1) // steps_per_epoch}: loss {loss:.4f}, {accuracy:.2%} of test digits right",
                flush=True,
            )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Trains a network to read handwritten digits.")
    parser.add_argument("--directory", type=Path, default=Path("train_digits.out"), help="where checkpoints are kept")
    parser.add_argument("--epochs", type=int, default=100, help="of 23 steps each")
    parser.add_argument("--checkpoint-every", type=int, default=200, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, default=10, metavar="EPOCHS")
    parser.add_argument("--crash-at-step", type=int, metavar="STEP", help="die of SIGKILL there, the first time")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    recorder = goodput.Recorder(os.environ.get("GOODPUT_JOB", "digits"))
    with recorder.job():
        train(options, recorder)


if __name__ == "__main__":
    main()
