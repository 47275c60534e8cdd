"""The same module object as ml_goodput_measurement.src.goodput_elastic.

SPDX-License-Identifier: Apache-2.0
"""

import sys

from ml_goodput_measurement.src import goodput_elastic

sys.modules[__name__] = goodput_elastic
