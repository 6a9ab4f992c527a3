"""Records may come from anybody: their texts are shown as texts, name no file, and fill no memory."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.leaderboard.board import make_board
from pubench.leaderboard.evidence import gather
from pubench.leaderboard.labels import unique_ids
from pubench.leaderboard.markdown import to_markdown
from pubench.leaderboard.site.tables import json_text
from pubench.leaderboard.site.writing import build_site
from pubench.leaderboard.verification import Difference, Verification
from pubench.records.files import from_document, to_document
from pubench.records.record import Record
from pubench.types import Status

Simulate = Callable[..., list[Record]]

ATTACKS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></svg><iframe src=https://evil.example>",
    "<!--<script>",
    "javascript:alert(1)",
    "../../../etc/passwd",
    "](javascript:alert(1))",
    "=cmd|' /C calc'!A0",
    "\u202egnp.exe\u0000\x1b[2J",
    "{{7*7}}${7*7}",
]
TAGS = {
    "html", "head", "meta", "title", "link", "script", "body", "div", "nav", "ol", "ul", "li", "a", "main", "p", "h1", "h2",
    "h3", "section", "table", "caption", "thead", "tbody", "tr", "th", "td", "button", "span", "svg", "line", "circle", "path",
    "text", "label", "select", "option", "input", "details", "summary", "figure", "figcaption", "dl", "dt", "dd", "sub", "pre",
    "code",
}  # fmt: skip


class Page(HTMLParser):
    """Notes every element and everything that could run or load something."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.scripts: list[dict[str, str | None]] = []
        self.links: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        named = dict(attrs)
        if tag == "script":
            self.scripts.append(named)
        self.handlers += [name for name in named if name.startswith("on")]
        self.links += [value or "" for name, value in attrs if name in {"href", "src", "xlink:href"}]


def hostile(simulate: Simulate) -> list[Record]:
    """Records with an attack wherever the schema lets a text through."""
    made = []
    for number, record in enumerate(simulate({"a": 1.0, "b": 0.5}, ["alpha", "beta"], folds=3)):
        attack = ATTACKS[number % len(ATTACKS)]
        spec = replace(
            record.spec,
            view={**record.spec.view, attack[:90]: attack},
            configuration={
                **record.spec.configuration,
                "learner": {"name": "lightgbm", attack[:90]: attack, "trees": number},
                attack: {"name": "x"},
            },
            tuning={attack[:90]: attack} if number % 2 else {},
        )
        texts = {
            "chosen": {attack: [attack, {attack: attack}]},
            "environment": {attack: {"versions": attack}},
        }
        if number % 3 == 0:
            made.append(Record(spec, Status.FAILED, attack, record.data, origins={"method": attack}, **texts))  # type: ignore[arg-type]
        else:
            made.append(replace(record, spec=spec, origins={"method": attack}, **texts))  # type: ignore[arg-type]
    # Through the format, as a file would come: what the schema refuses is not tested here.
    return [from_document(json.loads(json.dumps(to_document(one)))) for one in made]


@pytest.fixture(scope="module")
def attacked(simulate: Simulate, tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = hostile(simulate)
    differences = tuple(Difference(attack[:90], attack, attack) for attack in ATTACKS)
    verified = {one.spec.key: Verification(one.spec.key, "0" * 32, 0.1, differences) for one in records}
    return build_site(make_board(records, verified), tmp_path_factory.mktemp("attacked") / "site").folder


def test_no_text_becomes_markup_or_script(attacked: Path) -> None:
    pages = list(attacked.rglob("*.html"))
    assert len(pages) > 5
    for path in pages:
        page = Page(path.read_text(encoding="utf-8"))
        assert page.tags <= TAGS, page.tags - TAGS
        assert page.handlers == []
        for script in page.scripts:
            assert script.get("type") == "application/json" or str(script["src"]).endswith("site.js")
        for link in page.links:
            assert re.fullmatch(r"(#|(\.\./)?((methods|datasets)/)?)[a-z0-9._-]+|data:,", link), link


def test_the_attacks_are_shown_as_what_they_are(attacked: Path) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in attacked.rglob("*.html"))
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text
    assert "\x00" not in text
    assert "\x1b" not in text


def test_no_name_leaves_the_folder(attacked: Path) -> None:
    allowed = re.compile(r"(methods/|datasets/)?[a-z0-9][a-z0-9._-]{0,80}")
    for path in attacked.rglob("*"):
        if path.is_file():
            assert allowed.fullmatch(path.relative_to(attacked).as_posix())
    assert sorted(path.name for path in attacked.parent.iterdir()) == ["site"]


def test_spreadsheets_are_given_no_formulas(attacked: Path) -> None:
    for name in ("runs.csv", "standings.csv", "pairs.csv"):
        for column in pd.read_csv(attacked / name, dtype=str).fillna("").to_numpy().T:
            for value in column:
                assert not str(value).startswith(("=", "+", "@", "\t")), value
    assert "'=cmd" in (attacked / "runs.csv").read_text()


def test_markdown_holds_no_markup(simulate: Simulate) -> None:
    table = to_markdown(make_board(hostile(simulate)))
    assert "<" not in table
    assert "](" not in table
    assert {line.count("|") for line in table.splitlines() if line.startswith("|")} == {9}


@given(st.dictionaries(st.text(), st.text()))
def test_json_in_a_page_can_not_end_its_element(content: dict[str, str]) -> None:
    text = json_text(content)
    assert not re.search(r"[<>&]", text)
    assert json.loads(text) == content


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)


@given(st.lists(st.tuples(names, st.text(max_size=5)), unique=True, max_size=8))
def test_ids_are_names_of_files_and_never_the_same(wanted: list[tuple[str, str]]) -> None:
    ids = list(unique_ids(wanted))
    assert len(set(ids)) == len(wanted)
    for id_ in ids:
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,68}", id_)


def test_a_name_that_ends_like_an_id_told_apart_does_not_collide() -> None:
    first = list(unique_ids([("Same", "1"), ("same", "2")]))
    assert len(set(unique_ids([("Same", "1"), ("same", "2"), (first[0], "3"), (first[1], "4")]))) == 4


def test_longest_names_make_files_that_can_be_written(simulate: Simulate, tmp_path: Path) -> None:
    long = "x" * 64
    records = simulate({long: 1.0, long[:-1] + "y": 0.5}, [long, long[:-1] + "Y"], folds=2, learner=long)
    site = build_site(make_board(records), tmp_path / "site")
    assert site.pages == 5


def test_large_texts_do_not_make_large_pages(simulate: Simulate, tmp_path: Path) -> None:
    bulk: dict[str, Any] = {f"k{i}": ["y" * 1900] * 10 for i in range(60)}
    records = [
        replace(one, environment={**bulk, "n": i}, chosen=bulk)
        for i, one in enumerate(simulate({"a": 1.0, "b": 0.5}, ["alpha"], folds=3))
    ]
    build_site(make_board(records), tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        assert page.stat().st_size < 120_000


def test_thousands_of_contenders_and_data_sets_are_handled(simulate: Simulate) -> None:
    (record,) = simulate({"a": 1.0}, ["alpha"], folds=1)
    many = [
        replace(record, spec=replace(record.spec, method=f"m{i}", dataset=f"d{i % 300}", seed=i))
        for i in range(600)
    ]
    board = make_board(many)
    assert len(board.standings) == 600
    assert len(board.pairs) <= 150 * 149 / 2
    assert len(gather(many).tasks) == 300
