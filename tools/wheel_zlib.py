"""zlib is among what auditwheel leaves to the system, which may have none: this puts one beside a wheel's other libraries.

    python tools/wheel_zlib.py wheelhouse/goodput_ml-*.whl /usr/lib/x86_64-linux-gnu/libz.so

SPDX-License-Identifier: Apache-2.0
"""

import shutil
import subprocess
import sys
from pathlib import Path

from auditwheel.wheeltools import InWheel

OF_SYSTEM = "libz.so.1"
# A name of its own, or a process that has the system's already would keep that.
OWN = "libz-goodput.so.1"


def patchelf(*arguments: object) -> str:
    done = subprocess.run(["patchelf", *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def is_elf(path: Path) -> bool:
    return path.is_file() and path.open("rb").read(4) == b"\x7fELF"


def main(wheel: Path, library: Path) -> None:
    with InWheel(wheel, wheel):
        own = Path("goodput_ml.libs") / OWN
        for path in filter(is_elf, Path().rglob("*")):
            if OF_SYSTEM in patchelf("--print-needed", path).split():
                patchelf("--replace-needed", OF_SYSTEM, OWN, path)
        shutil.copy(library.resolve(), own)
        patchelf("--set-soname", OWN, own)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
