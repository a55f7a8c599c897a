"""``python -m fmu_build certify``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="fmu-build certify",
        description="Drive an FMU made by fmu-build and the original through many runs, and compare them. "
        "Exit code 0: all runs are within what is accepted; 1: they are not.",
    )
    parser.add_argument("exported", help="the FMU that fmu-build made")
    parser.add_argument("--original", required=True, help="the Model-Exchange FMU that it was made from")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="generated runs [default: 20]")
    parser.add_argument("--inputs", nargs="+", metavar="FILE.csv", help="input files instead of generated runs")
    parser.add_argument(
        "--range",
        action="append",
        default=[],
        type=_range,
        metavar="NAME=LO:HI",
        help="where an input may be in generated runs; may be repeated [default: as the build explored it]",
    )
    parser.add_argument("--stop", type=float, metavar="SECONDS", help="end of each run [default: the FMU's own]")
    parser.add_argument("--limit", type=float, metavar="ERROR", help="accepted error [default: the certificate's tolerance]")
    parser.add_argument("--seed", type=int, default=0, help="of the generated runs")
    parser.add_argument("--workers", type=int, metavar="N", help="processes [default: one for each processor]")
    parser.add_argument("--dask", metavar="ADDRESS", help="scheduler of a Dask cluster, such as tcp://host:8786")
    parser.add_argument("--csv", metavar="FILE.csv", help="write the table")
    parser.add_argument("--plot", metavar="FILE.png", help="draw the errors")
    wanted = parser.parse_args(arguments)

    from .._extras import need

    try:
        need("numpy", "certify")
        need("fmpy", "certify")
    except ImportError as error:
        print(f"fmu-build: {error}", file=sys.stderr)
        return 1
    from .certify import certify

    client = None
    if wanted.dask:
        from distributed import Client

        client = Client(wanted.dask)
    try:
        table = certify(
            wanted.exported,
            wanted.original,
            wanted.inputs or wanted.runs,
            range=dict(wanted.range),
            stop=wanted.stop,
            limit=wanted.limit,
            seed=wanted.seed,
            workers=wanted.workers,
            client=client,
        )
    except (ValueError, OSError) as error:
        print(f"fmu-build: {error}", file=sys.stderr)
        return 1
    finally:
        if client:
            client.close()
    print(table)
    if wanted.csv:
        table.to_csv(wanted.csv)
    if wanted.plot:
        table.plot(wanted.plot)
    return 0 if table.passed else 1


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, equals, reach = text.rpartition("=")
    low, colon, high = reach.partition(":")
    if not (name and equals and colon):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range: write NAME=LO:HI, such as u=0:24")
    return name, (float(low), float(high))
