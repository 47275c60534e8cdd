"""PyTorch, Lightning, Transformers, Weights & Biases and MLflow as they are released: the examples run, and what they do
is recorded. Run by `make test-integrations`, in an environment of its own.

SPDX-License-Identifier: Apache-2.0
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import goodput
import pytest
from goodput import _binding

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("GOODPUT_DIR", str(tmp_path / "journals"))
    monkeypatch.setenv("GOODPUT_QUIET", "1")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)


def example(name, *arguments, code=0):
    outcome = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    assert outcome.returncode == code, outcome.stdout + outcome.stderr
    return outcome.stdout


def recorded(job):
    return [json.loads(line) for line in _binding.journal_payloads(job).splitlines()]


def values(job, key):
    return [payload[key] for payload in recorded(job) if key in payload]


def steps(job):
    return [payload["step_count"] for payload in recorded(job) if "step_start_time" in payload]


def test_torch_compile_and_distributed_checkpoints(tmp_path):
    assert "steps 0 to 19" in example("train_torch.py", "--directory", tmp_path / "out", "--backend", "aot_eager")
    assert "steps 20 to 39" in example("train_torch.py", "--directory", tmp_path / "out", "--backend", "aot_eager")
    job = "torch-example"
    assert steps(job) == list(range(40))
    saves = [payload for payload in recorded(job) if "checkpoint_save_start_time" in payload]
    assert [payload["step"] for payload in saves] == [9, 19, 29, 39]
    assert all("step-" in payload["directory"] for payload in saves)
    assert len(values(job, "checkpoint_restore_start_time")) == len(values(job, "checkpoint_restore_end_time")) == 1
    compilations = values(job, "compilation_start_time")
    assert len(compilations) == len(values(job, "compilation_end_time")) >= 2
    first_step = min(values(job, "step_start_time"))
    assert all(start >= first_step for start in compilations)
    report = goodput.report(job)
    assert report.badput_seconds["PROGRAM_STARTUP"] > 0
    assert report.badput_seconds["CHECKPOINT_SAVE"] > 0


def test_a_fit_of_lightning(tmp_path):
    example("train_lightning.py", "--directory", tmp_path / "out")
    job = "lightning-example"
    assert steps(job) == list(range(20))
    for kind, count in (("data_loading", 22), ("training_prep", 1), ("checkpoint_save", 2)):
        assert len(values(job, f"{kind}_start_time")) == len(values(job, f"{kind}_end_time"))
        assert abs(len(values(job, f"{kind}_start_time")) - count) <= 2, kind
    assert all(payload["blocking"] for payload in recorded(job) if "data_loading_start_time" in payload)
    report = goodput.report(job)
    assert report.status == "completed"
    assert report.custom_badput_seconds["VALIDATION"] > 0
    assert report.badput_seconds["CHECKPOINT_SAVE"] > 0


def test_a_fit_of_lightning_that_fails(tmp_path):
    example("train_lightning.py", "--directory", tmp_path / "out", "--fails-at-step", 7, code=1)
    assert goodput.report("lightning-example").status == "failed"
    assert steps("lightning-example") == list(range(8))


def test_a_trainer_of_transformers(tmp_path):
    example("train_transformers.py", "--directory", tmp_path / "out")
    job = "transformers-example"
    assert steps(job) == list(range(20))
    assert len(values(job, "checkpoint_save_start_time")) == len(values(job, "checkpoint_save_end_time")) == 2
    report = goodput.report(job)
    assert report.custom_badput_seconds["EVALUATION"] > 0
    assert report.badput_seconds["CHECKPOINT_SAVE"] > 0
    assert report.status == "completed"
    assert not report.data_quality.findings


def test_reports_in_trackers(tmp_path):
    with goodput.Recorder("tracked") as recorder, recorder.job():
        with recorder.custom("évaluation @ 5%"):
            recorder.record_step(0)
        recorder.record_step(1)
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    printed = example("track_report.py", "tracked", "--wandb", "--mlflow", uri)
    figures = len(goodput.report("tracked", windows=[3600]).flat())
    assert f"wandb: {figures} figures" in printed
    assert f"mlflow: {figures} figures" in printed

    import mlflow

    run = mlflow.MlflowClient(uri).search_runs(["0"])[0]
    assert len(run.data.metrics) == figures
    assert run.data.metrics["goodput/elapsed_seconds"] > 0


def test_without_a_run_of_wandb_it_says_so():
    from goodput.integrations.trackers import log_to_wandb

    with goodput.Recorder("tracked") as recorder:
        recorder.record_step(0)
    with pytest.raises(ValueError, match="no run is active"):
        log_to_wandb(goodput.report("tracked"))
