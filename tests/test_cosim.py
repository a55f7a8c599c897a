"""libcosim, the co-simulation core of the Open Simulation Platform: its fixed-step algorithm drives exported FMUs, at the step that they were built for and at others.

libcosim counts time in nanoseconds and stops at the first call that does not return fmi2OK.
"""

import ctypes

import fmpy
import numpy as np
import pytest
from libcosimpy._internal import libcosimc, wrap_function
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver
from libcosimpy.CosimSlave import CosimLocalSlave

# Inputs, impacts, samples, 78 states: the step in seconds, a variable that does not jump, how many steps.
MODELS = [
    ("dc-drive", 1e-3, "w_l", 500),
    ("bouncing-ball", 1e-3, "h", 1500),
    ("sampled-controller", 3e-3, "x1", 300),
    ("robot", 1e-3, None, 500),
]


def execution(start, step):
    """As CosimExecution.from_step_size, which always starts at zero. Times in nanoseconds."""
    create = wrap_function(lib=libcosimc(), funcname="cosim_execution_create", argtypes=[ctypes.c_int64, ctypes.c_int64],
                           restype=ctypes.POINTER(CosimExecution))
    return CosimExecution(CosimExecution._CosimExecution__create_key, create(start, step))


def variable(fmu, name):
    """The variable of that name, or the first Real output."""
    variables = fmpy.read_model_description(fmu).modelVariables
    if name is None:
        return next(v for v in variables if v.causality == "output" and v.type == "Real").valueReference
    return next(v for v in variables if v.name == name).valueReference


def drive(fmu, name, step, steps, start=0.0):
    """Times since the start and values after each of `steps` steps."""
    reference = variable(fmu, name)
    run = execution(round(start * 1e9), round(step * 1e9))
    index = run.add_local_slave(CosimLocalSlave(fmu_path=str(fmu), instance_name="slave"))
    observer = CosimObserver.create_time_series(buffer_size=steps + 10)
    run.add_observer(observer=observer)
    observer.start_time_series(slave_index=index, value_reference=reference, variable_type=CosimVariableType.REAL)
    assert run.step(step_count=steps), "libcosim stopped"
    assert run.status().error_code == 0
    times, _, values = observer.time_series_real_samples(index, reference, from_step=1, sample_count=steps)
    assert len(values) == steps
    return np.array(times) * 1e-9 - start, np.array(values)


def distance(a, b, span):
    """Root mean square difference relative to the range, where the second curve is known."""
    (times, values), (grid, curve) = a, b
    inside = (times >= grid[0] - 1e-9) & (times <= grid[-1] + 1e-9)
    return np.sqrt(np.mean((values[inside] - np.interp(times[inside], grid, curve)) ** 2)) / span


@pytest.mark.parametrize("model, h, name, steps", MODELS)
def test_any_communication_step(build, model, h, name, steps):
    """Steps of H/2, 7.3 H and 10 H: the results of the step that was built for, to within what steps of another length are off."""
    _, fmu, _ = build(model, "--step", h)
    own = drive(fmu, name, h, steps)
    span = np.ptp(own[1])
    assert span > 0
    for times in [0.5, 7.3, 10]:
        off = distance(drive(fmu, name, times * h, int(steps / times)), own, span)
        assert off < 0.02, f"{model} at {times} H: {off}"


@pytest.mark.parametrize("model, h, name, steps", MODELS[:3])
@pytest.mark.parametrize("start", [1e6, -2.0])
def test_any_start_time(build, model, h, name, steps, start):
    """Nothing in these models depends on when they start: the results are the same, to the rounding of time."""
    _, fmu, _ = build(model, "--step", h)
    zero, there = drive(fmu, name, h, 200), drive(fmu, name, h, 200, start)
    assert np.max(np.abs(there[1] - zero[1])) < 1e-4 * np.ptp(zero[1])
