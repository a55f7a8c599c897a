"""Certification: the table, what a crash costs, the number of workers, Dask."""

import csv
import os
import signal
import subprocess
import sys

import fmu_build
import numpy as np
import pytest
from fmu_build.certification import Run


def comparable(table):
    """All but the times."""
    return [{name: value for name, value in row.items() if name != "worst_step"} for row in table.rows]


def test_the_exported_fmu_is_as_good_as_its_certificate_says(drive, tmp_path, capsys):
    original, built = drive
    table = fmu_build.certify(built.path, original, runs=5, workers=2, progress=True)
    assert capsys.readouterr().err.endswith(f"\r{'#' * 30} 5 of 5 runs\n")
    assert len(table) == 5 and not table.failed
    assert table.claimed == pytest.approx(built.error)
    assert all(0 < row["worst_step"] < 1 for row in table.rows)
    assert 0 < table.worst["error"] < 0.1, str(table)
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
