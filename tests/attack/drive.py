"""What a bench does to an FMU: signals, parameters, lengths of steps; the accurate solution of it, and the exported FMU under it."""

import ctypes
import multiprocessing
import os
import shutil
import subprocess
import zlib
from dataclasses import dataclass

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave

# Of a fmi2Status.
OK, ERROR = 0, 3
# Two accuracies that must agree; the second pair where rounding forbids the first.
ACCURACIES = [("1e-9", "1e-7"), ("1e-7", "1e-6")]
LONGEST = 120.0


@dataclass(frozen=True)
class Drive:
    """`signal`: steps, random, sweep, kicks, fast or held; `length`: of a step in H, 0 irregular; `factors`: parameters by 1/3 ... 10; `share`: of the
    range; `late`: start time in H; `slopes`: inputs are lines between the points; `starts`: states start elsewhere; `returns`: saved and restored on the way."""

    name: str
    signal: str
    length: float = 1.0
    factors: int = 0
    share: float = 1.0
    late: int = 0
    slopes: bool = False
    starts: bool = False
    returns: bool = False


DRIVES = [
    Drive("given", "held"),
    Drive("steps", "steps"),
    Drive("random, H/2", "random", length=0.5),
    Drive("sweep, 3.7 H", "sweep", length=3.7),
    Drive("random, irregular", "random", length=0.0),
    Drive("small", "random", share=0.01),
    Drive("parameters 1", "random", factors=1),
    Drive("parameters 2", "steps", factors=2),
    Drive("slopes", "sweep", slopes=True),
    Drive("late, 10 H", "random", length=10.0, late=1000),
    Drive("kicks", "kicks"),
    Drive("fast", "fast"),
    Drive("large", "random", share=3.0),
    Drive("starts, 7.3 H", "random", length=7.3, starts=True),
    Drive("returns", "random", factors=3, returns=True),
]


class Plan:
    """A drive of one model: the times at which steps end, the inputs at the beginning of each and their slopes, the parameters and starts that are set, and
    the steps before which the state is saved, lost and restored."""

    def __init__(self, table, drive):
        # Not Python's own hash, which is another one in each process.
        seed = zlib.crc32(f"{table.name}/{drive.signal}/{drive.factors}/{drive.length}".encode())
        rng = np.random.default_rng(seed)
        n = table.steps if drive.length < 3.0 else table.steps // 2
        lengths = np.full(n, drive.length * table.step) if drive.length else table.step * rng.uniform(0.2, 3.7, n)
        if drive.signal == "held":
            n = min(int(round(table.stop / table.step)), 1500)
            lengths = np.full(n, table.step)
        self.starts = np.concatenate([[0.0], np.cumsum(lengths)])
        if drive.length:
            self.starts = np.arange(n + 1) * lengths[0]
        self.starts += drive.late * table.step
        self.inputs = np.array([signal(v, drive, n, i, rng) for i, v in enumerate(table.inputs)]).reshape(len(table.inputs), n)
        self.parameters = {}
        if drive.factors:
            for v in table.parameters:
                if v.kind == "parameter":
                    low, high = (float(v.attributes.get(key, [v.start * by])[0]) for key, by in (("from", 1 / 3), ("to", 10)))
                    self.parameters[v.name] = float(low * (high / low) ** rng.random())
        if drive.starts:
            # A little beside where it starts: of its own size or, from zero, of its nominal value.
            for v in table.states:
                size = abs(v.start) if v.start else 0.1 * float(v.attributes.get("nominal", ["1"])[0])
                spread = min(size, float(v.attributes.get("spread", [0.1 * size])[0]))
                self.parameters[v.name] = float(v.start + spread * rng.uniform(-1, 1))
        self.slopes = None
        if drive.slopes and table.inputs and all(v.type == "Real" and "discrete" not in v.attributes for v in table.inputs):
            ends = np.concatenate([self.inputs[:, 1:], self.inputs[:, -1:]], axis=1)
            self.slopes = (ends - self.inputs) / np.diff(self.starts)
        self.returns = set(rng.choice(n, 5, replace=False).tolist()) if drive.returns else set()

    def key(self):
        """What an accurate solution depends on."""
        return self.starts.tobytes(), self.inputs.tobytes(), self.parameters, b"" if self.slopes is None else self.slopes.tobytes()


def reach(v):
    """Where the bench has an input."""
    if v.type == "Boolean":
        return 0.0, 1.0
    if "drive" in v.attributes:
        return tuple(map(float, v.attributes["drive"]))
    return float(v.attributes["min"][0]), float(v.attributes["max"][0])


def signal(v, drive, n, i, rng):
    low, high = reach(v)
    if drive.share != 1.0 and v.type == "Real":
        low, high = (v.start + drive.share * (end - v.start) for end in (low, high))
    k = np.arange(n)
    if drive.signal == "held":
        share = np.full(n, np.nan)
    elif drive.signal == "steps":
        share = np.full(n, np.nan)
        for at, value in enumerate([0.5, 1.0, 0.1, 0.8, 0.0, 0.6]):
            share[(at + 0.6) * n / 6 + i * n / 40 <= k] = value if i % 2 == 0 else 1.0 - value
    elif drive.signal == "sweep":
        share = 0.5 + 0.5 * np.sin(2 * np.pi * (1.5 + 0.7 * i) * (k / n) * (1 + 4 * k / n))
    elif drive.signal == "fast":  # near the shortest period that a step can follow
        share = 0.5 + 0.5 * np.sin(2 * np.pi * k / (2.3 + 0.4 * i))
    elif drive.signal == "kicks":  # at rest for half of the time, then pulses of a few steps
        share = np.full(n, np.nan)
        for at in range(n // 2 + 3 * i, n, max(n // 12, 8)):
            share[at:at + 3] = rng.random()
    else:
        share, at = np.full(n, np.nan), int(rng.integers(3, 20))
        while at < n:
            hold = int(rng.integers(3, n // 6))
            share[at:at + hold] = rng.random()
            at += hold
    values = np.where(np.isnan(share), v.start, low + share * (high - low))
    return np.round(values) if v.type != "Real" else values


def solve(program, table, plan, tolerance):
    """The accurate solution, one row per instant; an error's text if there is none."""
    lines = [str(len(plan.parameters))]
    references = {v.name: v.reference for v in table.variables}
    lines += [f"{references[name]} {value!r}" for name, value in plan.parameters.items()]
    for variables in (table.inputs, table.outputs or table.states):
        lines += [" ".join(map(str, [len(variables), *(v.reference for v in variables)]))]
    slopes = np.zeros_like(plan.inputs) if plan.slopes is None else plan.slopes
    lines += [f"{float(plan.starts[0])!r} {len(plan.starts) - 1}"]
    lines += [" ".join(map(repr, [float(end), *map(float, row), *map(float, slope)])) for end, row, slope in zip(plan.starts[1:], plan.inputs.T, slopes.T)]
    try:
        done = subprocess.run([str(program), tolerance], input="\n".join(lines), capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return "it takes too long"
    if done.returncode:
        return done.stderr.strip() or f"ended by {done.returncode}"
    width = len(table.outputs or table.states)
    return np.array(done.stdout.split(), dtype=float).reshape(-1, width)


def run(fmu, table, plan):
    """The exported FMU under the drive: rows, worst status, and what it says of itself. In a process of its own, since foreign code may crash."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def quiet():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the FMU's log messages
        there.send(step_through(fmu, table, plan))

    child = context.Process(target=quiet)
    child.start()
    there.close()
    try:
        return here.recv() if here.poll(LONGEST) else {"failed": "it takes too long"}
    except EOFError:
        return {"failed": "the process ended"}
    finally:
        child.terminate()
        child.join()


def step_through(path, table, plan):
    folder = fmpy.extract(str(path))
    description = fmpy.read_model_description(folder, validate=False)
    references = {v.name: v.valueReference for v in description.modelVariables}
    fmu = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="driven",
                    modelIdentifier=description.coSimulation.modelIdentifier)
    step = fmu.dll.fmi2DoStep
    step.argtypes, step.restype = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int], ctypes.c_int
    get = {"Real": fmu.getReal, "Integer": fmu.getInteger, "Boolean": fmu.getBoolean}
    put = {"Real": fmu.setReal, "Integer": fmu.setInteger, "Boolean": fmu.setBoolean}
    outputs = table.outputs or table.states

    def apply(row):
        for v, value in zip(table.inputs, row):
            put[v.type]([references[v.name]], [float(value) if v.type == "Real" else int(value)])

    def read():
        return [float(get[v.type]([references[v.name]])[0]) for v in outputs]

    def elsewhere(k, begin):
        """Saved, driven away with other inputs, and restored: nothing has happened."""
        state = fmu.getFMUState()
        apply(plan.inputs[:, 0] if k % 2 else 0.9 * plan.inputs[:, -1])
        for j in range(3):
            step(fmu.component, float(begin + j * H), H, 1)
        fmu.setFMUState(state)
        fmu.freeFMUState(state)

    H = table.step
    try:
        fmu.instantiate()
        for name, value in plan.parameters.items():
            fmu.setReal([references[name]], [value])
        fmu.setupExperiment(startTime=float(plan.starts[0]))
        fmu.enterInitializationMode()
        if len(table.inputs):
            apply(plan.inputs[:, 0])
        fmu.exitInitializationMode()
        rows, worst, at = [read()], OK, None
        for k, (begin, end) in enumerate(zip(plan.starts, plan.starts[1:])):
            if k in plan.returns:
                elsewhere(k, begin)
            apply(plan.inputs[:, k])
            if plan.slopes is not None:
                fmu.setRealInputDerivatives([references[v.name] for v in table.inputs], [1] * len(table.inputs), plan.slopes[:, k].tolist())
            status = step(fmu.component, float(begin), float(end - begin), 1)
            if status > worst:
                worst, at = status, float(begin)
            if status >= ERROR or status == 2:
                break
            rows.append(read())
        said = {"rows": np.array(rows, dtype=float), "status": worst, "at": at}
        for v in description.modelVariables:
            if v.name.startswith("fmuBuild.") and v.type in get:
                said[v.name.removeprefix("fmuBuild.")] = get[v.type]([v.valueReference])[0]
        return said
    except Exception as why:
        return {"failed": f"{type(why).__name__}: {why}"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
