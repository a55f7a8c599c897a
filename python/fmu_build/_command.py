"""The commands of the executable as functions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from ._result import Build, Record, Report

PathLike = Union[str, "os.PathLike[str]"]
Quantity = Union[str, float]
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


def build(
    input: PathLike,
    output: PathLike,
    *,
    step: Quantity | None = None,
    substeps: int | None = None,
    tolerance: float | None = None,
    budget: str | None = None,
    inputs: PathLike | None = None,
    set: Mapping[str, Any] | None = None,
    start: Quantity | None = None,
    stop: Quantity | None = None,
    strict: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Build:
    """Build the real-time Co-Simulation FMU ``output`` from the Model-Exchange FMU ``input``.

    Every option of the command line is a keyword: ``--time-limit 5min`` is ``time_limit="5min"``, ``--strict`` is
    ``strict=True``, an option that may be repeated takes a list, ``--set k=5`` is ``set={"k": 5}``.
    ``progress`` is called now and then with the stage and how much of it is done.

    Raises :class:`Refused` with the message if the FMU or the request is refused. Nothing is written then.
    """
    options |= dict(step=step, substeps=substeps, tolerance=tolerance, budget=budget, inputs=inputs, set=set)
    options |= dict(start=start, stop=stop, strict=strict, force=force)
    wanted = options.pop("report", None)
    with tempfile.TemporaryDirectory(prefix="fmu-build-") as folder:
        page = Path(wanted or Path(folder) / "report.html")
        arguments = [*_arguments({**options, "report": page}), os.fspath(input), os.fspath(output)]
        said = json.loads(run(["--json", *arguments], progress))
        report = Report(page.read_text(encoding="utf-8"))
    _warn(said, 3)
    return Build(said, Path(output), report)


def inspect(fmu: PathLike, *, progress: Progress | None = None, **options: Any) -> Record:
    """The structure of a Model-Exchange FMU: Jacobian, blocks, tears, colours, what it declares wrongly."""
    return _record("inspect", fmu, options, progress)


def bench(fmu: PathLike, *, progress: Progress | None = None, **options: Any) -> Record:
    """The time of every step of an FMU that fmu-build made, through its C interface."""
    return _record("bench", fmu, options, progress)


def example(name: str, output: PathLike | None = None) -> Path:
    """Write one of the reference models as a Model-Exchange FMU."""
    path = Path(output if output is not None else f"{name.replace(':', '-')}.fmu")
    run(["example", name, os.fspath(path)])
    return path


def examples() -> dict[str, str]:
    """The reference models: name and what they are."""
    lines = (line.split(None, 1) for line in run(["example"]).splitlines() if line.startswith("  "))
    return {name.partition("[")[0]: text.strip() for name, text in lines}


def _record(command: str, fmu: PathLike, options: dict[str, Any], progress: Progress | None) -> Record:
    said = json.loads(run([command, "--json", *_arguments(options), os.fspath(fmu)], progress))
    _warn(said, 4)
    return Record(said)


def _warn(said: Mapping[str, Any], level: int) -> None:
    for warning in said.get("warnings", ()):
        warnings.warn(warning, FmuBuildWarning, stacklevel=level)  # where the caller stands


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """Keywords as options of the command line."""
    words: list[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        elif value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            words += (f"{option}={key}={_text(item)}" for key, item in value.items())
        elif isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike)):
            words += (f"{option}={_text(item)}" for item in value)
        else:
            words.append(f"{option}={_text(value)}")
    return words


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def run(arguments: list[str], progress: Progress | None = None) -> str:
    """Run the executable and return what it prints."""
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
    if code != 0:
        message = "".join(complaint).strip().removeprefix("fmu-build: ")
        raise (UsageError if code == 2 else Refused)(message or f"fmu-build ended with exit code {code}")
    return output[0]
