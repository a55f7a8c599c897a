"""The commands of the executable as functions."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Union

from ._process import FmuBuildWarning, Progress, judged, run
from ._result import Benchmark, Build, Comparison, Inspection, Report
from ._signals import PathLike, Signals, files

Quantity = Union[str, float]
"""Seconds, or a text with a unit: ``1e-3``, ``"1ms"``."""
Ranges = Mapping[str, tuple[float, float]]
"""Where inputs and parameters may be: ``{"u": (0, 24)}``."""


def build(
    input: PathLike,
    output: PathLike,
    *,
    step: Quantity | None = None,
    substeps: int | None = None,
    budget: str | None = None,
    evaluation_time: Quantity | None = None,
    tolerance: float | None = None,
    peak_tolerance: float | None = None,
    method: str | None = None,
    mode: str | None = None,
    fast: Sequence[str] | None = None,
    slow: Sequence[str] | None = None,
    jacobian: str | None = None,
    rho: float | None = None,
    watch: str | None = None,
    twin: str | None = None,
    prefer: str | None = None,
    start: Quantity | None = None,
    stop: Quantity | None = None,
    inputs: Signals | Iterable[Signals] | None = None,
    set: Mapping[str, Any] | None = None,
    explore: int | str | None = None,
    range: Ranges | None = None,
    time_limit: Quantity | None = None,
    memory_limit: str | None = None,
    no_sandbox: bool = False,
    jobs: int | None = None,
    from_sources: bool = False,
    cc: str | None = None,
    cflags: str | None = None,
    fmi: int | None = None,
    report: PathLike | None = None,
    strict: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    more: Sequence[str] = (),
) -> Build:
    """Build the real-time Co-Simulation FMU ``output`` from the Model-Exchange FMU ``input``.

    Every option of the command line is a keyword: ``--time-limit 5min`` is ``time_limit="5min"``, ``--set k=5`` is
    ``set={"k": 5}``, ``--range u=0:24`` is ``range={"u": (0, 24)}``. ``inputs`` takes what :func:`fmpy.simulate_fmu` takes, a
    structured array with a column ``time``; a pandas DataFrame; a path; or a list of them, a run for each.
    ``progress`` is called now and then with the stage and how much of it is done. ``more`` is handed to the command as it is.

    Raises :class:`Refused` with the message if the FMU or the request is refused. Nothing is written then.
    """
    options = _options(locals(), "input", "output", "report", "inputs")
    with tempfile.TemporaryDirectory(prefix="fmu-build-") as folder:
        page = Path(report or Path(folder) / "report.html")
        signals = files(inputs, Path(folder))
        words = [*_arguments({**options, "inputs": signals, "report": page}), *more]
        said = json.loads(run(["--json", *words, os.fspath(input), os.fspath(output)], progress))
        shown = Report(page.read_text(encoding="utf-8"))
    _warn(said, 3)
    return Build(said, Path(output), shown)


def inspect(
    fmu: PathLike,
    *,
    svg: PathLike | None = None,
    start: Quantity | None = None,
    stop: Quantity | None = None,
    inputs: Signals | Iterable[Signals] | None = None,
    set: Mapping[str, Any] | None = None,
    explore: int | str | None = None,
    range: Ranges | None = None,
    time_limit: Quantity | None = None,
    memory_limit: str | None = None,
    no_sandbox: bool = False,
    jobs: int | None = None,
    from_sources: bool = False,
    cc: str | None = None,
    cflags: str | None = None,
    progress: Progress | None = None,
    more: Sequence[str] = (),
) -> Inspection:
    """The structure of a Model-Exchange FMU: Jacobian, blocks, tears, colours, what it declares wrongly."""
    return Inspection(_told("inspect", fmu, _options(locals(), "fmu", "inputs"), inputs, progress, more)[0])


def bench(
    fmu: PathLike,
    *,
    steps: int | None = None,
    deadline: Quantity | None = None,
    max_overruns: int | None = None,
    pace: bool = False,
    realtime: bool = False,
    audit: bool = False,
    no_outputs: bool = False,
    inputs: Signals | None = None,
    report: PathLike | None = None,
    time_limit: Quantity | None = None,
    memory_limit: str | None = None,
    no_sandbox: bool = False,
    progress: Progress | None = None,
    more: Sequence[str] = (),
) -> Benchmark:
    """The time of every step of an FMU that fmu-build made, through its C interface.

    Steps that missed the deadline beyond ``max_overruns`` make ``passed`` false; nothing is raised."""
    return Benchmark(*_told("bench", fmu, _options(locals(), "fmu", "inputs"), inputs, progress, more))


def compare(
    original: PathLike,
    built: PathLike | None = None,
    *,
    inputs: Signals | Iterable[Signals] | None = None,
    set: Mapping[str, Any] | None = None,
    start: Quantity | None = None,
    stop: Quantity | None = None,
    max_error: str | Mapping[str, str] | Sequence[str] | None = None,
    max_peak: str | Mapping[str, str] | Sequence[str] | None = None,
    csv: PathLike | None = None,
    report: PathLike | None = None,
    junit: PathLike | None = None,
    time_limit: Quantity | None = None,
    memory_limit: str | None = None,
    no_sandbox: bool = False,
    progress: Progress | None = None,
    more: Sequence[str] = (),
) -> Comparison:
    """Drive the original FMU and the one that was built from it by the same signals, and compare them.

    ``max_error="1%"``, ``max_error={"y": "0.2degC"}``: what is beyond is listed in ``failures``, and ``passed`` is false; nothing is
    raised. Without ``built`` the FMU is simulated alone; ``trajectories`` has its outputs.
    """
    options = _options(locals(), "original", "built", "inputs", "csv")
    with tempfile.TemporaryDirectory(prefix="fmu-build-") as folder:
        table = Path(csv or Path(folder) / "table.csv")
        words = [*_arguments({**options, "inputs": files(inputs, Path(folder)), "csv": table}), *more]
        fmus = [os.fspath(fmu) for fmu in (original, built) if fmu is not None]
        text, passed = judged(["compare", "--json", *words, *fmus], progress, is_gate=True)
        content = table.read_text(encoding="utf-8")
    said = json.loads(text)
    _warn(said, 3)
    return Comparison(said, passed, content)


def example(name: str, output: PathLike | None = None) -> Path:
    """Write one of the reference models as a Model-Exchange FMU."""
    path = Path(output if output is not None else f"{name.replace(':', '-')}.fmu")
    run(["example", name, os.fspath(path)])
    return path


def examples() -> dict[str, str]:
    """The reference models: name and what they are."""
    lines = (line.split(None, 1) for line in run(["example"]).splitlines() if line.startswith("  "))
    return {name.partition("[")[0]: text.strip() for name, text in lines}


def _told(
    command: str,
    fmu: PathLike,
    options: Mapping[str, Any],
    inputs: Signals | Iterable[Signals] | None,
    progress: Progress | None,
    more: Sequence[str],
) -> tuple[dict[str, Any], bool]:
    """What a command prints as JSON, and whether it is content."""
    with tempfile.TemporaryDirectory(prefix="fmu-build-") as folder:
        words = [*_arguments({**options, "inputs": files(inputs, Path(folder))}), *more]
        text, passed = judged([command, "--json", *words, os.fspath(fmu)], progress, is_gate=True)
    said: dict[str, Any] = json.loads(text)
    _warn(said, 4)
    return said, passed


def _options(arguments: dict[str, Any], *others: str) -> dict[str, Any]:
    """Of a function's arguments, those that are options of the command line."""
    return {name: value for name, value in arguments.items() if name not in (*others, "progress", "more")}


def _warn(said: Mapping[str, Any], level: int) -> None:
    for warning in said.get("warnings", ()):
        warnings.warn(warning, FmuBuildWarning, stacklevel=level)  # where the caller stands


COMMAS = ("fast", "slow")
"""Options that take a list in one word."""


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
        elif name in COMMAS and not isinstance(value, str):
            words.append(f"{option}={','.join(value)}")
        elif isinstance(value, Iterable) and not isinstance(value, (str, os.PathLike)):
            words += (f"{option}={_text(item)}" for item in value)
        else:
            words.append(f"{option}={_text(value)}")
    return words


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        low, high = value
        return f"{low}:{high}"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
