"""CheckpointBadputCalculator over what a job recorded.

SPDX-License-Identifier: Apache-2.0
"""

import time

import goodput
from goodput._recorder import CHECKPOINT_RESTORE, CHECKPOINT_SAVE
from ml_goodput_measurement.checkpoint_badput_calculator import CheckpointBadputCalculator, CheckpointLoggerOptions

SECOND_NS = 1_000_000_000


def calculator(job):
    return CheckpointBadputCalculator(CheckpointLoggerOptions(job, "log"))


def tell(recorder, event, step, seconds):
    """What Orbax's logger tells of a save or restore that has just ended."""
    duration_ns = int(seconds * SECOND_NS)
    recorder._checkpoint_statistics(event, start_ns=time.time_ns() - duration_ns, duration_ns=duration_ns, step=step)


def test_statistics_of_orbax_are_counted_and_what_they_do_not_tell_is_zero(job):
    with goodput.Recorder(job) as rec, rec.job():
        tell(rec, CHECKPOINT_SAVE, 1, 0.25)
        tell(rec, CHECKPOINT_SAVE, 2, 0.75)
        tell(rec, CHECKPOINT_RESTORE, 2, 0.5)
    saves = calculator(job).calculate_save_operation_checkpoint_manager_blocking_time()
    assert saves.total_checkpoint_manager_blocking_time == 1.0
    assert saves.maximum_checkpoint_manager_blocking_time == 0.75
    assert saves.total_checkpointer_blocking_time == 0
    restores = calculator(job).calculate_restore_operation_checkpoint_manager_blocking_time()
    assert restores.total_checkpoint_manager_time == 0.5


def test_a_save_that_is_told_twice_is_counted_once(job):
    with goodput.Recorder(job) as rec, rec.job():
        with rec.checkpoint_save(1):
            time.sleep(0.01)
        tell(rec, CHECKPOINT_SAVE, 1, 0.25)
        with rec.checkpoint_restore(1):
            time.sleep(0.01)
    saves = calculator(job).calculate_save_operation_checkpoint_manager_blocking_time()
    assert saves.total_checkpoint_manager_blocking_time == 0.25
    restores = calculator(job).calculate_restore_operation_checkpoint_manager_blocking_time()
    assert 0.01 <= restores.total_checkpoint_manager_time < 0.2
