"""PyTorch Lightning: a callback that records a fit.

    trainer = lightning.Trainer(callbacks=[goodput.integrations.lightning.GoodputCallback(rec)])

Steps are the trainer's global steps; validation and testing inside a fit are the custom event VALIDATION; the time
between two batches is blocking data loading. For saves give Checkpoints (below) to the trainer as a plugin:

    plugin = goodput.integrations.lightning.Checkpoints(rec)
    trainer = lightning.Trainer(callbacks=[…], plugins=[plugin])

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from lightning.pytorch.callbacks import Callback  # type: ignore[import-not-found, unused-ignore]
from lightning.pytorch.plugins.io import TorchCheckpointIO  # type: ignore[import-not-found, unused-ignore]

from .._recorder import Recorder


class GoodputCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Records the job, its preparation, loads, steps and validation. Every rank may have one."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._job = ExitStack()
        self._phase = ExitStack()  # what stands between steps, one at a time
        self._validation = ExitStack()

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            self._job.enter_context(self._recorder.job())
            self._phase.enter_context(self._recorder.training_prep())

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._phase.close()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._load()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._phase.close()
        # With gradients accumulated over several batches they are one step; the recorder is told of its first.
        if batch_idx % trainer.accumulate_grad_batches == 0:
            self._recorder.record_step(trainer.global_step)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._load()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._phase.close()
        if not trainer.sanity_checking:
            self._validation.enter_context(self._recorder.custom("validation"))

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._validation.close()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._phase.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._phase.close()
        self._validation.close()
        # As leaving `with rec.job():` by it would.
        self._job.__exit__(type(exception), exception, exception.__traceback__)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if stage == "fit":
            self._phase.close()
            self._job.close()

    def _load(self) -> None:
        self._phase.close()
        self._phase.enter_context(self._recorder.data_loading(blocking=True))


class Checkpoints(TorchCheckpointIO):  # type: ignore[misc, unused-ignore]
    """Lightning's own way of saving and loading, recorded."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any = None) -> None:
        with self._recorder.checkpoint_save(checkpoint.get("global_step"), location=str(path)):
            super().save_checkpoint(checkpoint, path, storage_options)

    def load_checkpoint(self, path: Any, *args: Any, **kwargs: Any) -> Any:
        with self._recorder.checkpoint_restore(location=str(path)):
            return super().load_checkpoint(path, *args, **kwargs)
