"""What fmu-build tells: its JSON as attributes, its report as an object that shows itself."""

from __future__ import annotations

import html
import os
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Record(Mapping[str, Any]):
    """A JSON object whose members are attributes as well: ``record.error`` is ``record["error"]``."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = dict(content)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} in {', '.join(self._content)}") from None

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._content[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._content)

    def __len__(self) -> int:
        return len(self._content)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._content]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._content!r})"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


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


class Build(Record):
    """What :func:`fmu_build.build` decided: everything that ``--json`` prints, the report, the new FMU's path."""

    def __init__(self, content: Mapping[str, Any], path: Path, report: Report) -> None:
        super().__init__(content)
        self.path = path
        self.report = report

    def __repr__(self) -> str:
        error = self.get("error")
        shown = "" if error is None else f", error {100 * error:.3g} %"
        return f"<{self.path.name}: {self.get('states')} states, step {self.get('step')} s{shown}>"

    def _repr_html_(self) -> str:
        return self.report._repr_html_()
