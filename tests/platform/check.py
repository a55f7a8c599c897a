"""The platforms, tested for real: executables, wheels and FMUs of tests/dist on Linux, on Windows (wine) and on ARM (qemu-user).

    check.py DIST TOOLS FOLDER TABLE.md

DIST is what tests/dist made, TOOLS has the Windows Python, FOLDER is for the files made here. Every platform builds the models itself, with
the executable of its own wheel; Linux is what the others are compared with. Prints a line for each check and 'N passed, N failed', and writes
the table of docs/platforms.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

DIST, TOOLS, FOLDER, TABLE = (Path(argument).resolve() for argument in sys.argv[1:])
HERE = Path(__file__).parent
# With a blank and an umlaut, as users' folders have them.
PLACE = "ein Gerät"

SUFFIX = {"linux64": ".so", "win64": ".dll", "aarch64-linux": ".so"}
# tests/platforms has told the kernel to start programs for ARM by qemu.
LAUNCH = {"linux64": [], "win64": ["wine"], "aarch64-linux": []}
COMPILE = {
    "linux64": ["cc", "-ldl"],
    "win64": ["x86_64-w64-mingw32-gcc", "-municode"],
    "aarch64-linux": ["aarch64-linux-gnu-gcc", "-ldl"],
}
# Model, communication step, whether it has events.
MODELS = [("dc-drive", "1ms", False), ("bouncing-ball", "1ms", True)]
# What Windows itself has, from 7 on.
WINDOWS = re.compile(r"(kernel32|ntdll|msvcrt|advapi32|ole32|oleaut32|ws2_32|userenv|bcrypt|bcryptprimitives|synchronization|api-ms-win-core-.*)\.dll", re.I)
GLIBC = (2, 17)

results: list[tuple[str, str, bool]] = []


def check(platform: str, what: str, passed: bool, detail: object = "") -> None:
    results.append((platform, what, bool(passed)))
    print(f"{'ok    ' if passed else 'FAILED'}  {platform:14} {what}{'' if passed else f': {detail}'}", flush=True)


def run(platform: str, program: Path, *arguments: object, limit: int = 600) -> subprocess.CompletedProcess[str]:
    """A program of a platform, in FOLDER/platform; it sees its standard output as a file, since wine needs one."""
    command = [*LAUNCH[platform], str(program), *map(str, arguments)]
    done = subprocess.run(
        command, cwd=FOLDER / platform, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit
    )
    decode = lambda text: text.decode("utf-8", "replace").replace("\r\n", "\n")  # noqa: E731
    return subprocess.CompletedProcess(command, done.returncode, decode(done.stdout), decode(done.stderr))


WHEELS = {"linux64": "manylinux*x86_64", "win64": "win_amd64", "aarch64-linux": "manylinux*aarch64"}


def executable(platform: str) -> Path:
    """That of the unpacked wheel."""
    return FOLDER / platform / "wheel" / "fmu_build" / ("fmu-build.exe" if platform == "win64" else "fmu-build")


def main() -> int:
    for platform in SUFFIX:
        shutil.rmtree(FOLDER / platform, ignore_errors=True)
        (FOLDER / platform / PLACE).mkdir(parents=True)
        wheel(platform)
        binaries(platform)
    built = {platform: build(platform) for platform in SUFFIX}
    for platform in SUFFIX:
        if built[platform]:
            drive(platform, built["linux64"], built[platform])
            commands(platform, built[platform]["dc-drive"])
            only_own(platform)
            long_path(platform)
    module()
    for check_windows in (refusals, locked, orphans):
        check_windows("win64")
    left_behind("win64")
    table(built)
    failed = sum(not passed for _, _, passed in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def wheel(platform: str) -> None:
    """The wheel's executable is the one beside it, and its list is true."""
    found = list(DIST.glob(f"fmu_build-*-py3-none-{WHEELS[platform]}.whl"))
    assert len(found) == 1, f"{found} in {DIST}"
    with zipfile.ZipFile(found[0]) as archive:
        archive.extractall(executable(platform).parents[1])
        record = next(name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
        listed = {line.split(",")[0] for line in archive.read(record).decode().splitlines()}
        check(platform, "the wheel's list", listed == set(archive.namelist()), listed ^ set(archive.namelist()))
    executable(platform).chmod(0o755)
    alone = DIST / platform / executable(platform).name
    check(platform, "the wheel's executable", alone.read_bytes() == executable(platform).read_bytes(), "differs from the one beside it")


def binaries(platform: str) -> None:
    """What the executable, and so the libraries in it, asks of the system."""
    program = executable(platform)
    if platform == "win64":
        listing = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", program], capture_output=True, text=True, check=True)
        names = re.findall(r"DLL Name: (\S+)", listing.stdout)
        foreign = [name for name in names if not WINDOWS.fullmatch(name)]
        check(platform, "imports", names and not foreign, f"{foreign or 'none found'} of {names}")
    else:
        newest = glibc(program)
        check(platform, "glibc", newest is not None and newest <= GLIBC, f"needs {newest}")


def glibc(library: Path) -> tuple[int, ...] | None:
    listing = subprocess.run(["readelf", "-V", "-W", library], capture_output=True, text=True, check=True).stdout
    versions = [tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([\d.]+)", listing)]
    return max(versions, default=None)


def build(platform: str) -> dict[str, Path]:
    """Every model, built by the platform's own executable, in a folder with a blank and an umlaut."""
    built = {}
    for model, step, _ in MODELS:
        original, exported = (f"{PLACE}/{model}{suffix}.fmu" for suffix in ("", "-rt"))
        done = run(platform, executable(platform), "example", model, original)
        check(platform, f"example {model}", done.returncode == 0, done.stderr)
        # What an evaluation costs is measured, and decides between methods: given, all platforms decide alike.
        done = run(platform, executable(platform), original, exported, f"--step={step}", "--evaluation-time=40ns", "--json")
        path = FOLDER / platform / exported
        check(platform, f"build {model}", done.returncode == 0 and path.is_file(), done.stderr[-500:])
        if not path.is_file():
            return {}
        built[model] = path
        said = json.loads(done.stdout)
        with zipfile.ZipFile(path) as archive:
            certificate = json.loads(archive.read("resources/certificate.json"))
        check(platform, f"{model} certified on it", said["verified_on"] == certificate["verified_on"] == platform, said["verified_on"])
        check(platform, f"{model} for all platforms", (sorted(said["platforms"]), said["platforms_missing"]) == (sorted(SUFFIX), []), said["platforms"])
        contained(platform, path)
    return built


def contained(platform: str, fmu: Path) -> None:
    """The FMU has a runtime for every platform, and none under another's name; so has the original inside it."""
    heads = {"linux64": b"\x7fELF", "win64": b"MZ", "aarch64-linux": b"\x7fELF"}
    machines = {"linux64": 62, "aarch64-linux": 183}
    with zipfile.ZipFile(fmu) as archive:
        wrong = []
        for place in ("binaries", "resources/inner/binaries"):
            for name, suffix in SUFFIX.items():
                entries = [n for n in archive.namelist() if n.startswith(f"{place}/{name}/") and n.endswith(suffix)]
                head = archive.read(entries[0])[:20] if len(entries) == 1 else b""
                machine = int.from_bytes(head[18:20], "little")
                if not head.startswith(heads[name]) or machine != machines.get(name, machine):
                    wrong.append(f"{place}/{name}: {entries}")
                elif name != "win64":
                    library = FOLDER / platform / f"{place.replace('/', '-')}-{name}{suffix}"
                    library.write_bytes(archive.read(entries[0]))
                    if (glibc(library) or (0,)) > GLIBC:
                        wrong.append(f"{entries[0]} needs glibc {glibc(library)}")
    check(platform, f"libraries in {fmu.name}", not wrong, wrong)


def drive(platform: str, linux: dict[str, Path], built: dict[str, Path]) -> None:
    host = FOLDER / platform / ("host.exe" if platform == "win64" else "host")
    compiler, *flags = COMPILE[platform]
    done = subprocess.run([compiler, "-O1", "-o", host, HERE / "host.c", *flags], capture_output=True, text=True)
    check(platform, "C host", done.returncode == 0, done.stderr)
    if done.returncode:
        return
    for model, _, events in MODELS:
        mine, theirs = steps(platform, host, built[model]), None
        if platform != "linux64":
            theirs = steps("linux64", FOLDER / "linux64" / "host", linux[model])
        if not mine:
            continue
        check(platform, "rollback", mine["rollback"] == "ok", mine)
        check(platform, "two instances", mine["instances"] == "ok", mine)
        check(platform, "no resource location", mine["located"] == "ok", mine)
        if events:
            check(platform, "event", int(mine["events"]) > 2, mine["events"])
        if theirs:
            check(platform, f"plan of {model} as on Linux", plan(built[model]) == plan(linux[model]), "they differ")
            away = distance(mine["rows"], theirs["rows"])
            check(platform, f"{model} as on Linux", away <= 1e-9, f"differs by {away:.3g} of the range")
    message(platform, host, built["dc-drive"])
    for model, path in built.items():
        if platform != "aarch64-linux":
            importer(platform, model, path)
        else:
            problems = subprocess.run(
                [sys.executable, "-c", "import sys, fmpy.validation as v; print(v.validate_fmu(sys.argv[1]))", path],
                capture_output=True, text=True,
            )  # fmt: skip
            check(platform, "validate", problems.stdout.strip() == "[]", problems.stdout + problems.stderr[-500:])


def unpacked(fmu: Path, into: str) -> tuple[Path, str, str, dict[str, ElementTree.Element]]:
    """Folder, model identifier, GUID, variables by name."""
    folder = fmu.with_name(into)
    with zipfile.ZipFile(fmu) as archive:
        archive.extractall(folder)
    root = ElementTree.parse(folder / "modelDescription.xml").getroot()
    variables = {variable.get("name"): variable for variable in root.iter("ScalarVariable")}
    return folder, root.find("CoSimulation").get("modelIdentifier"), root.get("guid"), variables


def seen(platform: str, path: Path) -> str:
    """A path as programs of the platform know it: wine has the root as drive Z."""
    return f"Z:{path}" if platform == "win64" else str(path)


def steps(platform: str, host: Path, fmu: Path) -> dict[str, object] | None:
    """The C host's run: rows of outputs, and its own checks."""
    folder, identifier, guid, variables = unpacked(fmu, fmu.stem)
    outputs = [v.get("valueReference") for v in variables.values() if v.get("causality") == "output" and v.find("Real") is not None]
    own = [v for name, v in variables.items() if name.startswith("fmuBuild.")]
    outputs = [reference for reference in outputs if reference not in {v.get("valueReference") for v in own}]
    events = variables["fmuBuild.events"].get("valueReference")
    library = folder / "binaries" / platform / f"{identifier}{SUFFIX[platform]}"
    location = ("file:///" if platform == "win64" else "file://") + seen(platform, folder / "resources").replace(" ", "%20")
    done = run(platform, host, "run", seen(platform, library), location, guid, 1e-3, 3000, events, *outputs)
    lines = done.stdout.splitlines()
    check(platform, "simulate", done.returncode == 0 and len(lines) == 3004, done.stdout[-500:] + done.stderr[-500:])
    if done.returncode:
        return None
    found: dict[str, object] = dict(line.split(" ", 1) for line in lines[-4:])
    return found | {"rows": [[float(value) for value in line.split()] for line in lines[:-4]]}


def plan(fmu: Path) -> object:
    """All decisions of a plan, without its measured numbers: these may differ in the last digit, and so the GUID does."""
    with zipfile.ZipFile(fmu) as archive:
        return shape(json.loads(archive.read("resources/plan.json")))


def shape(value: object) -> object:
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items() if name not in ("guid",)}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def distance(mine: list[list[float]], theirs: list[list[float]]) -> float:
    """The largest difference, relative to the range of each column."""
    largest = 0.0
    for one, other in zip(zip(*mine), zip(*theirs)):
        span = max(other) - min(other) or max(map(abs, other)) or 1.0
        largest = max(largest, max(abs(a - b) for a, b in zip(one, other)) / span)
    return largest if len(mine) == len(theirs) else float("inf")


def message(platform: str, host: Path, fmu: Path) -> None:
    """An FMU whose inner library is gone says which one, whatever is in its path."""
    folder, identifier, guid, _ = unpacked(fmu, "leer öd")
    shutil.rmtree(folder / "resources" / "inner" / "binaries")
    library = folder / "binaries" / platform / f"{identifier}{SUFFIX[platform]}"
    done = run(platform, host, "refuse", seen(platform, library), seen(platform, folder / "resources"), guid)
    check(platform, "message", done.returncode == 0 and f"{PLACE}" in done.stdout and "leer öd" in done.stdout, done.stdout + done.stderr)


def importer(platform: str, model: str, fmu: Path) -> None:
    """FMPy, in a Python of the platform."""
    result = FOLDER / platform / f"{model}.json"
    python = TOOLS / "windows-python" / "python.exe" if platform == "win64" else Path(sys.executable)
    done = run(platform, python, seen(platform, HERE / "fmpy_import.py"), seen(platform, fmu), seen(platform, result))
    said = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else None
    check(platform, "validate", said is not None and said["problems"] == [], said["problems"] if said else done.stderr[-800:])
    if said and platform != "linux64":
        reference = json.loads((FOLDER / "linux64" / f"{model}.json").read_text(encoding="utf-8"))["trajectory"]
        rows = lambda columns: [list(row) for row in zip(*(columns[name] for name in sorted(columns) if not name.startswith("fmuBuild.")))]  # noqa: E731
        away = distance(rows(said["trajectory"]), rows(reference))
        check(platform, f"{model} by FMPy as on Linux", away <= 1e-9, f"differs by {away:.3g} of the range")


def commands(platform: str, fmu: Path) -> None:
    """The other commands."""
    done = run(platform, executable(platform), "inspect", f"{PLACE}/dc-drive.fmu", "--json")
    check(platform, "inspect", done.returncode == 0 and json.loads(done.stdout)["states"] > 0, done.stderr[-300:])
    done = run(platform, executable(platform), "bench", f"{PLACE}/{fmu.name}", "--steps=1000", "--deadline=10s", "--json")
    check(platform, "bench", done.returncode == 0 and json.loads(done.stdout)["steps"] == 1000, done.stderr[-300:])
    done = run(platform, executable(platform), "example")
    check(platform, "list of examples", done.returncode == 0 and "dc-drive" in done.stdout, done.stderr[-300:])


def stripped(platform: str, fmu: Path, to: Path) -> None:
    """The FMU without the libraries of other platforms, as most tools export it."""
    with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as less:
        for name in archive.namelist():
            if not name.startswith("binaries/") or name.startswith(f"binaries/{platform}/"):
                less.writestr(name, archive.read(name))


def only_own(platform: str) -> None:
    """A model for one platform becomes an FMU for that one, and the others are named."""
    place = FOLDER / platform / PLACE
    stripped(platform, place / "dc-drive.fmu", place / "own.fmu")
    done = run(platform, executable(platform), f"{PLACE}/own.fmu", f"{PLACE}/own-rt.fmu", "--step=1ms", "--json")
    said = json.loads(done.stdout) if done.returncode == 0 else {"platforms": done.stderr, "platforms_missing": []}
    missing = sorted(f"{other} (the model has no library for it)" for other in SUFFIX if other != platform)
    good = (said["platforms"], sorted(said["platforms_missing"])) == ([platform], missing)
    with zipfile.ZipFile(place / "own-rt.fmu") as archive:
        folders = {name.split("/")[1] for name in archive.namelist() if name.startswith("binaries/") and not name.endswith("/")}
    told = f"{said['platforms']}, missing {said['platforms_missing']}, packed {folders}"
    check(platform, "a model for this platform alone", good and folders == {platform}, told)
    # And one without it is refused.
    other = next(name for name in SUFFIX if name != platform)
    stripped(other, place / "dc-drive.fmu", place / "foreign.fmu")
    done = run(platform, executable(platform), f"{PLACE}/foreign.fmu", f"{PLACE}/foreign-rt.fmu", "--step=1ms")
    told = done.returncode == 1 and f"export it for {platform}" in done.stderr and not (place / "foreign-rt.fmu").exists()
    check(platform, "a model for another platform", told, done.stderr[-300:])


def long_path(platform: str) -> None:
    """Longer than the 260 letters that Windows once had: built there, unpacked there and stepped."""
    folder = FOLDER / platform / PLACE / "/".join(["ein langer Name für einen Ordner, wie ihn Ablagen haben"] * 5)
    folder.mkdir(parents=True)
    shutil.copy(FOLDER / platform / PLACE / "dc-drive.fmu", folder / "long.fmu")
    inside = [seen(platform, folder / name) for name in ("long.fmu", "long-rt.fmu")]
    done = run(platform, executable(platform), *inside, "--step=1ms", "--quiet")
    made = done.returncode == 0 and (folder / "long-rt.fmu").is_file()
    check(platform, "build in a long path", made, done.stderr[-500:])
    if made:
        host = FOLDER / platform / ("host.exe" if platform == "win64" else "host")
        ended = steps(platform, host, folder / "long-rt.fmu")
        check(platform, "steps in a long path", ended is not None and ended["located"] == "ok", ended and ended["located"])


MODULE = """
import os, sys, fmu_build
model, made = sys.argv[1:]
seen = []
fmu_build.example("dc-drive", model)
built = fmu_build.build(model, made, step="1ms", progress=lambda stage, share: seen.append(share))
assert built.verified_on == "win64" and built.error <= built.tolerance, built
assert fmu_build.inspect(model).states == built.states
assert built.report.html.startswith("<!DOCTYPE html>")
try:
    fmu_build.build(model, made, set={"nowhere": 1})
except fmu_build.Refused as refused:
    assert "nowhere" in str(refused)
table = fmu_build.certify(made, original=model, runs=2, workers=1)
assert len(table) == 2 and not table.failed and 0 < table.worst["error"] < 0.1, table
print("built", os.path.getsize(made), max(seen, default=0))
"""


def module() -> None:
    """The Windows wheel, imported by Python for Windows; with FMPy's CVode, which certification needs."""
    script, platform = FOLDER / "win64" / "module.py", "win64"
    paths = [seen(platform, FOLDER / platform / PLACE / f"module{suffix}.fmu") for suffix in ("", "-rt")]
    content = f"import sys; sys.path.insert(0, {seen(platform, executable(platform).parents[1])!r})\n{MODULE}"
    script.write_text(content, encoding="utf-8")
    done = run(platform, TOOLS / "windows-python" / "python.exe", seen(platform, script), *paths)
    check(platform, "the wheel in Python", done.returncode == 0 and "built" in done.stdout, done.stdout + done.stderr[-800:])


def refusals(platform: str) -> None:
    """A model that hangs, one that crashes; what this system cannot do."""
    place = FOLDER / platform / PLACE
    for model, verb, limit, expected in (("hang", "hangs", "3s", "did not return within 3 s"), ("crash", "crashes", "5min", "crashed with an access violation")):
        run(platform, executable(platform), "example", model, f"{PLACE}/{model}.fmu")
        done = run(platform, executable(platform), f"{PLACE}/{model}.fmu", f"{PLACE}/{model}-rt.fmu", f"--time-limit={limit}")
        told = done.returncode == 1 and expected in done.stderr
        check(platform, f"a model that {verb}", told and not (place / f"{model}-rt.fmu").exists(), done.stderr[-300:])
    done = run(platform, executable(platform), "bench", f"{PLACE}/dc-drive-rt.fmu", "--audit")
    check(platform, "bench --audit", done.returncode == 1 and "use it on Linux" in done.stderr, done.stderr[-300:])
    done = run(platform, executable(platform), "inspect", f"{PLACE}/dc-drive.fmu", "--memory-limit=1GB")
    check(platform, "--memory-limit", done.returncode == 1 and "leave it out" in done.stderr, done.stderr[-300:])


def locked(platform: str) -> None:
    """FMPy or another tool has the old FMU open."""
    target = FOLDER / platform / PLACE / "dc-drive-rt.fmu"
    before = target.read_bytes()
    hold = "import sys, time; file = open(sys.argv[1], 'r+b'); print('open', flush=True); time.sleep(600)"
    python = TOOLS / "windows-python" / "python.exe"
    pipes = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    holder = subprocess.Popen(["wine", python, "-c", hold, seen(platform, target)], **pipes)
    try:
        assert holder.stdout and holder.stdout.readline().startswith(b"open")
        done = run(platform, executable(platform), f"{PLACE}/dc-drive.fmu", f"{PLACE}/dc-drive-rt.fmu", "--step=1ms")
    finally:
        holder.kill()
        holder.wait()
    told = done.returncode == 1 and "close it in the program that has it open" in done.stderr
    check(platform, "a locked file", told and target.read_bytes() == before, f"{done.returncode}: {done.stderr[-300:]}")


def workers() -> list[int]:
    """Processes of Linux that are workers of our Windows executable."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes() if process.name.isdigit() else b""
        except OSError:
            continue
        if b"fmu-build.exe" in command and b"request.postcard" in command:
            found.append(int(process.name))
    return found


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.1)
    return happened()


def orphans(platform: str) -> None:
    """A builder that is killed takes its worker with it, even one that hangs."""
    command = ["wine", executable(platform), f"{PLACE}/hang.fmu", f"{PLACE}/hang-rt.fmu", "--time-limit=10min"]
    builder = subprocess.Popen(command, cwd=FOLDER / platform, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    started = within(60, lambda: bool(workers()))
    time.sleep(1)
    builder.kill()
    builder.wait()
    gone = within(20, lambda: not workers())
    check(platform, "no orphan", started and gone, "it never started" if not started else f"{workers()} go on")


def left_behind(platform: str) -> None:
    """The next run removes what a killed one left; nothing else is there."""
    time.sleep(3)  # what is younger is not touched
    run(platform, executable(platform), "example", "dc-drive", f"{PLACE}/last.fmu")
    run(platform, executable(platform), f"{PLACE}/last.fmu", f"{PLACE}/last-rt.fmu", "--step=1ms")
    temporary = Path(os.environ["WINEPREFIX"]).glob("drive_c/users/*/Temp/fmu-build-*")
    left = [*(FOLDER / platform / PLACE).glob(".fmu-build*"), *temporary]
    check(platform, "nothing left behind", not left, left)


COLUMNS = {
    "validate": "validate",
    "simulate": "simulate",
    "rollback": "rollback",
    "two instances": "two instances",
    "event": "event",
    "message": "error message with a blank in the path",
}


def table(built: dict[str, dict[str, Path]]) -> None:
    rows = [["platform", *COLUMNS.values(), "executable", "wheel", "runtime in the FMU", "FMU"]]
    for platform in SUFFIX:
        cells = []
        for what in COLUMNS:
            found = [passed for where, name, passed in results if (where, name) == (platform, what)]
            cells.append(("yes" if all(found) else "**no**") if found else "not tried")
        wheel_file = next(DIST.glob(f"fmu_build-*-py3-none-{WHEELS[platform]}.whl"))
        fmu = built[platform].get("dc-drive")
        runtime = 0
        if fmu:
            with zipfile.ZipFile(fmu) as archive:
                runtime = sum(entry.file_size for entry in archive.infolist() if entry.filename.startswith(f"binaries/{platform}/"))
        sizes = [executable(platform).stat().st_size, wheel_file.stat().st_size, runtime, fmu.stat().st_size if fmu else 0]
        rows.append([platform, *cells, *(f"{size / 1e6:.2f} MB" for size in sizes)])
    rows.insert(1, ["---"] * len(rows[0]))
    text = "".join(f"| {' | '.join(row)} |\n" for row in rows)
    TABLE.write_text(text, encoding="utf-8")
    print(f"\n{text}")


if __name__ == "__main__":
    sys.exit(main())
