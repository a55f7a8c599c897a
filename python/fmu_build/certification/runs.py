"""The runs: what drives both FMUs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from .._signals import PathLike, Signals
from .._signals import columns as as_columns
from .ranges import Ranges


@dataclass(frozen=True)
class Run:
    """One run: signals for the inputs and values for parameters."""

    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    """``"time"`` and a column for each input: continuous Reals are interpolated, others held."""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def read(path: PathLike, parameters: Mapping[str, Any] | None = None) -> Run:
        """The signals of a CSV file with a column ``time``."""
        if Path(path).exists() and not Path(path).is_file():
            raise ValueError(f"{path} is not an ordinary file; write the signals to one")  # a pipe may have nobody at its other end
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
        header, body = [name.strip() for name in rows[0]], rows[1:]
        if "time" not in header:
            raise ValueError(f"{path} has no column 'time' (it has: {', '.join(header)})")
        columns = {name: np.array([float(row[i]) for row in body]) for i, name in enumerate(header)}
        return Run(Path(path).stem, columns, dict(parameters or {}))

    @staticmethod
    def of(signals: Signals, number: int) -> Run:
        """A file, or signals that have no name."""
        table = as_columns(signals)
        return Run.read(cast(PathLike, signals)) if table is None else Run(f"run {number}", table)


def planned(
    runs: int | Iterable[Run | Signals],
    variables: list[Any],
    ranges: Ranges,
    start: float,
    stop: float,
    step: float,
    seed: int,
) -> list[Run]:
    """What was asked for, as runs: a number of generated ones, or a list of files, signals and runs."""
    if isinstance(runs, int):
        if runs < 1:
            raise ValueError(f"{runs} runs: ask for one at least")
        return generated(variables, ranges, start, stop, step, runs, seed)
    listed = [run if isinstance(run, Run) else Run.of(run, number) for number, run in enumerate(runs)]
    if not listed:
        raise ValueError("no runs: give a number, input files or Run objects")
    known = {variable.name for variable in variables}
    for run in listed:
        unknown = [name for name in (*run.inputs, *run.parameters) if name != "time" and name not in known]
        if unknown:
            raise ValueError(f"run {run.name!r} names {unknown[0]!r}, which is no variable of the FMU")
    return listed


def generated(
    variables: list[Any], ranges: Ranges, start: float, stop: float, step: float, count: int, seed: int = 0
) -> list[Run]:
    """Signals for every input that has a range: steps, ramps, sines and sweeps in turn, steps alone where it is no Real; from the second
    run on, tunable parameters move by up to ten per cent. The same seed gives the same runs.
    """
    inputs = [v for v in variables if v.causality == "input" and v.name in ranges]
    tunable = [
        v
        for v in variables
        if v.causality == "parameter" and v.variability == "tunable" and v.type == "Real" and v.start is not None
    ]
    runs = []
    for number in range(count):
        # One stream per run: a run does not depend on how many there are.
        random = np.random.default_rng([seed, number])
        columns: dict[str, Any] = {"time": grid(start, stop, step)}
        for position, variable in enumerate(inputs):
            reach = ranges[variable.name]
            if isinstance(reach, list):
                chosen = np.minimum(len(reach) * steps(random, columns["time"]), len(reach) - 1).astype(int)
                columns[variable.name] = np.array(reach)[chosen]
                continue
            shape = SHAPES[(number + position) % len(SHAPES)]
            low, high = reach
            columns[variable.name] = low + (high - low) * shape(random, columns["time"])
        moved = {}
        if number:
            for parameter in tunable:
                value = float(parameter.start) * (1 + random.uniform(-0.1, 0.1))
                moved[parameter.name] = clamp(value, parameter)
        runs.append(Run(f"run {number}", columns if inputs else {}, moved))
    return runs


def grid(start: float, stop: float, step: float) -> np.ndarray:
    """Points in time; where signals may jump, two of them. Jumps are just before a communication point, so that a stepped FMU sees
    them at that point and an integrator handles them as events."""
    jumps = start + step * np.round(np.linspace(start, stop, LEVELS + 1)[1:-1] / step - start / step) - 1e-6 * step
    return np.sort(np.concatenate([np.linspace(start, stop, 401), jumps, jumps]))


def clamp(value: float, variable: Any) -> float:
    low = float(variable.min) if variable.min is not None else -np.inf
    high = float(variable.max) if variable.max is not None else np.inf
    return float(np.clip(value, low, high))


def steps(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    jumped = np.cumsum(np.diff(time, prepend=time[0] - 1) == 0)
    return random.uniform(0, 1, LEVELS)[jumped]


def ramps(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    return np.interp(time, np.linspace(time[0], time[-1], 7), random.uniform(0, 1, 7))


def sine(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    share = (time - time[0]) / (time[-1] - time[0])
    return 0.5 + 0.5 * random.uniform(0.2, 1) * np.sin(2 * np.pi * (random.uniform(1, 6) * share + random.uniform()))


def sweep(random: np.random.Generator, time: np.ndarray) -> np.ndarray:
    share = (time - time[0]) / (time[-1] - time[0])
    return 0.5 + 0.5 * np.sin(2 * np.pi * (share + random.uniform(4, 12) * share**2))


LEVELS = 8
"""Of a signal with steps."""
SHAPES = (steps, ramps, sine, sweep)
