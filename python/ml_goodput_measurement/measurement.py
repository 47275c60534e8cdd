"""The same module object as ml_goodput_measurement.src.measurement.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import measurement

sys.modules[__name__] = measurement
