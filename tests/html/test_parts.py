"""Tables, bars and lists of sections."""

from pubench.html.parts import bars, bullets, largest, table


def test_the_largest_shares_come_first_and_ties_keep_their_order() -> None:
    assert largest({"a": 0.1, "b": 0.4, "c": 0.1, "d": 0.4}, 3) == [("b", 0.4), ("d", 0.4), ("a", 0.1)]


def test_the_largest_bar_has_the_full_width() -> None:
    markup = bars([("a", 0.5), ("b", 0.25)])
    assert "width:100.0%" in markup
    assert "width:50.0%" in markup
    assert "25.0%" in markup


def test_number_columns_are_aligned_and_text_is_escaped() -> None:
    markup = table(("Name", "Value"), [("<a>", "1")], "A table")
    assert '<td>&lt;a&gt;</td><td class="number">1</td>' in markup
    assert 'aria-label="A table"' in markup


def test_an_empty_list_is_omitted() -> None:
    assert bullets([]) is None
    assert bullets(["One.", "Two."]) == '<ul class="notices"><li>One.</li><li>Two.</li></ul>'
