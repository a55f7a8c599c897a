"""Models x drives: what was claimed, what is true, what the FMU said; started by `run`."""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import numpy as np
from describe import HERE, tables
from drive import ACCURACIES, DRIVES, Plan, run, solve

TOLERANCE = 0.01
# A reference whose two accuracies differ by more is none: the run is chaotic, or hangs on an instant.
REFERENCE_LIMIT = 1e-3
SLOW = 30.0


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else str(part).encode())
        whole.update(b"\0")
    return whole.hexdigest()[:20]


class Store:
    """A folder of JSON by key; what is there is not made again."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, key, make):
        path = self.folder / f"{key}.json"
        if path.exists():
            return json.loads(path.read_text())
        value = make()
        aside = path.with_suffix(f".{time.monotonic_ns()}")
        aside.write_text(json.dumps(value))
        aside.rename(path)
        return value


def errors(table, reference, found, given):
    """(worst output, its error, that with jumps one step late forgiven, that over the range that the FMU itself has seen, the largest share of time in
    which a discrete output is wrong).

    Root mean square over the output's range: that of the given run widened by the accurate solution of this one."""
    points = min(len(reference), len(found))
    worst, real, forgiven, seen, discrete = "", 0.0, 0.0, 0.0, 0.0
    for i, v in enumerate(table.outputs or table.states):
        a, b = reference[:points, i], found[:points, i]
        if v.type != "Real":
            discrete = max(discrete, float(np.mean(np.round(a) != np.round(b))))
            continue
        if not np.isfinite(b).all():
            return v.name, 1e9, 1e9, 1e9, discrete
        whole = np.concatenate([reference[:, i], given[:, i]]) if given is not None else reference[:, i]
        size = float(np.abs(whole).max())
        spread = float(whole.max() - whole.min())
        if spread <= 1e-9 * size:
            spread = max(float(np.ptp(np.concatenate([whole, b]))), 1e-9 * size)
        if spread <= 0.0:
            continue
        rms = lambda d: float(np.sqrt(np.mean(np.square(d)))) / spread
        low = np.minimum(np.minimum(a, np.roll(a, 1)), np.roll(a, -1))
        high = np.maximum(np.maximum(a, np.roll(a, 1)), np.roll(a, -1))
        low[[0, -1]], high[[0, -1]] = a[[0, -1]], a[[0, -1]]
        seen = max(seen, rms(a - b) * spread / max(spread, float(np.ptp(np.concatenate([whole, b])))))
        if rms(a - b) > real:
            worst, real = v.name, rms(a - b)
        forgiven = max(forgiven, rms(np.maximum(low - b, 0.0) + np.maximum(b - high, 0.0)))
    return worst, real, forgiven, seen, discrete


class Attack:
    """`drives`: the names of those whose cells are made; all without any."""

    def __init__(self, build, folder, drives=()):
        self.build, self.drives = build, drives
        self.executable = hashlib.sha256(build.read_bytes()).hexdigest()
        self.store, self.folder = Store(folder / "cells"), folder
        self.common = b"".join((HERE / name).read_bytes() for name in ("fmi2me.h", "fmi2me.c", "describe.py"))

    def model(self, table):
        """Its cells, made where they are missing."""
        source = digest(self.common, table.path.read_bytes())
        built = digest(self.executable, source)
        with tempfile.TemporaryDirectory() as aside:
            fmu, program = (cache(lambda make=make: make(Path(aside))) for make in (table.fmu, table.reference))
            claim = self.store.get(f"{table.name}-build-{built}", lambda: self.claim(fmu(), built))
            given, cells = None, []
            for drive in DRIVES:
                if self.drives and drive.name not in (*self.drives, "given"):
                    continue
                plan = Plan(table, drive)
                key = digest(source, (HERE / "reference.c").read_bytes(), *plan.key())
                truth = self.store.get(f"{table.name}-truth-{key}", lambda: truth_of(program(), table, plan))
                rows = np.array(truth["rows"]) if truth["rows"] else None
                given = rows if drive.name == "given" else given
                if self.drives and drive.name not in self.drives:
                    continue  # the accurate solution of the given one is a part of every range
                cell = {"model": table.name, "drive": drive.name}
                if claim["refused"] or rows is None:
                    cells.append(cell | {"left_out": claim["refused"] or truth["why"]})
                    continue
                exported = self.folder / "fmus" / f"{built}.fmu"
                if not exported.exists():
                    self.claim(fmu(), built)
                found = self.store.get(f"{table.name}-{digest(built, key, sorted(plan.returns))}", lambda: plain(run(exported, table, plan)))
                cells.append(cell | judge(table, claim, rows, found, given) | {"reference_error": truth["error"]})
        for cell in cells:
            shown = (f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in cell.items() if v not in (None, "", False))
            print(", ".join(shown), file=sys.stderr, flush=True)
        return claim, cells

    def claim(self, fmu, built):
        exported = self.folder / "fmus" / f"{built}.fmu"
        exported.parent.mkdir(exist_ok=True)
        begin = time.monotonic()
        done = subprocess.run([str(self.build), "--json", "--quiet", str(fmu), str(exported)], capture_output=True, text=True)
        took = time.monotonic() - begin
        if done.returncode:
            return {"refused": done.stderr.strip() or f"exit code {done.returncode}", "took": took}
        said = json.loads(done.stdout)
        explored = said.get("explored") or {}
        discrete = [e.get("error") or 0.0 for e in said.get("discrete_errors") or []]
        keys = ("method", "jacobian", "mode", "substeps", "evaluations_per_step", "warnings", "repairs", "twin")
        return {"refused": None, "took": took, "given": max([said.get("error") or 0.0, *discrete]),
                "invented": explored.get("error") or 0.0, **{key: said.get(key) for key in keys}}


def truth_of(program, table, plan):
    why = None
    for pair in ACCURACIES:
        fine, rough = (solve(program, table, plan, tolerance) for tolerance in pair)
        failed = [rows for rows in (fine, rough) if isinstance(rows, str)]
        if failed:
            why = why or failed[0]
            continue
        _, error, _, _, discrete = errors(table, fine, rough, None)
        if max(error, discrete) <= REFERENCE_LIMIT:
            return {"rows": fine.tolist(), "why": None, "error": max(error, discrete)}
        why = why or f"two of them are {100 * max(error, discrete):.2g} % apart"
    return {"rows": None, "why": f"no reference: {why}", "error": None}


def plain(found):
    return found | {"rows": np.nan_to_num(found["rows"], nan=1e300).tolist()} if "rows" in found else found


def judge(table, claim, reference, found, given):
    """One cell: the definitions of docs/certificate.md."""
    claimed = max(claim["given"], claim["invented"])
    if "failed" in found:
        return {"claimed": claimed, "true": 1e9, "told": "failed: " + found["failed"], "silent": False, "false_alarm": False, "ratio": None}
    worst, real, forgiven, seen, discrete = errors(table, reference, np.array(found["rows"]), given)
    true = max(real, discrete)
    told = "error" if found["status"] >= 2 else "warning" if found["status"] else "outside" if found["stepsOutsidePlan"] else ""
    said = max(found.get("error", found["errorEstimate"]), found.get("discreteError", 0.0))
    return {"claimed": claimed, "true": true, "worst": worst, "late_forgiven": max(forgiven, discrete), "discrete": discrete, "said": said,
            "told": told, "outside": found["stepsOutsidePlan"], "renewals": found["jacobianRenewals"], "carried": found["carriedEvents"],
            "peak": found.get("errorPeak"), "at": found["at"], "status": found["status"],
            "silent": bool(true > TOLERANCE and true > 2 * claimed and not told),
            "false_alarm": bool(told and true < 0.1 * TOLERANCE),
            # An FMU that runs away widens its own range.
            "ratio": said / max(seen, discrete) if true > 0.1 * TOLERANCE and told != "error" else None}


def totals(cells, claims):
    known = [c for c in cells if "left_out" not in c]
    ratios = [c["ratio"] for c in known if c["ratio"] is not None]
    within = sum(1 / 3 <= r <= 3 for r in ratios)
    misses = sum(c["true"] > TOLERANCE and c["true"] > 2 * c["claimed"] for c in known)
    wrong = [c for c in known if c["drive"] == "given" and c["true"] > 2 * claims[c["model"]]["given"] and c["true"] > 0.1 * TOLERANCE]
    return {
        "models": len(claims), "cells": len(known), "left_out": len(cells) - len(known), "misses": misses,
        "unsaid": sum(c["true"] > TOLERANCE and not c["told"] for c in known), "silent": sum(c["silent"] for c in known), "told": sum(bool(c["told"]) for c in known),
        "stopped": sum(c["told"].startswith(("error", "failed")) for c in known),
        "false_alarms": sum(c["false_alarm"] for c in known),
        "ratios": len(ratios), "within_3": within, "median_ratio": float(np.median(ratios)) if ratios else None,
        "refused": [name for name, claim in claims.items() if claim["refused"]],
        "slow": [f"{name} {claim['took']:.0f} s" for name, claim in claims.items() if claim["took"] > SLOW],
        "claimed_wrongly": [f"{c['model']} ({100 * c['true']:.2g} % where {100 * claims[c['model']]['given']:.2g} % is claimed)" for c in wrong],
    }


def percent(share):
    return f"{100 * share:.2g}" if share < 100 else "lost"


def page(cells, claims):
    t = totals(cells, claims)
    share = lambda part, whole: f"{100 * part / max(whole, 1):.1f} %"
    lines = [
        f"{t['models']} models, {t['cells']} cells. Errors above the tolerance and above twice the claimed one: {t['misses']}, of which silent: "
        f"**{t['silent']}**; above the tolerance and nothing told, whatever was claimed: {t['unsaid']}. Told: {t['told']}, stopped with an error: {t['stopped']}; false alarms: {t['false_alarms']} ({share(t['false_alarms'], t['cells'])}). "
        f"What the FMU says is within a factor of 3 of the true error in {t['within_3']} of {t['ratios']} cells ({share(t['within_3'], t['ratios'])})"
        + (f", in the median {t['median_ratio']:.2f} of it." if t["ratios"] else "."), "",
        "| model | claimed | " + " | ".join(d.name for d in DRIVES) + " |", "|---|---|" + "---|" * len(DRIVES)]
    for name, claim in claims.items():
        if claim["refused"]:
            continue
        line = [name, f"{percent(claim['given'])}, {percent(claim['invented'])}"]
        for cell in [next((c for c in cells if (c["model"], c["drive"]) == (name, d.name)), {"left_out": ""}) for d in DRIVES]:
            if "left_out" in cell:
                line.append("")
                continue
            true = percent(cell["true"])
            mark = "‡" if cell["told"].startswith(("error", "failed")) else "†" if cell["told"] else ""
            line.append((f"**{true}**" if cell["silent"] else true) + mark + (f" / {percent(cell['said'])}" if "said" in cell else ""))
        lines.append("| " + " | ".join(line) + " |")
    left = {}
    for c in cells:
        if "left_out" in c:
            left.setdefault(c["model"], []).append(c["drive"])
    notes = [("Refused", t["refused"]), ("Longer than 30 s to build", t["slow"]), ("Wrong on the given run", t["claimed_wrongly"]),
             ("Without a reference (chaotic, or events without end)", [f"{m} ({', '.join(d)})" for m, d in left.items() if m not in t["refused"]])]
    for title, items in notes:
        if items:
            lines += ["", f"{title}: " + "; ".join(items) + "."]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=HERE.parent.parent / "target" / "attack")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--drive", action="append", default=[], choices=[d.name for d in DRIVES], metavar="NAME")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    os.nice(10)  # it is long, and nobody waits for it
    attack = Attack(arguments.build.resolve(), arguments.folder.resolve(), arguments.drive)
    cells, claims = [], {}
    for name, table in tables().items():
        if name in arguments.models if arguments.models else "quick" in table.flags or not arguments.quick:
            claims[name], found = attack.model(table)
            cells += found
    if arguments.json:
        print(json.dumps({"totals": totals(cells, claims), "builds": claims, "cells": cells}, indent=1))
    else:
        print(page(cells, claims))
    if arguments.write:
        text = arguments.write.read_text()
        before, rest = text.split("<!-- attack -->")
        after = rest.split("<!-- /attack -->")[1]
        arguments.write.write_text(f"{before}<!-- attack -->\n{page(cells, claims)}\n<!-- /attack -->{after}")
    sys.exit(1 if any(c.get("silent") for c in cells) else 0)


if __name__ == "__main__":
    main()
