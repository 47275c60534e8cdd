"""A job's journal in a bucket, for calculators that are given a gcs_path.

    store = of("gs://bucket/runs")          # as --store names it; None for what is no bucket
    ship("llama-7b", store)                 # what is new, once; never raises

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import logging
import os

from goodput import _program

logger = logging.getLogger(__name__)


def of(gcs_path: str | None) -> str | None:
    """A path that is no gs:// is as good as none, as in ml-goodput-measurement."""
    return gcs_path if gcs_path and gcs_path.startswith("gs://") else None


def ship(job_name: str, store: str) -> None:
    """Waits until it is done, or for the seconds that an agent takes to give up."""
    try:
        with open(os.devnull, "rb") as nothing:
            code = _program.run(["--quiet", "agent", "--once", f"--job={job_name}", f"--to={store}"], nothing.fileno())
    except OSError as error:
        logger.warning("Goodput: the journal of job %s is not copied to %s: %s", job_name, store, error)
        return
    if code != 0:
        logger.warning("Goodput: the journal of job %s is not copied to %s (exit code %d)", job_name, store, code)
