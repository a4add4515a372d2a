"""Templates let nothing by unescaped and lead nowhere else: what `hostile.py` tries on pages, read
off their syntax.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes

from tersely.doors.http.ui.pages.picture import MAX_DRAWN_NAMES, Talk, picture
from tersely.doors.http.ui.rendering import ShownPage, _environment, document
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible

ENVIRONMENT = _environment()
TEMPLATES = ENVIRONMENT.list_templates()
# Each gives a plain value, which is escaped after it.
FILTERS = {
    "thousands",
    "clipped",
    "at",
    "second",
    "code_parts",
    "join",
    "lower",
    "string",
    "length",
}
FORBIDDEN = {
    "iframe",
    "object",
    "embed",
    "base",
    "style",
    "use",
    "foreignobject",
    "template",
    "noscript",
}
# An address that `url` makes, one that stands in the sources, or a place on the page.
INSIDE = re.compile(
    r"/ui/[\w./]*|#\w+|\{\{ (url|url_with)\([^}]*\) \}\}|\{\{ url\(.*\) if .* \}\}"
    r"|\{\{ (target|page\.trail\.address) \}\}"
)
NAMES = st.text("abcde", min_size=1, max_size=20)


def source(name: str) -> str:
    assert ENVIRONMENT.loader is not None
    return ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0]


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_filter_lets_a_value_by_unescaped(name: str) -> None:
    tree = ENVIRONMENT.parse(source(name))
    assert {one.name for one in tree.find_all(nodes.Filter)} <= FILTERS
    assert (
        list(
            tree.find_all(
                (nodes.ScopedEvalContextModifier, nodes.EvalContextModifier, nodes.FilterBlock)
            )
        )
        == []
    )
    for one in tree.find_all(nodes.Concat):
        # of markup and a text, the text would be escaped but not made visible
        assert not list(one.find_all(nodes.Call))


class Attributes(HTMLParser):
    """The elements of a template, what stands between braces left as it is."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attributes}))


@pytest.mark.parametrize("name", TEMPLATES)
def test_elements_run_nothing_and_addresses_stay_inside(name: str) -> None:
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}", "", source(name), flags=re.DOTALL)
    assert re.findall(r"=\s*\{\{", text) == []  # no value without quotes
    for tag, attributes in Attributes(text).elements:
        assert tag not in FORBIDDEN
        for attribute, value in attributes.items():
            assert not attribute.startswith("on")
            assert attribute not in {"style", "srcdoc", "srcset", "formaction", "ping", "target"}
            if attribute in {"href", "src", "action"}:
                assert INSIDE.fullmatch(value), f"{name}: {attribute}={value}"


class Read(HTMLParser):
    """What a text of HTML holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.values: list[str | None] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.values += [value for name, value in attributes if name == "value"]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@given(st.text(min_size=1, max_size=200))
def test_text_stays_text(text: str) -> None:
    failed = Read(
        document(
            ShownPage(text, "failure.html", {"error": TerselyError("busy", text), "hint": ""}), None
        )
    )
    assert visible(text) in "".join(failed.text)
    asked = Read(
        document(ShownPage("Sign in", "login.html", {"ticket": text, "next": "/ui/"}), None)
    )
    assert visible(text).replace("\r", "\n") in asked.values


@given(st.lists(st.builds(Talk, NAMES, NAMES, st.integers(1, 10**9)), max_size=60))
def test_a_picture_stays_in_its_frame_and_counts_everybody(talk: list[Talk]) -> None:
    made = picture(talk, ())
    everybody = {
        name for one in talk if one.sender != one.recipient for name in (one.sender, one.recipient)
    }
    assert len(made.names) + made.left == len(everybody)
    assert len(made.names) <= MAX_DRAWN_NAMES
    for node in made.nodes:
        assert 0 < node.x < made.width
        assert 0 < node.y < made.height
    assert made == picture(talk[:], ())
