"""Where inputs may be: in the ranges that the build itself explored, which are in the FMU's certificate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Union

Ranges = dict[str, Union[tuple[float, float], list[float]]]
"""By input: from where to where, or the values of one that is no Real."""

NUMBER = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"


def explored(texts: Iterable[str], names: Iterable[str]) -> Ranges:
    """What ``ranges`` in ``--json`` and in the certificate says: "u = 12 … 36 V (start ± 50 %)", "gear = 1, 2, 3"."""
    found: Ranges = {}
    texts = list(texts)
    for name in names:
        # A name may hold anything, so that it is looked for and not cut out.
        text = next((text[len(name) :] for text in texts if text.startswith(f"{name} = ")), None)
        if text is None:
            continue
        if reach := re.match(rf" = ({NUMBER}) … ({NUMBER})", text):
            found[name] = float(reach[1]), float(reach[2])
        elif re.fullmatch(rf" = {NUMBER}(, {NUMBER})*", text):
            found[name] = [float(value) for value in text[3:].split(", ")]
    return found


def chosen(certificate: Mapping[str, Any], variables: Iterable[Any], asked: Mapping[str, tuple[float, float]]) -> Ranges:
    """The range of each input: the one that was asked for, or the build's own. An input of which nothing is known stays where it is."""
    inputs = [variable.name for variable in variables if variable.causality == "input"]
    for name in asked:
        if name not in inputs:
            raise ValueError(f"range names {name!r}, which is no input of the FMU (it has: {', '.join(inputs)})")
    found = explored(certificate.get("ranges", ()), inputs)
    found.update((name, (float(low), float(high))) for name, (low, high) in asked.items())
    return found
