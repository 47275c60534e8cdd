"""Google's own logging client in the training process: only where GOODPUT_GOOGLE_CLIENT=python asks for it.

It is there for test suites that replace google.cloud.logging.Client and look for its calls. Recording does not need it.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import functools
import logging
import os
from typing import Any

logger = logging.getLogger(__name__)


def is_wanted() -> bool:
    return os.environ.get("GOODPUT_GOOGLE_CLIENT") == "python"


def open_client() -> Any | None:
    """A google.cloud.logging.Client; None, and a warning, where there can be none."""
    try:
        import google.cloud.logging  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return google.cloud.logging.Client()
    except Exception as error:
        logger.warning("GOODPUT_GOOGLE_CLIENT=python: there is no client: %s", error)
        return None


class GoogleLog:
    """Entries of one log, sent by the client's own thread."""

    def __init__(self, client: Any, log_name: str, grace_period: float, batch_size: int, max_latency: float) -> None:
        from google.cloud.logging_v2 import handlers  # type: ignore[import-not-found,unused-ignore]
        from google.cloud.logging_v2.handlers import transports  # type: ignore[import-not-found,unused-ignore]

        transport = functools.partial(
            transports.BackgroundThreadTransport,
            grace_period=grace_period,
            batch_size=batch_size,
            max_latency=max_latency,
        )
        self.project_id = client.project
        self.logger = client.logger(log_name)
        self._handler = handlers.CloudLoggingHandler(client, name=log_name, transport=transport)

    def write(self, entry: dict[str, Any]) -> None:
        self._handler.emit(logging.LogRecord(__name__, logging.INFO, __file__, 0, entry, None, None))

    def flush(self) -> None:
        self._handler.flush()
