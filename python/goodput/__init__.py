"""Where the time of a training job goes: recorded inside the training process, accounted outside of it.

    import goodput

    rec = goodput.Recorder("llama-7b")
    with rec.job():
        for step in range(first, last):
            with rec.data_loading():
                batch = next(batches)
            with rec.step(step):
                train(batch)

SPDX-License-Identifier: Apache-2.0
"""

from ._binding import GoodputError, __version__
from ._recorder import Recorder

__all__ = ["GoodputError", "Recorder", "__version__"]
