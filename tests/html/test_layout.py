"""Documents are whole, escaped, and restricted by their policy."""

from pubench.html.layout import contents, document, style_sheet
from pubench.html.markup import Markup, element
from pubench.html.parts import Section


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
