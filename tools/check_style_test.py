# SPDX-License-Identifier: Apache-2.0
"""tools/check_style finds what is planted in a small tree, and only that."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("check_style")
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
PY_LICENCE = LICENCE.replace("//", "#")


def check(root: Path, name: str, text: str) -> list[str]:
    """The problems of a tree with this one file."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True)
    *problems, total = done.stdout.splitlines()
    assert total.startswith(f"style: {len(problems)} problem"), done.stdout + done.stderr
    assert done.returncode == (1 if problems else 0)
    return problems


def statements(count: int) -> str:
    return "  work();\n" * count


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("src/a.cc", "int x;\n", "src/a.cc:1: no line 'SPDX"),
        ("tools/a.py", "x = 1\n", "tools/a.py:1: no line 'SPDX"),
        ("tools/a", "#!/bin/sh\ntrue\n", "tools/a:1: no line 'SPDX"),
        ("src/a.cc", LICENCE + "// TO" + "DO: later\n", "src/a.cc:2: 'TO" + "DO' is a note to oneself"),
        ("README.md", "See /wo" + "rk/main/x.\n", "README.md:1: '/wo" + "rk/' is a path of one machine"),
        ("README.md", "See /ho" + "me/joe/x.\n", "README.md:1: '/ho" + "me/joe/' is a path of one machine"),
        ("docs/a.md", "In .." + "/shared.\n", "docs/a.md:1: '.." + "/shared' is a folder outside"),
        ("tools/a.txt", "--index https://py" + "pi.org/simple\n", "tools/a.txt:1: 'py" + "pi.org' is the host"),
        ("docs/a.md", "As iss" + "ue 3 says.\n", "docs/a.md:1: 'iss" + "ue 3' is the number"),
        ("src/util.h", LICENCE, "src/util.h:1: a file named 'util'"),
        ("src/a.cc", LICENCE + "int f(int data);\n", "src/a.cc:2: 'data' says nothing"),
        ("src/a.cc", LICENCE + "std::string user_info_;\n", "src/a.cc:2: 'user_info_' says nothing"),
        ("src/a.cc", LICENCE + "class JobManager;\n", "src/a.cc:2: 'JobManager' says nothing"),
        ("tools/a.py", PY_LICENCE + "def f(info):\n    return info\n", "tools/a.py:2: 'info' says nothing"),
        ("src/a.cc", LICENCE + "int x;\n" * 600, "src/a.cc:600: the file has 601 lines"),
        ("src/a.cc", LICENCE + "void f() {\n" + statements(79) + "}\n", "src/a.cc:2: f has 81 lines"),
        ("tools/a.py", PY_LICENCE + "def f():\n" + "    x()\n" * 80, "tools/a.py:2: f has 81 lines"),
    ],
)
def test_a_planted_problem_is_the_only_one(tmp_path, name, text, problem):
    problems = check(tmp_path, name, text)
    assert len(problems) == 1, problems
    assert problems[0].startswith(problem)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("src/a.cc", LICENCE + "int x;\n" * 599),
        ("src/a.cc", LICENCE + "void f() {\n" + statements(78) + "}\n"),
        (
            "src/a.cc",
            LICENCE + 'auto p = bytes.data();\nauto q = std::data(x);\n// data\nauto r = "data";\nint data_loading;\n',
        ),
        ("src/a.cc", LICENCE + "spdlog::info(x);\nauto v = entry->data;\n  kInfo,\n  kEnvelopeData,\n"),
        ("src/a.cc", LICENCE + "siginfo_t siginfo; ioctl_info(1);\nFILE* data;  // NOLINT(name): of libfoo\n"),
        ("tools/a.py", PY_LICENCE + "x = load_digits().data\n"),
        ("tools/a.py", PY_LICENCE + "class StepInfo:  # NOLINT(name)\n    pass\n"),
        ("build/a.cc", "// TO" + "DO\n"),
        ("LICENSE", "no banner, no suffix\n"),
    ],
)
def test_what_is_allowed_passes(tmp_path, name, text):
    assert check(tmp_path, name, text) == []
