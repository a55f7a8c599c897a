"""Input signals as people have them: a file, a NumPy structured array as FMPy takes it, a pandas DataFrame, columns by name."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy
    import pandas

PathLike = Union[str, "os.PathLike[str]"]
Signals = Union[PathLike, "numpy.ndarray[Any, Any]", "pandas.DataFrame", Mapping[str, Sequence[float]]]
"""One run: with a column ``time`` and one for each input. A DataFrame without that column has the time as its index."""


def columns(signals: Any) -> dict[str, list[float]] | None:
    """The signals by name, the time first; ``None`` for a path."""
    if isinstance(signals, (str, os.PathLike)):
        return None
    if isinstance(signals, Mapping):
        found = {str(name): list(map(float, values)) for name, values in signals.items()}
    elif hasattr(signals, "columns") and hasattr(signals, "index"):
        found = {str(name): [float(value) for value in signals[name]] for name in signals.columns}
        if "time" not in found:
            found = {"time": [float(value) for value in signals.index], **found}
    elif getattr(getattr(signals, "dtype", None), "names", None):
        found = {name: [float(value) for value in signals[name]] for name in signals.dtype.names}
    else:
        raise TypeError(
            f"inputs are {type(signals).__name__}: give a path, a structured array or a DataFrame with a column 'time', or a list of them"
        )
    if "time" not in found:
        raise ValueError(f"the inputs have no column 'time' (they have: {', '.join(found)})")
    lengths = {name: len(values) for name, values in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the inputs' columns differ in length: {lengths}")
    return {"time": found.pop("time"), **found}


def files(inputs: Signals | Iterable[Signals] | None, folder: Path) -> list[str]:
    """A file for each run; what is no file yet is written into ``folder``."""
    if inputs is None:
        return []
    several = isinstance(inputs, Iterable) and not isinstance(inputs, (str, os.PathLike, Mapping))
    # A structured array and a DataFrame are one run, though one can iterate over them.
    several = several and not hasattr(inputs, "dtype") and not hasattr(inputs, "columns")
    runs: Any = inputs if several else [inputs]
    paths = []
    for number, signals in enumerate(runs):
        table = columns(signals)
        if table is None:
            paths.append(os.fspath(signals))
            continue
        path = folder / f"inputs-{number}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*(map(repr, column) for column in table.values())))
        paths.append(os.fspath(path))
    return paths
