"""What could steer a terminal or hide from a reader is written out."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tersely.foundation.text.escape import json_escaped, visible, visible_line

TEXT = st.text(st.characters(codec=None, exclude_categories=[]))


def test_what_hides_is_written_out() -> None:
    assert visible("a\x1b[31m\u202e\u2066\x9b\ufeff\U000e0041") == (
        "a\\x1b[31m\\u202e\\u2066\\x9b\\ufeff\\U000e0041"
    )


def test_what_has_no_width_is_written_out() -> None:
    assert (
        visible("a\u200b\u2060\xad\u2063\U000e0100b") == "a\\u200b\\u2060\\xad\\u2063\\U000e0100b"
    )


def test_letters_that_are_drawn_as_nothing_are_written_out() -> None:
    assert (
        visible("a\u3164\uffa0\u115f\u1160\u034f\u17b4b")
        == "a\\u3164\\uffa0\\u115f\\u1160\\u034f\\u17b4b"
    )
    assert visible("한국어 ភាសា") == "한국어 ភាសា"


def test_letters_of_all_scripts_tabs_and_newlines_stay() -> None:
    assert visible("ключ\t日本\n🎉 é") == "ключ\t日本\n🎉 é"
    assert visible("می\u200cخواهم 👩\u200d💻\ufe0f") == "می\u200cخواهم 👩\u200d💻\ufe0f"
    assert visible_line("a\tb\nc") == "a\\x09b\\x0ac"


@given(TEXT)
def test_whatever_comes_out_can_be_printed(text: str) -> None:
    assert visible_line(text).encode().decode().splitlines() in ([], [visible_line(text)])


@given(TEXT)
def test_json_means_the_same(text: str) -> None:
    encoded = json_escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(encoded) == text
    assert encoded.encode()
