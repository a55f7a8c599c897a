"""One run: the exported FMU and the original, driven alike and compared. This is what a worker executes."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .runs import Run


@dataclass(frozen=True)
class Archive:
    """An FMU that can be sent to another machine."""

    name: str
    content: bytes

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Archive:
        return Archive(Path(path).name, Path(path).read_bytes())


@dataclass(frozen=True)
class Task:
    """What both FMUs have in common in all runs."""

    start: float
    stop: float
    step: float
    outputs: tuple[str, ...]
    outside: str | None
    """The variable that counts steps outside the plan, if the FMU has it."""
    step_time: str | None
    tolerance: float


def drive(exported: Archive, original: Archive, task: Task, run: Run) -> dict[str, Any]:
    """Errors of the exported FMU in one run: per output, the root mean square deviation from the original integrated by CVode and the
    largest at a point, both relative to the output's range in this run.
    """
    from fmpy import simulate_fmu

    signals = structured(run.inputs)
    common: dict[str, Any] = dict(start_time=task.start, stop_time=task.stop, input=signals, start_values=dict(run.parameters))
    common |= dict(output_interval=task.step, validate=False)
    more = [name for name in (task.outside, task.step_time) if name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = simulate_fmu(
            unpacked(exported), fmi_type="CoSimulation", step_size=task.step, output=[*task.outputs, *more], **common
        )
        reference = simulate_fmu(
            unpacked(original),
            fmi_type="ModelExchange",
            solver="CVode",
            relative_tolerance=task.tolerance,
            output=list(task.outputs),
            **common,
        )
    row: dict[str, Any] = {"run": run.name, "failed": None}
    found = {name: deviation(result, reference, name) for name in task.outputs}
    row["errors"] = {name: error for name, (error, _) in found.items()}
    row["peaks"] = {name: peak for name, (_, peak) in found.items()}
    row["error"] = max(row["errors"].values(), default=0.0)
    row["peak"] = max(row["peaks"].values(), default=0.0)
    row["outside"] = int(result[task.outside][-1]) if task.outside else None
    row["worst_step"] = float(np.max(result[task.step_time])) if task.step_time else None
    return row


def structured(columns: Any) -> np.ndarray | None:
    """Columns as FMPy wants them."""
    if len(columns) < 2:
        return None
    arrays = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    table = np.empty(arrays["time"].size, dtype=[("time", float), *((n, float) for n in arrays if n != "time")])
    for name, array in arrays.items():
        table[name] = array
    return table


def deviation(result: Any, reference: Any, name: str) -> tuple[float, float]:
    """Root mean square and peak."""
    # At an event the reference has several values for one time; the last one is that after it.
    times, last = np.unique(reference["time"][::-1], return_index=True)
    values = reference[name][::-1][last].astype(float)
    expected = np.interp(result["time"], times, values)
    span = float(np.ptp(values))
    apart = result[name].astype(float) - expected
    # An output that does not move has no range: what counts is its size then.
    size = span or float(np.max(np.abs(values))) or 1.0
    return float(np.sqrt(np.mean(apart**2))) / size, float(np.max(np.abs(apart))) / size


_UNPACKED: dict[str, str] = {}


def unpacked(archive: Archive) -> str:
    """The FMU's folder in this process: each process unpacks each FMU once, and removes it when it ends."""
    from fmpy import extract

    digest = hashlib.sha256(archive.content).hexdigest()
    if digest not in _UNPACKED:
        folder = Path(tempfile.mkdtemp(prefix="fmu-build-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        (folder / archive.name).write_bytes(archive.content)
        _UNPACKED[digest] = extract(str(folder / archive.name), str(folder / "fmu"))
    return _UNPACKED[digest]


def failed(run: Run, why: str, outputs: tuple[str, ...]) -> dict[str, Any]:
    """The row of a run that gave no result."""
    none = {name: None for name in outputs}
    row = {"run": run.name, "failed": why, "errors": none, "peaks": none, "error": None, "peak": None}
    return {**row, "outside": None, "worst_step": None}
