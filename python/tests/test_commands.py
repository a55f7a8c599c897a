"""The commands as functions: results as attributes, refusals as exceptions, warnings as warnings."""

import json
import subprocess
import sys
import zipfile

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


def test_the_report_shows_itself(drive, tmp_path):
    report = drive[1].report
    assert report._repr_html_().startswith("<iframe") and "&lt;" in report._repr_html_()
    assert report.save(tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_is_refused_raises_with_the_message_and_writes_nothing(drive, tmp_path):
    with pytest.raises(fmu_build.Refused, match="no variable nowhere"):
        fmu_build.build(drive[0], tmp_path / "out.fmu", set={"nowhere": 1})
    with pytest.raises(fmu_build.UsageError, match="--nonsense"):
        fmu_build.build(drive[0], tmp_path / "out.fmu", nonsense=1)
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
    assert len(fmu_build.bench(built.path)) > 0
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
