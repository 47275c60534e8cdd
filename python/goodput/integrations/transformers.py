"""Hugging Face Transformers: a callback that records what a Trainer does.

    trainer = Trainer(…, callbacks=[goodput.integrations.transformers.GoodputCallback(rec)])

Steps are the trainer's global steps, evaluation is the custom event EVALUATION, and a save is the time from the end of
the step before it until it is written. Loading a checkpoint has no event of its own: wrap trainer.train() in
`with rec.job():`, and the time before the first step is accounted all the same.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import time
from typing import Any

from transformers import TrainerCallback  # type: ignore[import-not-found, unused-ignore]

from .._recorder import CHECKPOINT_SAVE, CUSTOM, Recorder


class GoodputCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Records steps, saves and evaluations. Every rank may have one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._last_ns = 0  # when the trainer last did something that has an event of its own
        self._evaluates = False

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_evaluation()
        self._recorder.record_step(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._last_ns = time.time_ns()

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._last_ns = time.time_ns()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if not self._evaluates:
            self._evaluates = True
            self._recorder._record(True, CUSTOM, "evaluation", time_ns=self._last_ns or None)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_evaluation()

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_evaluation()
        if self._last_ns:
            self._recorder._record(True, CHECKPOINT_SAVE, step=state.global_step, time_ns=self._last_ns)
            self._recorder._record(False, CHECKPOINT_SAVE, step=state.global_step)
        self._last_ns = time.time_ns()

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_evaluation()

    def _end_evaluation(self) -> None:
        if self._evaluates:
            self._evaluates = False
            self._recorder._record(False, CUSTOM, "evaluation")
            self._last_ns = time.time_ns()
