"""The Python samples of README and guides run as they stand, one after another as a reader takes them.

SPDX-License-Identifier: Apache-2.0
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [
    path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if "```python\n" in path.read_text()
]


def surroundings():
    """What a reader's program has already."""

    def nothing(*_):
        pass

    return {
        "first": 0,
        "last": 120,
        "batches": iter(range(10_000)),
        "batch": 0,
        "build": lambda: ("model", "optimizer"),
        **dict.fromkeys(("train", "init_devices", "restore", "save", "evaluate"), nothing),
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_samples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = surroundings()
    for sample in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(sample, str(page), "exec"), names)


def test_there_are_samples():
    assert {"README", "instrument", "from-ml-goodput-measurement"} <= {page.stem for page in PAGES}
