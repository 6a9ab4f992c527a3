"""Records may come from anybody: their texts are shown as text, never name a file, and do not exhaust memory."""

import json
import re
from dataclasses import replace
from hashlib import blake2b
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubench.leaderboard.board import load_board, make_board
from pubench.leaderboard.display_names import unique_ids
from pubench.leaderboard.export import to_markdown
from pubench.leaderboard.runs import collect_runs
from pubench.leaderboard.site.build import build_site
from pubench.leaderboard.site.overview_tables import json_text
from pubench.leaderboard.verification_files import Difference, Verification
from pubench.record.record import Record
from pubench.record.record_file import from_document, to_document, write_record
from pubench.types import Status
from tests.leaderboard.simulation import Simulate

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
    """Collects every element of a page, and everything that could run or load something."""

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
    """Return records with an attack wherever the schema allows a text."""
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
    # Converted to JSON and back, as from a file; texts that the schema refuses are not the subject here.
    return [from_document(json.loads(json.dumps(to_document(one)))) for one in made]


#: Values that JSON can express and that no file can hold, or no column of numbers.
BAD_VALUES = [
    r'"\ud800"',
    '{"\\udfff": 1}',
    "1" + "0" * 400,
    "1e999",
    "1e300",
    "-1e300",
    "NaN",
    "[" * 50 + "]" * 50,
    "true",
]
PLACES: list[tuple[str, ...]] = [
    ("spec", "view", "rows"), ("spec", "view", "theta_o"), ("spec", "tuning", "trials"), ("spec", "fold"), ("spec", "seed"),
    ("spec", "configuration", "learner", "trees"), ("data", "rows"), ("metrics", "aul"), ("metrics", "other"),
    ("seconds", "fit"), ("chosen", "k"), ("environment", "versions"), ("origins", "method"), ("reason",), ("peak_memory_bytes",),
]  # fmt: skip


def document_with(record: Record, place: tuple[str, ...], value: str) -> str:
    """Return a record as JSON with a value, also JSON, at a place in it, and the key that belongs to it."""
    document = json.loads(json.dumps(to_document(record)))
    part = document
    for name in place[:-1]:
        part = part.setdefault(name, {})
    part[place[-1]] = "HERE"
    canonical = json.dumps(document["spec"], sort_keys=True, separators=(",", ":")).replace('"HERE"', value)
    document["key"] = blake2b(canonical.encode(), digest_size=16).hexdigest()
    return json.dumps(document).replace('"HERE"', value)


@pytest.mark.parametrize("value", BAD_VALUES)
def test_a_bad_record_never_costs_the_others(value: str, simulate: Simulate, tmp_path: Path) -> None:
    good = simulate({"a": 1.0, "b": 0.5}, ["alpha", "beta"], folds=2, tuned=["b"])
    (bad,) = simulate({"c": 1.0}, ["alpha"], folds=1, tuned=["c"])
    folder = tmp_path / "records"
    for record in good:
        write_record(folder, record)
    for number, place in enumerate(PLACES):
        (folder / f"bad{number}.json").write_text(document_with(bad, place, value))
    board = load_board(folder)
    build_site(board, tmp_path / "site")
    to_markdown(board)
    refused = {one.path.name for one in board.unreadable}
    assert {"a", "b"} <= {entry.method for entry in board.ranked.entries}
    assert len(refused) + len(board.ranked.runs) == len(good) + len(PLACES)
    for one in board.unreadable:
        assert one.path.name in one.reason


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


def test_attacks_are_shown_as_text(attacked: Path) -> None:
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


def test_csv_files_hold_no_formulas(attacked: Path) -> None:
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
def test_json_in_a_page_cannot_end_its_element(content: dict[str, str]) -> None:
    text = json_text(content)
    assert not re.search(r"[<>&]", text)
    assert json.loads(text) == content


names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)


@given(st.lists(st.tuples(names, st.text(max_size=5)), unique=True, max_size=8))
def test_ids_are_unique_file_names(pairs: list[tuple[str, str]]) -> None:
    ids = list(unique_ids(pairs))
    assert len(set(ids)) == len(pairs)
    for id_ in ids:
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,68}", id_)


def test_a_name_that_ends_like_a_digest_does_not_collide() -> None:
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
    assert len(collect_runs(many).tasks) == 300
