"""The packages are typed: what is annotated holds, and the stub says what the extension module offers.

SPDX-License-Identifier: Apache-2.0
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import goodput
import pytest

PYTHON = Path(__file__).resolve().parent.parent
PACKAGES = [name for name in ("goodput", "ml_goodput_measurement") if (PYTHON / name).is_dir()]
SOURCES = [
    path for name in PACKAGES for path in sorted((PYTHON / name).rglob("*.py*")) if path.suffix in (".py", ".pyi")
]


def run_module(*arguments, cwd):
    environment = {**os.environ, "MYPYPATH": str(PYTHON)}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PYTHON)))
def test_sources_are_valid_for_python_3_9(path):
    ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.mark.parametrize("package", PACKAGES)
def test_annotations_hold(tmp_path, package):
    done = run_module("mypy", "--strict", "--python-version=3.10", "-p", package, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def test_the_stub_says_what_the_module_offers():
    done = subprocess.run([PYTHON.parent / "tools/stub", "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed():
    assert Path(goodput.__file__).with_name("py.typed").exists()
