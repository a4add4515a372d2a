"""Names of agents: of one script, normalized, and none that is taken for another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.errors import TerselyError
from tersely.foundation.text.agent_names import agent_name, looks


@pytest.mark.parametrize(
    "name",
    ["ann", "Zoë", "Анна", "日本のエージェント", "नेहा", "Ελένη", "עדי", "a.b_c:d@e/f-1", "_x", "7"],
)
def test_a_name_is_of_any_one_script(name: str) -> None:
    assert agent_name(name) == agent_name(agent_name(name))


@pytest.mark.parametrize(
    "text", ["", "-x", "two words", "аnn", "日本x", "x" * 65, "ann\r\nHost: x", "a\u200bb", "a\0", "é" * 65]
)  # fmt: skip
def test_what_mixes_scripts_or_cannot_be_seen_is_no_name(text: str) -> None:
    with pytest.raises(TerselyError, match="is not a name of an agent"):
        agent_name(text)


@given(st.text(max_size=70))
def test_a_name_once_normalized_stays(text: str) -> None:
    try:
        name = agent_name(text)
    except TerselyError as error:
        assert error.code == "invalid_argument"
    else:
        assert agent_name(name) == name
        assert looks(name)


def test_a_name_that_is_composed_otherwise_is_the_same() -> None:
    assert agent_name("Zoe\u0308") == agent_name("Zoë")
    assert agent_name("ａｎｎ") == "ann"


@pytest.mark.parametrize(
    ("one", "other"), [("ann", "Ann"), ("сор", "cop"), ("worker1", "workerl"), ("relay", "reIay"), ("a0", "aO")]
)  # fmt: skip
def test_names_that_look_alike_share_a_look(one: str, other: str) -> None:
    assert looks(one) & looks(other)


@pytest.mark.parametrize(
    ("one", "other"), [("ann", "anna"), ("mail", "mall"), ("a-1", "a-2"), ("Анна", "anna")]
)
def test_names_that_differ_share_none(one: str, other: str) -> None:
    assert not looks(one) & looks(other)
