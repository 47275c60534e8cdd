"""Asks for a run and a file of intervals, and prints the run's goodput without them.

    python -m ml_goodput_measurement.scripts.exclusion_query

The file is a list of objects with start_time_utc and end_time_utc, such as "2026-09-24T18:00:00Z".

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import traceback
from typing import Any

from ml_goodput_measurement.src import goodput

_Interval = tuple[datetime.datetime, datetime.datetime]

_LABELS = {
    goodput.BadputType.TPU_INITIALIZATION: "Device Initialization",
    goodput.BadputType.TRAINING_PREP: "Training Preparation",
    goodput.BadputType.PROGRAM_STARTUP: "Program Startup",
    goodput.BadputType.DATA_LOADING_SYNC: "Data Loading",
    goodput.BadputType.WASTED_PROGRESS_FROM_DISRUPTION: "Disruption: Wasted Progress",
    goodput.BadputType.INFRASTRUCTURE_RECOVERY_FROM_DISRUPTION: "Disruption: Infra Recovery",
    goodput.BadputType.UNPRODUCTIVE_CHECKPOINT_SAVE_TIME: "Checkpoint Save",
    goodput.BadputType.UNPRODUCTIVE_CHECKPOINT_RESTORE_TIME: "Checkpoint Restore",
    goodput.BadputType.CUSTOM_BADPUT_EVENTS: "Custom Events",
    goodput.BadputType.OTHER: "Other/Unknown",
}


def get_project_id() -> str | None:
    """PROJECT_ID, else what gcloud is configured for."""
    named = os.environ.get("PROJECT_ID")
    if named:
        return named
    try:
        asked = subprocess.run(["gcloud", "config", "get-value", "project"], capture_output=True, text=True)
    except OSError:
        return None
    project = asked.stdout.strip()
    return project if asked.returncode == 0 and project and project != "(unset)" else None


def load_intervals_from_json(file_path: str) -> list[_Interval]:
    """The file's intervals; those that are malformed are named and left out. Ends the program without a file."""
    try:
        with open(file_path, encoding="utf-8") as file:
            entries = [(entry["start_time_utc"], entry["end_time_utc"]) for entry in json.load(file)]
    except Exception as error:
        print(f"Error loading JSON file: {error}")
        sys.exit(1)
    intervals = []
    for start, end in entries:
        try:
            interval = (_moment(start), _moment(end))
        except ValueError as error:
            print(f"Skipping malformed date string in {[start, end]}: {error}")
            continue
        if interval[0] < interval[1]:
            intervals.append(interval)
        else:
            print(f"Skipping invalid interval [{start}, {end}]")
    return intervals


def _moment(text: str) -> datetime.datetime:
    """Without a zone it is UTC."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.timezone.utc)


def analyze_run(project_id: str, run_name: str, exclusions: list[_Interval]) -> None:
    """Prints a run's goodput, without the intervals if there are any."""
    os.environ["PROJECT_ID"] = os.environ["GOOGLE_CLOUD_PROJECT"] = project_id
    print(f"Analyzing Run: {run_name} in project {project_id}")
    try:
        calculator = goodput.GoodputCalculator(job_name=run_name, logger_name=f"goodput_{run_name}")
        if exclusions:
            print_report(run_name, *calculator.get_job_goodput_with_exclusions(sorted(exclusions), True))
        else:
            print_report(run_name, *calculator.get_job_goodput(include_badput_breakdown=True))
    except Exception as error:
        print(f"\n[Analysis Error] {error}")
        print("Stack Trace:")
        traceback.print_exc()


def print_report(run_name: str, gp: float, breakdown: dict[Any, Any], step: int, excl_sec: float | None = None) -> None:
    print(f"Run Name: {run_name}")
    print(f"Maximum Productive Step: {step}")
    print(f"Goodput: {gp:.2f}%")
    if excl_sec is not None:
        print(f"Total Time Excluded: {excl_sec:.2f} seconds")
    print("\nBadput Breakdown:")
    for badput_type, label in _LABELS.items():
        percent = breakdown.get(badput_type, 0)
        percent = sum(percent.values()) if isinstance(percent, dict) else percent
        if percent > 0:
            print(f"  {label:<20}: {percent:.2f}%")


def _ask(question: str) -> str:
    while True:
        answer = input(question).strip()
        if answer:
            return answer


def main() -> None:
    print("ML Goodput Post-Processing Analysis Script")
    known = get_project_id()
    if known:
        project_id = input(f"Enter GCP Project ID [{known}]: ").strip() or known
    else:
        project_id = _ask("Enter GCP Project ID: ")
    run_name = _ask("Enter Run Name: ")
    exclusions: list[_Interval] = []
    while path := input("Enter path to intervals JSON file (Enter to skip): ").strip():
        if os.path.exists(path):
            exclusions = load_intervals_from_json(path)
            break
        print(f"Error: File '{path}' not found.")
    analyze_run(project_id, run_name, exclusions)


if __name__ == "__main__":
    main()
