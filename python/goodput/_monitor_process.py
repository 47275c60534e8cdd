"""A `goodput monitor` beside this process, which starts and commands it.

    process = MonitorProcess("llama-7b", ["--tensorboard", "runs/7b"])
    process.start("all", ["goodput", "badput", "windows", "steps"], interval_seconds=30, windows_seconds=[3600])
    answer = process.stop("all", flush=True, timeout_seconds=10)

The first start is one posix_spawn; what follows are lines over a socket (src/cli/monitor_control.h). There is no thread
and no fork, and nothing waits but stop(), for so long as it is told. The monitor ends with its last uploader; it sees
this process end, however that comes, and then still exports the last word. Nothing raises.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import math
import os
import select
import signal
import socket
import time
import weakref
from collections.abc import Sequence
from typing import Any

from . import _program

_logger = logging.getLogger("goodput")

_CONTROL = 3  # the descriptor from which the monitor takes commands
# What the interpreter ignores or handles, and the monitor is to have as any program has it.
_SIGNALS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Of the time that a stop may take, what the monitor does not have for sending, so that its answer is in time.
_ANSWER_SECONDS = 0.5
_ANSWER_PART = 0.1
_END_SECONDS = 1.0

_alive: weakref.WeakSet[MonitorProcess] = weakref.WeakSet()


class MonitorProcess:
    def __init__(
        self,
        job: str,
        arguments: Sequence[str] = (),
        *,
        directory: str | None = None,
        store: str | None = None,
        usual_store: str | None = None,
        flush: bool = True,
        timeout_seconds: float | None = 10.0,
    ) -> None:
        """It follows the job in `store`, or here; where there is no journal of it, in `usual_store`.

        `flush` and `timeout_seconds` are for close(), and for the end of this process.
        """
        self._flush, self._timeout_seconds = flush, timeout_seconds
        self._usual_store = usual_store
        globals_ = ["--dir", directory] if directory else []
        globals_ += ["--store", store] if store else []
        self._arguments = ["goodput", *globals_, "monitor", f"--control={_CONTROL}", *arguments, "--", str(job)]
        self._running: dict[str, dict[str, Any]] = {}
        self._owner = os.getpid()
        self._pid: int | None = None
        self._link: socket.socket | None = None
        self._unread = b""

    @property
    def pid(self) -> int | None:
        """Of the monitor; None without one."""
        return self._pid if self._is_alive() else None

    def is_running(self, name: str) -> bool:
        """Whether the uploader was started, and the monitor is there."""
        return name in self._running and self._is_alive()

    def start(
        self,
        name: str,
        figures: Sequence[str],
        *,
        interval_seconds: float,
        windows_seconds: Sequence[float] = (),
        ideal_step_seconds: float | None = None,
    ) -> bool:
        """An uploader of figures; False, and a warning in the log, when there can be no monitor."""
        if os.getpid() != self._owner:
            return False  # a forked child has no monitor
        self._running[name] = {
            "start": name,
            "figures": list(figures),
            "interval_seconds": interval_seconds,
            "windows_seconds": list(windows_seconds),
            "ideal_step_seconds": ideal_step_seconds,
        }
        if self._is_alive():
            self._hear(0)
            return self._say(self._running[name])
        return self._spawn() and all(self._say(command) for command in list(self._running.values()))

    def stop(self, name: str, *, flush: bool = True, timeout_seconds: float | None = 10.0) -> dict[str, Any] | None:
        """The monitor's answer, with "flushed", "goodput_percent" …; None when none came in time, or nothing ran.

        With `flush` a last look is exported first. The last uploader takes the monitor with it.
        """
        was_running = self.is_running(name)
        self._running.pop(name, None)
        if not was_running:
            return None
        sending = timeout_seconds
        if sending is not None:
            sending -= min(_ANSWER_SECONDS, sending * _ANSWER_PART)
        answer = None
        if self._say({"stop": name, "flush": flush, "timeout_seconds": sending}):
            answer = self._hear(math.inf if timeout_seconds is None else timeout_seconds, name)
        if answer is None:
            _logger.warning(
                "goodput: stopping %s of the monitor (process %s): it did not answer in time", name, self._pid
            )
        if not self._running:
            self._end()
        return answer

    def close(self) -> None:
        """Stops what runs, all of it within the time that one stop may take."""
        until = None if self._timeout_seconds is None else time.monotonic() + self._timeout_seconds
        for name in list(self._running):
            left = None if until is None else max(0.0, until - time.monotonic())
            self.stop(name, flush=self._flush, timeout_seconds=left)

    def _spawn(self) -> bool:
        try:
            ours, theirs = socket.socketpair()
            with theirs:
                self._pid = os.posix_spawn(
                    _program.path(),
                    self._arguments,
                    {**os.environ, "GOODPUT_STORE": self._usual_store} if self._usual_store else os.environ,
                    file_actions=[
                        (os.POSIX_SPAWN_DUP2, theirs.fileno(), _CONTROL),
                        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    ],
                    setsid=True,
                    setsigmask=(),
                    setsigdef=_SIGNALS,
                )
        except (OSError, ValueError, NotImplementedError) as error:
            _logger.warning("goodput: starting the monitor %s: %s", _program.path(), error)
            self._running.clear()
            return False
        ours.setblocking(False)
        self._link, self._unread = ours, b""
        _alive.add(self)
        return True

    def _is_alive(self) -> bool:
        if self._pid is None or os.getpid() != self._owner:
            return False
        try:
            if os.waitpid(self._pid, os.WNOHANG)[0] == 0:
                return True
        except ChildProcessError:
            pass  # somebody else waits for all children
        self._forget()
        return False

    def _forget(self) -> None:
        self._pid = None
        if self._link is not None:
            self._link.close()
            self._link = None

    def _say(self, command: dict[str, Any]) -> bool:
        if self._link is None:
            return False
        try:
            self._link.sendall(json.dumps(command).encode() + b"\n")
            return True
        except (OSError, TypeError, ValueError) as error:
            _logger.warning("goodput: commanding the monitor (process %s): %s", self._pid, error)
            return False

    def _hear(self, timeout_seconds: float, stopped: str | None = None) -> dict[str, Any] | None:
        """Reads answers until the one about `stopped`; complaints go to the log."""
        until = time.monotonic() + timeout_seconds
        while self._link is not None:
            left = until - time.monotonic()
            poll = select.poll()
            poll.register(self._link, select.POLLIN)
            if not poll.poll(None if math.isinf(left) else max(0.0, left * 1000)):
                return None
            try:
                got = self._link.recv(65536)
            except OSError:
                return None
            if not got:
                return None
            *lines, self._unread = (self._unread + got).split(b"\n")
            for line in lines:
                answer: dict[str, Any] = json.loads(line)
                if "refused" in answer:
                    _logger.warning("goodput: the monitor (process %s): %s", self._pid, answer["refused"])
                if stopped is not None and answer.get("stopped") == stopped:
                    return answer
        return None

    def _end(self) -> None:
        """Waits for the end of a monitor without uploaders; one that hangs is killed: the journal has everything."""
        until = time.monotonic() + _END_SECONDS
        if self._link is not None:
            with contextlib.suppress(OSError):
                self._link.shutdown(socket.SHUT_WR)
            self._hear(_END_SECONDS)  # the end of its answers
        while self._is_alive():
            if time.monotonic() >= until and self._pid is not None:
                os.kill(self._pid, signal.SIGKILL)
            time.sleep(0.002)


@atexit.register
def _stop_all() -> None:
    """A container ends with its first process: what is not told by then is told by nobody."""
    for process in list(_alive):
        process.close()
