from ._command import (
    bench as bench,
    build as build,
    compare as compare,
    example as example,
    examples as examples,
    inspect as inspect,
)
from ._process import (
    FmuBuildWarning as FmuBuildWarning,
    Refused as Refused,
    UsageError as UsageError,
    executable as executable,
)
from ._result import (
    Benchmark as Benchmark,
    Build as Build,
    Comparison as Comparison,
    Inspection as Inspection,
    NamedError as NamedError,
    Record as Record,
    Report as Report,
)
from .certification import certify as certify

__version__: str
