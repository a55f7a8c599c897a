"""The models of the tests: made once, by the executable of the package."""

import fmu_build
import pytest


@pytest.fixture(scope="session")
def drive(tmp_path_factory):
    """A DC drive and its real-time FMU, in a folder with a blank and an umlaut in its name."""
    folder = tmp_path_factory.mktemp("an äccent")
    original = fmu_build.example("dc-drive", folder / "drive.fmu")
    built = fmu_build.build(original, folder / "drive-rt.fmu", step="1ms")
    return original, built
