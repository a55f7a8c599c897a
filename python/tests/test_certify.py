"""Certification: the table, what a crash costs, the number of workers, Dask."""

import csv
import os
import signal
import subprocess
import sys

import fmu_build
import numpy as np
import pytest
from fmpy import read_model_description
from fmu_build.certification import Run, generated
from fmu_build.certification.ranges import chosen, explored


def comparable(table):
    """All but the times."""
    return [{name: value for name, value in row.items() if name != "worst_step"} for row in table.rows]


def test_the_exported_fmu_is_as_good_as_its_certificate_says(drive, tmp_path, capsys):
    original, built = drive
    table = fmu_build.certify(built.path, original, runs=5, workers=2, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5 and lines[0].rstrip().endswith(" left") and lines[-1].startswith(f"{'#' * 30} 5 of 5 runs, "), lines
    assert len(table) == 5 and not table.failed
    assert table.claimed == pytest.approx(built.error)
    assert all(0 < row["worst_step"] < 1 for row in table.rows)
    assert 0 < table.worst["error"] < 0.1, str(table)
    # Nowhere is the root of the mean square above the largest.
    assert all(row["peaks"][name] >= error for row in table.rows for name, error in row["errors"].items())
    assert all(row["peak"] == max(row["peaks"].values()) for row in table.rows)
    array = table.to_numpy()
    assert array["peak"].tolist() == [row["peak"] for row in table.rows] and array["run"][0] == "run 0"
    table.to_csv(tmp_path / "t.csv")
    with open(tmp_path / "t.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["error"]) for row in rows] == [row["error"] for row in table.rows]
    table.plot(tmp_path / "t.png")
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    assert table._repr_html_().count("<tr>") == 6


def test_the_table_does_not_depend_on_the_number_of_workers(drive):
    original, built = drive
    one, two = (fmu_build.certify(built.path, original, runs=4, workers=n) for n in (1, 2))
    assert comparable(one) == comparable(two)
    # Nor a run on how many there are.
    assert comparable(fmu_build.certify(built.path, original, runs=2, workers=1)) == comparable(one)[:2]


def moved(drive, asked):
    """From where to where the input u goes in eight generated runs."""
    variables = read_model_description(str(drive[1].path)).modelVariables
    runs = generated(variables, chosen({"ranges": drive[1].ranges}, variables, asked), 0, 1, 1e-3, 8)
    values = np.concatenate([run.inputs["u"] for run in runs])
    return values.min(), values.max()


def test_inputs_go_where_the_build_had_them(drive):
    """ "u = 12 … 36 V (start ± 50 %)", says the build: not start ± nominal, 23 … 25 V. Eight runs fill nearly all of it."""
    assert drive[1].ranges[0].startswith("u = 12 … 36 V")
    low, high = moved(drive, {})
    assert 12 <= low < 14 and 34 < high <= 36
    low, high = moved(drive, {"u": (0, 24)})
    assert 0 <= low < 2 and 22 < high <= 24
    with pytest.raises(ValueError, match="'v', which is no input of the FMU .it has: u, T_load"):
        fmu_build.certify(drive[1].path, drive[0], range={"v": (0, 1)})


def test_ranges_are_read_as_the_build_writes_them():
    texts = ["a = -1 … 2.5 N.m (min, max)", "gear = 1, 2, 3", "a = b = 0 … 1 (--range)", "on = 0, 1"]
    assert explored(texts, ["a", "gear", "a = b", "on", "nowhere"]) == {
        "a": (-1.0, 2.5),
        "gear": [1.0, 2.0, 3.0],
        "a = b": (0.0, 1.0),
        "on": [0.0, 1.0],
    }


def test_arrays_and_frames_make_runs(drive):
    pandas = pytest.importorskip("pandas")
    time = np.linspace(0, 0.2, 21)
    array = np.array(list(zip(time, 12 + 100 * time)), dtype=[("time", float), ("u", float)])
    frame = pandas.DataFrame({"u": 12 + 100 * time}, index=time)
    table = fmu_build.certify(drive[1].path, drive[0], runs=[array, frame, {"time": time, "u": 12 + 100 * time}], stop=0.2)
    assert not table.failed and len({row["error"] for row in table.rows}) == 1, str(table)
    assert table.to_pandas()["error"].tolist() == [row["error"] for row in table.rows]


def test_files_and_parameters_make_runs(drive, tmp_path):
    original, built = drive
    file = tmp_path / "held.csv"
    file.write_text("time,u\n0,0\n1,0\n")
    moving = Run("sine", {"time": np.linspace(0, 1, 50), "u": np.sin(np.linspace(0, 6, 50))})
    table = fmu_build.certify(built.path, original, runs=[file, moving])
    assert [row["run"] for row in table.rows] == ["held", "sine"]
    with pytest.raises(ValueError, match="'x', which is no variable"):
        fmu_build.certify(built.path, original, runs=[Run("bad", {"time": [0, 1], "x": [0, 1]})])
    with pytest.raises(ValueError, match="no Co-Simulation FMU"):
        fmu_build.certify(original, original)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
def test_a_pipe_without_a_writer_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not an ordinary file"):
        Run.read(tmp_path / "pipe")


class Fatal:
    """Whoever reads this from a pipe ends."""

    def __reduce__(self):
        return os._exit, (7,)


def test_an_fmu_that_ends_its_process_costs_its_run_only(drive):
    original, built = drive
    runs = [Run("a"), Run("b", {"time": Fatal()}), Run("c")]
    table = fmu_build.certify(built.path, original, runs, workers=1)
    assert [row["failed"] for row in table.rows] == [None, "an FMU ended its process (exit code 7)", None]
    assert not table.passed and "1 failed" in table.summary()


def test_the_command_prints_the_table(drive, tmp_path):
    original, built = drive
    command = [sys.executable, "-m", "fmu_build", "certify", built.path, "--original", original, "--runs", "2"]
    done = subprocess.run([*command, "--limit", "0.5", "--csv", tmp_path / "t.csv"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 runs, 0 beyond 50 %, 0 failed" in done.stdout and (tmp_path / "t.csv").is_file()
    assert subprocess.run([*command, "--limit", "1e-9"], capture_output=True).returncode == 1


def test_a_dask_cluster_gives_the_same_table_even_if_a_worker_dies(drive):
    distributed = pytest.importorskip("distributed")
    original, built = drive
    expected = comparable(fmu_build.certify(built.path, original, runs=8, workers=2))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            killed = []

            def progress(done, all):
                if not killed:
                    killed.append(next(iter(client.run(os.getpid).values())))
                    os.kill(killed[0], signal.SIGKILL)

            table = fmu_build.certify(built.path, original, runs=8, client=client, progress=progress)
            assert killed and comparable(table) == expected
