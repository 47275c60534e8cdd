"""Times tensorboardX: 10^5 steps of one tag to a local file, flushed and closed.

    python tensorboardx_write.py FOLDER

Prints the nanoseconds of one step; starting Python is left out.

SPDX-License-Identifier: Apache-2.0
"""

import sys
import time

from tensorboardX import SummaryWriter

STEPS = 100_000

begin = time.perf_counter_ns()
writer = SummaryWriter(sys.argv[1])
for step in range(STEPS):
    writer.add_scalar("step_time_seconds", 0.35 + step % 100 * 1e-5, step)
writer.flush()
writer.close()
print((time.perf_counter_ns() - begin) / STEPS)
