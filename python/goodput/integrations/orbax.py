"""Orbax: the statistics that a CheckpointManager hands to its logger, recorded.

    manager = ocp.CheckpointManager(directory, logger=goodput.integrations.orbax.GoodputLogger(rec))

Use it where every host is to tell its own saves, or where steps and directories matter; goodput.integrations.jax needs
no change of the code, and both may be used together: one save is counted once.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import logging
import math
from typing import Any

from orbax.checkpoint import logging as orbax_logging  # type: ignore[import-not-found, unused-ignore]

from .._recorder import CHECKPOINT_RESTORE, CHECKPOINT_SAVE, Recorder

_log = logging.getLogger("goodput")

# Of a kind of entry: what it becomes, and the fields with the start and the whole duration.
_FIELDS = {
    "save": (
        CHECKPOINT_SAVE,
        "checkpoint_manager_blocking_start_time",
        "checkpoint_manager_blocking_duration_secs",
    ),
    "restore": (CHECKPOINT_RESTORE, "checkpoint_manager_start_time", "checkpoint_manager_duration_secs"),
    "emergency_restore": (CHECKPOINT_RESTORE, "checkpoint_manager_start_time", "checkpoint_manager_duration_secs"),
}


class GoodputLogger(orbax_logging.AbstractLogger):  # type: ignore[misc, unused-ignore]
    """Records each save and restore; entries of other kinds are passed over. Never raises.

    To keep Orbax's own log lines: orbax_logging.CompositeLogger(GoodputLogger(rec), orbax_logging.StandardLogger()).
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def log_entry(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """`msg` is the entry, a dictionary."""
        try:
            self._record(msg)
        except Exception:
            _log.debug("goodput: recording an entry of Orbax", exc_info=True)

    def _record(self, entry: dict[str, Any]) -> None:
        fields = _FIELDS.get(str(entry.get("event_type")))
        if fields is None:
            return
        event, start, duration = fields[0], entry.get(fields[1]), entry.get(fields[2])
        if duration is None or not math.isfinite(duration):
            return
        self._recorder._checkpoint_statistics(
            event,
            start_ns=None if start is None else round(start * 1e9),
            duration_ns=round(duration * 1e9),
            step=entry.get("step"),
            location=entry.get("directory"),
            emergency=entry["event_type"] == "emergency_restore",
        )
