"""The page as a person sees it, in a real browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pubench.reporting.page import write_report
from pubench.reporting.report import Report

if TYPE_CHECKING:
    from tests.reporting.conftest import Browser

#: The contrast (WCAG 2.2) of every text that is shown against what lies behind it, least first.
CONTRASTS = """
(() => {
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const over = (top, below) => { const a = top.length > 3 ? top[3] : 1; return [0,1,2].map(i => a*top[i] + (1-a)*below[i]); };
  const light = c => { const [r,g,b] = c.map(v => { v /= 255; return v <= .03928 ? v/12.92 : ((v+.055)/1.055)**2.4; }); return .2126*r+.7152*g+.0722*b; };
  const behind = e => { const all = []; for (; e; e = e.parentElement) all.push(parts(getComputedStyle(e).backgroundColor));
    return all.reverse().reduce((below, top) => over(top, below), [255,255,255]); };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement, box = e.getBoundingClientRect();
    if (!walk.currentNode.textContent.trim() || !box.width || e.closest('title')) continue;
    const style = getComputedStyle(e), ground = behind(e);
    const ink = over(parts(e.closest('svg') ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    found.push([(a+.05)/(b+.05), walk.currentNode.textContent]);
  }
  return found.sort((x, y) => x[0] - y[0]);
})()
"""
#: Text in pictures that sticks out of the part of the page that it belongs to.
CUT_OFF = """
[...document.querySelectorAll('svg text')].filter(t => {
  const box = t.getBoundingClientRect(), frame = t.closest('svg').getBoundingClientRect();
  return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1);
}).map(t => t.textContent)
"""
SMALLEST = """
Math.min(...[...document.querySelectorAll('svg text')].filter(t => t.getBoundingClientRect().width)
  .map(t => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a))
"""
SIZES = [(1280, "light"), (1280, "dark"), (800, "light"), (380, "light"), (380, "dark")]


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(report, path)
    return path


def complaints(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kinds = {"Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"}
    return [event for event in events if event.get("method") in kinds]


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_it_loads_alone_and_without_complaints(
    browser: "Browser", page: Path, width: int, scheme: str
) -> None:
    events = browser.open(page, width, scheme)
    asked = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
    assert asked == [page.as_uri()]
    assert complaints(events) == []


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_text_can_be_read(browser: "Browser", page: Path, width: int, scheme: str) -> None:
    browser.open(page, width, scheme)
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) > 150
    assert contrasts[0][0] >= 4.5, contrasts[:5]
    assert browser.run(SMALLEST) >= 11


@pytest.mark.parametrize("width", [380, 320, 800, 1280])
def test_nothing_sticks_out(browser: "Browser", page: Path, width: int) -> None:
    browser.open(page, width, "light")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('.scroll').length") > 0
    assert browser.run(CUT_OFF) == []


def test_dark_is_dark_and_paper_is_white(browser: "Browser", page: Path) -> None:
    def ground() -> Any:
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.open(page, 800, "light")
    assert ground() == "rgb(255, 255, 255)"
    browser.open(page, 800, "dark")
    assert max(map(int, ground()[4:-1].split(","))) < 40
    browser.open(page, 718, "dark", media="print")  # A4 less the margins
    assert ground() == "rgb(255, 255, 255)"
    assert browser.run("getComputedStyle(document.querySelector('.contents')).display") == "none"
    assert browser.run("document.querySelector('.wide').offsetHeight") > 0


def test_each_chart_is_seen_once(browser: "Browser", page: Path) -> None:
    for width in (380, 1280):
        browser.open(page, width, "light")
        for hidden in (".wide", ".narrow"):
            shown = browser.run(f"[...document.querySelectorAll('{hidden}')].map(e => e.offsetHeight > 0)")
            assert set(shown) == {(hidden == ".narrow") == (width == 380)}
