"""The example notebook runs, and its numbers are what the build claims."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

HERE = Path(__file__).parent.parent


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_and_the_deviation_is_what_was_claimed(tmp_path):
    notebook = nbformat.read(HERE / "example.ipynb", as_version=4)
    check = "assert max(float(np.sqrt(np.mean(d**2))) for d in deviation.values()) <= 100 * built.error * 1.1 + 1e-3, deviation"
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    # It runs in a folder of its own, beside which there is ../tests/data.
    work, data = tmp_path / "python", HERE.parent / "tests" / "data"
    work.mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "data").symlink_to(data)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(work)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    kinds = {kind for output in shown for kind in output["data"]}
    assert {"text/html", "image/png"} <= kinds
