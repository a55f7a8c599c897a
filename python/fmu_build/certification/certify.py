"""The command, top to bottom: read both FMUs, plan the runs, compute them, make the table."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._signals import PathLike, Signals
from .bar import Bar
from .drive import Archive, Task
from .pool import dask, local
from .ranges import chosen
from .runs import Run, planned
from .table import Table


def certify(
    exported: PathLike,
    original: PathLike,
    runs: int | Iterable[Run | Signals] = 20,
    *,
    range: Mapping[str, tuple[float, float]] | None = None,
    start: float | None = None,
    stop: float | None = None,
    limit: float | None = None,
    seed: int = 0,
    tolerance: float = 1e-7,
    workers: int | None = None,
    client: Any = None,
    progress: Callable[[int, int], None] | bool = True,
) -> Table:
    """Drive the exported FMU and the original through many runs and compare them.

    ``runs`` is a number of generated runs (steps, ramps, sines and sweeps at the inputs, tunable parameters moved), or a list of
    input files, structured arrays, DataFrames and :class:`Run` objects. Generated signals go over the ranges that the build explored, which
    it prints and keeps in the FMU's certificate; ``range={"u": (0, 24)}`` says better. The original is integrated by FMPy's CVode with the relative tolerance ``tolerance``; the
    exported FMU is stepped by FMPy. ``limit`` is the error that is accepted, the certificate's own tolerance by default.

    The runs are computed by as many processes of this machine as it has processors (or ``workers``), or by a Dask cluster:
    ``client=distributed.Client(...)``. The table does not depend on how many there are, but for the steps' times.
    A bar on standard error shows how many are done and about how long the rest takes; ``progress=False`` is silent, a function is called
    with the number of finished runs and of all.
    """
    from fmpy import read_model_description

    description = read_model_description(os.fspath(exported), validate=False)
    if description.coSimulation is None:
        raise ValueError(f"{os.fspath(exported)} is no Co-Simulation FMU; build it first")
    if read_model_description(os.fspath(original), validate=False).modelExchange is None:
        raise ValueError(f"{os.fspath(original)} is no Model-Exchange FMU; give the one that {os.fspath(exported)} was built from")
    experiment = description.defaultExperiment
    begin = _number(start, getattr(experiment, "startTime", None), 0.0)
    end = _number(stop, getattr(experiment, "stopTime", None), begin + 1.0)
    step = _number(None, getattr(experiment, "stepSize", None), (end - begin) / 1000)
    variables = description.modelVariables
    names = {variable.name for variable in variables}
    outputs = tuple(v.name for v in variables if v.causality == "output" and v.type == "Real" and not v.name.startswith("fmuBuild."))
    if not outputs:
        raise ValueError(f"{os.fspath(exported)} has no Real output to compare")
    task = Task(
        start=begin,
        stop=end,
        step=step,
        outputs=outputs,
        outside=_present(names, "fmuBuild.stepsOutsidePlan"),
        step_time=_present(names, "fmuBuild.stepTime"),
        tolerance=tolerance,
    )
    claim = _certificate(exported)
    planned_runs = planned(runs, variables, chosen(claim, variables, range or {}), begin, end, step, seed)
    archives = Archive.read(exported), Archive.read(original)
    if client is None:
        rows = local(*archives, task, planned_runs, workers)
    else:
        rows = dask(*archives, task, planned_runs, client)
    tell = Bar() if progress is True else progress or None
    table: list[Any] = [None] * len(planned_runs)
    for done, (number, row) in enumerate(rows, 1):
        table[number] = row
        if tell:
            tell(done, len(planned_runs))
    accepted = limit if limit is not None else claim.get("tolerance", 0.01)
    return Table(table, claimed=claim.get("error"), limit=float(accepted), name=description.modelName)


def _number(*candidates: Any) -> float:
    return next(float(value) for value in candidates if value is not None)


def _present(names: set[str], name: str) -> str | None:
    return name if name in names else None


def _certificate(exported: PathLike) -> dict[str, Any]:
    with zipfile.ZipFile(exported) as archive:
        try:
            return json.loads(archive.read("resources/certificate.json"))
        except KeyError:
            raise ValueError(f"{os.fspath(exported)} was not made by fmu-build: it has no certificate") from None
