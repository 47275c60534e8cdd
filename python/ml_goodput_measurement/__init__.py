"""The package that programs written for ml-goodput-measurement import, over goodput's recorder and accounts.

Every module is one object under both of its names, ml_goodput_measurement.X and ml_goodput_measurement.src.X.

SPDX-License-Identifier: Apache-2.0
"""

from . import (
    checkpoint_badput_calculator,
    exclusion_utils,
    gcp_metrics,
    goodput,
    goodput_cache,
    goodput_elastic,
    goodput_exclusion,
    goodput_utils,
    measurement,
    monitoring,
    monitoring_elastic,
)

__all__ = [
    "checkpoint_badput_calculator",
    "exclusion_utils",
    "gcp_metrics",
    "goodput",
    "goodput_cache",
    "goodput_elastic",
    "goodput_exclusion",
    "goodput_utils",
    "measurement",
    "monitoring",
    "monitoring_elastic",
]
