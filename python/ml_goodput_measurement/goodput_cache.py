"""The same module object as ml_goodput_measurement.src.goodput_cache.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import goodput_cache

sys.modules[__name__] = goodput_cache
