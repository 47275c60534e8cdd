"""Where a job's events go besides the local journal: to Cloud Logging, where this program runs on Google Cloud.

    ship(recorder, "llama-7b", "goodput_llama-7b")     # starts `goodput agent` beside this process, or does nothing
    url = readable("goodput_llama-7b")                 # where to look for a job that has no journal here; or None

GOODPUT_STORE says where: `auto`, the default, is the log of the recorder's name in the project that is found; a URL is
taken as it is; `none` is nowhere. Nothing here asks the network or raises.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import logging
import os
import signal
from typing import Any

from goodput import _program

logger = logging.getLogger(__name__)

_AUTO = "cloud-logging://auto/"
_NOWHERE = ("none", "off")
# A machine on Google Cloud says so; containers see it too.
_PRODUCT_NAME = "/sys/class/dmi/id/product_name"
# Any of these set says that Google Cloud is meant.
_HINTS = (
    "GOOGLE_CLOUD_PROJECT",
    "GCLOUD_PROJECT",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLOUDSDK_CORE_PROJECT",
    "GCE_METADATA_HOST",
)
_MOST_LOG_BYTES = 1 << 20
_IGNORED_OR_HANDLED = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def readable(log_name: str) -> str | None:
    """The store in which a reader finds a job that has no journal here; its project may still be `auto`."""
    named = os.environ.get("GOODPUT_STORE") or "auto"
    if named in _NOWHERE:
        return None
    if named != "auto":
        return named
    # Programs for ml-goodput-measurement set either just before they ask.
    project = os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("PROJECT_ID")
    if project:
        return f"cloud-logging://{project}/{log_name}"
    return _AUTO + log_name if _is_google_cloud_hinted() else None


def retention_seconds(period: datetime.timedelta | float | None) -> float | None:
    """A max_logs_retention_period, which callers give in either form."""
    return period.total_seconds() if isinstance(period, datetime.timedelta) else period


def ship(recorder: Any, job_name: str, log_name: str) -> None:
    """Starts the agent that ships what `recorder` records, and outlives this process.

    It finds out by itself whether there is a project, and whether another one ships the job already, and then ends.
    """
    try:
        to = _shipped_to(log_name)
        if to is not None and recorder.is_recording:
            arguments = ["agent", f"--dir={recorder._directory}", "--by-recorder", f"--job={job_name}", f"--to={to}"]
            log = os.path.join(recorder._directory, f"agent-{os.geteuid()}.log")
            try:
                _spawn(["goodput", *arguments], log)
            except OSError:  # the folder takes no such file
                _spawn(["goodput", *arguments], os.devnull)
    except (OSError, ValueError, NotImplementedError) as error:
        logger.warning("Starting the agent that ships job %s: %s", job_name, error)


def _shipped_to(log_name: str) -> str | None:
    named = os.environ.get("GOODPUT_STORE") or "auto"
    if named in _NOWHERE or named.startswith("file:"):
        return None
    if named != "auto":
        return named
    return _AUTO + log_name if _is_google_cloud_hinted() else None


def _is_google_cloud_hinted() -> bool:
    """Whether it is worth to look: by what can be read at once."""
    if any(os.environ.get(name) for name in _HINTS):
        return True
    folder = os.environ.get("CLOUDSDK_CONFIG") or os.path.expanduser("~/.config/gcloud")
    if os.path.exists(os.path.join(folder, "application_default_credentials.json")):
        return True
    if os.environ.get("NO_GCE_CHECK", "").lower() in ("true", "1"):
        return False
    try:
        with open(_PRODUCT_NAME, encoding="ascii", errors="replace") as file:
            return file.read(64).startswith("Google")
    except OSError:
        return False


def _spawn(arguments: list[str], log: str) -> None:
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    if os.path.lexists(log) and os.lstat(log).st_size > _MOST_LOG_BYTES:
        append |= os.O_TRUNC
    os.posix_spawn(
        _program.path(),
        arguments,
        {name: value for name, value in os.environ.items() if name != "GOODPUT_QUIET"},
        # None of this process' output: whoever waits for the end of that is not to wait for the agent.
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, log, append, 0o600),
        ],
        setsid=True,
        setsigmask=(),
        setsigdef=_IGNORED_OR_HANDLED,
    )
