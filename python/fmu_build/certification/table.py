"""What came out: a row for each run, as text, as a page, as a file, as a plot."""

from __future__ import annotations

import csv
import html
import os
from typing import TYPE_CHECKING, Any

from .._extras import need
from .._result import frame, structured

if TYPE_CHECKING:
    import numpy
    import pandas


class Table:
    """The rows of a certification. Each is a dict with ``run``, ``error`` (the worst output's, root mean square), ``errors`` (by output),
    ``peak`` and ``peaks`` (the largest deviation at a point), ``outside`` (steps outside the plan), ``worst_step`` (seconds) and ``failed``
    (why there is no result, or None)."""

    def __init__(self, rows: list[dict[str, Any]], claimed: float | None, limit: float, name: str) -> None:
        self.rows = rows
        self.claimed = claimed
        """The error that the certificate claims for the run that was studied."""
        self.limit = limit
        """The error that is accepted."""
        self.name = name

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Runs without a result."""
        return [row for row in self.rows if row["failed"]]

    @property
    def beyond(self) -> list[dict[str, Any]]:
        """Runs with an error that is not accepted."""
        return [row for row in self.rows if not row["failed"] and not row["error"] <= self.limit]

    @property
    def worst(self) -> dict[str, Any] | None:
        """The run with the largest error."""
        return max((row for row in self.rows if not row["failed"]), key=lambda row: row["error"], default=None)

    @property
    def passed(self) -> bool:
        """All runs gave a result, and all within what is accepted."""
        return not self.failed and not self.beyond

    def __len__(self) -> int:
        return len(self.rows)

    def summary(self) -> str:
        """One sentence."""
        worst = self.worst
        text = f"{self.name}: {len(self)} runs, {len(self.beyond)} beyond {_percent(self.limit)}, {len(self.failed)} failed"
        if worst:
            output = max(worst["errors"], key=worst["errors"].get)
            text += f"; worst {_percent(worst['error'])} in {worst['run']!r} ({output}), peak {_percent(worst['peak'])}"
        return text + ("" if self.claimed is None else f"; the certificate claims {_percent(self.claimed)}")

    def _cells(self) -> list[list[str]]:
        cells = [["run", "error", "peak", "worst output", "outside plan", "worst step", ""]]
        for row in self.rows:
            if row["failed"]:
                cells.append([row["run"], "", "", "", "", "", row["failed"]])
                continue
            output = max(row["errors"], key=row["errors"].get, default="")
            outside = "" if row["outside"] is None else str(row["outside"])
            step = "" if row["worst_step"] is None else f"{row['worst_step'] * 1e6:.1f} µs"
            verdict = "" if row["error"] <= self.limit else f"beyond {_percent(self.limit)}"
            cells.append([row["run"], _percent(row["error"]), _percent(row["peak"]), output, outside, step, verdict])
        return cells

    def __str__(self) -> str:
        cells = self._cells()
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, self.summary()])

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        line = lambda row, tag: "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row) + "</tr>"  # noqa: E731
        rows = "\n".join([line(head, "th"), *(line(row, "td") for row in body)])
        return f"<table>\n{rows}\n</table>\n<p>{html.escape(self.summary())}</p>"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """A line for each run; errors in parts of the range, times in seconds."""
        outputs = sorted({name for row in self.rows for name in row["errors"]})
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["run", "failed", "error", "peak", "claimed", "outside_plan", "worst_step", *outputs])
            for row in self.rows:
                values = [row["failed"], row["error"], row["peak"], self.claimed, row["outside"], row["worst_step"]]
                cells = ["" if value is None else value for value in [*values, *(row["errors"].get(o) for o in outputs)]]
                writer.writerow([row["run"], *cells])

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """A structured array with a row for each run: ``run``, ``failed``, ``error``, ``peak``, ``outside``, ``worst_step``."""
        return structured(self.rows, ["run", "failed", "error", "peak", "outside", "worst_step"])

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame."""
        return frame(self.to_numpy())

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The runs' errors beside what is claimed and what is accepted; a matplotlib figure, saved to ``path`` if given."""
        figure = need("matplotlib.figure", "plot()").Figure(figsize=(8, 4), layout="constrained")
        axes = figure.subplots()
        there = [(i, row) for i, row in enumerate(self.rows) if not row["failed"]]
        axes.plot([i for i, _ in there], [100 * row["error"] for _, row in there], "o", label="error of a run")
        gone = [i for i, row in enumerate(self.rows) if row["failed"]]
        if gone:
            axes.plot(gone, [100 * self.limit] * len(gone), "x", color="tab:red", label="no result")
        axes.axhline(100 * self.limit, color="tab:red", linewidth=1, label="accepted")
        if self.claimed is not None:
            axes.axhline(100 * self.claimed, color="tab:green", linewidth=1, linestyle="--", label="claimed")
        axes.set_yscale("symlog", linthresh=1e-3)
        axes.set(xlabel="run", ylabel="error in % of the range\n(linear up to 0.001, then logarithmic)", title=self.summary().replace("; ", "\n", 1))
        axes.legend()
        if path is not None:
            figure.savefig(path, dpi=120)
        return figure


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"
