"""The same module object as ml_goodput_measurement.src.monitoring_elastic.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import monitoring_elastic

sys.modules[__name__] = monitoring_elastic
