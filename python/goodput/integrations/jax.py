"""JAX and Orbax: saves, restores and compilation, recorded from what they publish in jax.monitoring.

    rec = goodput.Recorder("llama-7b")
    goodput.integrations.jax.install(rec)

User code stays as it is, with either of Orbax's interfaces. What counts is what the thread that called install() waited
for: asynchronous writes, and compilation elsewhere, cost the loop nothing.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import weakref

from .._recorder import CHECKPOINT_RESTORE, CHECKPOINT_SAVE, COMPILATION, Recorder

_log = logging.getLogger("goodput")

# Each is published at the end of what it measures, by the thread that did it. An asynchronous save is two: waiting for
# the one before, and starting its own. The family /jax/checkpoint/write/async/… repeats /jax/orbax/write/async/…, and
# /jax/orbax/write/blocking_duration_secs is a part of the synchronous total, which in the new interface a thread of
# Orbax publishes while the caller waits.
_ASYNC_BLOCKING = "/jax/orbax/write/async/blocking_duration_secs"
_ASYNC_TOTAL = "/jax/orbax/write/async/total_duration_secs"
_SYNC_TOTAL = "/jax/orbax/write/total_duration_secs"
_KIND_OF = {
    "/jax/checkpoint/write/wait_for_prev_duration_secs": CHECKPOINT_SAVE,
    _ASYNC_BLOCKING: CHECKPOINT_SAVE,
    _ASYNC_TOTAL: CHECKPOINT_SAVE,
    _SYNC_TOTAL: CHECKPOINT_SAVE,
    "/jax/orbax/read/total_duration_secs": CHECKPOINT_RESTORE,
    "/jax/core/compile/jaxpr_trace_duration": COMPILATION,
    "/jax/core/compile/jaxpr_to_mlir_module_duration": COMPILATION,
    "/jax/core/compile/backend_compile_duration": COMPILATION,
}
# Hundreds of traces at start-up are shorter: together they are some milliseconds, and each would be two events.
_SHORTEST_SECONDS = 0.001

_lock = threading.Lock()
_recorders: weakref.WeakKeyDictionary[Recorder, int] = weakref.WeakKeyDictionary()  # → the thread of its loop
_is_listening = False
# Threads inside a call that starts an asynchronous save and waits for it (training.Checkpointer.save of the new
# interface): they are blocked for the whole of it.
_waiting: set[int] = set()
_WAITING_CALLS = ("save", "save_checkpointables")
_WAITING_FILE = "/training/checkpointer.py"


def install(recorder: Recorder) -> bool:
    """From now on what this thread waits for is recorded by `recorder`, for as long as that lives.

    Call it on the thread that runs the training loop. More calls with the same recorder change nothing. False: this
    version of JAX publishes nothing, or there is no JAX.
    """
    global _is_listening
    with _lock:
        if not _is_listening:
            try:
                from jax import monitoring  # type: ignore[import-not-found, unused-ignore]

                monitoring.register_event_duration_secs_listener(_on_duration)
            except (ImportError, AttributeError) as error:
                _log.warning("goodput: listening to JAX: %s; its saves and compilation are not recorded", error)
                return False
            _is_listening = True
        _recorders.setdefault(recorder, threading.get_ident())
    return True


def uninstall(recorder: Recorder) -> None:
    """`recorder` records none of it any more."""
    with _lock:
        _recorders.pop(recorder, None)


def _on_duration(event: str, seconds: float, **_: object) -> None:
    """Called by JAX on its way: it must neither raise nor wait."""
    kind = _KIND_OF.get(event)
    if kind is None or not seconds >= _SHORTEST_SECONDS:
        return
    end_ns = time.time_ns()
    try:
        blocked = _blocked_threads(event)
        for recorder, thread in list(_recorders.items()):
            if blocked is None or thread in blocked:
                recorder._record(True, kind, time_ns=end_ns - round(seconds * 1e9))
                recorder._record(False, kind, time_ns=end_ns)
    except Exception:  # a listener that raises would end the user's save
        _log.debug("goodput: recording %s", event, exc_info=True)


def _blocked_threads(event: str) -> set[int] | None:
    """The threads that waited for what `event` has measured; None: whichever runs the loop."""
    if event == _SYNC_TOTAL:
        return None
    if event == _ASYNC_TOTAL:
        waited = set(_waiting)
        _waiting.clear()
        return waited
    thread = threading.get_ident()
    if event == _ASYNC_BLOCKING and _is_in_waiting_call():
        _waiting.add(thread)
    return {thread}


def _is_in_waiting_call() -> bool:
    frame = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name in _WAITING_CALLS and code.co_filename.replace("\\", "/").endswith(_WAITING_FILE):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
