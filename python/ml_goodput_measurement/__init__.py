"""The package that programs written for ml-goodput-measurement import, over goodput's recorder and accounts.

Every module is one object under both of its names, ml_goodput_measurement.X and ml_goodput_measurement.src.X.

SPDX-License-Identifier: Apache-2.0
"""

from . import exclusion_utils, goodput, goodput_elastic, goodput_exclusion, goodput_utils, measurement

__all__ = ["exclusion_utils", "goodput", "goodput_elastic", "goodput_exclusion", "goodput_utils", "measurement"]
