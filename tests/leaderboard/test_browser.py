"""The site in a real browser."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pubench.leaderboard.board import make_board
from pubench.leaderboard.site.build import build_site
from tests.html.browser import CONTRASTS, CUT_OFF, SMALLEST, Browser, console_messages, open_browser
from tests.leaderboard.simulation import Simulate

SIZES = [(1400, "light"), (1400, "dark"), (800, "light"), (390, "light"), (390, "dark")]
LABELS = "[...document.querySelectorAll('table.ranking tbody tr:not([hidden]) th')].map(e => e.textContent)"
TABLE = "[...document.querySelectorAll('table.ranking tbody tr')].map(e => e.innerText)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    return [site / "index.html", next((site / "methods").iterdir()), site / "datasets" / "bank1.html"]


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of the site on this machine's own network."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def choose(browser: Browser, name: str, value: str) -> None:
    browser.run(
        f"(e => {{ e.value = {value!r}; e.dispatchEvent(new Event('input', {{bubbles: true}})); }})"
        f"(document.getElementById({name!r}))"
    )


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_pages_load_only_files_of_the_site_and_report_no_error(
    browser: Browser, site: Path, pages: list[Path], width: int, scheme: str
) -> None:
    for page in pages:
        events = browser.open(page, width, scheme)
        asked = [
            e["params"]["request"]["url"] for e in events if e.get("method") == "Network.requestWillBeSent"
        ]
        own = [(site / name).as_uri() for name in ("site.css", "site.js")]
        assert [url for url in asked if not url.startswith("data:")] == [page.as_uri(), *own]
        assert console_messages(events) == []


@pytest.mark.parametrize(("width", "scheme"), SIZES)
def test_every_text_is_legible_and_nothing_overflows(
    browser: Browser, pages: list[Path], width: int, scheme: str
) -> None:
    for page in pages:
        browser.open(page, width, scheme)
        contrasts = browser.run(CONTRASTS)
        assert len(contrasts) > 60
        assert contrasts[0][0] >= 4.5, contrasts[:5]
        assert browser.run(SMALLEST) >= 11
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run(CUT_OFF) == []


def test_the_script_formats_values_as_the_page_does(browser: Browser, site: Path) -> None:
    page = site / "index.html"
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page, 1400, "light")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    plain = browser.run(TABLE)
    assert browser.run("getComputedStyle(document.querySelector('.filters')).display") == "none"
    browser.open(page, 1400, "light")
    assert len(plain) == 5
    assert browser.run(TABLE) == plain
    assert browser.run("getComputedStyle(document.querySelector('.filters')).display") == "grid"


def test_sorting_by_a_column_and_back(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    ranked = browser.run(LABELS)
    assert ranked[0] == "probtagging + lightgbm"
    press = "document.querySelector('thead button[data-key={}]').click()"
    browser.run(press.format("label"))
    assert browser.run(LABELS) == sorted(ranked)
    browser.run(press.format("label"))
    assert browser.run(LABELS) == sorted(ranked, reverse=True)
    sorts = "[...document.querySelectorAll('th[aria-sort=descending]')].map(e => e.textContent)"
    browser.run(press.format("failures"))
    assert browser.run(LABELS)[-1] == "liu + lightgbm"
    assert browser.run(sorts) == []
    browser.run(press.format("rank"))
    assert browser.run(LABELS) == ranked


def test_unknown_values_are_last_in_both_directions(
    browser: Browser, simulate: Simulate, tmp_path: Path
) -> None:
    """The best method failed on one data set, where its time to fit is unknown."""
    datasets = ["alpha", "beta", "gamma", "kdd"]
    records = simulate(
        {"a": 2.0, "b": 1.0, "c": 0.0}, datasets, failing=lambda m, d, _: (m, d) == ("a", "kdd")
    )
    browser.open(build_site(make_board(records), tmp_path / "site").folder / "index.html", 1400, "light")
    assert browser.run(LABELS)[0] == "a + lightgbm"
    choose(browser, "dataset", "3")
    for order in ("bca", "cba"):
        browser.run("document.querySelector('thead button[data-key=fit_seconds]').click()")
        assert browser.run(LABELS) == [f"{name} + lightgbm" for name in order]


def test_sorting_works_from_the_keyboard(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    browser.run("document.querySelector('thead button[data-key=label]').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent",
            type=kind,
            key="Enter",
            code="Enter",
            text="\r",
            windowsVirtualKeyCode=13,
        )
    labels = browser.run(LABELS)
    assert labels == sorted(labels)


def test_filters_rank_again_or_hide(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    everything = browser.run(TABLE)
    choose(browser, "dataset", browser.run("[...dataset.options].find(o => o.text === 'kdd').value"))
    rows = browser.run(TABLE)
    assert any("100%" in row and row.split("\n")[0].startswith("5") for row in rows if "liu" in row), rows
    assert rows != everything
    assert "2" in browser.run("document.querySelector('td[data-key=tasks]').textContent")
    choose(browser, "theta", "0")
    assert browser.run("document.querySelector('td[data-key=tasks]').textContent") == "1"
    choose(browser, "dataset", "")
    choose(browser, "theta", "")
    assert browser.run(TABLE) == everything
    choose(browser, "tuned", "yes")
    assert browser.run(LABELS) == ["tuned bagging + lightgbm"]
    choose(browser, "tuned", "")
    choose(browser, "verified", "differs")
    assert len(browser.run(LABELS)) == 1
    choose(browser, "verified", "")
    choose(browser, "find", "ELK")
    assert browser.run(LABELS) == ["elkan + lightgbm"]
    choose(browser, "find", "nothing like it")
    assert browser.run(LABELS) == []
    assert "no run matches" in browser.run("count.textContent")


def test_stand_ins_are_marked_in_the_filter(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    assert "bank1 (synthetic stand-in)" in browser.run("[...dataset.options].map(o => o.text)")


def test_a_method_page_is_a_click_away_and_back(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    target = browser.run("document.querySelector('table.ranking tbody a').href")
    browser.open(Path(target.removeprefix("file://")), 1400, "light")
    assert browser.run("document.querySelector('h1').textContent") == "probtagging + lightgbm"
    shown = browser.run("document.body.innerText")
    for part in ("Configuration", "Environment", "Lift curves", '"trees": 60', "3.11.7"):
        assert part in shown
    assert browser.run("document.querySelectorAll('.lifts svg').length") == 8
    home = browser.run("document.querySelector('.home').href")
    browser.open(Path(home.removeprefix("file://")), 1400, "light")
    assert browser.run("document.querySelectorAll('table.ranking').length") == 1


def test_marks_have_tooltips(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 1400, "light")
    browser.run("document.querySelector('.wide svg a').focus()")
    assert "mean rank" in browser.run("document.querySelector('.tip').textContent")
    cell = "document.querySelector('.wins td[title]')"
    browser.run(f"{cell}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))")
    assert "AUL_PU, p " in browser.run("document.querySelector('.tip').textContent")


def test_data_can_be_downloaded(browser: Browser, site: Path, served: str, tmp_path: Path) -> None:
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.call("Page.navigate", url=f"{served}/index.html")
    for name in ("data.json", "runs.csv", "runs.parquet"):
        wait_for(lambda: browser.run("document.readyState") == "complete")
        browser.run(f"document.querySelector('a[download][href=\"{name}\"]').click()")
        wait_for(lambda name=name: (tmp_path / name).exists() and (tmp_path / name).stat().st_size > 0)
        wait_for(lambda name=name: (tmp_path / name).read_bytes() == (site / name).read_bytes())


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.05)


def test_dark_scheme_is_dark_and_print_is_white_without_controls(browser: Browser, site: Path) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    browser.open(site / "index.html", 800, "dark")
    assert max(map(int, browser.run(background)[4:-1].split(","))) < 40
    browser.open(site / "index.html", 718, "dark", media="print")
    assert browser.run(background) == "rgb(255, 255, 255)"
    assert browser.run("getComputedStyle(document.querySelector('.filters')).display") == "none"
    assert browser.run("document.documentElement.scrollWidth") <= 718
    assert browser.run("document.querySelector('table.ranking').offsetWidth") <= 718


def test_the_policy_blocks_other_scripts(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html", 800, "light")
    browser.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.broken = 1';"
        " document.body.append(s); })()"
    )
    assert browser.run("window.broken === undefined") is True
