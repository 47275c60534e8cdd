"""The recorder of a training process.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

from . import _binding

TYPE_CHECKING = False  # as typing has it, which takes 5 ms to import
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import Any, SupportsIndex

# The kinds of events, as src/event/event.h numbers their beginnings.
JOB = 1
STEP = 3
ACCELERATOR_INIT = 5
TRAINING_PREP = 7
DATA_LOADING = 9
CHECKPOINT_SAVE = 11
CHECKPOINT_RESTORE = 13
CUSTOM = 15
COMPILATION = 17
ELASTIC_WAIT = 19
ELASTIC_REINIT = 21


class Recorder(_binding.Recorder):
    """Tells goodput what happens in this process: steps, and what stands between them.

        rec = Recorder("llama-7b")
        with rec.job():
            with rec.step(step):
                train(batch)

    Every rank may have one; rank 0 is the job's clock. What is not given comes from the environment (GOODPUT_JOB,
    GOODPUT_DIR, RANK, …). Once it is open, nothing here raises: values that cannot be recorded are dropped and counted,
    and the report says so. All methods may be called from any thread. A forked child records nothing until it opens a
    recorder of its own, and a recorder that is pickled (for a worker that is spawned) arrives there switched off.
    """

    __slots__ = ()

    def __init__(
        self,
        job: str | None = None,
        *,
        run_id: str | None = None,
        process_index: SupportsIndex | None = None,
        attempt_id: str | None = None,
        directory: str | os.PathLike[str] | None = None,
        labels: Mapping[str, Any] | None = None,
        accelerators: SupportsIndex | None = None,
        accelerator_type: str | None = None,
        enabled: bool = True,
        sync_interval_seconds: float = 1.0,
    ) -> None:
        super().__init__(
            job,
            run_id,
            process_index,
            attempt_id,
            None if directory is None else str(directory),
            dict(labels.items()) if labels is not None and hasattr(labels, "items") else None,
            accelerators,
            accelerator_type,
            bool(enabled),
            sync_interval_seconds,
        )

    def job(self) -> _binding.Scope:
        """The whole run; leaving it by an exception marks its end as failed."""
        return self._scope(JOB)

    def accelerator_init(self) -> _binding.Scope:
        """Device discovery, mesh, runtime."""
        return self._scope(ACCELERATOR_INIT)

    def training_prep(self) -> _binding.Scope:
        """Model, optimizer, checkpoint manager."""
        return self._scope(TRAINING_PREP)

    def data_loading(self, *, blocking: bool = False) -> _binding.Scope:
        """Getting a batch; `blocking` where the loop waits for it after the first step, too."""
        return self._scope(DATA_LOADING, blocking=bool(blocking))

    def checkpoint_save(self, step: SupportsIndex | None = None, *, location: str | None = None) -> _binding.Scope:
        """The part of a save that blocks training."""
        return self._scope(CHECKPOINT_SAVE, step=step, location=location)

    def checkpoint_restore(self, step: SupportsIndex | None = None, *, location: str | None = None) -> _binding.Scope:
        """A restore."""
        return self._scope(CHECKPOINT_RESTORE, step=step, location=location)

    def compilation(self) -> _binding.Scope:
        """Tracing or compilation, on the thread that runs the steps."""
        return self._scope(COMPILATION)

    def custom(self, name: str) -> _binding.Scope:
        """Anything else that takes time from training, such as "eval"."""
        return self._scope(CUSTOM, name)

    def elastic_wait(self, type: str = "unknown") -> _binding.Scope:
        """Waiting for slices: "scale_up" or "slice_down"."""
        return self._scope(ELASTIC_WAIT, type)

    def elastic_reinit(self) -> _binding.Scope:
        """Building anew after the slices have changed."""
        return self._scope(ELASTIC_REINIT)

    def slice_counts(self, active: SupportsIndex, total: SupportsIndex, available: SupportsIndex) -> None:
        """How many slices take part, there should be, and there are."""
        self._slice_counts(active, total, available)

    def disruption(self, cause: str, detail: str | None = None) -> None:
        """Why the job is about to be, or was, disrupted.

        Causes: preempted, oom, signal, exit, hang, host_lost, planned, manual, unknown.
        """
        self._disruption(cause, detail)

    def heartbeat(self) -> None:
        """The process is alive. Recorders say so by themselves, once a second."""
        self._heartbeat()

    def close(self) -> None:
        """Writes all to disk and records no more. Without it, the end of the process does the same."""
        self._close()

    @property
    def is_recording(self) -> bool:
        """Whether events recorded at this moment are kept."""
        return self._is_recording

    @property
    def lost_events(self) -> int:
        """How many events of this process could not be kept, for whatever cause."""
        return self._lost_events

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes; the job's own end is job()'s to tell."""
        self._close()

    def __repr__(self) -> str:
        if not self._job:
            return "<goodput.Recorder off>"
        return f"<goodput.Recorder of job {self._job!r}, attempt {self._attempt_id}, in {self._directory}>"

    def __copy__(self) -> Recorder:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Recorder:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_switched_off, ())


def _switched_off() -> Recorder:
    return Recorder(enabled=False)
