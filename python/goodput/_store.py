"""What a store has of a job, brought to this machine: by the program `goodput`, so that no client of a cloud is in here.

    fetched = fetch("llama-7b", "cloud-logging://my-project/goodput_llama-7b")
    account = _binding.Account.of_job("llama-7b", fetched.directory)      # of a folder of journals like any other

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from . import _binding, _program


@dataclass(frozen=True)
class Fetched:
    directory: str  # of journals
    is_cut_off: bool  # what came before its oldest entry is gone


def usual() -> str | None:
    """The store that GOODPUT_STORE names."""
    named = os.environ.get("GOODPUT_STORE", "")
    return named if "://" in named and not named.startswith("file:") else None


def fetch(job: str, store: str, *, directory: str = "", retention_seconds: float | None = None) -> Fetched:
    """Takes what is new there. GoodputError when there is nothing, or it could not be asked.

    What was read is kept under `directory`, by default where journals are, and not read again.
    """
    arguments = ["--json", f"--store={store}", *([f"--dir={directory}"] if directory else []), "fetch"]
    if retention_seconds is not None:
        arguments.append(f"--retention={retention_seconds:.3f}s")
    try:
        code, output, complaints = _program.ask([*arguments, "--", job])
    except (OSError, ValueError) as error:
        raise _binding.GoodputError(f"starting {_program.path()}: {error}") from error
    if code != 0:
        raise _binding.GoodputError(complaints.strip().removeprefix("goodput fetch: ") or f"goodput fetch: exit {code}")
    answer = json.loads(output)
    return Fetched(answer["directory"], answer["is_cut_off"])
