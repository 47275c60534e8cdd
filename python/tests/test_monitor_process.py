"""The monitor that a training process starts: how it begins, what it may cost the trainer, how it ends.

SPDX-License-Identifier: Apache-2.0
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest import mock

import goodput
import pytest
from goodput import _program
from goodput._monitor_process import MonitorProcess

TRAINER = """
import os, signal, sys, time, goodput
job, board, ending = sys.argv[1:4]
monitor = goodput.monitor(job, tensorboard=board, interval=0.2)
monitor.start()
rec = goodput.Recorder(job)
rec.job().__enter__()
for step in range(20):
    rec.record_step(step)
    time.sleep(0.01)
print(monitor.pid, flush=True)
if ending == "kill":
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)
if ending == "exit":
    sys.exit(0)
for step in range(20, 10**6):
    rec.record_step(step)
    time.sleep(0.01)
"""


def is_alive(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def train(job, steps=20):
    with goodput.Recorder(job) as rec, rec.job():
        for step in range(steps):
            with rec.step(step):
                time.sleep(0.002)


def start_trainer(job, board, ending):
    command = [sys.executable, "-c", TRAINER, job, str(board), ending]
    trainer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return trainer, int(trainer.stdout.readline())


def test_a_block_is_monitored_from_its_start_to_its_end(job, tmp_path, readers):
    with goodput.monitor(job, tensorboard=tmp_path / "board", interval=0.2, windows=[3600]) as watched:
        pid = watched.pid
        assert is_alive(pid)
        train(job)
    assert watched.pid is None
    assert not is_alive(pid)
    scalars = readers.load(tmp_path / "board/goodput")["scalars"]
    assert scalars["goodput/goodput"][-1] == [
        19,
        pytest.approx(goodput.report(job).goodput_percent, rel=1e-3),
    ]
    assert [step for step, _ in scalars["step_time_seconds"]] == list(range(19))
    assert scalars["rolling_goodput/1h"]


def test_a_monitor_is_one_spawn_without_fork_or_thread(job, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fork", mock.Mock(side_effect=AssertionError("a fork of the trainer")))
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"])
    threads = threading.active_count(), len(os.listdir("/proc/self/task"))
    with mock.patch("os.posix_spawn", wraps=os.posix_spawn) as spawn:
        for name in ("goodput", "windows", "steps"):
            assert process.start(name, [name], interval_seconds=0.1)
        assert spawn.call_count == 1
    assert threads == (threading.active_count(), len(os.listdir("/proc/self/task")))
    train(job)
    pid = process.pid
    for name in ("steps", "windows", "goodput"):
        assert is_alive(pid)
        assert process.stop(name)["flushed"]
    assert not is_alive(pid)


def test_a_start_after_the_last_stop_is_a_new_monitor_that_goes_on(job, tmp_path, readers):
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"])
    train(job)
    for _ in range(2):
        process.start("all", ["goodput", "steps"], interval_seconds=10)
        answer = process.stop("all")
        assert answer["flushed"]
        assert answer["max_productive_step"] == 19
    scalars = readers.load(tmp_path / "board/goodput")["scalars"]
    assert [step for step, _ in scalars["step_time_seconds"]] == list(range(19))


def test_the_monitor_has_none_of_the_trainers_descriptors(job, tmp_path):
    held, end = socket.socketpair()
    os.set_inheritable(held.fileno(), True)
    with goodput.monitor(job, tensorboard=tmp_path / "board") as watched:
        train(job)
        wait_until(lambda: (tmp_path / "board/goodput/.goodput.lock").exists())
        inode = os.fstat(held.fileno()).st_ino
        descriptors = Path(f"/proc/{watched.pid}/fd")
        wait_until(lambda: f"socket:[{inode}]" not in {os.readlink(fd) for fd in descriptors.iterdir()})
        assert os.readlink(descriptors / "0") == os.readlink(descriptors / "1") == "/dev/null"
    held.close()
    end.close()


def test_a_stop_is_bounded_when_the_monitor_hangs(job, tmp_path, caplog):
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"])
    process.start("all", ["goodput"], interval_seconds=1)
    pid = process.pid
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    assert process.stop("all", timeout_seconds=0.3) is None
    assert time.monotonic() - began < 3
    assert not is_alive(pid)
    assert "did not answer in time" in caplog.text


def test_what_a_stop_could_not_send_is_said_while_others_go_on(job, tmp_path):
    train(job)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        process = MonitorProcess(job, [f"--otlp=http://127.0.0.1:{silent.getsockname()[1]}"])
        for name in ("a", "b"):
            process.start(name, ["goodput"], interval_seconds=0.2)
        answer = process.stop("a", timeout_seconds=1.5)
        assert answer["flushed"] is False
        assert answer["reason"]
        assert process.is_running("b")
        assert process.stop("b", flush=False, timeout_seconds=3)["flushed"] is False


def test_the_end_of_a_process_waits_once_for_all_uploaders_as_long_as_it_was_told(job, tmp_path):
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"], timeout_seconds=0.6)
    for name in ("a", "b", "c"):
        process.start(name, ["goodput"], interval_seconds=1)
    pid = process.pid
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    process.close()  # what happens at exit
    assert 0.5 < time.monotonic() - began < 0.6 + 1.2  # and a second until what hangs is killed
    assert not is_alive(pid)


def test_an_end_without_a_last_look_has_none(job, tmp_path):
    train(job)
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"], flush=False)
    process.start("a", ["goodput"], interval_seconds=1000)
    wait_until(lambda: list((tmp_path / "board/goodput").glob("events.*")))
    asked = []
    process.stop = lambda name, **how: asked.append((name, how["flush"]))
    process.close()
    assert asked == [("a", False)]
    del process.stop
    process.close()


def test_a_monitor_that_dies_is_noticed_and_started_again(job, tmp_path):
    process = MonitorProcess(job, [f"--tensorboard={tmp_path / 'board'}"])
    process.start("a", ["goodput"], interval_seconds=1)
    pid = process.pid
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: process.pid is None)
    assert not process.is_running("a")
    train(job)
    assert process.start("b", ["steps"], interval_seconds=1)
    assert process.pid not in (None, pid)
    assert process.is_running("a")
    process.close()
    assert process.pid is None


def test_what_cannot_be_started_is_logged_and_raises_nothing(job, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(_program, "path", lambda: str(tmp_path / "nothing"))
    with goodput.monitor(job, tensorboard=tmp_path / "board") as watched:
        assert watched.pid is None
    assert not watched.stop()
    assert "starting the monitor" in caplog.text
    monkeypatch.undo()
    with goodput.monitor("a\0b", tensorboard=tmp_path / "board") as watched:
        assert watched.pid is None


@pytest.mark.parametrize("name", ["-x", "a b/../c@d", "--help", "ü"])
def test_any_name_is_a_job(name, tmp_path):
    with goodput.monitor(name, tensorboard=tmp_path / "board", interval=0.1) as watched:
        train(name)
        assert watched.stop()


def test_a_process_that_is_not_to_have_one_has_none(job, tmp_path):
    with mock.patch("os.posix_spawn") as spawn:
        with goodput.monitor(job, tensorboard=tmp_path / "board", enabled=False) as watched:
            assert watched.pid is None
        assert not spawn.called


def test_a_forked_child_leaves_its_parents_monitor_alone(job, tmp_path):
    with goodput.monitor(job, tensorboard=tmp_path / "board") as watched:
        child = os.fork()
        if child == 0:
            started = watched.pid is None and not watched._process.start("x", ["steps"], interval_seconds=1)
            watched.stop()
            os._exit(0 if started else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert is_alive(watched.pid)
        train(job)
        assert watched.stop()


def test_two_monitors_of_a_job_have_a_folder_each(job, tmp_path, readers):
    with goodput.monitor(job, tensorboard=tmp_path / "a"), goodput.monitor(job, tensorboard=tmp_path / "b"):
        train(job)
    for name in "ab":
        assert readers.load(tmp_path / name / "goodput")["scalars"]["goodput/goodput"][-1][0] == 19


def test_the_second_in_one_folder_is_told_who_is_there_and_takes_its_place(job, tmp_path, caplog):
    board = tmp_path / "board"
    train(job)
    first = goodput.monitor(job, tensorboard=board)
    first.start()
    wait_until(lambda: (board / "goodput/.goodput.lock").exists())
    with goodput.monitor(job, tensorboard=board) as second:
        refused = f"goodput monitor {job} (process {first.pid} on"
        wait_until(lambda: second._process._hear(0.05) or refused in caplog.text)
        assert first.stop()
        assert second.stop()


def test_the_end_of_a_trainer_that_forgot_to_stop_is_exported_before_it_is_gone(job, tmp_path, readers):
    trainer, pid = start_trainer(job, tmp_path / "board", "exit")
    assert trainer.wait(timeout=20) == 0
    assert not is_alive(pid)
    assert readers.load(tmp_path / "board/goodput")["scalars"]["step_time_seconds"][-1][0] == 18


def test_a_killed_trainers_last_word_arrives(job, tmp_path, readers):
    trainer, pid = start_trainer(job, tmp_path / "board", "kill")
    try:
        # Whoever reads what the trainer prints reads its end, though the monitor lives.
        assert trainer.communicate(timeout=20)[0] == ""
        assert trainer.returncode == -signal.SIGKILL

        def recovery():
            scalars = readers.load(tmp_path / "board/goodput")["scalars"]
            return scalars["badput/infrastructure_recovery_from_disruption"][-1][1]

        wait_until(lambda: recovery() > 0)
        assert is_alive(pid)
        assert goodput.report(job).attempts[-1].status == "died"
    finally:
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not is_alive(pid))


def test_the_monitor_of_a_killed_trainer_makes_room_for_that_of_the_next(job, tmp_path):
    board = tmp_path / "board"
    first, first_monitor = start_trainer(job, board, "kill")
    first.wait(timeout=20)
    second, second_monitor = start_trainer(job, board, "on")
    try:
        wait_until(lambda: not is_alive(first_monitor))
        wait_until(lambda: f"process {second_monitor} on" in (board / "goodput/.goodput.lock").read_text())
    finally:
        second.kill()
        second.wait()
        os.kill(second_monitor, signal.SIGTERM)


def test_complaints_go_to_the_log_of_goodput(job, tmp_path, caplog):
    (tmp_path / "file").write_text("")
    with goodput.monitor(job, tensorboard=tmp_path / "file" / "below") as watched:
        train(job)
        assert not watched.stop()
    assert "making the TensorBoard folder" in caplog.text
