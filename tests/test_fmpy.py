"""FMPy, the importer that most people use, on every model: no findings, and right numbers.

The method is of first order: on a smooth problem its error is at most h/2 times what x'' can pile up. Each case
states the error that this allows, against an exact solution where there is one, and against FMPy's own simulation of the
original Model-Exchange FMU with CVode at 1e-9 where there is none.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
from conftest import DATA_MODELS, REFERENCE_MODELS
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu


def simulate(exported, h, stop, output, start=0.0, **more):
    """The exported FMU, at its own communication points."""
    return simulate_fmu(str(exported), fmi_type="CoSimulation", start_time=start, stop_time=stop, step_size=h,
                        output_interval=h, output=output, **more)


def peer(original, interval, stop, output, **more):
    """FMPy's own Model-Exchange simulation of the original."""
    return simulate_fmu(str(original), fmi_type="ModelExchange", solver="CVode", relative_tolerance=1e-9, stop_time=stop,
                        output_interval=interval, output=output, **more)


def largest_difference(result, reference, name, skip=0.0):
    """On the result's grid; events make the reference's grid irregular, so it is interpolated."""
    t = result["time"]
    expected = np.interp(t, reference["time"], reference[name])
    return float(np.max(np.abs(result[name] - expected)[t >= skip]))


# Exact solutions


def linear(a, b, x0, times):
    """x' = A x + b from x0, by eigenvalues."""
    values, vectors = np.linalg.eig(a)
    rest = np.linalg.solve(a, -b)
    weights = np.linalg.solve(vectors, x0 - rest)
    return np.array([(vectors @ (weights * np.exp(values * t))).real + rest for t in times])


def heat_rod(n, rate, end, left, right, start, times):
    """T' = rate (neighbours - 2 T), with `end` times the rate towards the two ends' temperatures."""
    a = rate * (np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1))
    a[0, 0] = a[-1, -1] = -rate * (1.0 + end)
    b = np.zeros(n)
    b[0], b[-1] = rate * end * left, rate * end * right
    # Symmetric: eigh is exact to rounding.
    values, vectors = np.linalg.eigh(a)
    rest = np.linalg.solve(a, -b)
    weights = vectors.T @ (np.full(n, start) - rest)
    return np.array([vectors @ (weights * np.exp(values * t)) + rest for t in times])


def bounces(t, g=9.81, e=0.7, height=1.0):
    """Height of the ball at t."""
    speed, begin = math.sqrt(2 * g * height), 0.0
    if t < speed / g:
        return height - g * t * t / 2
    begin = speed / g
    while True:
        speed *= e
        flight = 2 * speed / g
        if t < begin + flight or speed < 0.1:
            s = min(t - begin, flight)
            return max(0.0, speed * s - g * s * s / 2) if speed >= 0.1 else 0.0
        begin += flight


# Every model is valid


def test_there_are_19_compiled_models():
    assert len(DATA_MODELS) == 19


@pytest.mark.parametrize("model", REFERENCE_MODELS + DATA_MODELS)
def test_valid(build, model):
    """No findings in the exported FMU (nor in the original), and it runs over its default experiment's first hundred steps."""
    original, exported, said = build(model)
    assert validate_fmu(str(original)) == []
    assert validate_fmu(str(exported)) == []
    description = read_model_description(str(exported))
    assert description.modelExchange is None
    assert description.coSimulation is not None
    h = float(description.defaultExperiment.stepSize)
    assert h == said["step"]
    start = float(description.defaultExperiment.startTime or 0.0)
    result = simulate(exported, h, start + 100 * h, None, start=start)
    assert len(result) == 101
    for name in result.dtype.names:
        assert np.all(np.isfinite(result[name].astype(float))) or model == "all-types", name


def orifice(time):
    """p' = -1000 √p from p(0) = 1, as its file says; CVode does not get past p = 0, where the slope has no bound."""
    flow = np.maximum(0.0, 1.0 - 500.0 * time)
    return {"time": time, "p": flow**2, "flow": flow}


@pytest.mark.parametrize("model", REFERENCE_MODELS + DATA_MODELS)
def test_the_certificate_is_true(build, model):
    """With every choice left to the builder: the error that it certifies is the one that FMPy finds against its own simulation of the
    original, in the same measure (RMS of the deviation over the range). More than the tolerance of 1 % is
    allowed only with a warning. A tenth more, and 0.1 %, are the differences between two samplings of one curve."""
    if model == "all-types":
        pytest.skip("nothing moves in it; its values are compared in test_all_types and conformance.rs")
    original, exported, said = build(model)
    warned = any("more than the tolerance" in warning for warning in said["warnings"])
    assert said["error"] <= 0.01 or warned, said
    start, stop, h = said["verified_from"], said["verified_to"], said["step"]
    outputs = [error["name"] for error in said["errors"]]
    result = simulate(exported, h, stop, outputs, start=start)
    every = max(1, math.ceil(round((stop - start) / h) / 25_000))  # a jump that comes late is a short matter
    t = result["time"][::every]
    exact = model == "orifice"
    reference = orifice(t) if exact else peer(original, every * h, stop, outputs, start_time=start)
    for error in said["errors"]:
        name = error["name"]
        before, expected, after = (np.interp(t + late, reference["time"], reference[name]) for late in [-h, 0.0, h])
        size = float(np.max(np.abs(expected)))
        span = float(np.ptp(expected))
        deviation = result[name][::every] - expected
        if error["still"]:
            # A sum of large terms that moves by their rounding only has no range of its own.
            largest = max(float(np.max(np.abs(reference[other]))) for other in outputs)
            assert np.max(np.abs(deviation)) <= 1e-9 * largest, name
            continue
        # A jump that falls on a communication point is seen there or at the next one, as rounding has it: both are right.
        low, high = np.minimum(np.minimum(before, expected), after), np.maximum(np.maximum(before, expected), after)
        jumps = high - low > 0.1 * span
        outside = np.maximum(0.0, np.maximum(low - result[name][::every], result[name][::every] - high))
        found = float(np.sqrt(np.mean(np.where(jumps, outside, deviation) ** 2)))
        found /= span if span > 1e-9 * size else max(size, 1e-300)
        assert found <= 1.1 * error["error"] + 1e-3, f"{name}: {found:.5f}, certified {error['error']:.5f}"


# Right numbers at a step that the user chooses


@pytest.mark.parametrize("model, output", [
    ("dahlquist", "x"), ("mo2fmu_Dahlquist.fmu", "y"), ("rumoca_Dahlquist.fmu", "y"),
])
@pytest.mark.parametrize("mode", ["implicit", "explicit"])
def test_dahlquist(build, model, output, mode):
    """x = exp(-t): the error of Euler's methods is h/2 t exp(-t), at most h/(2e), up to terms of second order."""
    h = 0.01
    _, exported, _ = build(model, "--method", "lie", "--mode", mode, "--step", h, "--stop", 5, "--twin", "off")
    result = simulate(exported, h, 5.0, [output])
    error = np.max(np.abs(result[output] - np.exp(-result["time"])))
    assert error <= 1.05 * h / (2 * math.e)
    assert error >= 0.9 * h / (2 * math.e), "better than Euler: something else is measured"


@pytest.mark.parametrize("model, n, rate, end, left, right, begin", [
    ("heat-rod:20", 20, 1.1e-4 / (0.05 / 21) ** 2, 1.0, 373.15, 293.15, 293.15),
    ("heat-rod:200", 200, 1.1e-4 / (0.05 / 201) ** 2, 1.0, 373.15, 293.15, 293.15),
    ("mo2fmu_HeatRod.fmu", 50, 25.0, 2.0, 400.0, 300.0, 300.0),
    ("rumoca_HeatRodV.fmu", 50, 25.0, 2.0, 400.0, 300.0, 300.0),
    ("rumoca_HeatLib_Rod.fmu", 50, 25.0, 2.0, 400.0, 300.0, 300.0),
    ("rumoca_HeatLib_Rod200.fmu", 200, 25.0, 2.0, 400.0, 300.0, 300.0),
    ("mo2fmu_HeatRod200.fmu", 200, 400.0, 2.0, 400.0, 300.0, 300.0),
])
def test_heat_rods(build, model, n, rate, end, left, right, begin):
    """The whole profile against the exact solution. In each mode x' = λ x Euler's error is h |λ|/2 · |λ| t exp(λ t) / |λ| <= h |λ|/(2e)
    of its share for slow modes and never more than the share itself for fast ones, and the shares of the step in temperature
    (80 or 100 K) fall off as 1/k with |λ_k| ~ k². After the front has passed some cells (t >= 50 h) the modes that are left have
    |λ| t of order one, so the error is near ΔT h/(2 e t) times a few modes: 100 K · 5 · h/(2 e t)."""
    h, stop = 1e-3, 0.5
    _, exported, said = build(model, "--step", h, "--stop", stop, "--method", "lie", "--mode", "implicit")
    assert said["states"] == n and said["implicit_states"] == n
    description = read_model_description(str(exported))
    names = [v.name for v in description.modelVariables]
    states = [f"T[{i}]" if f"T[{i}]" in names else f"cell[{i}].T" for i in range(1, n + 1)]
    result = simulate(exported, h, stop, states)
    found = np.array([result[name] for name in states]).T
    exact = heat_rod(n, rate, end, left, right, begin, result["time"])
    for i in range(50, len(found)):
        error = np.max(np.abs(found[i] - exact[i]))
        bound = (left - right) * 5 * h / (2 * math.e * result["time"][i])
        assert error <= bound, f"t = {result['time'][i]}: {error}, bound {bound}"


def compiled_circuit():
    r1, r2, r3, c1, c2 = 100.0, 200.0, 500.0, 1e-3, 2e-3
    a = np.array([[-(1 / r1 + 1 / r2) / c1, 1 / (r2 * c1)], [1 / (r2 * c2), -(1 / r2 + 1 / r3) / c2]])
    return a, np.array([1 / (r1 * c1), 0.0])


@pytest.mark.parametrize("model", [
    "mo2fmu_RCLib_Circuit.fmu", "rumoca_RCLib_Circuit.fmu", "mo2fmu_RCLib_CircuitInput.fmu", "rumoca_RCLib_CircuitInput.fmu",
])
def test_compiled_circuits(build, model):
    """Linear with eigenvalues of -15.9 and -2.6 per second and a source of 10 V: Euler's error is at most h |λ|/(2e) of each mode's share,
    which is below 10 V: h (15.9 + 2.6)/(2e) · 10 V."""
    h, stop = 1e-3, 1.0
    _, exported, _ = build(model, "--step", h, "--stop", stop)
    result = simulate(exported, h, stop, ["vout"])
    a, b = compiled_circuit()
    exact = linear(a, 10.0 * b, np.zeros(2), result["time"])[:, 1]
    assert np.max(np.abs(result["vout"] - exact)) <= 10.0 * h * abs(np.trace(a)) / (2 * math.e)


@pytest.mark.parametrize("model", ["mo2fmu_RCLib_CircuitInput.fmu", "rumoca_RCLib_CircuitInput.fmu"])
def test_compiled_circuit_follows_its_input(build, model):
    """The source jumps from 10 V to 0 at 0.5 s, between two communication points; FMPy sets it at the points."""
    h, stop = 1e-3, 1.0
    _, exported, _ = build(model, "--step", h, "--stop", stop)
    signal = np.array([(0.0, 10.0), (0.5, 10.0), (0.5, 0.0), (1.0, 0.0)], dtype=[("time", float), ("u", float)])
    result = simulate(exported, h, stop, ["vout"], input=signal)
    a, b = compiled_circuit()
    t = result["time"]
    exact = linear(a, 10.0 * b, np.zeros(2), np.minimum(t, 0.5))
    after = linear(a, np.zeros(2), linear(a, 10.0 * b, np.zeros(2), [0.5])[0], np.maximum(t - 0.5, 0.0))
    exact = np.where(t <= 0.5, exact[:, 1], after[:, 1])
    # As above for two jumps, and the jump may be taken one step late: h times the steepest slope of vout, |A| 10 V.
    bound = 2 * 10.0 * h * abs(np.trace(a)) / (2 * math.e) + h * 10.0 * abs(a[1, 0])
    assert np.max(np.abs(result["vout"] - exact)) <= bound


def test_rc_circuit(build):
    """The stiff one: -10,101 and -1.99 per second, h |λ| = 10. After the fast mode is gone the slow one is left, with h |λ|/(2e) of 10 V;
    the fast mode decays by 1/11 a step."""
    h, stop = 1e-3, 2.0
    _, exported, said = build("rc-circuit", "--step", h, "--stop", stop)
    assert said["implicit_states"] >= 1, "explicit cannot be stable here"
    original, _, _ = build("rc-circuit", "--step", h, "--stop", stop)
    start = {v.name: float(v.start) for v in read_model_description(str(original)).modelVariables if v.start}
    r1, r2, r3, c1, c2 = (start[name] for name in ["R1", "R2", "R3", "C1", "C2"])
    a = np.array([[-(1 / r1 + 1 / r2) / c1, 1 / (r2 * c1)], [1 / (r2 * c2), -(1 / r2 + 1 / r3) / c2]])
    b = np.array([start["E"] / (r1 * c1), 0.0])
    result = simulate(exported, h, stop, ["V_C"])
    exact = linear(a, b, np.array([start["V_B"], start["V_C"]]), result["time"])[:, 1]
    slow = max(np.linalg.eigvals(a).real)
    # The fast start costs one step's delay of V_B, which V_C sees through 1/(R2 C2).
    bound = 10.0 * (h * abs(slow) / (2 * math.e) + h / (r2 * c2))
    assert np.max(np.abs(result["V_C"] - exact)) <= bound


@pytest.mark.parametrize("model", [
    "bouncing-ball", "mo2fmu_BouncingBall.fmu", "mo2fmu_BouncingBallS.fmu", "rumoca_BouncingBallS.fmu",
])
def test_bouncing_balls(build, model):
    """Height until 1.7 s, three impacts. Impact n is off by (1/2 + 5.7 (n - 1)) h at most (see events.rs), at 4.4 m/s at most, and in
    flight g h t/2 is lost or gained."""
    h, stop = 1e-3, 1.7
    _, exported, _ = build(model, "--step", h, "--stop", stop)
    result = simulate(exported, h, stop, ["h"])
    exact = np.array([bounces(t) for t in result["time"]])
    bound = 4.43 * (0.5 + 5.7 * 2) * h + 9.81 * h * 0.7 / 2
    assert np.max(np.abs(result["h"] - exact)) <= bound


@pytest.mark.parametrize("model", ["mo2fmu_Rectifier.fmu", "rumoca_Rectifier.fmu"])
def test_rectifiers(build, model):
    """Against CVode. The blocking diode is stiff, 1e7 per second; the output swings 9 V, at up to A w = 3142 V/s while it conducts,
    and the resonance of Ls and C is 1000 per second: an error of h/2 · 1000/s · 10 V per swing, of which a
    few add up until the capacitor is loaded."""
    h, stop = 1e-5, 0.1
    original, exported, said = build(model, "--step", h, "--stop", stop)
    assert said["implicit_states"] >= 1
    result = simulate(exported, h, stop, ["vout"])
    reference = peer(original, 1e-4, stop, ["vout"])
    assert largest_difference(result[::10], reference, "vout") <= 4 * 0.5 * h * 1000 * 10


@pytest.mark.parametrize("model, outputs", [
    ("spring-pendulum", ["x", "theta"]), ("mo2fmu_SpringPendulum.fmu", ["x", "theta"]), ("rumoca_SpringPendulum.fmu", ["x", "theta"]),
])
def test_spring_pendulums(build, model, outputs):
    """Two seconds of an oscillation with ω = 3.4/s and amplitude 2: explicit or implicit Euler changes the amplitude by h ω²/2 a
    second, 1.2 % in 2 s at h = 1e-3, and the coupling of the modes multiplies that; five times is the bound."""
    h, stop = 1e-3, 2.0
    original, exported, _ = build(model, "--step", h, "--stop", stop, "--method", "lie", "--mode", "implicit")
    result = simulate(exported, h, stop, outputs)
    reference = peer(original, h, stop, outputs)
    for name in outputs:
        assert largest_difference(result, reference, name) <= 5 * 2.0 * h * 3.4 ** 2 / 2 * stop


def test_stiff_pair(build):
    """x = (1000 exp(-t) - exp(-1000 t)) / 999: h/(2e) for the slow mode; its own share, 1e-3, for the fast one; and where x is explicit it
    sees y one step late, h max|x'| = h."""
    h = 1e-2
    _, exported, said = build("stiff-pair", "--step", h, "--stop", 5)
    assert said["implicit_states"] >= 1
    result = simulate(exported, h, 5.0, ["x"])
    t = result["time"]
    exact = (1000 * np.exp(-t) - np.exp(-1000 * t)) / 999
    assert np.max(np.abs(result["x"] - exact)) <= 1.05 * h / (2 * math.e) + 1e-3 + h


def test_van_der_pol(build):
    """The relaxation oscillation against CVode: the times at which x falls through zero. First order, so half the step, half the
    error; the constant is large, since a step that ends a jump a little too far on the other branch starts it elsewhere."""
    stop = 6.0

    def falls(found):
        x, t = found["x"], found["time"]
        before, after = x[:-1], x[1:]
        at = (before > 0) & (after <= 0)
        return (t[:-1] + (t[1:] - t[:-1]) * before / np.where(before == after, 1.0, before - after))[at]

    errors = []
    for h in [1e-3, 5e-4]:
        original, exported, _ = build("van-der-pol", "--step", h, "--stop", stop, "--method", "lie", "--mode", "implicit", "--jacobian", "every")
        ours = falls(simulate(exported, h, stop, ["x"]))
        theirs = falls(peer(original, 1e-4, stop, ["x"]))
        assert len(ours) == len(theirs) >= 2
        errors.append(abs(ours[-1] - theirs[-1]))
    assert 1.8 <= errors[0] / errors[1] <= 2.2, errors
    assert errors[0] <= 0.1, errors


def test_thermostat(build):
    """Its band is [14, 14.5]; it starts below and heats at 0.2 K/s."""
    h, stop = 0.01, 50.0
    _, exported, _ = build("mo2fmu_Thermostat.fmu", "--step", h, "--stop", stop)
    result = simulate(exported, h, stop, ["y"])
    late = result["y"][result["time"] > 15]
    assert 14 - h / 2 <= late.min() <= 14 + h / 2 and 14.5 - h / 2 <= late.max() <= 14.5 + h / 2


def test_dc_drive_with_inputs(build):
    """Voltage and load torque as signals; the steady speed is (u - R T/(n k)) / (n k + R d/(n k))."""
    h, stop = 1e-3, 1.0
    original, exported, _ = build("dc-drive", "--step", h, "--stop", stop)
    start = {v.name: float(v.start) for v in read_model_description(str(original)).modelVariables if v.start}
    signal = np.array([(0.0, 12.0, 0.0), (0.4, 12.0, 0.0), (0.4, 12.0, 5.0), (1.0, 12.0, 5.0)],
                      dtype=[("time", float), ("u", float), ("T_load", float)])
    result = simulate(exported, h, stop, ["w_l"], input=signal)
    nk = start["n"] * start["k_m"]

    def rest(u, torque):
        return (u - start["R"] * torque / nk) / (nk + start["R"] * start["d_l"] / nk)

    # Slowest eigenvalue -32 per second: exp(-32 · 0.39) = 4e-6 of the change is left, implicit Euler leaves a little more.
    before, end = result["w_l"][390], result["w_l"][-1]
    assert abs(before - rest(12.0, 0.0)) <= 1e-4 * abs(rest(12.0, 0.0))
    assert abs(end - rest(12.0, 5.0)) <= 1e-4 * abs(rest(12.0, 0.0))


def test_all_types(build):
    """Strings, Booleans, enumerations and Integers through FMPy's inputs and start values."""
    _, exported, _ = build("all-types", "--step", 0.1)
    signal = np.array([(0.0, 1.0, 4, 2, False), (0.5, 3.0, 7, 3, True)],
                      dtype=[("time", float), ("u", float), ("u_integer", np.int32), ("u_mode", np.int32), ("u_boolean", bool)])
    result = simulate(exported, 0.1, 1.0, ["y", "y_integer", "y_mode", "y_boolean"], input=signal,
                      start_values={"gain": 10.0, "step": 100})
    assert result["y"][-1] == pytest.approx(10.0 * 3.0 + 0.5)
    assert result["y_integer"][-1] == 107 and result["y_integer"][1] == 104
    assert result["y_mode"][-1] == 3
    assert bool(result["y_boolean"][-1]) != bool(result["y_boolean"][1])


def test_start_values_and_start_time(build):
    """x0 and k by name, from t = 3."""
    h = 0.01
    _, exported, _ = build("dahlquist", "--method", "lie", "--mode", "implicit", "--step", h)
    result = simulate(exported, h, 5.0, ["x"], start=3.0, start_values={"x0": 4.0, "k": 2.0})
    t = result["time"] - 3.0
    assert np.max(np.abs(result["x"] - 4.0 * np.exp(-2.0 * t))) <= 1.05 * 4.0 * h * 2.0 / (2 * math.e)


def test_command_line(build, tmp_path):
    """What the README shows: `fmpy simulate`."""
    _, exported, _ = build("van-der-pol", "--step", "1ms")
    output = tmp_path / "result.csv"
    subprocess.run([sys.executable, "-m", "fmpy", "simulate", str(exported), "--stop-time", "2", "--output-file", str(output)],
                   check=True, capture_output=True)
    result = np.genfromtxt(output, delimiter=",", names=True)
    assert result["time"][-1] == pytest.approx(2.0)
    assert 1.95 < np.max(np.abs(result["x"])) < 2.1, "the limit cycle has an amplitude of 2"
