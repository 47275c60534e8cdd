#!/usr/bin/env python3
"""Trains a network to read handwritten digits with JAX and Orbax, and goes on after a preemption.

    pip install jax orbax-checkpoint
    goodput run --job digits-jax -- python examples/train_jax.py --directory /tmp/digits-jax --preempt-at-step 300
    goodput report digits-jax

The loop tells of its steps, its input and its evaluation. Saves, restores and compilation are not in it: what JAX and
Orbax publish is recorded by itself, from one call of goodput.integrations.jax.install(). A preemption is SIGTERM, as clouds
send it: the step is finished, a checkpoint saved, and the process ends; the next attempt loses nothing.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

import goodput
import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from goodput.integrations import jax as goodput_jax

BATCH = 64
RATE = 0.1
SEED = 7
DIGITS = Path(__file__).parent / "data" / "digits.csv"
Layers = list[dict[str, jax.Array]]


def new_network(widths: tuple[int, ...] = (64, 512, 512, 10)) -> Layers:
    keys = jax.random.split(jax.random.key(SEED), len(widths) - 1)
    return [
        {"weights": jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5, "bias": jnp.zeros(outputs)}
        for key, inputs, outputs in zip(keys, widths, widths[1:])
    ]


def scores(network: Layers, pixels: jax.Array) -> jax.Array:
    for layer in network[:-1]:
        pixels = jax.nn.relu(pixels @ layer["weights"] + layer["bias"])
    return pixels @ network[-1]["weights"] + network[-1]["bias"]


@jax.jit
def train_step(network: Layers, pixels: jax.Array, digits: jax.Array) -> tuple[Layers, jax.Array]:
    def loss_of(network: Layers) -> jax.Array:
        chances = jax.nn.log_softmax(scores(network, pixels))
        return -jnp.take_along_axis(chances, digits[:, None], axis=1).mean()

    loss, slopes = jax.value_and_grad(loss_of)(network)
    return jax.tree.map(lambda value, slope: value - RATE * slope, network, slopes), loss


@jax.jit
def accuracy(network: Layers, pixels: jax.Array, digits: jax.Array) -> jax.Array:
    return (scores(network, pixels).argmax(axis=1) == digits).mean()


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    table = np.loadtxt(DIGITS, delimiter=",", dtype=np.float32)
    return table[:, :64] / 16, table[:, 64].astype(np.int32)


class Preemption:
    """Whether somebody wants the machine back."""

    def __init__(self) -> None:
        self.is_near = False
        signal.signal(signal.SIGTERM, self._take_notice)

    def _take_notice(self, *_: object) -> None:
        self.is_near = True


def preempt_once(directory: Path) -> None:
    """Sends this process what a cloud would send it: once, so that the next attempt gets further."""
    try:
        (directory / "preempted").touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGTERM)


def train(options: argparse.Namespace, recorder: goodput.Recorder, preemption: Preemption) -> bool:
    """Whether it got to its end."""
    with recorder.training_prep():
        options.directory.mkdir(parents=True, exist_ok=True)
        pixels, digits = load_digits()
        is_test = np.arange(len(digits)) % 6 == 0
        tests = jnp.asarray(pixels[is_test]), jnp.asarray(digits[is_test])
        pixels, digits = pixels[~is_test], digits[~is_test]
        network = new_network()
        checkpoints = ocp.CheckpointManager(
            (options.directory / "checkpoints").resolve(),
            options=ocp.CheckpointManagerOptions(save_interval_steps=options.checkpoint_every, max_to_keep=2),
        )
    first_step = 0
    if (latest := checkpoints.latest_step()) is not None:
        network = checkpoints.restore(latest, args=ocp.args.StandardRestore(network))
        first_step = latest + 1
    print(f"starting at step {first_step}", flush=True)

    for step in range(first_step, options.steps):
        with recorder.data_loading(blocking=True):
            chosen = np.random.default_rng([SEED, step]).integers(len(digits), size=BATCH)
            batch = jnp.asarray(pixels[chosen]), jnp.asarray(digits[chosen])
        recorder.record_step(step)
        network, loss = train_step(network, *batch)
        if step == options.preempt_at_step:
            preempt_once(options.directory)
        checkpoints.save(step, args=ocp.args.StandardSave(network), force=preemption.is_near)
        if preemption.is_near:
            checkpoints.wait_until_finished()
            recorder.disruption("preempted", f"after step {step}")
            return False
        if (step + 1) % options.evaluate_every == 0:
            with recorder.custom("eval"):
                right = float(accuracy(network, *tests))
            print(f"step {step}: loss {float(loss):.4f}, {right:.2%} of test digits right", flush=True)
    checkpoints.wait_until_finished()
    return True


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Trains a network to read handwritten digits, with JAX and Orbax.")
    parser.add_argument("--directory", type=Path, default=Path("train_jax.out"), help="where checkpoints are kept")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--checkpoint-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--evaluate-every", type=int, default=100, metavar="STEPS")
    parser.add_argument("--preempt-at-step", type=int, metavar="STEP", help="be preempted there, the first time")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    preemption = Preemption()
    recorder = goodput.Recorder(os.environ.get("GOODPUT_JOB", "digits-jax"))
    goodput_jax.install(recorder)
    with recorder.job():
        is_done = train(options, recorder, preemption)
        if not is_done:
            # Ended before its end: whoever launched it may start it again. The job's own end is not recorded.
            recorder.close()
            os._exit(128 + signal.SIGTERM)
    return 0


if __name__ == "__main__":
    sys.exit(main())
