"""The table in the head of a model's C file, and what is made of it: `sizes.h`, `names.h`, `modelDescription.xml`, the FMU and its accurate solution.

A table follows the line `---` of the first comment, one thing a line:

    step 1e-3, stop 2, steps 400           communication step, length of the build's runs, steps of a drive
    state x = 1, nominal 10, output        also: unit-free attributes min, max; `output` makes it one
    input u = 0, min -1, max 1             also: drive LO HI, where the bench has it in; discrete, boolean, integer
    parameter k = 3, from 1, to 9          a physical quantity, driven with k/3 ... 10 k, within from ... to
    constant n = 5                         a parameter that is left alone
    output y                               calculated in DERIVATIVES; also: boolean, integer
    memory on = 0, output boolean          changes at events only; not seen from outside without `output`
    indicators 2
    depends der_x: x u                     without any such line nothing is said about dependencies
    flag once                              one instance per process; `flag quick`: in the tests of every day
"""

import subprocess
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
COMPILE = ["cc", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-ffp-contract=off", f"-I{HERE}"]


@dataclass
class Variable:
    kind: str
    name: str
    start: float = 0.0
    type: str = "Real"
    attributes: dict = field(default_factory=dict)
    reference: int = 0

    @property
    def is_output(self):
        return self.kind == "output" or "output" in self.attributes


class Table:
    """What the head of a file says."""

    def __init__(self, path):
        self.path, self.name = path, path.stem
        head = path.read_text().split("*/")[0]
        self.title = head.split("\n")[0].removeprefix("/*").strip()
        self.variables, self.depends, self.flags = [], {}, set()
        self.step, self.stop, self.steps, self.indicators = 1e-3, 1.0, 400, 0
        for line in head.split("---")[-1].splitlines():
            self.line(line.split("//")[0].strip())
        of = lambda *kinds: [v for v in self.variables if v.kind in kinds]
        self.states, self.inputs = of("state"), of("input")
        self.parameters, self.memories = of("parameter", "constant"), of("memory")
        self.outputs = [v for v in self.variables if v.is_output]
        count = len(self.states)
        others = [v for v in self.variables if v.kind != "state"]
        for i, v in enumerate(self.states):
            v.reference = i
        for i, v in enumerate(others):
            v.reference = 2 * count + i
        self.count = 2 * count + len(others)

    def line(self, line):
        if not line:
            return
        word, rest = (line.split(None, 1) + [""])[:2]
        if word == "step":
            for part in line.split(","):
                name, value = part.split()
                setattr(self, name, int(value) if name == "steps" else float(value))
        elif word == "indicators":
            self.indicators = int(rest)
        elif word == "flag":
            self.flags.add(rest)
        elif word == "depends":
            name, known = rest.split(":")
            self.depends[name.strip()] = known.split()
        elif word in ("state", "input", "parameter", "constant", "output", "memory"):
            first, *attributes = [part.strip() for part in rest.split(",")]
            name, _, start = (part.strip() for part in first.partition("="))
            v = Variable(word, name, float(start or 0.0))
            for attribute in attributes:
                key, *values = attribute.split()
                if "boolean" in attribute or "integer" in attribute:
                    v.type = "Boolean" if "boolean" in attribute else "Integer"
                v.attributes[key] = values
            self.variables.append(v)
        else:
            raise ValueError(f"{self.path}: {line!r} is no line of a table")

    @property
    def guid(self):
        return f"{{attack:{self.name}}}"

    def names(self):
        names = [(v.name, v.reference) for v in self.variables] + \
            [(f"der_{v.name}", len(self.states) + v.reference) for v in self.states]
        return "".join(f"#define {name} (self->value[{reference}])\n" for name, reference in names)

    def sizes(self):
        starts, nominals = [0.0] * self.count, [1.0] * (len(self.states) + 1)
        for v in self.variables:
            starts[v.reference] = v.start
        for v in self.states:
            nominals[v.reference] = float(v.attributes.get("nominal", ["1"])[0])
        braces = lambda values: "{" + ", ".join(map(repr, values)) + "}"
        lines = [f"enum {{ STATES = {len(self.states)}, COUNT = {self.count}, INDICATOR_COUNT = {self.indicators}, "
                 f"ONCE = {int('once' in self.flags)} }};",
                 f'#define GUID "{self.guid}"', f"#define STARTS {braces(starts)}", f"#define NOMINALS {braces(nominals)}"]
        return "\n".join(lines) + "\n"

    def xml(self):
        lines = ['<?xml version="1.0" encoding="UTF-8"?>',
                 f'<fmiModelDescription fmiVersion="2.0" modelName="{self.name}" guid="{self.guid}" '
                 f'variableNamingConvention="flat" numberOfEventIndicators="{self.indicators}">',
                 f'  <ModelExchange modelIdentifier="{self.name}" canGetAndSetFMUstate="true" canSerializeFMUstate="true"'
                 + (' canBeInstantiatedOnlyOncePerProcess="true"' if "once" in self.flags else "") + "/>",
                 f'  <DefaultExperiment startTime="0" stopTime="{self.stop!r}" stepSize="{self.step!r}"/>', "  <ModelVariables>"]
        seen = []
        for v in self.variables:
            if v.kind == "memory" and not v.is_output:
                continue
            seen.append(v)
            kind = {"state": ("local", "continuous", "exact"), "input": ("input", "continuous", None),
                    "parameter": ("parameter", "fixed", "exact"), "constant": ("parameter", "fixed", "exact"),
                    "output": ("output", "continuous", None), "memory": ("output", "discrete", None)}[v.kind]
            causality, variability, initial = kind
            causality = "output" if v.is_output else causality
            if v.type != "Real" or "discrete" in v.attributes:
                variability = "fixed" if causality == "parameter" else "discrete"
            text = {"Boolean": "true" if v.start else "false", "Integer": str(int(v.start))}.get(v.type, repr(v.start))
            start = f' start="{text}"' if v.kind not in ("output", "memory") else ""
            limits = "".join(f' {key}="{float(v.attributes[key][0])!r}"' for key in ("nominal", "min", "max")
                             if key in v.attributes and v.type == "Real")
            lines.append(f'    <ScalarVariable name="{v.name}" valueReference="{v.reference}" causality="{causality}" '
                         f'variability="{variability}"' + (f' initial="{initial}"' if initial else "")
                         + f"><{v.type}{start}{limits}/></ScalarVariable>")
        index = {v.name: i + 1 for i, v in enumerate(seen)}
        for v in self.states:
            index[f"der_{v.name}"] = len(index) + 1
            lines.append(f'    <ScalarVariable name="der({v.name})" valueReference="{len(self.states) + v.reference}" causality="local" '
                         f'variability="continuous"><Real derivative="{index[v.name]}"/></ScalarVariable>')
        lines += ["  </ModelVariables>", "  <ModelStructure>"]

        def unknowns(element, names):
            if not names:
                return
            lines.append(f"    <{element}>")
            for name in names:
                known = ""
                if name in self.depends:
                    known = ' dependencies="' + " ".join(str(i) for i in sorted(index[k] for k in self.depends[name])) + '"'
                lines.append(f'      <Unknown index="{index[name]}"{known}/>')
            lines.append(f"    </{element}>")

        outputs = [v.name for v in seen if v.is_output]
        ders = [f"der_{v.name}" for v in self.states]
        unknowns("Outputs", outputs)
        unknowns("Derivatives", ders)
        unknowns("InitialUnknowns", [v.name for v in seen if v.kind in ("output", "memory")] + ders)
        lines += ["  </ModelStructure>", "</fmiModelDescription>"]
        return "\n".join(lines) + "\n"

    def compile(self, folder, to, *more):
        (folder / "sizes.h").write_text(self.sizes())
        (folder / "names.h").write_text(self.names())
        command = [*COMPILE, f"-I{folder}", *more, str(HERE / "fmi2me.c"), str(self.path), "-o", str(to), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr.strip()}")
        return to

    def fmu(self, folder):
        library = self.compile(folder, folder / f"{self.name}.so", "-shared")
        path = folder / f"{self.name}.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", self.xml())
            archive.write(library, f"binaries/linux64/{self.name}.so")
        return path

    def reference(self, folder):
        """The program with the accurate solution."""
        return self.compile(folder, folder / "reference", str(HERE / "reference.c"))


def tables():
    return {path.stem: Table(path) for path in sorted((HERE / "models").glob("*.c"))}
