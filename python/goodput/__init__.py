"""Where the time of a training job goes: recorded inside the training process, accounted outside of it.

    import goodput

    rec = goodput.Recorder("llama-7b")
    with rec.job():
        for step in range(first, last):
            with rec.data_loading():
                batch = next(batches)
            with rec.step(step):
                train(batch)
    print(goodput.report("llama-7b"))

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from ._binding import GoodputError, __version__
from ._recorder import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._monitor import Monitor, monitor
    from ._report import Attempt, Disruption, Finding, Rank, Report, Window, report

__all__ = [
    "Attempt",
    "Disruption",
    "Finding",
    "GoodputError",
    "Monitor",
    "Rank",
    "Recorder",
    "Report",
    "Window",
    "__version__",
    "monitor",
    "report",
]


def __getattr__(name: str) -> object:
    # A training process never asks for these, and what they stand on takes 15 ms to import.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("Monitor", "monitor"):
        from . import _monitor as module
    else:
        from . import _report as module  # type: ignore[no-redef]

    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
