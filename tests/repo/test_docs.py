"""The documentation builds without a warning and without a network, and says of the code what the code says."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest
from markdown_it import MarkdownIt

import pubench
from pubench.api.plugin import Kind
from pubench.api.registry import load_registry
from pubench.cli.main import main
from pubench.crossfit.folds import FoldPlan

pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install -e '.[docs]'")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "leaderboard/README.md"]
NOWHERE = "http://127.0.0.1:9"  # nothing answers there: whatever wants the network fails


def build(pages: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    strictly = ("-W", "--keep-going", "-n", "-q")
    places = ("-c", DOCS, "-d", out / "doctrees", pages, out / "html")
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *strictly, *options, *map(str, places)],
        env={**os.environ, "http_proxy": NOWHERE, "https_proxy": NOWHERE},
        capture_output=True,
        text=True,
        check=False,
    )


def files_of_docs() -> set[Path]:
    return {path for path in DOCS.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages."""
    before = files_of_docs()
    out = tmp_path_factory.mktemp("docs")
    result = build(DOCS, out)
    assert result.returncode == 0, result.stdout + result.stderr
    assert files_of_docs() == before, "building left files in docs/"
    return out / "html"


class Page(HTMLParser):
    """Where a page links to, what can be linked to in it, and what a browser would load for it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if "id" in values:
            self.anchors.add(values["id"])
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        elif "src" in values or (tag == "link" and "href" in values):
            self.loaded.add(values.get("src") or values["href"])


@cache
def page(path: Path) -> Page:
    return Page(path)


def internal(links: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the path and the anchor of links within the pages."""
    for link in links:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            yield unquote(parts.path), unquote(parts.fragment)


def text_of(path: Path) -> str:
    return re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))


def test_no_internal_link_is_broken(site: Path) -> None:
    checked = 0
    for path in site.rglob("*.html"):
        for target, anchor in internal(page(path).links):
            place = (path.parent / target).resolve() if target else path
            assert place.exists(), f"{path.name} links to {target}"
            if anchor and place.suffix == ".html":
                assert anchor in page(place).anchors, f"{path.name} links to {target}#{anchor}"
            checked += 1
    assert checked > 1000


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        for address in page(path).loaded:
            assert not urlsplit(address).netloc, f"{path.name} loads {address}"


def test_every_page_is_in_the_table_of_contents(site: Path) -> None:
    listed = {target for target, _ in internal(page(site / "index.html").links)}
    pages = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in DOCS.rglob("*.md")}
    assert pages - {"index.html"} <= listed


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    documented = page(site / "reference/python.html").anchors
    names = {f"pubench.{name}" for name in vars(pubench)["__all__"]}
    assert names <= documented, "name the module in docs/reference/python.md"


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for below, member in command.commands.items():
            if not member.hidden:
                yield from commands(member, f"{name} {below}")


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    text = text_of(site / "reference/command-line.html")
    for name, command in commands(main, "pubench"):
        assert f"Usage: {name}" in text
        for parameter in command.params:
            assert isinstance(parameter, click.Argument) or parameter.opts[0] in text


def test_every_built_in_plugin_and_parameter_is_in_the_reference(site: Path) -> None:
    text = text_of(site / "reference/built-in.html")
    for entry in load_registry(strict=True).entries:
        assert entry.name in text
        if entry.kind is not Kind.DATASET:
            assert all(name in text and part.describe() in text for name, part in entry.plugin.space.items())


def test_links_to_nothing_fail_the_build(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text("# Page\n\n[a](nowhere.md) [b](#nothing) [c](../outside.md)\n")
    result = build(pages, tmp_path / "out", "-D", "extensions=myst_parser,repository_links")
    assert result.returncode != 0
    for target in ("nowhere", "nothing", "outside"):
        assert target in result.stderr


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_of_a_document_exist(document: Path) -> None:
    for token in MarkdownIt().enable("table").parse(document.read_text()):
        for child in token.children or ():
            target = urlsplit(str(child.attrs.get("href") or child.attrs.get("src") or ""))
            if target.path and not target.scheme:
                assert (document.parent / unquote(target.path)).exists(), target.path


def test_tuning_states_the_defaults_of_the_code() -> None:
    text = (DOCS / "tuning.md").read_text()
    plan = FoldPlan()
    assert f"at most {plan.train_unlabeled:,} for training" in text
    assert f"{plan.test_per_labelled} per labelled row, at least {plan.test_unlabeled:,}" in text


def test_the_changelog_knows_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    sections = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert version in sections or "Unreleased" in sections
    assert sections == sorted(sections, key=order, reverse=True), "the newest first"


def order(section: str) -> tuple[float, ...]:
    return (float("inf"),) if section == "Unreleased" else tuple(map(float, section.split(".")))
