"""What fmu-build tells: its JSON as attributes, its report as an object that shows itself, its tables for NumPy and pandas."""

from __future__ import annotations

import csv
import html
import io
import os
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._extras import need

if TYPE_CHECKING:
    import numpy
    import pandas


class Record(dict[str, Any]):
    """A JSON object whose members are attributes as well: ``record.error`` is ``record["error"]``. ``json.dumps`` takes it as it is."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__({name: _wrapped(value) for name, value in content.items()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} in {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


def structured(rows: Iterable[Mapping[str, Any]], names: Sequence[str] | None = None) -> numpy.ndarray[Any, Any]:
    """Rows as a NumPy structured array: numbers are floats (``nan`` where there is none), the rest is objects."""
    numpy = need("numpy", "an array")
    rows = list(rows)
    names = list(names or dict.fromkeys(name for row in rows for name in row))
    numeric = [all(row.get(name) is None or isinstance(row[name], (int, float)) for row in rows) for name in names]
    table = numpy.empty(len(rows), dtype=[(name, float if is_number else object) for name, is_number in zip(names, numeric)])
    for name, is_number in zip(names, numeric):
        values = [row.get(name) for row in rows]
        table[name] = [float("nan") if value is None else value for value in values] if is_number else values
    return table


def frame(rows: numpy.ndarray[Any, Any]) -> pandas.DataFrame:
    """A structured array as a DataFrame; a column ``time`` becomes its index."""
    pandas = need("pandas", "to_pandas()")
    table = pandas.DataFrame({name: rows[name] for name in rows.dtype.names})
    return table.set_index("time") if "time" in table else table


class Report:
    """The page that says what was decided, and why."""

    def __init__(self, page: str) -> None:
        self.html = page

    def _repr_html_(self) -> str:
        # A frame, so that the page's style and the notebook's do not meet.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:40em;border:1px solid #8888">'
            "</iframe>"
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to ``path``."""
        Path(path).write_text(self.html, encoding="utf-8")
        return Path(path)

    def show(self, path: str | os.PathLike[str] = "report.html") -> None:
        """Write the page to ``path`` and open it in a browser."""
        webbrowser.open(self.save(path).resolve().as_uri())


class NamedError(Record):
    """An output's, or state's, error on the given runs, relative to its range."""

    name: str
    error: float
    peak: float
    peak_time: float


class Build(Record):
    """What :func:`fmu_build.build` decided: everything that ``--json`` prints, the report, the new FMU's path."""

    model: str
    states: int
    inputs: int
    outputs: int
    method: str
    order: int
    step: float
    substeps: int
    error: float | None
    tolerance: float
    errors: list[NamedError]
    evaluations_per_step: float
    operations_per_step: int
    implicit: list[str]
    ranges: list[str]
    warnings: list[str]
    verified_from: float
    verified_to: float
    platforms: list[str]

    def __init__(self, content: Mapping[str, Any], path: Path, report: Report) -> None:
        super().__init__(content)
        self["errors"] = [NamedError(error) for error in content.get("errors", ())]
        self.path = path
        self.report = report

    def __repr__(self) -> str:
        error = self.get("error")
        shown = "" if error is None else f", error {100 * error:.3g} %"
        return f"<{self.path.name}: {self.get('states')} states, step {self.get('step')} s{shown}>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The errors, a row for each output: ``name``, ``error``, ``peak``, ``peak_time``."""
        return structured(self.errors)

    def to_pandas(self) -> pandas.DataFrame:
        """The errors as a DataFrame."""
        return frame(self.to_numpy())


class Inspection(Record):
    """What :func:`fmu_build.inspect` found: everything that ``inspect --json`` prints."""

    model: str
    states: int
    warnings: list[str]


class Benchmark(Record):
    """What :func:`fmu_build.bench` measured: everything that ``bench --json`` prints. Times in nanoseconds, as their names say."""

    model: str
    steps: int
    step: float
    deadline: float
    overruns: int
    step_time_ns: Record
    warnings: list[str]

    def __init__(self, content: Mapping[str, Any], passed: bool) -> None:
        super().__init__(content)
        self.passed = passed
        """Not more steps missed the deadline than may."""


class Comparison(Record):
    """How far an exported FMU is from the original: everything that ``compare --json`` prints, and the trajectories."""

    original: str
    built: str | None
    model: str
    step: float
    error: float | None
    runs: list[Record]
    failures: list[str]
    warnings: list[str]

    def __init__(self, content: Mapping[str, Any], passed: bool, table: str) -> None:
        super().__init__(content)
        self.passed = passed
        """Nothing failed, and nothing is beyond ``max_error`` and ``max_peak``."""
        self._table = table

    @property
    def trajectories(self) -> numpy.ndarray[Any, Any]:
        """The signals as FMPy gives them, a structured array: ``time``, each output, the exported FMU's as ``"y (built)"``; with several
        runs their number, from 1, as ``run``."""
        head, *rows = csv.reader(io.StringIO(self._table))
        return structured([dict(zip(head, (float(cell) if cell else None for cell in row))) for row in rows], head)

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The errors, a row for each run and output."""
        return structured({"run": number, **output} for number, run in enumerate(self.runs, 1) for output in run.outputs)

    def to_pandas(self) -> pandas.DataFrame:
        """The errors as a DataFrame."""
        return frame(self.to_numpy())
