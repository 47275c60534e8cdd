"""The same module object as ml_goodput_measurement.src.goodput_exclusion.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import goodput_exclusion

sys.modules[__name__] = goodput_exclusion
