"""The executable: where it is, how it is run, and what its exit codes mean in Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

Progress = Callable[[str, float], None]
"""Called with the stage, such as "studying the model", and how much of it is done, from 0 to 1."""


class Refused(RuntimeError):
    """The FMU or the request was refused; nothing was written."""


class UsageError(ValueError):
    """There is no such option, or it takes no such value."""


class FmuBuildWarning(UserWarning):
    """What fmu-build found to say of an FMU that it built."""


def executable() -> Path:
    """The executable: the one that FMU_BUILD names, the one of this package, or the one on the path."""
    if named := os.environ.get("FMU_BUILD"):
        return Path(named)
    packaged = Path(__file__).with_name("fmu-build.exe" if sys.platform == "win32" else "fmu-build")
    if packaged.is_file():
        return packaged
    if found := shutil.which("fmu-build"):
        return Path(found)
    raise FileNotFoundError(
        "the executable fmu-build is not in this package; install a wheel, or name the executable in FMU_BUILD"
    )


def version() -> str:
    """Of the executable, such as "0.2.0"."""
    return run(["--version"]).split()[1]


def run(arguments: list[str], progress: Progress | None = None) -> str:
    """Run the executable and return what it prints; what it refuses is an exception."""
    return judged(arguments, progress)[0]


def judged(arguments: list[str], progress: Progress | None = None, is_gate: bool = False) -> tuple[str, bool]:
    """Run the executable; return what it prints and whether it is content. A gate, such as ``compare``, may answer and not be content;
    others that are not content have refused, which is an exception."""
    environment = {**os.environ, "FMU_BUILD_PROGRESS": "lines"} if progress else None
    process = subprocess.Popen(
        [os.fspath(executable()), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
    )
    assert process.stdout and process.stderr
    output: list[str] = []
    reader = threading.Thread(target=lambda out=process.stdout: output.append(out.read()), daemon=True)
    reader.start()
    complaint: list[str] = []
    try:
        for line in process.stderr:
            fields = line.rstrip("\n").split("\t", 2)
            if progress and fields[0] == "progress" and len(fields) == 3:
                progress(fields[2], float(fields[1]))
            else:
                complaint.append(line)
        code = process.wait()
    except BaseException:
        # Ctrl-C, or the callback raised: nothing goes on behind the caller's back.
        process.kill()
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
    answered = is_gate and code == 1 and output[0].strip()
    if code != 0 and not answered:
        message = "".join(complaint).strip().removeprefix("fmu-build: ")
        raise (UsageError if code == 2 else Refused)(message or f"fmu-build ended with exit code {code}")
    return output[0], code == 0
