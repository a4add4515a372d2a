"""Tags of symbols, differences of texts, and what sessions keep."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.symbols import Kind, Symbol
from tersely.code.syntax.extract import extract
from tersely.context.pack.delta import sessions as sessions_module
from tersely.context.pack.delta.deltas import diff_of
from tersely.context.pack.delta.etag import etag_of, normalised
from tersely.context.pack.delta.older import stands_in
from tersely.context.pack.delta.sessions import SentTexts, Sessions

LINES = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=6),
    max_size=12,
)
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
BODY = '''def brew(water, grams=3):
    """Make coffee.

    Slowly.
    """
    if water:

        return [water, "a  b"] * grams
    return None  # don't
'''


def applied(text: str, diff: str) -> str:
    """The text with the hunks of a diff put in, as `patch` does."""
    old = text.removesuffix("\n").split("\n") if text else []
    new: list[str] = []
    at = 0
    for line in diff.removesuffix("\n").split("\n") if diff else []:
        if found := HUNK.fullmatch(line):
            first, size = int(found[1]), int(found[2] or 1)
            start = first - 1 if size else first
            new += old[at:start]
            at = start
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            new += [line[1:]] if line[0] == " " else []
            at += 1
    new += old[at:]
    return "".join(f"{line}\n" for line in new)


def tag(source: str, name: str = "brew", path: str = "a.py") -> str:
    found = [symbol for symbol in symbols_in(path, source.encode()) if symbol.qualname == name]
    return etag_of(normalised(found[0], source.encode())) if found else ""


def symbols_in(path: str, source: bytes) -> list[Symbol]:
    language = language_of_path(path)
    assert language is not None
    found = extract(source, LANGUAGES[language]).definitions
    return [
        Symbol(f"{path}:{qualname}", path, language, Kind(kind), name, qualname, "", *place)
        for kind, name, qualname, _, *place, _ in found
    ]


@given(LINES, LINES)
def test_applying_a_diff_gives_the_new_text(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in lines) for lines in (old, new))
    diff = diff_of(before, after)
    assert applied(before, diff) == after
    assert bool(diff) == (before != after)


@given(LINES, LINES)
def test_edits_around_a_symbol_keep_its_tag(before: list[str], after: list[str]) -> None:
    # Carriage returns and form feeds end a comment, and Python has no sources with a zero in them.
    unfit = str.maketrans("", "", "\r\x0c\0")
    comments = [
        "".join(f"# {line.translate(unfit)}\n" for line in lines) for lines in (before, after)
    ]
    assert tag(f"{comments[0]}\n{BODY}\n\n{comments[1]}") == tag(BODY)


def test_places_keep_a_tag() -> None:
    indented = "".join(f"    {line}\n" if line else "\n" for line in BODY.splitlines())
    assert tag(f"if True:\n{indented}") == tag(BODY)
    assert tag(f"class Pot:\n{indented}", "Pot.brew") == tag(BODY)
    assert tag(BODY.replace("\n", "\r\n")) == tag("\ufeff" + BODY) == tag(BODY)
    assert tag(BODY.replace("\n\n        return", "\n   \n        return")) == tag(BODY)


@given(st.integers(1, len(BODY) - 2), st.sampled_from(list("xX0_ ")))
def test_every_other_character_counts(at: int, put: str) -> None:
    changed = BODY[:at] + put + BODY[at:]
    line = changed[: at + 1].rpartition("\n")[2] + changed[at + 1 :].partition("\n")[0]
    assert not line.strip() or tag(changed) != tag(BODY)


def test_indentation_inside_text_is_part_of_a_value() -> None:
    def pot(inner: str) -> str:
        return f'class Pot:\n    def brew(self):\n        return """\n{inner}steam\n"""\n'

    assert len({tag(pot(" " * size), "Pot.brew") for size in range(9)}) == 9
    ruby = "class Pot\n  def brew\n    <<EOS\n{}steam\nEOS\n  end\nend\n"
    assert len({tag(ruby.format(" " * size), "Pot.brew", "a.rb") for size in range(5)}) == 5


def test_a_session_keeps_what_was_sent_last(tmp_path: Path) -> None:
    with Sessions.open(tmp_path) as sessions:
        sessions.record(
            "a", {"x": SentTexts("1", "def x", "", "old"), "y": SentTexts("2", "def y")}, []
        )
        sessions.record("a", {"x": SentTexts("3", "def x", "", "new\ud800")}, ["y"])
        sessions.record("b", {"x": SentTexts("4")}, [])
    with Sessions.open(tmp_path) as sessions:
        assert sessions.shown("a") == {
            "x": SentTexts("3", "def x", "", "new\ud800"),
            "y": SentTexts("2", "def y"),
        }
        sessions.reset("a")
        assert sessions.shown("a") == {}
        assert sessions.shown("b") == {"x": SentTexts("4")}


def test_what_is_old_or_too_much_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(sessions_module, "wall_seconds", lambda: now[0])
    monkeypatch.setattr(sessions_module, "MAX_SESSIONS", 2)
    monkeypatch.setattr(sessions_module, "MAX_SESSION_BYTES", 40)
    with Sessions.open(tmp_path) as sessions:
        for name in ("a", "b", "c"):
            now[0] += 1
            sessions.record(name, {"x": SentTexts("1", "s" * 20)}, [])
        assert [bool(sessions.shown(name)) for name in ("a", "b", "c")] == [False, True, True]
        sessions.record("c", {"y": SentTexts("1", "s" * 10)}, [])
        sessions.record("c", {"z": SentTexts("1", "s" * 10)}, ["x"])
        assert set(sessions.shown("c")) == {"x", "z"}  # y was spoken of longest ago
        now[0] += sessions_module.SESSION_SECONDS + 1
        assert sessions.shown("c") == {}


def test_versions_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "MAX_VERSIONS_BYTES", 60)
    monkeypatch.setattr(sessions_module, "MAX_VERSION_BYTES", 50)
    with Sessions.open(tmp_path) as sessions:
        for number in range(4):
            sessions.keep_version("a.py:f", str(number), f"text {number} of the function")
        sessions.keep_version("a.py:f", "long", "x" * 51)
        kept = [sessions.version("a.py:f", etag) for etag in ("0", "1", "2", "3", "long")]
    assert kept[3] == "text 3 of the function"
    assert kept[0] is None
    assert kept[4] is None


def test_damage_costs_what_was_remembered_and_no_more(tmp_path: Path) -> None:
    (tmp_path / sessions_module.SESSIONS_FILE).write_bytes(b"no database" * 1000)
    with Sessions.open(tmp_path) as sessions:
        assert sessions.shown("a") == {}
        sessions.record("a", {"x": SentTexts("1", "s")}, [])
        assert set(sessions.shown("a")) == {"x"}


@given(
    st.text(alphabet="ab \n", min_size=1),
    st.text(alphabet="ab \n"),
    st.text(alphabet="ab \n"),
    st.integers(0, 4),
)
def test_lines_stand_in_a_text_that_was_made_of_them(
    inner: str, before: str, after: str, indent: int
) -> None:
    lines = inner.splitlines()
    moved = "\n".join(" " * indent + line if line else line for line in lines)
    found = stands_in(inner, f"{before}\n{moved}\n{after}\n")
    assert found or len(lines) < 2 or not lines[0]
    assert not stands_in(f"{inner}\nc\nc\n", f"{before}\n{moved}\n{after}\n")
