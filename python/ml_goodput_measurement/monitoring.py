"""The same module object as ml_goodput_measurement.src.monitoring.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import monitoring

sys.modules[__name__] = monitoring
