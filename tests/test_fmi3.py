"""New FMUs of FMI 3.0 (`--fmi 3`) in FMPy: valid, and with the numbers of the FMU of FMI 2.0, to the bit."""

import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
from conftest import fmu_build
from fmpy.validation import validate_fmu

SOURCES = Path(__file__).parent / "data" / "sources"
DESCRIPTION = """<fmiBuildDescription fmiVersion="3.0"><BuildConfiguration modelIdentifier="{0}"><SourceFileSet language="C99">
<SourceFile name="{1}"/></SourceFileSet></BuildConfiguration></fmiBuildDescription>"""


def simulate(fmu, step, stop, **more):
    return fmpy.simulate_fmu(str(fmu), stop_time=stop, step_size=step, output_interval=step, **more)


# Events, an input, variables of every type, sampled outputs, a model without a variable for time.
@pytest.mark.parametrize("model", ["dc-drive", "bouncing-ball", "all-types", "sampled-controller", "thermostat"])
def test_both_versions_have_the_same_numbers(build, model):
    options = ["--step", "10ms", "--evaluation-time", "100ns"]
    old, new = build(model, *options)[1], build(model, *options, "--fmi", "3")[1]
    assert validate_fmu(str(new)) == []
    assert fmpy.read_model_description(str(new)).fmiVersion == "3.0"
    one, other = (simulate(fmu, 0.01, 1.0) for fmu in (old, new))
    assert one.dtype.names == other.dtype.names
    for name in one.dtype.names:
        assert np.array_equal(one[name], other[name]), name


def test_arrays_and_clocks_stay_arrays(tmp_path):
    """The rod of 5 cells: its states are one variable of five numbers, and 3.0's count of its clock goes on."""
    fmu, new = tmp_path / "rod.fmu", tmp_path / "new.fmu"
    with zipfile.ZipFile(fmu, "w") as archive:
        archive.write(SOURCES / "rod3.xml", "modelDescription.xml")
        archive.write(SOURCES / "rod.c", "sources/rod.c")
        archive.writestr("sources/buildDescription.xml", DESCRIPTION.format("rod3", "rod.c"))
    fmu_build(fmu, new)
    assert validate_fmu(str(new)) == []
    variables = {v.name: v for v in fmpy.read_model_description(str(new)).modelVariables}
    arrays = [v for v in variables.values() if v.dimensions]
    assert arrays, "no array is left"
    result = simulate(new, 0.01, 0.5, output=[arrays[0].name])
    assert np.isfinite(result[arrays[0].name]).all() and np.ptp(result[arrays[0].name]) > 0
