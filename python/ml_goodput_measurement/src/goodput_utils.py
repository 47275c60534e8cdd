"""The types in which calculators answer, and the helper functions, with the results that 0.2.3 gives.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import logging
import statistics
from typing import Any, TypedDict

_TIME_ENTRY = "time"
_METADATA_SERVER_URL = "http://metadata.google.internal/computeMetadata/v1/"
_METADATA_HEADERS = {"Metadata-Flavor": "Google"}

MACHINE_TYPE_TO_ACCELERATOR_TYPE_MAPPING = {
    "tpu7x": "TPU-7x",
    "ct6e": "TPU-v6e",
    "ct5p": "TPU-v5p",
    "ct5lp": "TPU-v5e",
    "ct5l": "TPU-v5e",
    "ct4p": "TPU-v4p",
    "ct3p": "TPU-v3",
    "ct3": "TPU-v3",
    "tpu-v2": "TPU-v2",
    "tpu": "TPU",
    "a3-edgegpu": "NVIDIA-H100",
    "a3-highgpu": "NVIDIA-H100",
    "a3-megagpu": "NVIDIA-H100",
    "a3-ultragpu": "NVIDIA-H200",
    "a2": "NVIDIA-A100",
    "gpu": "GPU",
}


@dataclasses.dataclass
class GCPOptions:
    project_id: str | None = None
    location: str | None = None
    replica_id: str = "0"
    acc_type: str | None = None
    cluster_name: str | None = None
    enable_gcp_goodput_metrics: bool = True
    enable_gcp_step_deviation_metrics: bool = True


class MetricType(enum.Enum):
    """Keys of get_job_goodput_details()."""

    GOODPUT_TIME = "goodput_time"
    BADPUT_TIME = "badput_time"
    MAX_PRODUCTIVE_STEP = "max_productive_step"
    TOTAL_ELAPSED_TIME = "total_elapsed_time"
    DISRUPTION_COUNT = "disruption_count"
    STEP_TIME_DEVIATION = "step_time_deviation"
    IDEAL_STEP_TIME = "ideal_step_time"
    TOTAL_EXCLUDED_TIME = "total_excluded_time"


class IntervalMetricType(enum.Enum):
    """Keys of get_interval_metric_details()."""

    INTERVAL_GOODPUT = "interval_goodput"
    INTERVAL_BADPUT = "interval_badput"
    INTERVAL_SIZE = "interval_size"


class GoodputType(enum.Enum):
    """Productive time is of one type."""

    TOTAL = 1


class BadputType(enum.Enum):
    """The types of unproductive time; DATA_LOADING_ASYNC overlaps steps and takes nothing from them."""

    TPU_INITIALIZATION = 1
    TRAINING_PREP = 2
    PROGRAM_STARTUP = 3
    DATA_LOADING_SYNC = 4
    DATA_LOADING_ASYNC = 5
    UNPRODUCTIVE_CHECKPOINT_SAVE_TIME = 6
    UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME = 7
    WASTED_PROGRESS_FROM_DISRUPTION = 8
    INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION = 9
    CUSTOM_BADPUT_EVENTS = 10
    OTHER = 11
    ELASTIC_SLICE_DOWN = 12
    ELASTIC_SCALE_UP = 13
    ELASTIC_REINITIALIZATION = 14


class WorkloadMetricDetails(TypedDict):
    goodput_time: dict[GoodputType, float]
    badput_time: dict[BadputType, float | dict[str, float]]
    max_productive_step: int
    total_elapsed_time: float
    disruption_count: int
    step_time_deviation: dict[int, float]
    ideal_step_time: float
    total_excluded_time: float


class IntervalWorkloadMetricDetails(TypedDict):
    interval_goodput: dict[GoodputType, float]
    interval_badput: dict[BadputType, float | dict[str, float]]
    interval_size: int


class ElasticWorkloadMetricDetails(WorkloadMetricDetails, total=False):
    stepping_slice_efficiency: float
    available_slice_efficiency: float


class ElasticIntervalWorkloadMetricDetails(IntervalWorkloadMetricDetails, total=False):
    stepping_slice_efficiency: float
    available_slice_efficiency: float


ACTIVITY_EXCLUSION_LIST = ["DATA_LOADING_ASYNC"]


class MonitoringWindowType(enum.Enum):
    CUMULATIVE = "cumulative"
    INTERVAL = "interval"


_DEFAULT_RECENT_WINDOW_SIZE = 100
_DEFAULT_BASELINE_WINDOW_SIZE = 1000
_DEFAULT_SPIKE_PERCENTILE = 90


class GoodputInfo:  # NOLINT(name)
    """What a calculator computed last."""

    def __init__(
        self,
        total_productive_time: float = 0.0,
        total_elapsed_time: float = 0.0,
        total_unproductive_time: dict[BadputType, float | dict[str, float]] | None = None,
        max_productive_step: int = 0,
        last_recorded_step: int = 0,
        last_updated_timestamp: datetime.datetime = datetime.datetime.now(datetime.timezone.utc),  # noqa: B008
        number_of_disruptions: int = 0,
        total_excluded_time: float = 0.0,
    ):
        self.total_productive_time = total_productive_time
        self.total_elapsed_time = total_elapsed_time
        self.total_unproductive_time = total_unproductive_time or {}
        self.max_productive_step = max_productive_step
        self.last_recorded_step = last_recorded_step
        self.last_updated_timestamp = last_updated_timestamp
        self.number_of_disruptions = number_of_disruptions
        self.total_excluded_time = total_excluded_time


class StepInfo:  # NOLINT(name)
    def __init__(self, ideal_step_time: float, step_deviations: dict[int, float]):
        self.ideal_step_time = ideal_step_time
        self.step_deviations = step_deviations


def compute_percentile(values: list[float], percentile: float) -> float:
    """The percentile by linear interpolation; 0 of nothing."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * (percentile / 100.0)
    lower = int(place)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (ordered[upper] - ordered[lower]) * (place - lower)


def compute_step_deviation_from_baseline(
    step_time_deviation: dict[int, float],
    mode: MonitoringWindowType = MonitoringWindowType.CUMULATIVE,
    recent_window_size: int = _DEFAULT_RECENT_WINDOW_SIZE,
    baseline_window_size: int = _DEFAULT_BASELINE_WINDOW_SIZE,
    spike_percentile: int = _DEFAULT_SPIKE_PERCENTILE,
) -> float:
    """How far recent steps deviate, beyond what is usual for the job (cumulative) or by themselves (interval)."""
    if not step_time_deviation:
        return 0.0
    deviations = [abs(deviation) for deviation in step_time_deviation.values()]
    if len(deviations) < _DEFAULT_RECENT_WINDOW_SIZE:
        return statistics.fmean(deviations)
    if mode not in (MonitoringWindowType.INTERVAL, MonitoringWindowType.CUMULATIVE):
        raise ValueError(f"Unsupported MonitoringWindowType mode: {mode}")
    spike = compute_percentile(deviations[-recent_window_size:], spike_percentile)
    both = recent_window_size + baseline_window_size
    baseline = deviations[-both:-recent_window_size]
    if mode == MonitoringWindowType.INTERVAL or len(deviations) < both or not baseline:
        return spike
    return float(spike - statistics.median(baseline))


def _ordinary_below(step_times: list[Any]) -> float:
    """Median + 3 MAD: what lies above is anomalous."""
    median = float(statistics.median(step_times))
    return median + 3 * float(statistics.median(abs(step_time - median) for step_time in step_times))


def compute_ideal_step_time(step_times: list[float]) -> float | None:
    """The mean of ordinary step times of at least a second; None without any."""
    step_times = [step_time for step_time in step_times if step_time >= 1.0]
    if not step_times:
        return None
    bound = _ordinary_below(step_times)
    return statistics.fmean(step_time for step_time in step_times if step_time <= bound)


def get_anomalous_and_normal_step_times(step_times: list[Any]) -> tuple[list[Any], list[Any]]:
    bound = _ordinary_below(step_times)
    anomalous = [step_time for step_time in step_times if step_time > bound]
    return anomalous, [step_time for step_time in step_times if not step_time > bound]


def get_extra_time_from_anomalous_steps(step_times: list[Any]) -> float:
    anomalous, normal = get_anomalous_and_normal_step_times(step_times)
    return float(sum(anomalous)) - len(anomalous) * statistics.fmean(normal)


def get_timestamp_from_log_entry(entry: dict[str, Any]) -> datetime.datetime | None:
    """The time that an entry carries: the first value whose key speaks of time."""
    for key, value in entry.items():
        if _TIME_ENTRY in key:
            return datetime.datetime.fromtimestamp(value, datetime.timezone.utc)
    return None


def get_gcp_metadata(category: str, attribute: str, timeout: Any = 5, retries: Any = 3) -> str | None:
    """What Google Cloud's metadata server says; None where there is none."""
    import requests  # type: ignore[import-untyped]
    from urllib3.util import retry  # type: ignore[import-not-found]

    again = retry.Retry(total=retries, backoff_factor=0.5, status_forcelist=[429, 500, 502, 503, 504])
    session = requests.Session()
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=again))
    try:
        response = session.get(
            f"{_METADATA_SERVER_URL}{category}/{attribute}", headers=_METADATA_HEADERS, timeout=timeout
        )
        response.raise_for_status()
        return str(response.text)
    except requests.exceptions.RequestException as error:
        logging.warning("Failed to retrieve metadata for %s/%s: %s", category, attribute, error)
        return None


def get_gcp_project_id() -> str | None:
    return get_gcp_metadata("project", "project-id")


def get_node_zone() -> str | None:
    """The zone, "us-central1-a" of "projects/123456789/zones/us-central1-a"."""
    zone = get_gcp_metadata("instance", "zone")
    return zone.rsplit("/", 1)[-1] if zone else None


def get_accelerator_type() -> str:
    """The accelerator of this machine by its machine type, "UNKNOWN" when that says nothing."""
    machine_type = (get_gcp_metadata("instance", "machine-type") or "").split("/")[-1].lower()
    for part, accelerator_type in MACHINE_TYPE_TO_ACCELERATOR_TYPE_MAPPING.items():
        if machine_type and part in machine_type:
            return accelerator_type
    return "UNKNOWN"


def get_cluster_name() -> str | None:
    return get_gcp_metadata("instance", "attributes/cluster-name")


def __getattr__(name: str) -> Any:
    if name == "Retry":  # of a package that only the metadata server needs
        from urllib3.util import retry

        return retry.Retry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
