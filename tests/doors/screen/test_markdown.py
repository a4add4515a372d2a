"""Markdown that grows: cut at the same places however it comes, laid out within its width, and
never obeyed.
"""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from tests.depth import examples

from tersely.doors.screen.markdown.pieces import MAX_PIECE_CHARACTERS, Growing, MarkdownPiece
from tersely.doors.screen.markdown.rows import laid_out
from tersely.foundation.text.escape import visible

BLOCKS = [
    "# Title", "Some *words* and `code` that go on", "more of it", "", "- first", "- second", "  continued", "1. one",
    "2. two", "> quoted", "```python", "def f():", "    return 1", "```", "| a | b |", "|---|---|", "| 1 | 2 |", "---",
    "<b>html</b>", "[link](https://example.org)", "  - nested",
]  # fmt: skip
texts = st.lists(st.sampled_from(BLOCKS), max_size=24).map("\n".join)


def cut(text: str, sizes: list[int]) -> list[MarkdownPiece]:
    growing, pieces, at = Growing(), [], 0
    for size in sizes:
        pieces += growing.add(text[at : at + size])
        at += size
    return [*pieces, *growing.add(text[at:]), *growing.end()]


def code(text: str, width: int) -> list[str]:
    return [row.plain for row in laid_out(f"```nothing\n{text}\n```", width)]


def rows(pieces: list[MarkdownPiece], width: int) -> list[str]:
    return [row.plain for piece in pieces for row in laid_out(piece.text, width)]


@given(texts, st.lists(st.integers(1, 20), max_size=40))
def test_pieces_are_the_same_however_the_text_comes(text: str, sizes: list[int]) -> None:
    assert cut(text, sizes) == cut(text, [])


@given(texts)
def test_nothing_is_lost(text: str) -> None:
    assert "".join(piece.text for piece in cut(text, [])).split() == text.split()


def test_a_block_is_final_once_the_next_one_has_begun() -> None:
    growing = Growing()
    # it may be a heading, or a word that begins so
    assert growing.add("A paragraph\nof two lines\n\n#") == []
    assert [piece.text for piece in growing.add("# Title\n")] == ["A paragraph\nof two lines\n\n"]
    assert growing.rest == MarkdownPiece("## Title\n", has_gap=True)


def test_items_of_a_list_are_final_one_by_one() -> None:
    pieces = cut("- one\n- two\n\n- three\n", [])
    assert [(piece.text.strip(), piece.has_gap) for piece in pieces] == [
        ("- one", False), ("- two", False), ("- three", True),
    ]  # fmt: skip


@settings(max_examples=examples())
@given(st.integers(0, 3), st.integers(200, 900))
def test_what_is_laid_out_again_stays_small(kind: int, portion: int) -> None:
    head, line, tail = [
        ("```python\n", "x = 'a line of code'\n", "```\n"),
        ("| a | b |\n|---|---|\n", "| one | two |\n", ""),
        ("", "words without an end ", ""),
        ("", "w", ""),
    ][kind]
    text = head + line * (3 * MAX_PIECE_CHARACTERS // len(line)) + tail
    growing = Growing()
    for at in range(0, len(text), portion):
        pieces = growing.add(text[at : at + portion])
        assert all(len(piece.text) <= MAX_PIECE_CHARACTERS + len(head) + 10 for piece in pieces)
        assert len(growing.rest.text) <= MAX_PIECE_CHARACTERS
    assert all(piece.text.startswith(head) for piece in cut(text, []))


@given(texts, st.integers(8, 100))
def test_rows_fit_their_width(text: str, width: int) -> None:
    for row in rows(cut(text, []), width):
        if "│" not in row and "┼" not in row:
            # a table of many columns keeps a least width for each
            assert cell_len(row) <= max(width, 12), row


def test_blocks_look_like_what_they_are() -> None:
    text = "# One\n\n- a\n  - b\n\n3. c\n\n> said\n\n| x | long |\n|---|---|\n| 1 | 2 |\n\n```py\nif x:\n    y\n```\n"
    shown = [
        row
        for piece in cut(text, [])
        for row in (["", *rows([piece], 40)] if piece.has_gap else rows([piece], 40))
    ]
    assert [row.rstrip() for row in shown] == [
        "One", "", " • a", "    • b", "", "3. c", "", "▌ said", "", "x │ long", "──┼─────", "1 │ 2", "",
        " if x:", "     y",
    ]  # fmt: skip


def test_links_and_markup_are_only_shown() -> None:
    text = "[here](https://h) ![pic](http://x/y.png) [bold]x[/bold] [@click=app.quit]q[/] <script>z</script>"
    contents = laid_out(text, 200)
    assert "".join(row.plain for row in contents) == (
        "here (https://h) pic (http://x/y.png) [bold]x[/bold] [@click=app.quit]q[/] <script>z</script>"
    )
    styles = [str(span.style) for row in contents for span in row.spans]
    assert not any("@" in style or "link" in style for style in styles)


def test_code_keeps_its_columns_and_unknown_languages_are_no_error() -> None:
    assert code("a\n\tb", 20) == [" a", "     b"]
    wide = code("x" * 50, 20)
    assert "".join(row.strip() for row in wide) == "x" * 50
    assert max(map(len, wide)) < 20


@given(st.text(max_size=200))
def test_any_text_can_be_laid_out(text: str) -> None:
    shown = rows(cut(visible(text.replace("\r", "")), []), 30)
    assert not any(
        ord(letter) < 32 or 127 <= ord(letter) < 160
        for row in shown
        for letter in row
        if letter != "\t"
    )


def test_deep_nesting_has_an_end() -> None:
    assert laid_out("> " * 500 + "x", 40)
    assert laid_out("".join("  " * depth + "- x\n" for depth in range(200)), 40)


def test_items_are_numbered_as_they_were_written() -> None:
    pieces = cut("1. a\n2. b\n3. c\n", [])
    assert [before.text < after.text for before, after in pairwise(pieces)] == [True, True]
    assert rows(pieces, 20) == ["1. a", "2. b", "3. c"]


@given(st.text("ab  .(", max_size=60), st.integers(8, 30))
def test_code_is_cut_between_words(text: str, width: int) -> None:
    rows = code(text, width)
    assert "".join("".join(rows).split()).replace("…", "") == "".join(text.split())
    words = text.split()
    if not text.startswith(" ") and all(len(word) <= width - 2 for word in words):
        assert [word for row in rows for word in row.replace("…", "").split()] == words


def test_a_word_that_is_longer_than_a_row_is_cut() -> None:
    assert [row.strip() for row in code("x" * 25, 12)] == ["x" * 10, "x" * 10, "x" * 5]
