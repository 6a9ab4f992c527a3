"""The report in a real browser."""

from pathlib import Path
from typing import Any

import pytest

from pubench.report.page import write_report
from pubench.report.values import Report
from tests.html.browser import CONTRASTS, CUT_OFF, SMALLEST, Browser, console_messages

SIZES = [(1280, "light"), (1280, "dark"), (800, "light"), (380, "light"), (380, "dark")]


@pytest.fixture(scope="module")
def page(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(report, path)
    return path


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_it_loads_nothing_else_and_reports_no_error(
    browser: Browser, page: Path, width: int, scheme: str
) -> None:
    events = browser.open(page, width, scheme)
    asked = [e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"]
    assert asked == [page.as_uri()]
    assert console_messages(events) == []


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_text_is_legible(browser: Browser, page: Path, width: int, scheme: str) -> None:
    browser.open(page, width, scheme)
    contrasts = browser.run(CONTRASTS)
    assert len(contrasts) > 150
    assert contrasts[0][0] >= 4.5, contrasts[:5]
    assert browser.run(SMALLEST) >= 11


@pytest.mark.parametrize("width", [380, 320, 800, 1280])
def test_nothing_overflows(browser: Browser, page: Path, width: int) -> None:
    browser.open(page, width, "light")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.querySelectorAll('.scroll').length") > 0
    assert browser.run(CUT_OFF) == []


def test_dark_scheme_is_dark_and_print_is_white(browser: Browser, page: Path) -> None:
    def background() -> Any:
        return browser.run("getComputedStyle(document.body).backgroundColor")

    browser.open(page, 800, "light")
    assert background() == "rgb(255, 255, 255)"
    browser.open(page, 800, "dark")
    assert max(map(int, background()[4:-1].split(","))) < 40
    browser.open(page, 718, "dark", media="print")  # A4 less the margins
    assert background() == "rgb(255, 255, 255)"
    assert browser.run("getComputedStyle(document.querySelector('.contents')).display") == "none"
    assert browser.run("document.querySelector('.wide').offsetHeight") > 0


def test_each_chart_is_shown_in_one_width(browser: Browser, page: Path) -> None:
    for width in (380, 1280):
        browser.open(page, width, "light")
        for hidden in (".wide", ".narrow"):
            shown = browser.run(f"[...document.querySelectorAll('{hidden}')].map(e => e.offsetHeight > 0)")
            assert set(shown) == {(hidden == ".narrow") == (width == 380)}
