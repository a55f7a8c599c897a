"""A caller's type checker knows the package's types."""

import subprocess
import sys

CALLER = """
import fmu_build

built = fmu_build.build("in.fmu", "out.fmu", step="1ms", progress=lambda stage, share: None)
reveal_type(built)
reveal_type(built.report)
reveal_type(fmu_build.inspect("in.fmu"))
reveal_type(fmu_build.certify("out.fmu", "in.fmu", runs=3))
reveal_type(built.error)
reveal_type(built.errors[0].peak)
reveal_type(fmu_build.bench("out.fmu").overruns)
reveal_type(fmu_build.__version__)
fmu_build.build("in.fmu", "out.fmu", inputs=["a.csv", {"time": [0, 1], "u": [0, 1]}], range={"u": (0, 24)})
fmu_build.build("in.fmu", "out.fmu", substeps="two")
fmu_build.build("in.fmu", "out.fmu", tolerence=0.01)
"""


def test_a_type_checker_knows_results_and_finds_a_wrong_argument(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "caller.py"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    shown = [line.split('"')[1].rsplit(".", 1)[-1] for line in said.splitlines() if "Revealed" in line]
    assert shown == ["Build", "Report", "Inspection", "Table", "float | None", "float", "int", "str"], said
    assert said.count("error:") == 2 and 'Argument "substeps"' in said and '"tolerence" for "build"' in said, said
