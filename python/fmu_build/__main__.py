"""``python -m fmu_build`` is the command line of fmu-build, and has one command more: ``certify``."""

from __future__ import annotations

import os
import subprocess
import sys

from ._process import executable


def main() -> int:
    if sys.argv[1:2] == ["certify"]:
        from .certification.__main__ import main as certify

        return certify(sys.argv[2:])
    command = [os.fspath(executable()), *sys.argv[1:]]
    try:
        return subprocess.run(command).returncode
    except KeyboardInterrupt:
        return 130  # the executable got the signal too


if __name__ == "__main__":
    sys.exit(main())
