"""What is needed only now and then is imported when it is, and a package that is missing says how to get it."""

from __future__ import annotations

import importlib
from typing import Any

EXTRAS = {"fmpy": "certify", "numpy": "certify", "matplotlib": "certify", "pandas": "pandas", "distributed": "dask"}
"""The package and the extra of fmu-build that brings it."""


def need(module: str, what: str) -> Any:
    """Import ``module``, which ``what`` needs."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise  # it is there, and lacks something itself
        raise ImportError(f"{what} needs {package}: pip install 'fmu-build[{EXTRAS[package]}]'", name=package) from None
