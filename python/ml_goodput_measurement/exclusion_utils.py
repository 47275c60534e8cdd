"""The same module object as ml_goodput_measurement.src.exclusion_utils.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import exclusion_utils

sys.modules[__name__] = exclusion_utils
