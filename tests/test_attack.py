"""Models that nobody tuned for (tests/attack): their accurate solution is one, their FMUs are valid, and those marked `quick` are driven. All of them: `tests/attack/run`."""

import json
import sys
from pathlib import Path

import fmpy.validation
import numpy as np
import pytest
from conftest import FMU_BUILD, ROOT, fmu_build

sys.path.insert(0, str(ROOT / "tests" / "attack"))
from attack import Attack  # noqa: E402
from describe import tables  # noqa: E402
from drive import DRIVES, Plan, solve  # noqa: E402

MODELS = tables()
GIVEN = next(drive for drive in DRIVES if drive.name == "given")


def test_there_are_at_least_40_models():
    assert len(MODELS) >= 40


@pytest.mark.parametrize("name", MODELS)
def test_the_description_is_valid(name, tmp_path):
    assert fmpy.validation.validate_fmu(str(MODELS[name].fmu(tmp_path))) == []


def accurate(name, folder):
    table = MODELS[name]
    plan = Plan(table, GIVEN)
    rows = solve(table.reference(Path(folder)), table, plan, "1e-9")
    assert not isinstance(rows, str), rows
    return plan.starts, {v.name: rows[:, i] for i, v in enumerate(table.outputs)}


def test_the_reference_solves_a_stiff_equation_with_a_known_answer(tmp_path):
    """x' = -L (x - sin wt) + w cos wt from x = 0: x = sin wt; y' = x - y: y = (sin wt - w cos wt + w e^-t) / (1 + w^2)."""
    t, found = accurate("moving_reference", tmp_path)
    w = 3.0
    assert np.abs(found["x"] - np.sin(w * t)).max() < 1e-8
    assert np.abs(found["y"] - (np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-t)) / (1 + w * w)).max() < 1e-8


def test_the_reference_locates_events_with_a_known_answer(tmp_path):
    """The boiler's pressure rises by 1e5 a second from 8e5 and pops the valve at t = 2. From then on lift = 1 - e^-s/tau and
    p' = 1e5 - lift p: at the end of the step that contains 2 + 5 tau the accurate value by a fine Runge-Kutta of the two equations."""
    t, found = accurate("safety_valve", tmp_path)
    assert np.abs(found["p"] - (8e5 + 1e5 * t))[t <= 2.0].max() < 1e-3
    assert not found["popped"][t < 1.999].any() and found["popped"][t > 2.001][:3].all()
    k = int(np.searchsorted(t, 2.05))
    n, tau = 20000, 0.01
    s, h, p = 0.0, (t[k] - 2.0) / 20000, 1e6
    rate = lambda s, p: 1e5 - (1.0 - np.exp(-s / tau)) * p
    for _ in range(n):
        a = rate(s, p)
        b = rate(s + h / 2, p + h / 2 * a)
        c = rate(s + h / 2, p + h / 2 * b)
        p += h / 6 * (a + 2 * b + 2 * c + rate(s + h, p + h * c))
        s += h
    assert abs(found["p"][k] - p) < 1e-7 * p


@pytest.mark.parametrize("name", ["cool_flame", "smog"])
def test_invented_runs_do_not_cost_the_given_one_its_tolerance(name, tmp_path):
    """No plan keeps the tolerance on what is invented for these two (a flame that ignites within a step; negative concentrations). One that keeps it on the
    given run is found without inventing any, so it must be found with them: for cool_flame it was 4.0 % instead of 0.07 %."""
    fmu = MODELS[name].fmu(tmp_path)
    alone, explored = (json.loads(fmu_build(fmu, tmp_path / "out.fmu", "--json", "--quiet", *more)) for more in (["--explore", "none"], []))
    assert alone["error"] <= alone["tolerance"]
    assert explored["error"] <= explored["tolerance"]
    assert explored["explored"]["error"] > explored["tolerance"]


QUICK = [name for name, table in MODELS.items() if "quick" in table.flags]


@pytest.mark.parametrize("name", QUICK)
def test_no_miss_is_silent(name):
    """An error above the tolerance and above twice what was claimed is told: by stepsOutsidePlan, or by a status. All models: tests/attack/run."""
    attack = Attack(Path(FMU_BUILD), ROOT / "target" / "attack")
    _, cells = attack.model(MODELS[name])
    assert [cell for cell in cells if cell.get("silent")] == []
    assert len([cell for cell in cells if "left_out" not in cell]) >= 6
