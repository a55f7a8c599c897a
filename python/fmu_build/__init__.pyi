from ._command import (
    FmuBuildWarning as FmuBuildWarning,
    Refused as Refused,
    UsageError as UsageError,
    bench as bench,
    build as build,
    example as example,
    examples as examples,
    executable as executable,
    inspect as inspect,
)
from ._result import Build as Build, Record as Record, Report as Report
from .certification import certify as certify
