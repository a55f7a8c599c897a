"""Models x what they were studied with x how they are driven; started by `run`."""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Slave
from fmpy.simulation import simulate_fmu

DATA = Path(__file__).resolve().parent.parent / "data"
# Communication steps of a run; a model's own step.
STEPS = 1000
REFERENCE_TOLERANCE = 1e-7
STUDIED = ["nothing", "steps", "ramps", "file"]
DRIVEN = ["steps", "ramps", "sines", "random", "parameters"]
# A silent miss: an error above all three, while no step was reported to be outside the plan.
MISS = 0.01
TIMES_FRESH = 3.0
TIMES_CLAIMED = 2.0
CHEAP = 1.3


@dataclass
class Model:
    """Ranges of inputs where the description has none; parameters that are no physical quantities stay as they are."""

    name: str
    ranges: dict = field(default_factory=dict)
    fixed: tuple = ()
    file: Path | None = None
    quick: bool = True
    steps: int = STEPS


MODELS = [
    Model("dc-drive", {"u": (-48, 48), "T_load": (-50, 50)}, fixed=("n",)),
    Model("two-mass"),
    Model("drive-line"),
    Model("servo-valve"),
    Model("rc-circuit"),
    Model("pipe", {"m_flow": (0.01, 0.05), "p": (0.8e5, 1.5e5), "T_in": (500, 900), "w1_in": (0.1, 0.25),
                   "w2_in": (0.02, 0.1), "w3_in": (0.01, 0.05), "T_A": (260, 320)}),
    Model("heat-rod", {"T_left": (280, 400), "T_right": (280, 400)}),
    Model("many-indicators"),
    Model("van-der-pol"),
    Model("spring-pendulum"),
    Model("arm", fixed=("start*", "target*", "duration"), quick=False, steps=600),
    Model("robot", fixed=("start*", "target*", "duration"), quick=False, steps=400),
    Model("mo2fmu_RCLib_CircuitInput", file=DATA / "mo2fmu_RCLib_CircuitInput.fmu"),
    Model("rumoca_RCLib_CircuitInput", file=DATA / "rumoca_RCLib_CircuitInput.fmu"),
    Model("mo2fmu_HeatRod", file=DATA / "mo2fmu_HeatRod.fmu"),
    Model("rumoca_SpringPendulum", file=DATA / "rumoca_SpringPendulum.fmu"),
]


def number(text):
    return {"true": 1.0, "false": 0.0}.get(str(text), None) if str(text) in ("true", "false") else float(text)


class Subject:
    """A Model-Exchange FMU, its inputs with their ranges, and the signals that drive them."""

    def __init__(self, model, fmu, seed):
        self.model, self.fmu = model, fmu
        self.description = fmpy.read_model_description(str(fmu), validate=False)
        variables = self.description.modelVariables
        experiment = self.description.defaultExperiment
        self.step = float(experiment.stepSize) if experiment and experiment.stepSize else 1e-3
        self.steps = model.steps
        self.inputs = [v for v in variables if v.causality == "input" and v.type in ("Real", "Integer", "Boolean")]
        self.outputs = [v.name for v in variables if v.causality == "output" and v.type == "Real"]
        if not self.outputs:
            states = [d.variable.derivative for d in self.description.derivatives]
            self.outputs = [v.name for v in states if v is not None]
        self.seed = seed

    def range(self, v):
        if v.type == "Boolean":
            return 0.0, 1.0
        if v.name in self.model.ranges:
            return self.model.ranges[v.name]
        if v.min is not None and v.max is not None:
            return float(v.min), float(v.max)
        start = float(v.start or 0.0)
        reach = abs(start) * 0.5 or 1.0
        return start - reach, start + reach

    def signals(self, kind, seed=0):
        """Values at each communication point, one row per step: held over it, as a bench does."""
        k, n = np.arange(self.steps), self.steps
        rng = np.random.default_rng(self.seed + seed)
        table = {}
        for i, v in enumerate(self.inputs):
            low, high = self.range(v)
            start = number(v.start or 0.0)
            if kind == "steps":
                share = np.full(n, np.nan)
                for at in range(6):
                    share[(at * n // 6 + i * n // 40):] = [0.5, 1.0, 0.1, 0.8, 0.0, 0.6][(at + i) % 6]
                share[: n // 10] = np.nan
            elif kind == "ramps":
                share = np.abs(((k / n * 3 + 0.37 * i) % 2.0) - 1.0)
            elif kind == "sines":
                share = 0.5 + 0.5 * np.sin(2 * np.pi * (1.5 + 0.7 * i) * (k / n) * (1 + k / n))
            else:
                share, at = np.full(n, np.nan), int(rng.integers(5, 40))
                while at < n:
                    hold = int(rng.integers(5, 120))
                    share[at:at + hold] = rng.random()
                    at += hold
            values = low + share * (high - low)
            values = np.where(np.isnan(values), start, values)
            table[v.name] = np.round(values) if v.type != "Real" else values
        return table

    def parameters(self, seed):
        """Factors between 1/3 and 3 on every Real parameter that is a physical quantity."""
        rng = np.random.default_rng(self.seed + 1000 + seed)
        values = {}
        for v in self.description.modelVariables:
            is_fixed = any(v.name.startswith(f[:-1]) if f.endswith("*") else v.name == f for f in self.model.fixed)
            if v.causality != "parameter" or v.type != "Real" or v.start is None or float(v.start) == 0.0 or is_fixed:
                continue
            value = float(v.start) * 3 ** rng.uniform(-1, 1)
            value = max(value, float(v.min)) if v.min is not None else value
            values[v.name] = min(value, float(v.max)) if v.max is not None else value
        return values

    def array(self, table, late=0.0):
        """The signals as FMPy and fmu-build read them: a repeated time is a jump. `late`: each comes later by this part of a step."""
        rows = []
        for k in range(self.steps):
            row = [table[v.name][k] for v in self.inputs]
            at = (k + late) * self.step if k else 0.0
            if k and row != rows[-1][1:]:
                rows.append([at] + rows[-1][1:])
            if not k or row != rows[-1][1:]:
                rows.append([at] + row)
        kinds = {"Real": np.float64, "Integer": np.int32, "Boolean": np.bool_}
        columns = [("time", np.float64)] + [(v.name, kinds[v.type]) for v in self.inputs]
        return np.array([tuple(row) for row in rows], dtype=columns)

    def csv(self, table, path):
        array = self.array(table)
        with open(path, "w") as out:
            print(",".join(f'"{name}"' if "," in name else name for name in array.dtype.names), file=out)
            for row in array:
                print(",".join(repr(x.item()).lower() if isinstance(x, np.bool_) else repr(x.item()) for x in row), file=out)

    def reference(self, table, parameters):
        # In a co-simulation outputs are read, and the model's own samples are taken, before the new inputs of that instant are set.
        signals = self.array(table, late=1e-6) if self.inputs else None
        result = simulate_fmu(
            str(self.fmu), validate=False, fmi_type="ModelExchange", solver="CVode",
            relative_tolerance=REFERENCE_TOLERANCE, start_time=0.0, stop_time=self.steps * self.step,
            output_interval=self.step, input=signals,
            start_values=parameters, output=self.outputs, record_events=False, timeout=300)
        return np.array([[row[name] for name in self.outputs] for row in result], dtype=float)


class Built:
    """A Co-Simulation FMU and what its build claimed."""

    def __init__(self, build, subject, folder, name, options):
        self.subject = subject
        self.path = folder / f"{name}.fmu"
        command = [str(build), "--json", "--quiet", "--step", repr(subject.step),
                   "--stop", repr(subject.steps * subject.step), *options, str(subject.fmu), str(self.path)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{subject.model.name}, {name}: {done.stderr.strip()}")
        self.json = json.loads(done.stdout)

    def claimed(self):
        explored = (self.json.get("explored") or {}).get("error") or 0.0
        return max(self.json.get("error") or 0.0, explored)

    def drive(self, table, parameters):
        """Step through the run. The outputs, and what the FMU says of itself; None instead of outputs if a step failed."""
        subject = self.subject
        folder = fmpy.extract(str(self.path))
        description = fmpy.read_model_description(folder, validate=False)
        by_name = {v.name: v for v in description.modelVariables}
        fmu = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="driven",
                        modelIdentifier=description.coSimulation.modelIdentifier)
        try:
            fmu.instantiate()
            reference = lambda name: by_name[name].valueReference
            for name, value in parameters.items():
                fmu.setReal([reference(name)], [value])
            fmu.setupExperiment(startTime=0.0)
            setters = {"Real": fmu.setReal, "Integer": fmu.setInteger, "Boolean": fmu.setBoolean}
            apply = lambda k: [setters[v.type]([reference(v.name)], [float(table[v.name][k]) if v.type == "Real"
                               else int(table[v.name][k])]) for v in subject.inputs]
            fmu.enterInitializationMode()
            apply(0)
            fmu.exitInitializationMode()
            outputs = [reference(name) for name in subject.outputs]
            rows, failed = [fmu.getReal(outputs)], None
            for k in range(subject.steps):
                apply(k)
                try:
                    fmu.doStep(currentCommunicationPoint=k * subject.step, communicationStepSize=subject.step)
                except Exception as error:
                    failed = str(error)
                    break
                rows.append(fmu.getReal(outputs))
            read = lambda name, get: get([reference(name)])[0] if name in by_name else 0
            outside = read("fmuBuild.stepsOutsidePlan", fmu.getInteger)
            renewals = read("fmuBuild.jacobianRenewals", fmu.getInteger)
            return np.array(rows, dtype=float), failed, outside, renewals
        finally:
            try:
                fmu.freeInstance()
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def evaluations(self, renewals):
        """Per step on average and at most without events: a renewal costs what the worst event-free step has more."""
        quiet = self.json.get("evaluations_quiet_step", self.json["evaluations_per_step"])
        worst = self.json.get("evaluations_worst_step", quiet)
        return quiet + renewals / self.subject.steps * max(worst - quiet, 0.0), worst


def error(reference, found):
    """Root mean square over the range of each output, the largest: as fmu-build counts it."""
    points = min(len(reference), len(found))
    largest = 0.0
    for a, b in zip(reference[:points].T, found[:points].T):
        size = max(abs(a.max()), abs(a.min()))
        spread = a.max() - a.min()
        deviation = float(np.sqrt(np.mean((a - b) ** 2)))
        if not np.isfinite(deviation):
            return float("inf")
        if spread <= 1e-9 * size or deviation <= 1e-12 * size:
            continue  # an output that stands still certifies nothing
        largest = max(largest, deviation / spread)
    return largest


def run_model(model, build, folder, rows, notes):
    fmu = model.file
    if fmu is None:
        fmu = folder / f"{model.name}.fmu"
        subprocess.run([str(build), "example", model.name, str(fmu)], check=True, capture_output=True)
    elif not fmu.exists():
        notes.append(f"{model.name}: {fmu} is missing")
        return
    subject = Subject(model, fmu, seed=len(model.name))
    studied = STUDIED if subject.inputs else ["nothing"]
    driven = DRIVEN if subject.inputs else ["parameters"]
    builds = {}
    for kind in studied:
        options = []
        if kind != "nothing":
            table = subject.signals("random" if kind == "file" else kind, seed=77)
            subject.csv(table, folder / f"{kind}.csv")
            options = ["--inputs", str(folder / f"{kind}.csv")]
        try:
            builds[kind] = Built(build, subject, folder, f"{model.name}-{kind}", options)
        except RuntimeError as why:
            notes.append(str(why))
    fresh = Built(build, subject, folder, f"{model.name}-fresh",
                  ["--mode", "implicit", "--jacobian", "every", "--method", "lie", "--explore", "none"])
    for drive in driven:
        table = subject.signals("random" if drive == "parameters" else drive)
        parameters = subject.parameters(0) if drive == "parameters" else {}
        try:
            reference = subject.reference(table, parameters)
        except Exception as why:
            notes.append(f"{model.name}, {drive}: CVode gives no reference ({str(why)[:90]})")
            continue
        if not np.isfinite(reference).all() or len(reference) < subject.steps:
            notes.append(f"{model.name}, {drive}: CVode gives no reference")
            continue
        found, failed, _, _ = fresh.drive(table, parameters)
        fresh_error = float("inf") if failed else error(reference, found)
        for kind, built in builds.items():
            found, failed, outside, renewals = built.drive(table, parameters)
            real = float("inf") if failed else error(reference, found)
            average, worst = built.evaluations(renewals)
            spoke = "stopped" if failed else "outside" if outside else "renewed" if renewals else ""
            missed = (not failed and not outside and real > MISS and real > TIMES_FRESH * fresh_error
                      and real > TIMES_CLAIMED * built.claimed())
            rows.append((model.name, kind, drive, built.claimed(), real, fresh_error, average, worst, spoke, missed))
            print("\t".join(map(str, rows[-1])), file=sys.stderr, flush=True)


def percent(share):
    return "stopped" if share == float("inf") else f"{100 * share:.2f}"


def table(rows, notes):
    misses = [row for row in rows if row[-1]]
    cheap = [row for row in rows if row[6] <= CHEAP]
    stopped = [row for row in rows if row[8] == "stopped"]
    lines = [
        f"{len(rows)} cells. Silent misses: **{len(misses)}**. Told to be outside the plan: "
        f"{sum(row[8] == 'outside' for row in rows)}. Stopped with an error: {len(stopped)}. "
        f"Evaluations per step on average ≤ {CHEAP}: {100 * len(cheap) / max(len(rows), 1):.0f} % of the cells.",
        "",
        "| model | studied with | claimed | " + " | ".join(DRIVEN) + " | evaluations |",
        "|---|---|---|" + "---|" * (len(DRIVEN) + 1),
    ]
    marks = {"": "", "renewed": "°", "outside": "†", "stopped": ""}
    for name, kind in dict.fromkeys((row[0], row[1]) for row in rows):
        cells = {row[2]: row for row in rows if row[:2] == (name, kind)}
        claimed = max(row[3] for row in cells.values())
        line = [name, kind, percent(claimed)]
        for drive in DRIVEN:
            if drive not in cells:
                line.append("")
                continue
            *_, real, fresh, _, _, spoke, missed = cells[drive]
            found = f"**{percent(real)}**" if missed else percent(real)
            line.append(f"{found}{marks[spoke]} / {percent(fresh)}")
        average = max(row[6] for row in cells.values())
        line.append(f"{average:.2f}, {max(row[7] for row in cells.values()):g}")
        lines.append("| " + " | ".join(line) + " |")
    if notes:
        lines += ["", "Left out: " + "; ".join(notes) + "."]
    return "\n".join(lines), len(misses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    chosen = [m for m in MODELS if m.name in arguments.models] if arguments.models else \
        [m for m in MODELS if m.quick or not arguments.quick]
    rows, notes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for model in chosen:
            try:
                run_model(model, build, Path(folder), rows, notes)
            except Exception as why:
                notes.append(f"{model.name}: {str(why)[:200]}")
    text, misses = table(rows, notes)
    print(text)
    if arguments.write:
        page = arguments.write.read_text()
        before, rest = page.split("<!-- matrix -->")
        after = rest.split("<!-- /matrix -->")[1]
        arguments.write.write_text(f"{before}<!-- matrix -->\n{text}\n<!-- /matrix -->{after}")
    sys.exit(1 if misses else 0)


main()
