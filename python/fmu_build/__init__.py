"""Turn a binary FMI 2.0 Model-Exchange FMU into a real-time Co-Simulation FMU.

>>> import fmu_build
>>> fmu_build.example("dc-drive", "drive.fmu")
>>> built = fmu_build.build("drive.fmu", "drive-rt.fmu", step="1ms")
>>> built.error                  # everything that --json prints is an attribute
>>> built.report                 # shows itself in a notebook
>>> fmu_build.certify("drive-rt.fmu", original="drive.fmu", runs=100)

What fmu-build refuses is raised as :class:`Refused` with its message: what was found, where, what to do.
Its warnings are Python warnings of the category :class:`FmuBuildWarning`.
"""

from __future__ import annotations

from ._command import FmuBuildWarning, Refused, UsageError, build, bench, example, examples, executable, inspect
from ._result import Build, Record, Report

__all__ = [
    "Build",
    "FmuBuildWarning",
    "Record",
    "Refused",
    "Report",
    "UsageError",
    "bench",
    "build",
    "certify",
    "example",
    "examples",
    "executable",
    "inspect",
]


def __getattr__(name: str):
    # FMPy and numpy, which only certification needs, are imported when it is asked for.
    if name == "certify":
        from .certification import certify

        return certify
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
