"""What the Python tests share: the executable under test, and FMUs that it built.

FMU_BUILD names the executable; without it, `cargo build` has made it.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
FMU_BUILD = os.environ.get("FMU_BUILD", str(ROOT / "target" / "debug" / "fmu-build"))

DATA_MODELS = sorted(path.name for path in DATA.glob("*.fmu"))


def fmu_build(*arguments, cwd=None):
    done = subprocess.run([FMU_BUILD, *map(str, arguments)], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


# As `fmu-build example` lists them, and one rod that is longer than the usual one.
REFERENCE_MODELS = [line.split()[0].split("[")[0] for line in fmu_build("example").splitlines()[1:]] + ["heat-rod:200"]


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Builds each FMU once: (the original, the exported one, what --json said). The report lies beside the exported one.

    pytest-xdist runs several processes; they share a folder, in which each build appears whole, by renaming."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if worker else base) / "fmus"
    root.mkdir(exist_ok=True)

    def build(model, *options):
        key = hashlib.sha256(repr((model, options)).encode()).hexdigest()[:16]
        folder = root / f"{model.replace(':', '-').replace('.fmu', '')}-{key}"
        if not folder.exists():
            aside = Path(tempfile.mkdtemp(dir=root))
            original = aside / "in.fmu"
            if model.endswith(".fmu"):
                shutil.copy(DATA / model, original)
            else:
                fmu_build("example", model, original)
            said = fmu_build(original, aside / "out.fmu", "--json", "--report", aside / "report.html", *options)
            (aside / "summary.json").write_text(said)
            try:
                aside.rename(folder)
            except OSError:
                assert folder.exists()  # another process was faster
                shutil.rmtree(aside)
        return folder / "in.fmu", folder / "out.fmu", json.loads((folder / "summary.json").read_text())

    return build
