"""JSON that may come from anywhere is read checked, or refused with a sentence that says where it is damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubench.errors import DataError
from pubench.system.json_documents import (
    DocumentSchema,
    Node,
    check_depth,
    read_document,
    read_json,
    write_json,
)
from pubench.types import Json

RECORD = DocumentSchema("pubench.record", "record.schema.json", "record")


def node(value: object) -> Node:
    return Node(value, "x.json", "The file", "write it again")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    content: dict[str, Json] = {"a": [1, 0.1, None, True], "b": {"c": "text"}}
    write_json(tmp_path / "x.json", content)
    assert read_json(tmp_path / "x.json") == content
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "x.json", {"a": float("nan")})


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"a": NaN}', '{"a": -Infinity}', "[" * 100_000, "\udc80"]
)
def test_what_is_no_json_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(DataError, match=r"x\.json is not a JSON object"):
        read_json(tmp_path / "x.json")


@pytest.mark.parametrize(
    "text",
    [
        r'{"a": "\ud800"}',
        r'{"a": ["\uDC00\uD800"]}',
        r'{"\udfff": 1}',
        '{"a": 1e999}',
        '{"a": -1E+400}',
        '{"a": 1' + 400 * "0" + "}",
        '{"a": 1' + 400 * "0" + ".0}",
        '{"a": 18446744073709551616}',
        "\ufeff{}",
    ],
)
def test_values_that_cannot_be_used_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=r"x\.json is not a JSON object, or it is damaged"):
        read_json(tmp_path / "x.json")


def test_values_at_the_ends_are_read(tmp_path: Path) -> None:
    content: dict[str, Json] = {
        "a": "\U0001f600\ud7ff",
        "b": [2**64 - 1, -(2**63), 1.7e308, 1234567890.123456789],
    }
    write_json(tmp_path / "x.json", content)
    assert read_json(tmp_path / "x.json") == content


def test_half_of_a_pair_in_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'{"a": "\xed\xa0\x80"}')
    with pytest.raises(DataError, match="is not a JSON object"):
        read_json(tmp_path / "x.json")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x\.json cannot be read: No such file"):
        read_json(tmp_path / "x.json")


def test_size_and_depth_are_limited(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": [[1]]}')
    assert read_json(path, max_bytes=12, max_depth=3) == {"a": [[1]]}
    with pytest.raises(DataError, match="too large"):
        read_json(path, max_bytes=11)
    with pytest.raises(DataError, match=r"x\.json nests too deeply; at most 2 levels"):
        read_json(path, max_depth=2)


def test_depth_counts_lists_and_objects_but_not_text() -> None:
    check_depth({"a": "text", "b": [1, {}]}, 2, "This")
    check_depth({}, 0, "This")
    check_depth("text", 0, "This")
    with pytest.raises(DataError, match="This nests too deeply"):
        check_depth({"b": [1, {}]}, 1, "This")


def test_a_document_matches_its_schema_or_the_message_says_where_it_does_not(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema": 1}')
    with pytest.raises(DataError, match=r"x\.json is no record: .*required"):
        read_document(path, RECORD)
    with pytest.raises(DataError, match="This is no record: "):
        RECORD.check({})
    assert RECORD.document()["type"] == "object"


def test_access_by_type() -> None:
    document = node(
        {"n": 2, "x": 0.5, "t": "text", "b": True, "l": [1, 2.5, 2.5], "o": {"k": "v"}, "z": None}
    )
    assert document["n"].integer(1, 2) == 2
    assert (document["n"].number(), document["x"].positive(), document["t"].text()) == (2.0, 0.5, "text")
    assert document["b"].boolean() is True
    assert [item.number() for item in document["l"].items()] == [1.0, 2.5, 2.5]
    assert document["l"].ascending(strictly=False).tolist() == [1.0, 2.5, 2.5]
    assert document["o"].mapping() == {"k": "v"}
    assert {name: part.text() for name, part in document["o"].members().items()} == {"k": "v"}
    assert document["z"].optional(Node.text) is None
    assert document["t"].optional(Node.text) == "text"
    assert document.find("missing").optional(Node.text) is None
    assert "n" in document
    assert "missing" not in document


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (lambda part: part.text(), 1, "text"),
        (lambda part: part.boolean(), 1, "true or false"),
        (lambda part: part.integer(), True, "whole number from 0 up"),
        (lambda part: part.integer(), 1.0, "whole number from 0 up"),
        (lambda part: part.integer(1, 10), 11, "whole number from 1 to 10"),
        (lambda part: part.number(), "1", "number"),
        (lambda part: part.number(), True, "number"),
        (lambda part: part.number(), 10**400, "finite number"),
        (lambda part: part.positive(), 0, "number above 0"),
        (lambda part: part.items(), {}, "list"),
        (lambda part: part.mapping(), [], "object"),
        (lambda part: part["b"], {}, "object with 'b'"),
        (lambda part: part.numbers(), [1, "2"], "list of finite numbers"),
        (lambda part: part.numbers(), [1, True], "list of finite numbers"),
        (lambda part: part.numbers(), [10**400], "list of finite numbers"),
        (lambda part: part.numbers(), None, "list of finite numbers"),
        (lambda part: part.ascending(strictly=True), [1, 1], "list of ascending numbers"),
        (lambda part: part.ascending(strictly=False), [2, 1], "list of ascending numbers"),
        (lambda part: part.ascending(strictly=False), [1], "list of ascending numbers"),
        (lambda part: part.feature_kind(), "words", "kind of feature"),
        (lambda part: part.features(), [], "list of features with a name each"),
    ],
)
def test_a_part_of_another_type_is_refused(read: Callable[[Node], Any], value: object, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        read(node({"a": value})["a"])
    assert str(caught.value) == f"The file is damaged: 'a' in x.json is no {expected}; write it again."


def test_positions_are_told_from_the_inside() -> None:
    with pytest.raises(DataError, match=r"'b' in element 1 of 'a' in x.json is no text"):
        node({"a": [{}, {"b": 3}]})["a"].items()[1]["b"].text()


def test_features() -> None:
    written = [{"name": "a", "kind": "numeric", "categories": []}]
    assert node(written).features()[0].name == "a"
    for wrong in (
        written * 2,
        [{**written[0], "categories": ["x"]}],
        [{"name": "a", "kind": "categorical", "categories": ["x", "x"]}],
    ):
        with pytest.raises(DataError, match="is no list of"):
            node(json.loads(json.dumps(wrong))).features()
