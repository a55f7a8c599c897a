"""How far the runs are, and about how long the rest takes."""

from __future__ import annotations

import sys
import time


class Bar:
    """A line that grows on standard error. Where that is no terminal and no notebook, a line for each tenth instead."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.told = 0
        self.grows = sys.stderr.isatty() or "ipykernel" in sys.modules

    def __call__(self, done: int, all: int) -> None:
        tenth = 10 * done // all
        if not self.grows and tenth == self.told:
            return
        self.told = tenth
        filled = 30 * done // all
        text = f"{'#' * filled}{'-' * (30 - filled)} {done} of {all} runs"
        passed = time.monotonic() - self.begun
        text += f", {spell(passed)}" if done == all else f", about {spell(passed / done * (all - done))} left"
        start, end = ("\r", "\n" if done == all else "") if self.grows else ("", "\n")
        print(f"{start}{text:<72}{end}", end="", file=sys.stderr, flush=True)


def spell(seconds: float) -> str:
    """ "4 s", "3 min", "2 h": nobody plans by more digits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
