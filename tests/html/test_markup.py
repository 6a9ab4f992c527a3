"""Text stays text, whatever it holds."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from pubench.html.markup import Markup, element, join, text

PRINTED = st.text(st.characters(exclude_categories=["Cc", "Cs"]))


class Seen(HTMLParser):
    """What a reader of the markup sees."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


@given(PRINTED, PRINTED)
def test_any_text_comes_back_as_it_was(content: str, value: str) -> None:
    seen = Seen(element("p", content, data_value=value))
    assert seen.tags == [("p", {"data-value": value})]
    assert seen.text == content


@given(st.text())
def test_nothing_that_is_text_makes_a_tag(content: str) -> None:
    assert Seen(join(content, [content])).tags == []


def test_markup_is_not_escaped_twice() -> None:
    inner = element("b", "<")
    assert element("p", inner) == "<p><b>&lt;</b></p>"
    assert text(inner) is inner


def test_control_characters_are_replaced() -> None:
    assert text("a\x00b\x1bc\td") == "a\ufffdb\ufffdc\td"


def test_names_of_attributes() -> None:
    made = element(
        "meta", attributes={"http-equiv": "x"}, class_="c", stroke_width=1.0, y1=2.345678, gone=None
    )
    assert made == '<meta http-equiv="x" class="c" stroke-width="1" y1="2.35">'


def test_children_may_be_missing_or_many() -> None:
    assert element("ul", None, (element("li", str(i)) for i in range(2))) == Markup(
        "<ul><li>0</li><li>1</li></ul>"
    )
