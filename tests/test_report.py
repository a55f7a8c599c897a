"""The report in a real browser: Chromium lays it out, in light, dark and on paper, and finds nothing to complain of.

For a model without states, one with 78 and one with 1000. What is looked at: messages on the console, tables and drawings
that have a size, nothing wider than the page, colours that can be read, and a document to print.
"""

import json
import platform
import re
import shutil
import subprocess
from datetime import datetime, timedelta, timezone

import pytest
from conftest import fmu_build

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; tests/run installs it where it may")

# What the page looks like to somebody who reads it. Contrast as WCAG 2.1 defines it.
LOOK = """
<script>
const luminance = colour => {
    const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
        .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = node => {
    for (; node; node = node.parentElement) {
        const colour = getComputedStyle(node).backgroundColor;
        if (colour !== 'rgba(0, 0, 0, 0)' && colour !== 'transparent') return colour;
    }
    return 'rgb(255, 255, 255)';
};
const contrast = node => {
    const [a, b] = [luminance(getComputedStyle(node).color), luminance(behind(node))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
};
window.onload = () => {
    const texts = [...document.querySelectorAll('h1, h2, h3, p, td, th, figcaption, code')].filter(n => n.innerText?.trim());
    const flat = [...document.querySelectorAll('svg, table')].filter(n => {
        const box = n.getBoundingClientRect();
        return box.width < 20 || box.height < 10;
    });
    const found = {
        width: document.documentElement.scrollWidth, window: innerWidth,
        page: luminance(behind(document.body)),
        texts: texts.length, drawings: document.querySelectorAll('svg').length,
        flat: flat.map(n => n.outerHTML.slice(0, 80)),
        faint: texts.filter(n => contrast(n) < 4.5).map(n => n.innerText.slice(0, 40)),
        heading: document.querySelector('h1')?.innerText,
        height: document.documentElement.scrollHeight,
        narrowest: Math.min(...[...document.querySelectorAll('td.why')].map(n => n.getBoundingClientRect().width), innerWidth),
        ...(typeof act === 'function' ? act() : {}),
    };
    const data = document.createElement('script');
    data.type = 'application/json';
    data.id = 'found';
    data.textContent = JSON.stringify(found);
    document.body.append(data);
};
</script>
"""


def browse(page, folder, *options):
    """What Chromium wrote to its standard output, and what it said on the page's console."""
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={folder}/profile",
         "--enable-logging=stderr", "--virtual-time-budget=2000", *options, page.as_uri()],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, re.findall(r"CONSOLE[:(].*", done.stderr)


def look(page, folder, *options, act=""):
    """What LOOK finds on a page, and what the script `act`, a function of that name, returns."""
    copy = folder / "page.html"
    copy.write_text(page.read_text() + f"<script>{act}</script>" + LOOK)
    dom, console = browse(copy, folder, "--dump-dom", *options)
    return json.loads(re.search(r'<script type="application/json" id="found">(.*?)</script>', dom, re.S)[1]), console


@pytest.mark.parametrize("model, states, drawings", [("all-types", 0, 0), ("robot", 78, 8), ("heat-rod:1000", 1000, 2)])
def test_the_report_in_a_browser(build, tmp_path, model, states, drawings):
    _, exported, said = build(model)
    assert said["states"] == states
    page = exported.parent / "report.html"
    for scheme, (setting, is_dark) in {"light": (1, False), "dark": (0, True)}.items():
        for width in [1100, 390]:
            found, console = look(page, tmp_path, f"--blink-settings=preferredColorScheme={setting}", f"--window-size={width},1400")
            where = f"{scheme}, {width} pixels"
            assert console == [], where
            assert found["heading"] == said["model"], where
            assert (found["page"] < 0.1) == is_dark, f"{where}: {found}"
            assert found["texts"] > 10 and found["drawings"] >= drawings, f"{where}: {found}"
            assert found["flat"] == [], where
            assert found["faint"] == [], where
            assert found["width"] <= found["window"], f"{where}: wider than the page, {found}"
            # A telephone's page is a column, not a tower: explanations take its width.
            assert found["narrowest"] >= 200 and found["height"] < 25_000, f"{where}: {found['narrowest']} wide, {found['height']} high"
    paper = tmp_path / "report.pdf"
    _, console = browse(page, tmp_path, f"--print-to-pdf={paper}", "--blink-settings=preferredColorScheme=0")
    assert console == []
    content = paper.read_bytes()
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert content.startswith(b"%PDF") and 1 <= pages <= 30, pages


# A reader picks outputs, drags over a curve and points at it.
READER = """
const act = () => {
    const views = () => [...document.querySelectorAll('#trajectories figure')].filter(f => f.querySelector('.readout') && !f.hidden);
    const ticks = [...document.querySelectorAll('.pick input')];
    const before = views().length;
    ticks[0].click();
    const without = views().length;
    ticks[0].click();
    const svg = views()[0].querySelector('svg'), box = svg.getBoundingClientRect();
    svg.setPointerCapture = () => {};  // there is no pointer
    const point = (what, x) => svg.dispatchEvent(new PointerEvent(what, { clientX: box.left + x * box.width / 540, pointerId: 1 }));
    const path = () => svg.querySelector('.built').getAttribute('d');
    const whole = path();
    point('pointermove', 295);  // the middle of the axis, from 62 to 528
    const readout = views()[0].querySelector('.readout').textContent;
    const back = document.querySelector('.pick button');
    const hidden = back.hidden;
    point('pointerdown', 62); point('pointerup', 295);
    const zoomed = path(), labels = [...svg.querySelectorAll('text')].map(t => t.textContent);
    const offered = !back.hidden;
    back.click();
    return { picks: ticks.length, before, without, readout, hidden, offered, changed: zoomed !== whole, labels, again: back.hidden };
};
"""


def test_a_reader_picks_zooms_and_reads_values(build, tmp_path):
    """The DC drive over 2 s: the middle of the picture is t = 1 s, and the left half of it ends there."""
    _, exported, said = build("dc-drive")
    found, console = look(exported.parent / "report.html", tmp_path, "--window-size=1100,1400", act=READER)
    assert console == []
    assert found["picks"] == found["before"] == len(said["errors"]) and found["without"] == found["before"] - 1, found
    assert re.match(r"t = (1|0\.999|1\.001) s: .*, accurate .*, deviation ", found["readout"]), found
    assert found["hidden"] and found["offered"] and found["changed"] and found["again"], found
    assert "time in s" in found["labels"] and "1" in found["labels"] and "2" not in found["labels"], found


def test_every_output_can_be_picked_and_a_page_without_scripts_shows_the_worst(build, tmp_path):
    _, exported, said = build("robot")
    page = exported.parent / "report.html"
    found, console = look(page, tmp_path, act=READER)
    static = re.findall(r'<figure data-curve="\d+">', page.read_text())
    assert console == [] and len(static) == min(8, len(said["errors"])) and found["picks"] == min(32, len(said["errors"])), found
    assert re.findall(r"(?<!xmlns=.)https?://", page.read_text()) == [], "nothing is loaded"


def test_what_stands_still_is_not_green_and_an_invented_run_is_drawn(build):
    """Without inputs a pair of masses rests: its error of zero says nothing."""
    _, exported, said = build("two-mass")
    page = (exported.parent / "report.html").read_text()
    box = page.split('<div class="verdict ')[1].split("<section")[0]
    assert '<div class="half unverified"><b>? Not verified</b><p>Nothing moved' in box and 'half kept"><b>✓ Accurate' not in box
    drawn = re.search(r"Nothing moves in the given run. This is an invented one, <b>(.*?)</b>", page)[1]
    assert drawn in [run["name"] for run in said["explored"]["runs"]]
    data = json.loads(re.search(r'id="curves">(.*?)</script>', page, re.S)[1])
    assert any(max(curve["accurate"]) > min(curve["accurate"]) for curve in data["curves"])


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext (poppler-utils)")
def test_no_heading_is_printed_without_its_figure(build, tmp_path):
    """On paper a heading and the first words of the drawing below it are on one page."""
    _, exported, _ = build("dc-drive")
    paper = tmp_path / "report.pdf"
    browse(exported.parent / "report.html", tmp_path, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    text = subprocess.run(["pdftotext", "-layout", paper, "-"], capture_output=True, text=True, check=True).stdout
    pages = text.split("\f")
    where = lambda words: next((i for i, page in enumerate(pages) if re.search(words, page, re.M)), None)  # noqa: E731
    for heading, drawing in {
        r"^ *Trajectories": "deviation N.m",
        "What the FMU says of its error": "tolerance 1 %$",
        r"^ *The watch": "speaks above",
        r"^ *Structure": "kept entry",
        r"^ *Stability": "The model, h λ",
        r"^ *Step time$": "computing time of a step",
    }.items():
        assert where(heading) is not None and where(heading) == where(drawing), f"{heading}: {where(heading)}, {drawing}: {where(drawing)}"


def test_the_page_of_a_benchmark_says_when_and_where(build, tmp_path):
    _, exported, _ = build("dc-drive")
    page = tmp_path / "bench.html"
    fmu_build("bench", exported, "--steps", "100", "--deadline", "10s", "--report", page)
    text = page.read_text()
    when = re.search(r"Measured</th><td class=\"number\">(\d{4}-\d\d-\d\d \d\d:\d\d)", text)[1]
    passed = datetime.now(timezone.utc) - datetime.strptime(when, "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc)
    assert timedelta() <= passed < timedelta(minutes=5), when
    assert f"Linux version {platform.release()}" in text and "Processor" in text
    found, console = look(page, tmp_path, "--window-size=390,1400")
    assert console == [] and found["narrowest"] >= 200 and found["width"] <= found["window"], found


def test_a_broken_page_is_found_out(tmp_path):
    """The checks above can fail: a script that does not run, an image that is not there, text that cannot be read, a line that is too long."""
    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><h1>x</h1><p style='color:#eee'>faint</p><p style='width:3000px'>long</p><svg width=2 height=2></svg>"
                    "<img src='file:///nowhere.png'><script>nothing()</script>")
    found, console = look(page, tmp_path)
    assert any("nothing is not defined" in line for line in console), console
    assert found["faint"] == ["faint"] and len(found["flat"]) == 1 and found["width"] > found["window"]
