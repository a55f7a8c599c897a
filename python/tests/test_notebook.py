"""The example notebook runs in any folder, with its own model and with the reader's, and its numbers are what the build claims."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

HERE = Path(__file__).parent.parent
OWN = HERE.parent / "tests" / "data" / "mo2fmu_HeatRod200.fmu"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mine", [None, str(OWN)])
def test_the_notebook_runs_and_the_deviation_is_what_was_claimed(tmp_path, mine):
    notebook = nbformat.read(HERE / "example.ipynb", as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert first.source.count("mine = None") == 1
    first.source = first.source.replace("mine = None", f"mine = {mine!r}")
    check = "assert max(float(np.sqrt(np.mean(d**2))) for d in deviation.values()) <= 100 * built.error * 1.1 + 1e-3, deviation"
    notebook.cells.append(nbformat.v4.new_code_cell(check))
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    kinds = {kind for output in shown for kind in output["data"]}
    assert {"text/html", "image/png"} <= kinds
    assert list(tmp_path.iterdir()) == [], "it writes into a folder of its own"
