"""PyTorch: compilation by torch.compile, and saves and restores by torch.distributed.checkpoint.

    goodput.integrations.torch.install(rec)                   # every compilation of this thread

    checkpoint = goodput.integrations.torch.Checkpoint(rec)   # save, async_save and load, as torch.distributed.checkpoint
    checkpoint.save({"model": model}, checkpoint_id=path, step=step)

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import logging
import threading
import weakref
from typing import Any

import torch.distributed.checkpoint as dcp  # type: ignore[import-not-found, unused-ignore]
from torch._dynamo.callback import callback_handler  # type: ignore[import-not-found, unused-ignore]

from .._recorder import COMPILATION, Recorder

_log = logging.getLogger("goodput")
_installed: weakref.WeakSet[Recorder] = weakref.WeakSet()


def install(recorder: Recorder) -> None:
    """Compilations of this thread are recorded, wherever in a run they happen. Once per recorder.

    Call it on the thread that runs the training loop.
    """
    if recorder in _installed:
        return
    _installed.add(recorder)
    reference, thread = weakref.ref(recorder), threading.get_ident()

    def note(is_start: bool) -> None:
        alive = reference()
        if alive is not None and threading.get_ident() == thread:
            alive._record(is_start, COMPILATION)

    callback_handler.register_start_callback(lambda *_: note(True))
    callback_handler.register_end_callback(lambda *_: note(False))


class Checkpoint:
    """torch.distributed.checkpoint with a recorder beside it: the same arguments, and `step` for the record."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def save(self, *args: Any, step: int | None = None, **kwargs: Any) -> Any:
        """Blocks until the checkpoint is written, and so does training."""
        with self._recorder.checkpoint_save(step, location=_location(kwargs)):
            return dcp.save(*args, **kwargs)

    def async_save(self, *args: Any, step: int | None = None, **kwargs: Any) -> Any:
        """Only staging blocks; what is written in the background costs the loop nothing."""
        with self._recorder.checkpoint_save(step, location=_location(kwargs)):
            return dcp.async_save(*args, **kwargs)

    def load(self, *args: Any, step: int | None = None, **kwargs: Any) -> Any:
        """A restore."""
        with self._recorder.checkpoint_restore(step, location=_location(kwargs)):
            return dcp.load(*args, **kwargs)


def _location(arguments: dict[str, Any]) -> str | None:
    place = arguments.get("checkpoint_id")
    return None if place is None else str(place)
