"""The same module object as ml_goodput_measurement.src.gcp_metrics.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import gcp_metrics

sys.modules[__name__] = gcp_metrics
