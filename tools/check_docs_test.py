# SPDX-License-Identifier: Apache-2.0
"""tools/check_docs finds promises without tests, numbers without benches, and links that lead nowhere."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("check_docs")
BACKED = {
    "src/journal/reader_test.cc": "TEST_F(Reader, TornTailIsDropped) {\n}\nRC_GTEST_PROP(Ledger, Sums, (int x)) {}\n",
    "python/tests/test_record.py": "def test_kill():\n    pass\n",
    "bench/record_bench.cc": 'row("record_step", 1.25);\n',
    "docs/guarantees.md": (
        "Promises.\n\n| promise | test |\n| --- | --- |\n| tails | `Reader.TornTailIsDropped` |\n"
        "| sums | `Ledger.Sums` under `make test` |\n\n- kills: `python/tests/test_record.py::test_kill`\n"
    ),
    "docs/performance.md": "| what | ns |\n| --- | --- |\n| a step, `record_step` | 41 |\n| [words](guarantees.md) | no number |\n",
    "README.md": "# goodput\n\n## Measured\n\n| a | b |\n| --- | --- |\n| 41 ns | `record_step` |\n\n## Next\n\n[up](#measured)\n",
}


def check(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True)
    *problems, total = done.stdout.splitlines()
    assert total.startswith(f"docs: {len(problems)} problem"), done.stdout + done.stderr
    assert done.returncode == (1 if problems else 0)
    return problems


def test_documents_that_are_backed_have_no_problem(tmp_path):
    assert check(tmp_path, BACKED) == []


@pytest.mark.parametrize(
    ("file", "added", "problem"),
    [
        (
            "docs/guarantees.md",
            "- more: `Reader.NeverWritten`\n",
            "docs/guarantees.md:9: there is no test Reader.NeverWritten",
        ),
        ("docs/guarantees.md", "- more, `once`\n", "docs/guarantees.md:9: a promise without a test"),
        (
            "docs/guarantees.md",
            "- x: `python/tests/test_record.py::test_no`\n",
            "docs/guarantees.md:9: there is no test python/tests/test_record.py::test_no",
        ),
        ("docs/performance.md", "| a load | 82 |\n", "docs/performance.md:5: a number without a bench"),
        ("docs/performance.md", "| a load, `record_load` | 82 |\n", "docs/performance.md:5: a number without a bench"),
        ("README.md", "\n## Measured\n\n|a|\n|---|\n| 3 ns |\n", None),
        ("README.md", "[a](docs/no.md)\n", "README.md:12: the link to docs/no.md leads nowhere"),
        ("README.md", "[a](docs/guarantees.md#no)\n", "README.md:12: docs/guarantees.md has no heading #no"),
    ],
)
def test_an_unbacked_line_is_the_only_problem(tmp_path, file, added, problem):
    problems = check(tmp_path, {**BACKED, file: BACKED[file] + added})
    if problem is None:
        assert problems == []  # only the first section of the name counts
    else:
        assert len(problems) == 1, problems
        assert problems[0].startswith(problem)


def test_a_number_in_the_readme_needs_a_bench(tmp_path):
    files = {**BACKED, "README.md": BACKED["README.md"].replace("`record_step`", "fast")}
    assert check(tmp_path, files) == ["README.md:7: a number without a bench that gives it"]
