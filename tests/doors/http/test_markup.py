"""Elements as text: whatever they hold, a reader of HTML finds what was put in, and nothing else."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.doors.http.ui.markup import e, rendered
from tersely.foundation.escape import visible


class Read(HTMLParser):
    """What a text of HTML holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(), st.text())
def test_text_stays_text(inside: str, title: str) -> None:
    found = Read(rendered(e("p", inside, title=title)))
    assert (found.tags, found.text) == (["p"], visible(inside))
    assert [(name, (value or "").replace("\r", "\n")) for name, value in found.attributes] == [
        ("title", visible(title))
    ]


def test_flags_numbers_lists_and_nothing() -> None:
    made = e("div", None, [e("input", required=True, disabled=False, maxlength=3), 1.5], hidden=None, aria_label="x")
    assert rendered(made) == '<div aria-label="x"><input required="" maxlength="3">1.5</div>'


def test_the_first_line_of_a_text_is_kept_though_empty() -> None:
    assert rendered(e("pre", "\na")) == "<pre>\n\na</pre>"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "data:text/html,x", "//evil.example/",
        "https://evil.example/", "/ui\\..\\x", "/uix", "/threads", "\\\\evil.example", "",
    ],
)  # fmt: skip
def test_addresses_lead_nowhere_else(address: str) -> None:
    for name in ("href", "src", "action"):
        with pytest.raises(ValueError, match="leads out"):
            e("a", **{name: address})


@pytest.mark.parametrize("name", ["onclick", "ONLOAD", "style", "srcdoc", "formaction", 'x"', "a b", ""])
def test_no_attribute_runs_anything(name: str) -> None:
    with pytest.raises(ValueError, match="pages have no"):
        e("a", **{name: "x"})


@pytest.mark.parametrize("tag", ["iframe", "object", "embed", "base", "style", "use", "foreignObject", "p onclick=x"])
def test_no_element_loads_what_is_not_ours(tag: str) -> None:
    with pytest.raises(ValueError, match="pages have no"):
        e(tag)
