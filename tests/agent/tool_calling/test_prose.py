"""What is shown while an answer comes in, and when a stream is given up."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.agent.tool_calling import CallFormat, Repetition, prose_reader

CALL = "<call read>\npath: src/app.py\n</call>"
PROSE = st.text("ab <call>\n/tol_\\[]", max_size=80)


def shown(parts: list[str], way: CallFormat) -> str:
    reader = prose_reader(way)
    return "".join([*(reader.feed(part) for part in parts), reader.rest()])


def split(text: str, cuts: list[int]) -> list[str]:
    ends = sorted({min(cut, len(text)) for cut in cuts} | {len(text)})
    return [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]


@given(
    PROSE.filter(lambda text: "\n<call" not in f"\n{text}"),
    st.lists(st.integers(0, 90)),
    st.booleans(),
)
def test_prose_is_shown_whole_and_the_call_not_at_all(
    prose: str, cuts: list[int], calls: bool
) -> None:
    answer = f"{prose}\n{CALL}" if calls else prose
    assert shown(split(answer, cuts), CallFormat.GRAMMAR) == (f"{prose}\n" if calls else prose)


@pytest.mark.parametrize(
    "start", ["<call read>", "  <call read>", "<tool_call>{", "<function=read>", "[TOOL_CALLS][{"]
)
def test_other_forms_of_calls_are_not_shown_either(start: str) -> None:
    for cut in range(len(start)):
        assert (
            shown(["I look.\n", start[:cut], start[cut:] + "\npath: x"], CallFormat.TEXT)
            == "I look.\n"
        )


def test_lines_that_only_look_like_calls_are_shown() -> None:
    assert (
        shown(["<", "callback>\n", "<tool", "box>\n"], CallFormat.TEXT) == "<callback>\n<toolbox>\n"
    )


@given(st.text(), st.lists(st.integers(0, 200)), st.booleans(), st.booleans())
def test_an_envelope_shows_what_it_says(
    said: str, cuts: list[int], ascii_only: bool, calls: bool
) -> None:
    said = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    call = {"tool": "read", "path": "x"} if calls else None
    answer = json.dumps({"say": said, "call": call}, ensure_ascii=ascii_only)
    assert shown(split(answer, cuts), CallFormat.SCHEMA) == said


@pytest.mark.parametrize(
    "cycle", ["a", "no ", "I will now read the file again.\n", "x = 1\ny = 2\n\n" * 9]
)
def test_a_stream_that_repeats_itself_is_noticed(cycle: str) -> None:
    watch = Repetition()
    assert any(watch.feed(cycle) for _ in range(2_000 // len(cycle) + 8))


@pytest.mark.parametrize(
    "call",
    [
        '{"name": "edit", "arguments": {"path": "a.py", "old": "x"}}\n',
        "<call list>\npath: .\n</call>\n",
    ],
)
def test_a_call_that_is_written_again_and_again_is_noticed_before_rows_are(call: str) -> None:
    assert any(watch.feed(call, is_data=True) for watch in [Repetition()] for _ in range(30))
    row = call.replace('"', '\\"').replace("<", "(")  # in the lines of a file that is written
    assert not any(watch.feed(row, is_data=True) for watch in [Repetition()] for _ in range(30))


def test_a_stream_that_gets_stuck_is_noticed_wherever_it_does() -> None:
    watch = Repetition()
    assert not any(watch.feed(f"line {number} is new. ") for number in range(500))
    assert any(watch.feed("and again ") for _ in range(100))


def test_code_that_is_alike_is_no_repetition() -> None:
    lines = [f"    case {number}: return names[{number * 7}];\n" for number in range(200)]
    table = [
        "|" + "---|" * 12 + "\n",
        *(f"| {number} | yes | no | 0 | 0 | 0 |\n" for number in range(60)),
    ]
    watch = Repetition()
    assert not any(watch.feed(line) for line in [*lines, *table, "=" * 79, "\n"])
