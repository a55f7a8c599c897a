"""Communication steps other than the one that an FMU was built for, and start times far from zero: FMPy drives, every status must be fmi2OK."""

import math
import shutil

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

# Models with masks in earlier versions, events, time events and inputs; how long they run, in steps.
MODELS = [("robot", 500), ("dc-drive", 500), ("pipe", 300), ("arm", 300), ("stick-slip", 1000), ("sampled-controller", 300)]


def drive(fmu, length, stop, start=0.0):
    """Times and Real outputs after each step of `length`, the last one shorter where `stop` asks for it; steps outside the plan."""
    description = fmpy.read_model_description(fmu)
    folder = fmpy.extract(fmu)
    slave = FMU2Slave(guid=description.guid, unzipDirectory=folder, instanceName="steps",
                      modelIdentifier=description.coSimulation.modelIdentifier)
    slave.instantiate()
    slave.setupExperiment(startTime=start, stopTime=start + stop)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    variables = description.modelVariables
    outputs = [v.valueReference for v in variables if v.causality == "output" and v.type == "Real"]
    outside = next(v.valueReference for v in variables if v.name == "fmuBuild.stepsOutsidePlan")
    times, rows = [], []
    for k in range(math.ceil(stop / length - 1e-9)):
        begin, end = start + k * length, min(start + (k + 1) * length, start + stop)
        status = slave.fmi2DoStep(slave.component, begin, end - begin, 1)
        assert status == 0, f"fmi2DoStep at {begin} for {end - begin} returned {status}"
        times.append(end - start)
        rows.append(slave.getReal(outputs))
    spoke = slave.getInteger([outside])[0]
    slave.terminate()
    slave.freeInstance()
    shutil.rmtree(folder)
    return np.array(times), np.array(rows), spoke


def distance(a, b, span):
    """Largest root mean square difference of an output, relative to its range."""
    (times, rows, _), (grid, other, _) = a, b
    inside = times >= grid[0]  # what lies before the first point would be extrapolated
    at = np.array([np.interp(times[inside], grid, column) for column in other.T]).T
    return np.max(np.sqrt(np.mean((rows[inside] - at) ** 2, axis=0)) / span)


@pytest.mark.parametrize("model, steps", MODELS)
def test_any_communication_step(build, model, steps):
    """A shorter step may only be more accurate, a longer one is cut into the step that was built for: results stay together."""
    _, fmu, summary = build(model)
    h = summary["step"]
    stop = steps * h
    fine, own = drive(fmu, h / 2, stop), drive(fmu, h, stop)
    span = np.maximum(np.ptp(fine[1], axis=0), 1e-9)
    apart = distance(own, fine, span)
    assert apart < 0.05, f"{model}: H and H/2 are {apart} apart"
    for times in [0.4, 7.3, 10]:
        # The coarse points are compared with the fine curve.
        off = distance(drive(fmu, times * h, stop), fine, span)
        assert off < apart + 0.05, f"{model} at {times} H: {off}"
    # A stop time that is no multiple.
    last = drive(fmu, h, stop - 0.37 * h)
    assert last[0][-1] == pytest.approx(stop - 0.37 * h, rel=1e-12)


@pytest.mark.parametrize("model", ["dc-drive", "stick-slip"])
@pytest.mark.parametrize("start", [1e6, -2.0])
def test_any_start_time(build, model, start):
    """Nothing in these models depends on time: a run that starts elsewhere has the same results, to the rounding of time."""
    _, fmu, summary = build(model)
    h = summary["step"]
    zero, there = drive(fmu, h, 200 * h), drive(fmu, h, 200 * h, start)
    span = np.maximum(np.ptp(zero[1], axis=0), 1e-9)
    assert np.max(np.abs(there[1] - zero[1]) / span) < 1e-3
