"""The report in a real browser: Chromium lays it out, in light, dark and on paper, and finds nothing to complain of.

For a model without states, one with 78 and one with 1000. What is looked at: messages on the console, tables and drawings
that have a size, nothing wider than the page, colours that can be read, and a document to print.
"""

import json
import re
import shutil
import subprocess

import pytest

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
        heading: document.querySelector('h1').innerText,
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


def look(page, folder, *options):
    """What LOOK finds on a page."""
    copy = folder / "page.html"
    copy.write_text(page.read_text() + LOOK)
    dom, console = browse(copy, folder, "--dump-dom", *options)
    return json.loads(re.search(r'<script type="application/json" id="found">(.*?)</script>', dom, re.S)[1]), console


@pytest.mark.parametrize("model, states, drawings", [("all-types", 0, 0), ("robot", 78, 8), ("heat-rod:1000", 1000, 2)])
def test_the_report_in_a_browser(build, tmp_path, model, states, drawings):
    _, exported, said = build(model)
    assert said["states"] == states
    page = exported.parent / "report.html"
    for scheme, (setting, is_dark) in {"light": (1, False), "dark": (0, True)}.items():
        for width in [1100, 400]:
            found, console = look(page, tmp_path, f"--blink-settings=preferredColorScheme={setting}", f"--window-size={width},1400")
            where = f"{scheme}, {width} pixels"
            assert console == [], where
            assert found["heading"] == said["model"], where
            assert (found["page"] < 0.1) == is_dark, f"{where}: {found}"
            assert found["texts"] > 10 and found["drawings"] >= drawings, f"{where}: {found}"
            assert found["flat"] == [], where
            assert found["faint"] == [], where
            assert found["width"] <= found["window"], f"{where}: wider than the page, {found}"
    paper = tmp_path / "report.pdf"
    _, console = browse(page, tmp_path, f"--print-to-pdf={paper}", "--blink-settings=preferredColorScheme=0")
    assert console == []
    content = paper.read_bytes()
    pages = len(re.findall(rb"/Type\s*/Page\b", content))
    assert content.startswith(b"%PDF") and 1 <= pages <= 30, pages


def test_a_broken_page_is_found_out(tmp_path):
    """The checks above can fail: a script that does not run, an image that is not there, text that cannot be read, a line that is too long."""
    page = tmp_path / "broken.html"
    page.write_text("<!doctype html><h1>x</h1><p style='color:#eee'>faint</p><p style='width:3000px'>long</p><svg width=2 height=2></svg>"
                    "<img src='file:///nowhere.png'><script>nothing()</script>")
    found, console = look(page, tmp_path)
    assert any("nothing is not defined" in line for line in console), console
    assert found["faint"] == ["faint"] and len(found["flat"]) == 1 and found["width"] > found["window"]
