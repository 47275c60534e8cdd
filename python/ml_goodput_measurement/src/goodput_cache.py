"""Entries of a job kept in a file, with a copy in a bucket, as 0.2.3 keeps them.

Calculators need no such cache; it is here for programs that read or fill one. Nothing raises: what cannot be read is
left out, what cannot be written is logged.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import os
from collections.abc import Iterator
from typing import Any

from ml_goodput_measurement.src import goodput_utils
from ml_goodput_measurement.src.timeline_file import metadata_path, open_own, timeline_path

StepInfo = goodput_utils.StepInfo  # NOLINT(name)
GoodputInfo = goodput_utils.GoodputInfo  # NOLINT(name)

_JOB_START_TIME = "job_start_time"
_JOB_END_TIME = "job_end_time"
_STEP_START_TIME = "step_start_time"

logger = logging.getLogger(__name__)

_Cursor = tuple[datetime.datetime, str]


def _moment(seconds: Any) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class GoodputCache:
    def __init__(self, job_name: str, cache_dir: str = "/tmp", gcs_path: str | None = None):
        self._job_name = job_name
        self._cache_dir = cache_dir
        self._gcs_path = gcs_path
        self._local_timeline_path = timeline_path(job_name, cache_dir)
        self._local_metadata_path = metadata_path(job_name, cache_dir)
        self._clear()
        self._restore_from_gcs()

    def _clear(self) -> None:
        self._last_entry_info: _Cursor | None = None  # NOLINT(name)
        self._job_start_time: datetime.datetime | None = None
        self._job_end_time: datetime.datetime | None = None
        self._step_info: StepInfo | None = None  # NOLINT(name)
        self._goodput_info: GoodputInfo | None = None  # NOLINT(name)

    def update_step_info(self, step_info: StepInfo) -> None:  # NOLINT(name)
        self._step_info = step_info

    def update_goodput_info(self, goodput_info: GoodputInfo) -> None:  # NOLINT(name)
        self._goodput_info = goodput_info

    def update_cached_entries(self, entries: list[Any], last_entry_info: _Cursor) -> None:  # NOLINT(name)
        """Adds entries to the file, and remembers up to where they were read."""
        if entries:
            with self._logged("keeping entries"):
                os.makedirs(self._cache_dir, exist_ok=True)
                with open_own(self._local_timeline_path, "a") as file:
                    file.writelines(json.dumps(entry) + "\n" for entry in entries)
            self._note_times(entries)
        if last_entry_info and last_entry_info[0] is not None:
            self.update_last_entry_info(last_entry_info)

    def update_last_entry_info(self, last_entry_info: _Cursor) -> None:  # NOLINT(name)
        """Remembers the time and the id of the last entry that was read."""
        self._last_entry_info = last_entry_info
        with self._logged("keeping the last entry's time"):
            moment, entry_id = last_entry_info
            cursor = json.dumps({"last_entry_timestamp": moment.isoformat(), "last_entry_id": entry_id})
            os.makedirs(self._cache_dir, exist_ok=True)
            with open_own(self._local_metadata_path, "w") as file:
                file.write(cursor)

    def get_cached_entries(self) -> list[Any]:
        return list(self._lines())

    def get_step_entries(self) -> list[Any]:
        return [entry for entry in self._lines() if _STEP_START_TIME in entry]

    def get_goodput_info(self) -> GoodputInfo | None:  # NOLINT(name)
        return self._goodput_info

    def get_job_start_time(self) -> datetime.datetime | None:
        return self._job_start_time

    def get_job_end_time(self) -> datetime.datetime | None:
        return self._job_end_time

    def get_last_entry_info(self) -> _Cursor | None:  # NOLINT(name)
        return self._last_entry_info

    def get_step_info(self) -> StepInfo | None:  # NOLINT(name)
        return self._step_info

    def is_cache_empty(self) -> bool:
        try:
            return os.path.getsize(self._local_timeline_path) == 0
        except OSError:
            return True

    def clear_cache(self) -> None:
        for path in (self._local_timeline_path, self._local_metadata_path):
            with self._logged("clearing"), contextlib.suppress(FileNotFoundError):
                os.remove(path)
        self._clear()

    def sync_to_gcs(self) -> None:
        """Copies the files to the bucket of gcs_path, where Google's client for it is installed."""
        with self._logged("copying to the bucket"):
            for path, blob in self._blobs():
                if os.path.exists(path):
                    blob.upload_from_filename(path)

    def _restore_from_gcs(self) -> None:
        with self._logged("copying from the bucket"):
            for path, blob in self._blobs():
                os.makedirs(self._cache_dir, exist_ok=True)
                if blob.exists():
                    blob.download_to_filename(path)
        if self._gcs_path and self._gcs_path.startswith("gs://"):
            self._note_times(list(self._lines()))
            self._read_cursor()

    def _blobs(self) -> Iterator[tuple[str, Any]]:
        """Each file with what it is in the bucket; nothing without a folder in a bucket."""
        if not self._gcs_path or not self._gcs_path.startswith("gs://"):
            return
        bucket_name, _, folder = self._gcs_path[len("gs://") :].partition("/")
        if not folder:
            return
        from google.cloud import storage  # type: ignore[import-not-found,unused-ignore]

        bucket = storage.Client().bucket(bucket_name)
        for path in (self._local_timeline_path, self._local_metadata_path):
            yield path, bucket.blob(os.path.join(folder, "goodput_cache", os.path.basename(path)))

    def _lines(self) -> Iterator[Any]:
        """The file's entries; a line that is torn is left out, and not what follows it."""
        with (
            self._logged("reading entries"),
            contextlib.suppress(FileNotFoundError),
            open_own(self._local_timeline_path) as file,
        ):
            for line in file:
                with contextlib.suppress(ValueError):
                    yield json.loads(line)

    def _note_times(self, entries: list[Any]) -> None:
        for entry in entries:
            if self._job_start_time is None and _JOB_START_TIME in entry:
                self._job_start_time = _moment(entry[_JOB_START_TIME])
            if _JOB_END_TIME in entry:
                self._job_end_time = _moment(entry[_JOB_END_TIME])

    def _read_cursor(self) -> None:
        with self._logged("reading the last entry's time"), contextlib.suppress(FileNotFoundError):
            with open_own(self._local_metadata_path) as file:
                cursor = json.load(file)
            at = datetime.datetime.fromisoformat(cursor["last_entry_timestamp"].replace("Z", "+00:00"))
            self._last_entry_info = (at, cursor["last_entry_id"])

    @contextlib.contextmanager
    def _logged(self, doing: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            logger.warning("Cache of job %s in %s: %s: %s", self._job_name, self._cache_dir, doing, error)
