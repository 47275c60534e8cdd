"""The file in which 0.2.3 keeps the entries of a job that it has read, <cache_dir>/<job>_timeline.jsonl.

    path = timeline_path("llama-7b", "/tmp")
    with open_own(path) as file: ...          # refused where another user, or a link, stands behind the name
    import_once("llama-7b", "/tmp")           # into the job's journals, so that its history is not lost

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import logging
import os
import stat
from typing import Any

from goodput import _program

logger = logging.getLogger(__name__)

# Files that were imported by this process, by their identity and state.
_imported: set[tuple[str, int, int, int, int]] = set()


def timeline_path(job_name: str, cache_dir: str) -> str:
    return _path_of(job_name, cache_dir, "timeline.jsonl")


def metadata_path(job_name: str, cache_dir: str) -> str:
    return _path_of(job_name, cache_dir, "metadata.json")


def _path_of(job_name: str, cache_dir: str, what: str) -> str:
    """A name becomes part of a file's name, never of a path."""
    plain = job_name.replace("/", "%2F").replace("\0", "%00")
    return os.path.join(cache_dir, f"{plain}_{what}")


def open_own(path: str, mode: str = "r") -> Any:
    """Opens a file of this user; OSError for a link, or what belongs to somebody else."""

    def opener(name: str, flags: int) -> int:
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            os.close(descriptor)
            raise PermissionError(f"{name} is no file of this user")
        return descriptor

    return open(path, mode, opener=opener, encoding="utf-8")


def import_once(job_name: str, cache_dir: str) -> None:
    """Takes what 0.2.3 has left of the job into the local journals. What is there already is not taken again."""
    try:
        with open_own(timeline_path(job_name, cache_dir)) as file:
            found = os.fstat(file.fileno())
            state = (job_name, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            if found.st_size == 0 or state in _imported:
                return
            _imported.add(state)
            code = _program.run(["import", "--quiet", f"--job={job_name}", "-"], standard_input=file.fileno())
            if code != 0:
                logger.warning("Importing %s into job %s ended with %d", file.name, job_name, code)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        logger.warning("Importing what is in %s of job %s: %s", cache_dir, job_name, error)
