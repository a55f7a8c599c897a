"""Certification by the thousand: the exported FMU against the original, over many runs."""

from .certify import certify
from .runs import Run, generated
from .table import Table

__all__ = ["Run", "Table", "certify", "generated"]
