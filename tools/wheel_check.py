"""Run by the Python of an environment that has the two wheels and nothing else: records, asks, and looks what is loaded.

SPDX-License-Identifier: Apache-2.0
"""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

# Of glibc, and the loader itself.
GLIBC = re.compile(r"(linux-vdso|ld-linux-[\w-]+|libc|libm|libpthread|libdl|librt|libresolv|libgoodput-[0-9a-f]+)\.so")


def from_glibc_or_wheel(site: Path) -> None:
    """Every library that a file of the wheel needs is in the wheel, or of glibc."""
    elves = [path for path in site.glob("goodput*/**/*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    assert len(elves) >= 2, elves
    for path in elves:
        needed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for line in needed.splitlines():
            assert GLIBC.search(line) or str(site) in line, f"{path} needs {line.strip()}"


def main() -> None:
    site = Path(importlib.util.find_spec("goodput").origin).parent.parent
    assert site.is_relative_to(sys.prefix), site
    from_glibc_or_wheel(site)

    os.environ["GOODPUT_DIR"] = str(Path(sys.prefix) / "journals")
    import goodput

    rec = goodput.Recorder("wheel")
    with rec.job():
        for step in range(100):
            with rec.step(step):
                pass
    rec.close()
    assert goodput.report("wheel").max_productive_step == 99
    assert goodput.__version__ == importlib.metadata.version("goodput-ml")

    for program in ([f"{sys.prefix}/bin/goodput"], [sys.executable, "-m", "goodput"]):
        report = subprocess.run([*program, "report", "wheel", "--json"], capture_output=True, text=True, check=True)
        assert json.loads(report.stdout)["max_productive_step"] == 99, report.stdout

    from ml_goodput_measurement import goodput as drop_in

    percent, _, step = drop_in.GoodputCalculator("wheel", "log").get_job_goodput()
    assert (step, 0 < percent <= 100) == (99, True)
    assert importlib.metadata.version("ml-goodput-measurement").startswith("0.2.3+goodput.")
    requirements = importlib.metadata.requires("ml-goodput-measurement")
    assert {"goodput-ml", "google-cloud-logging"} <= set(requirements), requirements
    print(goodput.__version__, *sorted(path.name for path in site.glob("goodput*")))


if __name__ == "__main__":
    main()
