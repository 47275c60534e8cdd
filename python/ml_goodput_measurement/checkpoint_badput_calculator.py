"""The same module object as ml_goodput_measurement.src.checkpoint_badput_calculator.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import checkpoint_badput_calculator

sys.modules[__name__] = checkpoint_badput_calculator
