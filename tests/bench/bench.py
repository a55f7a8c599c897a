"""Peers in one run; started by `run`, which prepares what this needs."""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import fmpy
import numpy as np
from fmpy.cswrapper import add_cswrapper

HERE = Path(__file__).resolve().parent
WORK = HERE / "work"
STEPS = WORK / "steps"
SUNDIALS = Path(fmpy.__file__).parent / "sundials" / fmpy.platform_tuple
# cswrapper's own, so that CVode is asked for the same.
CVODE_TOLERANCE = 1e-4
REFERENCE_TOLERANCE = 1e-8
# One process may take this long, and the rounds of one tool on one model together about as long.
LONGEST = 120.0
ENOUGH = 10.0
# Beyond this error a result is called wrong; beyond that one it is shown that half the step has half of it.
WRONG = 0.02
COARSE = 0.01


@dataclass
class Case:
    """A model, a communication step, an end; None: the model's default experiment."""

    name: str
    step: float | None = None
    stop: float | None = None
    quick: bool = False
    # What is compared; by default the real outputs, or the states where there are none.
    outputs: list[str] | None = None
    exact: object = None


def decay(t):
    return np.exp(-t)[:, None]


CASES = [
    Case("dahlquist", 0.5, exact=decay, quick=True),
    Case("dahlquist", 0.1, exact=decay),
    # `error`, the third output, is zero but for rounding: it has no range to be compared with.
    Case("prothero-robinson", outputs=["x", "g"]),
    Case("van-der-pol", quick=True),
    Case("stiff-pair"),
    Case("rc-circuit"),
    Case("dc-drive", quick=True),
    Case("pipe", quick=True),
    Case("heat-rod"),
    Case("heat-rod:1000"),
    Case("sampled-controller"),
    Case("stick-slip"),
    Case("robot", quick=True),
    Case("arm"),
    Case("mo2fmu_HeatRod200.fmu", 0.01, 10.0),
    Case("mo2fmu_Rectifier.fmu", 1e-4, 0.2, quick=True),
    Case("rumoca_Rectifier.fmu", 1e-4, 0.2),
    Case("mo2fmu_SpringPendulum.fmu", 1e-3, 10.0),
]

OURS, FULL, EXPLICIT = "fmu-build", "fmu-build, all implicit, Jacobian in every step", "explicit Euler"
HALVED = "fmu-build, half the step"
WRAPPER = "FMPy 0.3.26 cswrapper"
CVODE, RESTARTED = "CVode on the ME FMU", "CVode on the ME FMU, restarted in each step"


class Failed(Exception):
    """What a tool says when it cannot."""


def main():
    parser = argparse.ArgumentParser(prog="tests/bench/run", description="Compare step times with those of peers.")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a few models, fewer rounds")
    parser.add_argument("--instructions", action="store_true", help="count instructions with callgrind instead")
    parser.add_argument("--rounds", type=int, help="how often each tool runs each model")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="only these, e.g. robot heat-rod:1000")
    args = parser.parse_args()
    builder = Builder(Path(args.build).resolve())
    if args.instructions:
        return instructions(builder, args.models or ["dahlquist", "dc-drive", "pipe", "robot"])
    cases = [case for case in CASES if not args.models or case.name.removesuffix(".fmu") in args.models or case.name in args.models]
    if args.quick and not args.models:
        cases = [case for case in cases if case.quick]
    if not cases:
        sys.exit("no such model; there are " + " ".join(dict.fromkeys(case.name for case in CASES)))
    rounds = args.rounds or (3 if args.quick else 15)
    table = []
    for case in cases:
        try:
            rows = compare(builder, case, rounds)
        except Failed as why:
            print(f"skipped {case.name}: {why}", file=sys.stderr)
            continue
        table.append(rows)
        print("\n".join(line(row, rows) for row in rows), file=sys.stderr)
    (WORK / "results.json").write_text(json.dumps(table, indent=1))
    report(table, rounds)


# --- the tools -------------------------------------------------------------------------------------------------------


class Builder:
    def __init__(self, program):
        self.program = program

    def example(self, name, output):
        self.call("example", name, output)

    def build(self, source, output, case, *options):
        """Returns the summary."""
        words = [source, output, "--step", repr(case.step), "--stop", repr(case.stop), "--json", *options]
        return json.loads(self.call(*words))

    def call(self, *words):
        words = [str(word) for word in (self.program, *words)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=20 * 60)
        if done.returncode:
            raise Failed(done.stderr.strip() or f"exit code {done.returncode}")
        return done.stdout


class Fmu:
    """Unpacked, with what `steps` must be told."""

    def __init__(self, archive, kind):
        self.archive = archive
        self.folder = archive.with_suffix("")
        shutil.rmtree(self.folder, ignore_errors=True)
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(self.folder)
        self.description = fmpy.read_model_description(str(self.folder), validate=False)
        interface = self.description.coSimulation if kind == "cs" else self.description.modelExchange
        if interface is None:
            raise Failed(f"{archive.name} has no {kind} interface")
        self.library = self.folder / "binaries" / "linux64" / (interface.modelIdentifier + ".so")
        # For libraries that were packed without the permission.
        self.library.chmod(0o755)

    def words(self):
        return [self.library, self.description.guid, (self.folder / "resources").as_uri()]


class Tool:
    """One way to step one model: its runs, and what they gave."""

    def __init__(self, name, words, case, references):
        self.name, self.case = name, case
        self.out = WORK / (re.sub(r"\W+", "-", f"{case.name}-{case.step:g}-{name}"))
        kind, *rest = words
        fmu_words, extra = rest[:3], rest[3:]
        vrs = ",".join(str(vr) for vr in references) or "-"
        count = steps_of(case) * (-1 if name == "callgrind" else 1)
        self.words = [str(w) for w in [STEPS, kind, *fmu_words, 0.0, repr(case.step), count, vrs, self.out, *extra]]
        self.width = len(references)
        self.times, self.cold, self.values, self.result, self.spent, self.maxima = None, None, None, {}, 0.0, []
        self.repeats = True
        self.evaluations, self.claimed, self.variant, self.failure = None, None, "", None

    def round(self):
        if self.failure and not self.result or self.spent > ENOUGH:
            return
        Path(f"{self.out}.warm").unlink(missing_ok=True)
        try:
            done = subprocess.run(self.words, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            self.failure = f"no end within {LONGEST:g} s"
            self.result = {}
            return
        try:
            self.result = json.loads(done.stdout.strip().splitlines()[-1])
        except (IndexError, ValueError):
            reason = done.stderr.strip()
            if done.returncode < 0:
                reason = f"crash ({signal.Signals(-done.returncode).name})"
            self.failure = reason or f"exit code {done.returncode}"
            return
        if self.result["status"] > 1:
            step = self.result["steps"]
            code = self.result["status"]
            says = "crash" if code == 99 else f"CVode {100 - code}" if code >= 100 else "fmi2Discard" if code == 2 else "fmi2Error"
            self.failure = f"{says} in step {step} (t = {step * self.case.step:.4g}) {self.result['message']}".strip()
        clock = self.result["clock"]
        cold = np.fromfile(f"{self.out}.cold") - clock
        if not len(cold):
            return
        # What fails in the first run, or can be instantiated only once, has no second.
        warm = Path(f"{self.out}.warm")
        times = np.fromfile(warm) - clock if warm.exists() else cold
        self.maxima.append(times.max())
        self.spent += (cold.sum() + times.sum()) * 1e-9
        self.times, self.cold = least(self.times, times), least(self.cold, cold)
        values = np.fromfile(f"{self.out}.values").reshape(-1, self.width)
        # The least of all rounds means something only if each does the same.
        if self.values is not None and not np.array_equal(values, self.values, equal_nan=True):
            self.repeats = False
        self.values = values
        if self.result["evaluations"]:
            self.evaluations = self.result["evaluations"] / self.result["steps"]


def least(before, now):
    return now if before is None or len(before) != len(now) else np.minimum(before, now)


def steps_of(case):
    return round(case.stop / case.step)


def prepare(builder, case):
    """The Model-Exchange FMU; completes the case."""
    if case.name.endswith(".fmu"):
        source = Path(os.environ.get("BENCH_FMUS", HERE.parent / "data")) / case.name
        if not source.exists():
            raise Failed(f"{source.parent} has no such file")
        shutil.copy(source, WORK)
        archive = WORK / case.name
    else:
        archive = WORK / f"{case.name.replace(':', '-')}.fmu"
        builder.example(case.name, archive)
    fmu = Fmu(archive, "me")
    experiment = fmu.description.defaultExperiment
    case.step = case.step or float(experiment.stepSize)
    case.stop = case.stop or float(experiment.stopTime)
    return fmu


def watched(case, description):
    reals = [v for v in description.modelVariables if v.type == "Real"]
    if case.outputs:
        return [next(v for v in reals if v.name == name) for name in case.outputs]
    outputs = [v for v in reals if v.causality == "output"]
    return outputs or [unknown.variable.derivative for unknown in description.derivatives]


def reference(case, fmu, variables):
    """The accurate solution at the communication points."""
    times = np.arange(steps_of(case) + 1) * case.step
    if case.exact:
        return case.exact(times)
    kept = WORK / f"{case.name.replace(':', '-')}-{case.step:g}-{case.stop:g}.npy"
    stamp = fmu.archive.stat().st_size, [v.name for v in variables]
    marker = kept.with_suffix(".json")
    if kept.exists() and marker.exists() and json.loads(marker.read_text()) == json.loads(json.dumps(stamp)):
        return np.load(kept)
    names = [v.name for v in variables]
    try:
        found = fmpy.simulate_fmu(
            str(fmu.archive), validate=False, fmi_type="ModelExchange", solver="CVode", start_time=0.0, stop_time=case.stop,
            output_interval=case.step, relative_tolerance=REFERENCE_TOLERANCE, record_events=False, output=names,
        )
    except Exception as why:
        # The same CVode, but with more patience at kinks than FMPy can ask for.
        print(f"{case.name}: FMPy has no reference: {why}", file=sys.stderr)
        counts = [fmu.description.numberOfContinuousStates, fmu.description.numberOfEventIndicators]
        words = ["cvode", *fmu.words(), SUNDIALS, REFERENCE_TOLERANCE, *counts, 0]
        tool = Tool("reference", words, case, [v.valueReference for v in variables])
        tool.round()
        if tool.failure:
            raise Failed(f"no reference solution: {why}; {tool.failure}") from why
        found = {name: tool.values[:, i] for i, name in enumerate(names)} | {"time": times}
    if len(found["time"]) != len(times) or np.abs(found["time"] - times).max() > 1e-6 * case.step:
        raise Failed("the reference solution has other times")
    values = np.column_stack([found[name] for name in names])
    np.save(kept, values)
    marker.write_text(json.dumps(stamp))
    return values


def nrmse(values, expected):
    """The worst output's root mean square deviation over its range; infinite if the run was cut short."""
    if len(values) < len(expected) or not np.isfinite(values).all():
        return math.inf
    spread = np.ptp(expected, axis=0)
    size = np.abs(expected).max(axis=0)
    # A constant is compared with its size; a zero is not compared.
    spread = np.where(spread > 1e-9 * size, spread, size)
    known = spread > 0
    if not known.any():
        return math.nan
    with np.errstate(over="ignore"):
        deviation = np.sqrt(np.mean((values - expected) ** 2, axis=0))
    return float((deviation[known] / spread[known]).max())


def explicit(builder, fmu, case, output, references, expected):
    """Explicit Euler with the fewest sub-steps that follow the solution, never fewer than stability demands."""
    try:
        return builder.build(fmu.archive, output, case, "--method", "lie", "--mode", "explicit"), 1
    except Failed as why:
        limit = re.search(r"--step ([\d.e+-]+) ?(\S*?s) or less", str(why))
        growth = re.search(r"largest amplification is about ([\d.]+)", str(why))
    if limit:
        # fmu-build keeps a margin of 1.5; the limit itself is without it.
        unit = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}[limit[2]]
        substeps = math.ceil(case.step / (1.5 * float(limit[1]) * unit))
    elif growth:
        # |1 - H k| = growth gives k, the fastest mode; stable for h k < 2.
        substeps = math.ceil((1 + float(growth[1])) / 2)
    else:
        substeps = 1
    why = None
    for factor in (1.0, 1.01, 1.05, 1.15, 1.3, 1.5, 2.0):
        count = math.ceil(substeps * factor)
        try:
            summary = builder.build(fmu.archive, output, case, "--method", "lie", "--mode", "explicit", "--substeps", count, "--force")
        except Failed as failed:
            why = failed
            continue
        tool = Tool("explicit-trial", ["cs", *Fmu(output, "cs").words()], case, references)
        tool.round()
        if factor == 2.0 or tool.values is not None and nrmse(tool.values, expected) <= WRONG:
            return summary, count
    raise why


def compare(builder, case, rounds):
    fmu = prepare(builder, case)
    variables = watched(case, fmu.description)
    references = [v.valueReference for v in variables]
    expected = reference(case, fmu, variables)
    stem = fmu.archive.stem
    tools = []

    def ours(name, make):
        output = WORK / f"{stem}-{re.sub(r'[^a-z]+', '-', name)}.fmu"
        try:
            summary = make(output)
            substeps = 1
            if isinstance(summary, tuple):
                summary, substeps = summary
            tool = Tool(name, ["cs", *Fmu(output, "cs").words()], case, references)
            tool.evaluations = summary["evaluations_per_step"] * substeps
            tool.claimed = summary["error"]
            if name == OURS:
                tool.variant = f"{summary['mode']}, {summary['jacobian']}"
            elif substeps > 1:
                tool.variant = f"{substeps} sub-steps"
        except Failed as why:
            tool = Tool(name, ["cs", "", "", ""], case, references)
            tool.failure = str(why)
        tools.append(tool)

    ours(OURS, lambda out: builder.build(fmu.archive, out, case))
    ours(FULL, lambda out: builder.build(fmu.archive, out, case, "--method", "lie", "--mode", "implicit", "--jacobian", "every"))
    ours(EXPLICIT, lambda out: explicit(builder, fmu, case, out, references, expected))
    wrapped = WORK / f"{stem}-cswrapper.fmu"
    add_cswrapper(fmu.archive, wrapped)
    tools.append(Tool(WRAPPER, ["cs", *Fmu(wrapped, "cs").words()], case, references))
    counts = [fmu.description.numberOfContinuousStates, fmu.description.numberOfEventIndicators]
    cvode = ["cvode", *fmu.words(), SUNDIALS, CVODE_TOLERANCE, *counts]
    tools.append(Tool(CVODE, [*cvode, 0], case, references))
    tools.append(Tool(RESTARTED, [*cvode, 1], case, references))

    tools[0].round()
    if tools[0].values is not None and nrmse(tools[0].values, expected) > COARSE:
        ours(HALVED, lambda out: (builder.build(fmu.archive, out, case, "--substeps", 2), 2))
        tools.insert(1, tools.pop())
    for _ in range(rounds):
        for tool in tools:
            tool.round()
    rows = []
    for tool in tools:
        row = {"model": case.name.removesuffix(".fmu"), "states": counts[0], "step": case.step, "tool": tool.name,
               "variant": tool.variant, "evaluations": tool.evaluations, "claimed": tool.claimed, "repeats": tool.repeats,
               "failure": tool.failure}
        if tool.times is not None:
            ordered = np.sort(tool.times)
            row |= {
                "mean": float(tool.times.mean()), "p99.9": float(ordered[round(0.999 * (len(ordered) - 1))]),
                "max": float(ordered[-1]), "worst": int(tool.times.argmax()), "raw": float(min(tool.maxima)), "cold": float(tool.cold.max()),
                "later": float(tool.times[1:].max(initial=0)),
                "nrmse": nrmse(tool.values, expected), "steps": len(tool.times),
                "first": [float(v) for v in tool.values[1:4, 0]],
            }
        rows.append(row)
    return rows


# --- the report ------------------------------------------------------------------------------------------------------


def time(ns):
    if ns is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)):
        if ns >= size or unit == "ns":
            number = ns / size
            return f"{number:.3g} {unit}" if number < 1000 else f"{number:.0f} {unit}"


def ratio(number):
    return f"{number:.2g}×" if number < 10 else f"{number:,.0f}×"


def error(row):
    if row.get("nrmse") is None or math.isnan(row["nrmse"]):
        return "–"
    if math.isinf(row["nrmse"]):
        return "**fails**"
    percent = 100 * row["nrmse"]
    text = f"{percent:.2g} %" if percent < 100 else f"{percent:.0f} %" if percent < 1e4 else f"{percent:.0e} %"
    return f"**{text}**" if row["nrmse"] > WRONG else text


def line(row, rows):
    ours = rows[0]
    known = "max" in row
    tool = row["tool"] + (f" ({row['variant']})" if row["variant"] else "")
    evaluations = f"{row['evaluations']:.3g}" if row["evaluations"] else "–"
    comparison = ratio(row["max"] / ours["max"]) if known and "max" in ours else "–"
    cells = [row["model"], row["states"], f"{row['step']:g} s", tool, evaluations, time(row.get("mean")), time(row.get("p99.9")),
             time(row.get("max")), time(row.get("later")), comparison, time(row.get("cold")), error(row) if known else "refused" if row["failure"] else "–"]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def report(table, rounds):
    print("| model | states | H | tool | evaluations per step | mean | p99.9 | worst step | without the first | worst / ours | worst, cold | NRMSE |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for rows in table:
        print("\n".join(line(row, rows) for row in rows))
    print()
    print(f"`{' '.join(['tests/bench/run', *map(shlex.quote, arguments())])}`, {machine()}.")
    print(
        f"Every tool steps through the same run in {rounds} rounds (fewer where that takes long), in turn with the others, each "
        "time in a new process; inputs keep their start values. Only the step is timed, less the price of reading the clock; "
        "every step counts, the first too. A step does the same work in each round and noise only adds, so all times are "
        "those of the least time that each single step took in any round. *Cold*: the first run in a process. The other "
        "columns: the second run, with a new instance. *Restarted*: CVode stops at each communication point and starts anew, as "
        "it must when inputs change; otherwise it runs ahead and interpolates, possible only while they do not. *Explicit "
        "Euler*: the fewest sub-steps tried, from the limit of stability upwards by 1, 5, 15, 30, 50, 100 %, whose error is "
        f"below {100 * WRONG:g} %. CVode and cswrapper: BDF, dense, relative tolerance {CVODE_TOLERANCE:g}. NRMSE: the worst output's RMS "
        f"deviation over its range, against FMPy's CVode at {REFERENCE_TOLERANCE:g} (dahlquist: the exact solution; where FMPy's CVode gives "
        f"up, as on the rectifiers: the same CVode in steps.c, at {REFERENCE_TOLERANCE:g}); bold above {100 * WRONG:g} %."
    )
    print()
    for peer in (WRAPPER, CVODE, RESTARTED):
        summary(table, peer)
    print(
        "cswrapper asks for derivatives without setting the states first, so they stay those of the last communication point "
        "(or of the last look at event indicators): explicit Euler with CVode's effort. When CVode reports an error, "
        "it crashes in its error handler.\n"
    )
    unlike = [f"{row['tool']} on {row['model']} ({row['step']:g} s)" for rows in table for row in rows if not row["repeats"]]
    if unlike:
        print(f"Not the same results in every round, so that the least times mix different runs: {', '.join(unlike)}.\n")
    for rows in table:
        claimed, found = rows[0]["claimed"], rows[0].get("nrmse")
        if claimed and found and max(claimed, found) > 1e-3 and not 1 / 1.5 < claimed / found < 1.5:
            print(f"{rows[0]['model']}, H = {rows[0]['step']:g} s: fmu-build says {100 * claimed:.2g} %, found are {error(rows[0])}.\n")
    failures = [row for rows in table for row in rows if row["failure"]]
    wrong = [row for rows in table for row in rows if not row["failure"] and row.get("nrmse", 0) > WRONG]
    if failures or wrong:
        print("Failed, or wrong though every step said fmi2OK:")
        for row in failures:
            print(f"- {row['model']}, H = {row['step']:g} s, {row['tool']}: {row['failure']}")
        for row in wrong:
            first = ", ".join(f"{value:.3g}" for value in row["first"])
            print(f"- {row['model']}, H = {row['step']:g} s, {row['tool']}: NRMSE {error(row)}; begins {first}")


def summary(table, peer):
    worst, mean = [], []
    for rows in table:
        other = next(row for row in rows if row["tool"] == peer)
        if "max" in other and "max" in rows[0]:
            worst.append((other["max"] / rows[0]["max"], f"{other['model']} ({other['step']:g} s)"))
            mean.append((other["mean"] / rows[0]["mean"], f"{other['model']} ({other['step']:g} s)"))
    if not worst:
        return
    below = ", ".join(f"{name} {ratio(value)}" for value, name in sorted(worst) if value < 50)
    slow = ", ".join(f"{name} {ratio(value)}" for value, name in sorted(mean) if value < 3)
    middle = math.exp(np.mean([math.log(value) for value, _ in worst]))
    typical = math.exp(np.mean([math.log(value) for value, _ in mean]))
    print(f"{peer}: our worst step is at least 50× faster on {sum(v >= 50 for v, _ in worst)} of {len(worst)} "
          f"(geometric mean {ratio(middle)}" + (f"; below: {below}" if below else "") + "); our mean at least 3× faster on "
          f"{sum(v >= 3 for v, _ in mean)} (geometric mean {ratio(typical)}" + (f"; below: {slow}" if slow else "") + ").\n")


def arguments():
    words = sys.argv[1:]
    at = words.index("--build")
    return words[:at] + words[at + 2:]


def machine():
    name = next((text.split(":", 1)[1].strip() for text in Path("/proc/cpuinfo").read_text().splitlines()
                 if text.startswith("model name")), "unknown processor")
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


# --- instructions ----------------------------------------------------------------------------------------------------


def instructions(builder, names, count=200):
    """Each of the first steps by itself: with all that it calls, and in the runtime alone."""
    print("| model | first step | of it ours | every other step: least | most | spread | of it ours: least | most | spread |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in names:
        case = Case(name)
        fmu = prepare(builder, case)
        output = WORK / f"{fmu.archive.stem}-callgrind.fmu"
        builder.build(fmu.archive, output, case)
        case.stop = count * case.step
        built = Fmu(output, "cs")
        references = [v.valueReference for v in watched(case, fmu.description)]
        tool = Tool("callgrind", ["cs", *built.words()], case, references)
        for old in WORK.glob("callgrind.out*"):
            old.unlink()
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={WORK}/callgrind.out", "--collect-atstart=no",
             "--toggle-collect=fmi2DoStep", "--dump-before=fmi2DoStep", *tool.words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"valgrind: {done.stderr[-2000:]}")
        dumps = sorted(WORK.glob("callgrind.out.*"), key=lambda path: int(path.suffix[1:]))
        costs = [cost for path in [*dumps, WORK / "callgrind.out"] if path.exists() and (cost := by_library(path))]
        if len(costs) != count:
            sys.exit(f"{name}: callgrind saw {len(costs)} steps, not {count}")
        alone = [cost.get(str(built.library), 0) for cost in costs]
        whole = [sum(cost.values()) for cost in costs]

        def spread(numbers):
            low, high = min(numbers[1:]), max(numbers[1:])
            return [f"{low:,}", f"{high:,}", f"{100 * (high - low) / low:.2f} %"]

        print("| " + " | ".join([name, f"{whole[0]:,}", f"{alone[0]:,}", *spread(whole), *spread(alone)]) + " |", flush=True)
    command = " ".join(["tests/bench/run", *arguments()])
    print(f"\n`{command}`: instructions by callgrind, each of the first {count} steps of the default experiment: fmi2DoStep and all "
          "that it calls, and *ours*, without the inner FMU and the C library.")


def by_library(path):
    """Instructions in one dump, by the library that holds them; empty if there are none."""
    names, costs, library, called = {}, {}, None, False
    for text in path.read_text().splitlines():
        if text.startswith(("ob=", "cob=")):
            number, _, name = text.partition("=")[2].partition(" ")
            if name:
                names[number] = name
            if text.startswith("ob="):
                library = names[number]
        elif text.startswith("calls="):
            # The next line is what the callee took; that is counted there.
            called = True
        elif re.match(r"[0-9+*-]\S* \d", text):
            if not called:
                costs[library] = costs.get(library, 0) + int(text.split()[1])
            called = False
    return costs


if __name__ == "__main__":
    main()
