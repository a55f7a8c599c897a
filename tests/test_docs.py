"""The documents name what exists: files, links, headings, and messages that the code can really print."""

import re
import shlex

import pytest
from conftest import ROOT, fmu_build

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
SOURCES = [path for folder in ["fmu-runtime", "fmu-runtime/frontend", "fmu-runtime/fmi2-types", "fmu-runtime/stepper", "fmu-builder", "modelDescription", "reference-fmus"]
           for path in (ROOT / folder / "src").rglob("*") if path.is_file()]


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith("http"):
            continue
        name, _, heading = target.partition("#")
        other = (page.parent / name).resolve() if name else page
        assert other.exists(), target
        if heading:
            anchors = [anchor(line) for line in re.findall(r"^#+ (.*)$", other.read_text(), re.M)]
            assert heading in anchors, f"{target}: {anchors}"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/methods.md"])
def test_files_that_are_named_exist(page):
    """`name.rs`, and names in the drawing: by their own name, or the end of a path."""
    paths = ["/" + str(path.relative_to(ROOT)) for path in SOURCES] + ["/" + path.name for path in ROOT.iterdir()]
    paths += ["/" + str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*") if ".venv" not in path.parts]
    paths += ["/" + str(path.relative_to(ROOT)) for path in (ROOT / "reference-fmus").rglob("*.rs")]
    for name in set(re.findall(r"[\w/-]+\.rs\b", (ROOT / page).read_text())):
        assert any(path.endswith("/" + name) for path in paths) or "NAME" in name, f"{page} names {name}"


def test_folders_that_are_named_exist():
    """`name/` in the drawing and in the text, up to the folders of an exported FMU."""
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## The exported FMU")[0]
    folders = {part for path in SOURCES for part in path.relative_to(ROOT).parts[:-1]}
    folders |= {path.name for folder in [ROOT, ROOT / "tests"] for path in folder.iterdir()}
    named = set(re.findall(r"(?<![\w/.-])(?:[\w-]+/)*([\w-]+)/(?=[\s`,;:)])", text)) - {"src"}
    assert len(named) >= 12
    assert sorted(named - folders) == []


def test_messages_are_those_of_the_code():
    code = " ".join(path.read_text() for path in SOURCES if path.suffix == ".rs")
    code = re.sub(r"\\\n\s*", "", code)  # a string that goes on in the next line
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "troubleshooting.md").read_text(), re.M)
    messages = [message for row in rows for message in re.findall(r"`([^`]+)`", row)]
    assert len(messages) > 30
    missing = [message for message in messages
               for part in message.split("…") if len(part.strip(" ,;:()")) >= 8 and part.strip(" ,;:()") not in code]
    assert missing == []

# Programs that only a developer's machine has, and figures that are made elsewhere.
ELSEWHERE = ("fmpy ", "pip ", "cargo ", "tests/", "jupyter ")


def commands(page):
    """Each `fmu-build …` of the page's shell blocks, without its remark."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    for line in lines:
        assert not line or line.startswith(("fmu-build ", "#", *ELSEWHERE)), f"{page.name}: who runs {line!r}?"
    return [line for line in lines if line.startswith("fmu-build ")]


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_commands_run(page, tmp_path):
    """In the order in which they stand. A name that no command before wrote is that of an FMU that stands for the reader's own."""
    for name, model in [("in.fmu", "dc-drive"), ("IN.fmu", "dc-drive")]:
        fmu_build("example", model, tmp_path / name, "--inputs", tmp_path / "mine.csv")
    fmu_build(tmp_path / "in.fmu", tmp_path / "OUT.fmu", "--step", "1ms", "--explore", "none")
    for command in commands(page):
        words = shlex.split(command)[1:]
        # How fast this machine is says nothing of the command.
        if "--deadline" in words:
            words[words.index("--deadline") + 1] = "10s"
        said = fmu_build(*words, cwd=tmp_path)
        assert said, command
