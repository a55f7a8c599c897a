"""The wheel: the Python module and the executable in one archive.

As a program: ``wheel.py PLATFORM EXECUTABLE FOLDER`` makes one of an executable that is there already (tests/dist).
As a build backend (PEP 517), behind ``pip install ./python``: compiles the executable first, with cargo.

Same content, same bytes: no clock goes in.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# A platform of ours and the tags by which pip knows it.
TAGS = {
    "linux64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64"),
    "aarch64-linux": ("manylinux_2_17_aarch64", "manylinux2014_aarch64"),
    "win64": ("win_amd64",),
}


def version() -> str:
    return re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def metadata() -> str:
    # Python 3.10 has no TOML reader: the few fields are here, and pyproject.toml names this backend only.
    extras = {
        "certify": ["fmpy>=0.3.20", "numpy", "matplotlib"],
        "pandas": ["numpy", "pandas"],
        "dask": ["fmpy>=0.3.20", "numpy", "matplotlib", "distributed"],
    }
    lines = [
        "Metadata-Version: 2.1",
        "Name: fmu-build",
        f"Version: {version()}",
        "Summary: Turn a binary FMI 2.0 Model-Exchange FMU into a real-time Co-Simulation FMU",
        "License: MIT",
        "Requires-Python: >=3.10",
        "Description-Content-Type: text/markdown",
    ]
    for extra, requirements in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {name} ; extra == "{extra}"' for name in requirements]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def make(tags: tuple[str, ...], executable: Path, folder: Path) -> str:
    """Write the wheel into ``folder`` and return its name."""
    tag = ".".join(tags)
    info = f"fmu_build-{version()}.dist-info"
    files: dict[str, tuple[bytes, int]] = {}
    for path in sorted((HERE / "fmu_build").rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files[path.relative_to(HERE).as_posix()] = (path.read_bytes(), 0o644)
    program = "fmu-build.exe" if executable.suffix == ".exe" else "fmu-build"
    files[f"fmu_build/{program}"] = (executable.read_bytes(), 0o755)
    files[f"{info}/METADATA"] = (metadata().encode(), 0o644)
    about = "Wheel-Version: 1.0\nGenerator: fmu-build\nRoot-Is-Purelib: false\n"
    about += "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    files[f"{info}/WHEEL"] = (about.encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (b"[console_scripts]\nfmu-build = fmu_build.__main__:main\n", 0o644)
    files[f"{info}/LICENSE"] = ((ROOT / "LICENSE").read_bytes(), 0o644)
    name = f"fmu_build-{version()}-py3-none-{tag}.whl"
    record = []
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (content, mode) in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(content)}\n")
            add(archive, path, content, mode)
        add(archive, f"{info}/RECORD", "".join([*record, f"{info}/RECORD,,\n"]).encode(), 0o644)
    return name


def add(archive: zipfile.ZipFile, path: str, content: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


# The build backend.


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None) -> str:
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    cargo = os.environ.get("CARGO", "cargo")
    build = [cargo, "build", "--release", "--bin", "fmu-build", "--target-dir", target]
    try:
        subprocess.run(build, cwd=ROOT, check=True)
    except FileNotFoundError:
        raise RuntimeError(
            f"there is no {cargo}: fmu-build is compiled from its sources, with Rust 1.95 or newer and a C compiler; install Rust, or install a wheel"
        ) from None
    program = "fmu-build.exe" if sys.platform == "win32" else "fmu-build"
    tag = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return make((tag,), Path(target) / "release" / program, Path(wheel_directory))


def build_sdist(sdist_directory, config_settings=None) -> str:
    raise RuntimeError("fmu-build has no source distribution: install a wheel, or from a clone")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in TAGS:
        sys.exit(f"usage: wheel.py {{{','.join(TAGS)}}} EXECUTABLE FOLDER")
    print(make(TAGS[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3])))
