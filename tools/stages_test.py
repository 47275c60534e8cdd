# SPDX-License-Identifier: Apache-2.0
"""A run of stages says what failed, sums the tests that its stages ran, and exits with the answer."""

import subprocess
from pathlib import Path

import pytest

STAGES = Path(__file__).with_name("stages.sh")
CTEST = "75% tests passed, 3 tests failed out of 12"


def run(tmp_path: Path, script: str) -> tuple[int, str]:
    """(exit code, screen) of a script that uses the stages."""
    text = f'source "{STAGES}"; logs="{tmp_path}"; {script}; finish'
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_stages_that_all_succeed_exit_0(tmp_path):
    code, screen = run(tmp_path, "stage one true; stage 'two words' echo noise")
    assert code == 0
    assert [line.split()[0] for line in screen.splitlines()] == ["ok", "ok", "0"]
    assert "noise" not in screen
    assert (tmp_path / "two-words.log").read_text() == "noise\n"


def test_one_failed_stage_fails_the_run_and_shows_its_output(tmp_path):
    code, screen = run(tmp_path, "stage bad bash -c 'echo why; exit 3'; stage good true")
    assert code == 1
    assert "FAILED  bad" in screen
    assert "| why" in screen
    assert "ok      good" in screen
    assert screen.endswith("0 passed, 0 failed\nfailed: bad\n")


@pytest.mark.parametrize(
    ("output", "passed", "failed"),
    [
        (["100% tests passed, 0 tests failed out of 12"], 12, 0),
        ([CTEST], 9, 3),
        (["5 passed in 1.00s"], 5, 0),
        (["== 2 failed, 5 passed, 1 error in 61.00s (0:01:01) =="], 5, 3),
        (["No tests were found!!!"], 0, 0),
        (["100% tests passed, 0 tests failed out of 2", CTEST], 11, 3),
    ],
)
def test_the_closing_lines_of_test_runners_are_summed(tmp_path, output, passed, failed):
    _, screen = run(tmp_path, ";".join(f"stage s{i} echo '{line}'" for i, line in enumerate(output)))
    assert screen.splitlines()[-1] == f"{passed} passed, {failed} failed"
