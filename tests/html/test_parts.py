"""Tables, bars and lists of sections; documents are whole, escaped, and restricted by their policy."""

from pubench.html.markup import Markup, element
from pubench.html.parts import Section, bars, bullets, contents, document, largest, style_sheet, table


def test_a_document_has_title_policy_assets_and_body() -> None:
    page = document("a < b", "default-src 'none'", Markup("<style></style>"), element("main", "text"))
    assert page.startswith('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">')
    assert page.endswith("<body><main>text</main></body></html>\n")
    assert "<title>a &lt; b</title><style></style></head>" in page
    assert 'content="default-src &#x27;none&#x27;"' in page


def test_contents_link_to_the_sections() -> None:
    sections = [Section("data", "Data", Markup("")), Section("more", "More & more", Markup(""))]
    assert contents(sections) == (
        '<ol><li><a href="#data">Data</a></li><li><a href="#more">More &amp; more</a></li></ol>'
    )
    assert 'id="data"' in sections[0].render()


def test_the_style_sheet_is_packaged() -> None:
    assert "prefers-color-scheme: dark" in style_sheet()


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
