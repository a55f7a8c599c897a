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

from ._command import bench, build, compare, example, examples, inspect
from ._process import FmuBuildWarning, Refused, UsageError, executable
from ._result import Benchmark, Build, Comparison, Inspection, NamedError, Record, Report

__all__ = [
    "Benchmark",
    "Build",
    "Comparison",
    "FmuBuildWarning",
    "Inspection",
    "NamedError",
    "Record",
    "Refused",
    "Report",
    "UsageError",
    "__version__",
    "bench",
    "build",
    "certify",
    "compare",
    "example",
    "examples",
    "executable",
    "inspect",
]


def __getattr__(name: str):
    # FMPy and numpy, which only certification needs, are imported when it is asked for.
    if name == "certify":
        from ._extras import need

        need("numpy", "certify")
        need("fmpy", "certify")
        from .certification import certify

        return certify
    if name == "__version__":
        from ._process import version

        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
