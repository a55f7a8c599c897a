"""The commands as functions: results as attributes, refusals as exceptions, warnings as warnings."""

import json
import re
import subprocess
import sys
import zipfile
from inspect import signature
from pathlib import Path

import fmu_build
import pytest


def test_a_build_has_everything_that_json_has(drive):
    original, built = drive
    assert built.path.is_file()
    printed = subprocess.run(
        [fmu_build.executable(), original, built.path.with_name("again.fmu"), "--step=1ms", "--json"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert set(built) == set(json.loads(printed))
    assert built.step == 1e-3 and built.error <= built.tolerance
    assert [e.name for e in built.errors] == [e["name"] for e in json.loads(printed)["errors"]]
    with pytest.raises(AttributeError, match="nonsense"):
        built.nonsense


def test_results_are_json_and_arrays(drive):
    built = drive[1]
    again = json.loads(json.dumps(built))
    assert again == dict(built) and again["errors"][0]["name"] == built.errors[0].name
    array = built.to_numpy()
    assert array["name"].tolist() == [error.name for error in built.errors]
    assert array["error"].tolist() == [error.error for error in built.errors]
    pandas = pytest.importorskip("pandas")
    assert isinstance(built.to_pandas(), pandas.DataFrame) and built.to_pandas()["peak"].max() == array["peak"].max()


def test_the_version_is_the_executables():
    printed = subprocess.run([fmu_build.executable(), "--version"], capture_output=True, text=True).stdout
    assert fmu_build.__version__ == printed.split()[1]


@pytest.mark.parametrize("command, function", [((), fmu_build.build), (("inspect",), fmu_build.inspect), (("bench",), fmu_build.bench), (("compare",), fmu_build.compare)])
def test_every_option_is_a_keyword(command, function):
    """What --help lists and a caller cannot say would be found here; and the other way round."""
    text = subprocess.run([fmu_build.executable(), *command, "--help"], capture_output=True, text=True).stdout
    options = {name.replace("-", "_") for name in re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.M)}
    ours = {"help", "version", "json", "quiet", "verbose", "color"}  # the module sees to these itself
    keywords = {name for name, parameter in signature(function).parameters.items() if parameter.kind is parameter.KEYWORD_ONLY}
    assert options - ours == keywords - {"progress", "more"}


def test_inputs_are_what_people_have(drive, tmp_path):
    """A file, a structured array, a DataFrame and columns with the same signals make the same FMU; a range reaches the command."""
    np = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    time = np.linspace(0, 0.1, 11)
    columns = {"time": time, "u": 24 * np.sin(20 * time) / 7}
    file = tmp_path / "signals.csv"
    file.write_text("time,u\n" + "".join(f"{float(t)!r},{float(u)!r}\n" for t, u in zip(time, columns["u"])))
    array = np.array(list(zip(*columns.values())), dtype=[(name, float) for name in columns])
    given = [file, array, pandas.DataFrame(columns), pandas.DataFrame(columns).set_index("time"), columns, [str(file)]]
    plans, errors = set(), set()
    for number, inputs in enumerate(given):
        built = fmu_build.build(drive[0], tmp_path / f"{number}.fmu", inputs=inputs, stop=0.1, range={"u": (0, 24)})
        assert built.ranges[0].startswith("u = 0 … 24 V (--range)")
        with zipfile.ZipFile(built.path) as archive:
            plans.add(archive.read("resources/plan.json"))
        errors.add(built.error)
    assert len(plans) == len(errors) == 1
    with pytest.raises(ValueError, match="no column 'time' .they have: u"):
        fmu_build.build(drive[0], tmp_path / "no.fmu", inputs={"u": [0, 1]})
    with pytest.raises(TypeError, match="inputs are int"):
        fmu_build.build(drive[0], tmp_path / "no.fmu", inputs=5)


def test_compare_has_errors_and_trajectories(drive, tmp_path):
    """The errors are those of the trajectories; what is beyond a limit is told and not raised."""
    np = pytest.importorskip("numpy")
    original, built = drive
    time = np.linspace(0, 0.2, 21)
    signals = {"time": time, "u": 12 + 60 * time}
    found = fmu_build.compare(original, built.path, inputs=signals, max_error="50%")
    table = found.trajectories
    assert found.passed and table["time"][0] == 0 and table["time"][-1] == pytest.approx(0.2)
    rows = {row["name"]: row for row in found.to_numpy()}
    for name, row in rows.items():
        apart = table[f"{name} (built)"] - table[name]
        assert row["rms_absolute"] == pytest.approx(np.sqrt(np.mean(apart**2)), rel=1e-6)
        assert row["peak_absolute"] == pytest.approx(np.max(np.abs(apart)), rel=1e-6)
    beyond = fmu_build.compare(original, built.path, inputs=signals, max_error={"w_l": "0.000001%"})
    assert not beyond.passed and "w_l" in beyond.failures[0]
    alone = fmu_build.compare(original, inputs=signals)
    assert alone.built is None and np.allclose(alone.trajectories["w_l"], table["w_l"], rtol=1e-4, atol=1e-6)
    with pytest.raises(fmu_build.Refused, match="nowhere"):
        fmu_build.compare(original, built.path, set={"nowhere": 1})


@pytest.mark.filterwarnings("ignore")
def test_the_readme_runs(tmp_path):
    """Its programs, one after the other, as a reader would type them."""
    pytest.importorskip("fmpy")
    pytest.importorskip("pandas")
    text = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    program = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    assert program.count("fmu_build.") >= 6
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "errors.png").is_file()


def test_a_missing_extra_says_how_to_install_it(tmp_path):
    """In an interpreter that has none of them."""
    code = "import sys, fmu_build; sys.modules['fmpy'] = sys.modules['pandas'] = None\n"
    said = lambda line: subprocess.run([sys.executable, "-c", code + line], capture_output=True, text=True).stderr  # noqa: E731
    assert "ImportError: certify needs fmpy: pip install 'fmu-build[certify]'" in said("fmu_build.certify")
    frame = "from fmu_build._result import frame, structured; frame(structured([{'a': 1}]))"
    assert "ImportError: to_pandas() needs pandas: pip install 'fmu-build[pandas]'" in said(frame)


def test_the_report_shows_itself(drive, tmp_path):
    report = drive[1].report
    assert report._repr_html_().startswith("<iframe") and "&lt;" in report._repr_html_()
    assert report.save(tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_refused_raises_with_the_message_and_writes_nothing(drive, tmp_path):
    with pytest.raises(fmu_build.Refused, match="no variable nowhere"):
        fmu_build.build(drive[0], tmp_path / "out.fmu", set={"nowhere": 1})
    with pytest.raises(TypeError, match="nonsense"):
        fmu_build.build(drive[0], tmp_path / "out.fmu", nonsense=1)
    with pytest.raises(fmu_build.UsageError, match="--nonsense"):
        fmu_build.build(drive[0], tmp_path / "out.fmu", more=["--nonsense"])
    assert not (tmp_path / "out.fmu").exists()


def test_warnings_are_warnings(tmp_path):
    model = fmu_build.example("wrong-structure", tmp_path / "m.fmu")
    with pytest.warns(fmu_build.FmuBuildWarning, match="ModelStructure") as caught:
        fmu_build.build(model, tmp_path / "rt.fmu")
    assert caught[0].filename == __file__


def test_progress_is_told_and_a_callback_that_raises_ends_the_work(tmp_path):
    model = fmu_build.example("robot", tmp_path / "m.fmu")
    seen = []
    fmu_build.build(model, tmp_path / "rt.fmu", progress=lambda stage, done: seen.append((stage, done)))
    assert len({stage for stage, _ in seen}) > 1 and all(0 <= done <= 1 for _, done in seen)

    def stop(stage, done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fmu_build.build(model, tmp_path / "never.fmu", progress=stop)
    assert not (tmp_path / "never.fmu").exists()


def test_inspect_bench_and_the_list_of_examples(drive):
    original, built = drive
    assert fmu_build.inspect(original).states == built.states
    assert fmu_build.bench(built.path, steps=100, deadline="10s").passed
    late = fmu_build.bench(built.path, steps=100, deadline="1ns")
    assert late.overruns == 100 and not late.passed
    assert "dc-drive" in fmu_build.examples()


def test_the_module_is_the_command_line(drive, tmp_path):
    run = lambda *words: subprocess.run([sys.executable, "-m", "fmu_build", *words], capture_output=True, text=True)  # noqa: E731
    assert run("--version").stdout.startswith("fmu-build ")
    refused = run(str(tmp_path / "nowhere.fmu"), "out.fmu")
    assert refused.returncode == 1 and "nowhere.fmu" in refused.stderr
    assert run("--nonsense").returncode == 2


def test_it_works_beside_fmpy_in_one_process(drive):
    from fmpy import simulate_fmu

    original, built = drive
    result = simulate_fmu(str(built.path), output=["w"])
    again = fmu_build.build(original, built.path.with_name("beside.fmu"), step="1ms")
    with zipfile.ZipFile(built.path) as one, zipfile.ZipFile(again.path) as two:
        assert one.read("resources/plan.json") == two.read("resources/plan.json")
    assert len(result) > 100
