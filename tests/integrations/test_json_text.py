"""Changing JSON as text: what was said is still said, as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.integrations.formats.json_text import NotJsonError, SettingsEntry, added, read, removed

ENTRIES = [
    SettingsEntry(("mcpServers", "tersely"), {"command": "tersely", "args": ["mcp"]}),
    SettingsEntry(("hooks", "Prompt"), {"hooks": [{"command": "tersely hook"}]}, in_list=True),
]

COMMENTED = """// what I like
{
    /* a "quoted" { brace */
    "theme": "dark", // not light
    "hooks": {
        "Prompt": [
            {"command": "mine"} // keep this
        ],
    },
    "mcpServers": {}
    // the end
}
"""

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


def test_comments_and_layout_stay() -> None:
    text = added(COMMENTED, ENTRIES)
    without_commas = text.replace(",", "")
    for line in COMMENTED.splitlines():
        assert line.replace(",", "").removesuffix("{}") in without_commas
    assert read(text)["hooks"]["Prompt"] == [{"command": "mine"}, ENTRIES[1].value]
    assert read(text)["mcpServers"] == {"tersely": ENTRIES[0].value}


def test_what_is_taken_out_leaves_the_rest() -> None:
    assert read(removed(added(COMMENTED, ENTRIES), ENTRIES)) == read(COMMENTED)


def test_adding_twice_is_adding_once() -> None:
    once = added(COMMENTED, ENTRIES)
    assert added(once, ENTRIES) == once


@settings(max_examples=examples(60), deadline=None)
@given(
    value=st.dictionaries(st.text(max_size=6), PLAIN, max_size=4), indent=st.sampled_from([None, 2, 4, "\t"]),
    newline=st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_any_object_keeps_what_it_says(value: dict[str, Any], indent: Any, newline: str) -> None:
    value = {name: part for name, part in value.items() if name not in {"mcpServers", "hooks"}}
    text = json.dumps(value, indent=indent).replace("\n", newline)
    changed = added(text, ENTRIES)
    assert {name: part for name, part in read(changed).items() if name in value} == value
    assert read(changed)["mcpServers"]["tersely"] == ENTRIES[0].value
    assert read(removed(changed, ENTRIES)) == {**value, "mcpServers": {}, "hooks": {"Prompt": []}}
    assert json.loads(changed) == read(changed)


@given(st.text(alphabet='{}[]",:/* \n1a\\', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = read(text)
    except NotJsonError as error:
        assert str(error).startswith("line ") or "twice" in str(error)
    else:
        assert not text.strip() or value is not None or "null" in text


@pytest.mark.parametrize(
    "text",
    ['{"a": 1,, "b": 2}', '{"a" 1}', "{'a': 1}", '{"a": 1} {}', '{"a": 1, "a": 2}', "[" * 200],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        added(text, ENTRIES)


@pytest.mark.parametrize(
    "text", ['{"hooks": []}', '{"mcpServers": 3}', '{"hooks": {"Prompt": {}}}', "[]"]
)
def test_what_has_no_room_is_refused(text: str) -> None:
    with pytest.raises(NotJsonError):
        added(text, ENTRIES)
