# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers finds the violations planted in a small tree, and only these."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("check_layers")


def check(root: Path, files: dict[str, str]) -> tuple[int, list[str]]:
    """(exit code, problems) of a tree with these files."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True)
    *problems, total = done.stdout.splitlines()
    assert total.startswith(f"layers: {len(problems)} problem"), done.stdout + done.stderr
    return done.returncode, problems


LEGAL = {
    "src/event/event.h": '#include <string>\n#include "base/status.h"\n',
    "src/journal/reader.cc": '#include "journal/reader.h"\n#include "event/event.h"\n#include "base/status.h"\n',
    "src/ledger/ledger.cc": '#include <vector>\n#include "event/source.h"\n',
    "src/report/json.cc": '#include <nlohmann/json.hpp>\n#include "ledger/ledger.h"\n#include "event/event.h"\n',
    "src/exporters/otlp.cc": '#include "report/report.h"\n#include "base/status.h"\n',
    "src/cli/run/run.cc": "#include <goodput/recorder.h>\n#include <CLI/CLI.hpp>\n#include <sys/wait.h>\n",
    "src/serve/http/server.cc": '#include <boost/beast.hpp>\n#include "monitor/monitor.h"\n#include "store/file/file.h"\n',
    "src/record/CMakeLists.txt": "goodput_library(record SOURCES a.cc DEPS goodput_journal)  # never goodput_ledger\n",
    "src/record/lane.cc": '// We throw nothing, and catch nothing.\nconst char* kText = "try";\n',
    "src/record/lane_test.cc": "void f() { try { g(); } catch (int) {} }\n",
    "include/goodput/recorder.h": "#include <goodput/event.h>\n#include <cstdint>\n#include <sys/types.h>\n",
    "tests/crash/kill_test.cc": '#include "ledger/ledger.h"\n#include "record/recorder.h"\n',
}


def test_a_tree_that_keeps_the_order_has_no_problem(tmp_path):
    assert check(tmp_path, LEGAL) == (0, [])


@pytest.mark.parametrize(
    ("file", "text", "problem"),
    [
        ("src/base/a.h", '#include "event/event.h"\n', "src/base/a.h:1: base/ includes event/event.h"),
        ("src/ledger/a.cc", '\n#include "journal/reader.h"\n', "src/ledger/a.cc:2: ledger/ includes journal/reader.h"),
        (
            "src/ledger/a_test.cc",
            '#include "importers/x.h"\n',
            "src/ledger/a_test.cc:1: ledger/ includes importers/x.h",
        ),
        ("src/record/a.cc", '#include "ledger/ledger.h"\n', "src/record/a.cc:1: record/ includes ledger/ledger.h"),
        (
            "src/journal/a.cc",
            "#include <goodput/recorder.h>\n",
            "src/journal/a.cc:1: journal/ includes goodput/recorder.h",
        ),
        (
            "src/exporters/a.cc",
            '#include "ledger/ledger.h"\n',
            "src/exporters/a.cc:1: exporters/ includes ledger/ledger.h",
        ),
        ("src/exporters/a.cc", '#include "event/event.h"\n', "src/exporters/a.cc:1: exporters/ includes event/event.h"),
        ("src/importers/a.cc", '# include "ledger/x.h"\n', "src/importers/a.cc:1: importers/ includes ledger/x.h"),
        (
            "src/report/a.h",
            "#include <nlohmann/json.hpp>\n",
            "src/report/a.h:1: nlohmann/json.hpp is included by a header",
        ),
        ("src/ledger/a.cc", "#include <chrono>\n", "src/ledger/a.cc:1: ledger/ includes <chrono>"),
        ("src/ledger/a.cc", "#include <sys/stat.h>\n", "src/ledger/a.cc:1: ledger/ includes <sys/stat.h>"),
        ("src/record/a.cc", "void f() {\n  throw 1;\n}\n", "src/record/a.cc:2: record/ knows no exceptions"),
        (
            "src/journal/a.h",
            "inline void f() { try { g(); } c(); }\n",
            "src/journal/a.h:1: journal/ knows no exceptions",
        ),
        ("include/goodput/a.h", '#include "status.h"\n', "include/goodput/a.h:1: a public header includes status.h"),
        (
            "include/goodput/a.h",
            "#include <base/status.h>\n",
            "include/goodput/a.h:1: a public header includes base/status.h",
        ),
        (
            "src/ledger/CMakeLists.txt",
            "# ok\nf(goodput_journal)\n",
            "src/ledger/CMakeLists.txt:2: ledger/ links goodput_journal",
        ),
        (
            "src/event/CMakeLists.txt",
            "f(goodput_journal_testing)\n",
            "src/event/CMakeLists.txt:1: event/ links goodput_journal",
        ),
        ("src/tricks/a.cc", "\n", "src/tricks/a.cc:1: src/tricks/ has no place in the order"),
    ],
)
def test_a_planted_violation_is_the_only_problem(tmp_path, file, text, problem):
    code, problems = check(tmp_path, {**LEGAL, file: text})
    assert code == 1
    assert len(problems) == 1
    assert problems[0].startswith(problem)
