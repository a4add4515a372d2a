"""Artifacts through their functions: found by their hash, shown by previews that keep to their
bound, never altered.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import PREVIEW_BYTES
from tersely.relay.artifacts import artifacts, finding, reading
from tersely.relay.artifacts.artifacts import PREVIEW_HEAD_BYTES, Artifact, Origin
from tersely.relay.artifacts.preview.make import TYPES, ArtifactEnds, preview
from tersely.relay.store.store import Store
from tersely.relay.threads import threads

Patched = pytest.MonkeyPatch


def words(text: str) -> int:
    return len(text.split())


def put(
    store: Store, thread: str, content: bytes, name: str = "", kind: str = "", key: str = ""
) -> Artifact:
    return artifacts.put(
        store, thread, [content], words, key, name=name, kind=kind, origin=Origin("ann")
    )


@pytest.fixture
def thread(store: Store) -> str:
    return threads.create(store, "", "ann").thread_id


def test_an_artifact_comes_back_as_it_was_by_any_of_its_names(store: Store, thread: str) -> None:
    put_in = put(store, thread, b"# Notes\nhello\n", "notes.md")
    assert (put_in.type, put_in.mime, put_in.size_bytes) == ("markdown", "text/markdown", 14)
    for ref in (put_in.ref, put_in.ref[:6], f"cass://{put_in.ref[:8]}", f"cass://{put_in.ref}"):
        assert b"".join(artifacts.content(store, thread, ref)) == b"# Notes\nhello\n"
    assert artifacts.listed(store, thread) == [put_in]


def test_the_same_bytes_are_one_artifact_under_each_of_its_names(store: Store, thread: str) -> None:
    first, other = put(store, thread, b"tea", "a.txt"), put(store, thread, b"tea", "b.txt")
    assert (put(store, thread, b"tea", "a.txt"), put(store, thread, b"tea", "b.txt")) == (
        first,
        other,
    )
    assert put(store, thread, b"tea") == first
    assert [(one.name, one.ref) for one in artifacts.listed(store, thread)] == [
        ("a.txt", first.ref),
        ("b.txt", first.ref),
    ]
    assert [one.name for one in finding.search(store, thread, "tea", 10).results] == [
        "a.txt",
        "b.txt",
    ]
    artifacts.remove(store, thread, first.ref, "ann")
    assert artifacts.listed(store, thread) == []
    events = [event.type for event in threads.events(store, thread)]
    assert events == ["thread.created", "artifact.created", "artifact.created", "artifact.removed"]


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_what_is_no_reference_says_how_one_is_written(store: Store, thread: str) -> None:
    made = [put(store, thread, b"%d" % number) for number in range(300)]
    for ref, code in (
        ("abc", "invalid_argument"),
        ("../../etc", "invalid_argument"),
        ("0" * 64, "artifact_not_found"),
    ):
        with pytest.raises(TerselyError) as caught:
            artifacts.get(store, thread, ref)
        assert caught.value.code == code
    assert all(artifacts.get(store, thread, one.ref[:12]) == one for one in made)


def test_an_artifact_belongs_to_its_thread(store: Store, thread: str) -> None:
    other = threads.create(store, "", "bob").thread_id
    secret = put(store, other, b"secret")
    with pytest.raises(TerselyError, match="the thread has no artifact"):
        artifacts.get(store, thread, secret.ref)


def test_removal_takes_the_bytes_when_no_thread_refers_to_them(
    store: Store, thread: str, clock: object
) -> None:
    other = threads.create(store, "", "bob").thread_id
    for owner in (thread, other):
        ref = put(store, owner, b"shared").ref
    artifacts.remove(store, thread, ref, "ann")
    clock.seconds += 100  # type: ignore[attr-defined]
    assert store.sweep(store.now_ms()) == 0
    artifacts.remove(store, other, ref, "bob")
    assert store.sweep(store.now_ms()) == 1
    with pytest.raises(TerselyError, match="artifact_not_found"):
        artifacts.get(store, thread, ref)


def test_tokens_are_counted_in_both_measures(store: Store, thread: str) -> None:
    put(store, thread, b"word " * 2_000)
    told = threads.state(store, thread)["metrics"]
    assert told["tokens_avoided"] > 1_500
    assert told["tokens_estimate"] < 500


def test_artifacts_are_found_by_their_words(store: Store, thread: str) -> None:
    put(store, thread, b"tokens are validated in auth.py", "auth.md")
    put(store, thread, b"tea is served at five", "tea.md")
    (found,) = finding.search(store, thread, "where tea?", 5).results
    assert (found.name, "«tea»" in found.snippet) == ("tea.md", True)
    assert finding.search(store, thread, '"*) OR owner:', 5).results == []


def test_all_of_a_long_artifact_is_searched_in_every_thread(store: Store, thread: str) -> None:
    text = b"a line of a log\n" * 30_000 + b"the kettle boils over\n" + b"a line of a log\n" * 1_000
    assert len(text) > artifacts.SEARCHED_BYTES
    ref = put(store, thread, text, "tea.log").ref
    other = threads.create(store, "", "bob").thread_id
    assert [one.ref for one in finding.search(store, thread, "kettle boils", 5).results] == [ref]
    (found,) = finding.search(store, "", "Kettle", 5).results
    assert (found.thread_id, found.snippet) == (thread, "the «kettle» boils over")
    assert finding.search(store, other, "kettle", 5).results == []
    assert finding.search(store, "", "kettle samovar", 5).results == []


def test_a_word_is_found_wherever_it_stands_in_a_long_line(store: Store, thread: str) -> None:
    text = "a line of a log, " * 40_000 + "the Müller kettle, " + "a line of a log, " * 40_000
    ref = put(store, thread, text.encode(), "tea.json").ref
    put(store, thread, b"a muller of paint", "paint.md")
    (found,) = finding.search(store, "", "muller KETTLE", 5).results
    assert (found.ref, "the «Müller» «kettle», a" in found.snippet) == (ref, True)
    (line,) = reading.matching(store, ref, ["kettle"])
    assert line.number == 1
    assert len(line.text) <= reading.MAX_READ_LINE_CHARACTERS


def test_an_artifact_that_cannot_be_read_is_said_and_hides_no_other(
    store: Store, thread: str, monkeypatch: Patched
) -> None:
    padding = b"a line of a log\n" * 20_000
    gone, whole = put(store, thread, padding + b"first"), put(store, thread, padding + b"kettle")
    read = Store.blob
    unknown = "0" * 64  # as one that is removed between two steps of a search
    monkeypatch.setattr(
        Store, "blob", lambda self, digest: read(self, unknown if digest == gone.digest else digest)
    )
    found = finding.search(store, thread, "kettle", 5)
    assert ([one.ref for one in found.results], found.unread) == ([whole.ref], 1)


def test_what_was_not_searched_is_counted(store: Store, thread: str, monkeypatch: Patched) -> None:
    for number in range(3):
        put(store, thread, b"a line of a log\n" * 20_000 + b"%d kettle" % number)
    monkeypatch.setattr(finding, "MAX_LONG_ARTIFACTS", 1)
    found = finding.search(store, thread, "kettle", 5)
    assert (len(found.results), found.unread) == (1, 2)


def test_no_word_is_cut_where_a_text_is_read_in_parts(
    store: Store, thread: str, monkeypatch: Patched
) -> None:
    monkeypatch.setattr(reading, "MAX_READ_LINE_CHARACTERS", 50)
    monkeypatch.setattr(reading, "MAX_WORD_CHARACTERS", 50)
    ref = put(store, thread, b"read below in parts of any size").ref

    @given(
        st.lists(st.sampled_from(["tea", "Ärger", "_x", " ", "\n", ", ", "y" * 45]), max_size=60),
        st.integers(5, 60),
    )
    def check(parts: list[str], size: int) -> None:
        encoded = "".join(parts).encode()
        chunks = [encoded[at : at + size] for at in range(0, len(encoded), size)]
        monkeypatch.setattr(Store, "blob", lambda *_: iter(chunks))
        short = [word for word in re.findall(r"\w+", "".join(parts)) if len(word) < 50]
        assert bool(reading.first_mention(store, ref, short)) == bool(short)
        for word in set(short):
            assert reading.matching(store, ref, [word])

    check()


def test_lines_are_those_of_the_text(store: Store, thread: str, monkeypatch: Patched) -> None:
    monkeypatch.setattr(reading, "MAX_READ_LINE_CHARACTERS", 50)

    @settings(max_examples=examples())
    @given(st.text(st.sampled_from("ab\nü"), max_size=300), st.integers(1, 12), st.integers(1, 12))
    def check(text: str, first: int, count: int) -> None:
        ref = put(store, thread, text.encode()).ref
        whole = text.removesuffix("\n").split("\n") if text else []
        lines = [line if len(line) <= 50 else line[:49] + "…" for line in whole]
        last = first + count - 1
        assert [one.text for one in reading.between(store, ref, first, last)] == lines[
            first - 1 : last
        ]
        assert {one.number for one in reading.matching(store, ref, ["A"])} == {
            number for number, line in enumerate(whole, 1) if "a" in line
        }

    check()


def test_a_line_without_an_end_takes_no_more_memory_than_its_bound(
    store: Store, thread: str
) -> None:
    ref = put(store, thread, b"x" * 3_000_000).ref
    ((number, text),) = reading.between(store, ref, 1, 5)
    assert (number, len(text)) == (1, reading.MAX_READ_LINE_CHARACTERS)


@pytest.mark.parametrize("opening", ["sqlite"], indirect=True)
def test_a_reference_is_as_short_as_it_is_unique(store: Store, thread: str) -> None:
    digests = [put(store, thread, str(number).encode()).digest for number in range(200)]
    for digest in digests:
        ref = artifacts.short(store, digest)
        assert artifacts.resolve(store, ref) == digest
        assert len(ref) >= len("cass://") + artifacts.MIN_REF_CHARACTERS


@given(st.lists(st.sampled_from(["short", "x" * 100, "ERROR: y", "\x1b" * 40, ""]), max_size=60))
def test_a_preview_counts_what_it_leaves_out(rows: list[str]) -> None:
    content = ArtifactEnds("\n".join(rows).encode(), b"", len("\n".join(rows)))
    for kind in ("text", "log"):
        found = re.search(r"⋯ (-?[0-9,]+) more lines?", preview(content, kind).text)
        assert found is None or 0 < int(found[1].replace(",", "")) <= len(rows)


@given(
    st.binary(max_size=5_000) | st.text(max_size=5_000).map(str.encode),
    st.sampled_from(TYPES),
    st.booleans(),
)
def test_previews_keep_to_their_bound_and_steer_nothing(
    content: bytes, kind: str, is_long: bool
) -> None:
    tail = content if is_long else b""
    shown = preview(ArtifactEnds(content, tail, len(content) + len(tail)), kind)
    assert len(shown.text.encode()) <= PREVIEW_BYTES
    assert "\x1b" not in shown.text
    assert "\u202e" not in shown.text
    if not shown.truncated and kind != "binary":
        assert shown.text.count("\n") == content.count(b"\n")


def test_numbers_and_truth_values_of_json_are_shown_as_they_are_written() -> None:
    values = ["0", "1", "0.0", "1.0", "-0.0", "true", "false", "null"]
    pad = "x" * PREVIEW_BYTES
    members = ",".join(f'"{value}":{value}' for value in values)
    content = f'{{"pad":"{pad}","listed":[{",".join(values)}],{members}}}'.encode()
    shown = preview(ArtifactEnds(content, b"", len(content)), "json").text
    assert f"  listed: [{', '.join(values)}]\n" in shown
    assert all(f"  {value}: {value}\n" in shown for value in values)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_of_any_shape_has_a_preview(value: object) -> None:
    content = json.dumps({"pad": "x" * PREVIEW_BYTES, "value": value}).encode()
    assert '"xxx' in preview(ArtifactEnds(content, b"", len(content)), "json").text


def test_a_long_log_shows_its_complaints_and_its_end() -> None:
    lines = [f"line {number}" for number in range(5_000)]
    lines[2_500] = "ValueError: no such tea"
    shown = preview(ArtifactEnds("\n".join(lines).encode(), b"", 1), "log").text
    assert shown.startswith("line 0\n")
    assert "ValueError: no such tea" in shown
    assert shown.endswith("line 4999")


def test_markdown_shows_its_outline() -> None:
    text = "# One\n" + "words\n" * 600 + "## Two\n```\n# no heading\n```\n"
    shown = preview(ArtifactEnds(text.encode(), b"", len(text)), "markdown").text
    assert shown.startswith("1: # One\n602: ## Two\n⋯")
    assert "no heading" not in shown


def test_what_is_no_text_is_described() -> None:
    assert (
        preview(ArtifactEnds(b"\x89PNG\r\n\x1a\n", b"", 8), "text").text == "[PNG image, 8 bytes]"
    )
    assert preview(ArtifactEnds(b"a\0b", b"", 3), "text").text == "[binary data, 3 bytes]"


def test_a_large_artifact_is_not_held_in_memory(store: Store, thread: str, tmp_path: Path) -> None:
    chunk = b"0123456789abcdef" * 4_096
    made = artifacts.put(
        store,
        thread,
        (chunk for _ in range(160)),
        words,
        name="big.bin",
        kind="text",
        origin=Origin("ann"),
    )
    assert made.size_bytes == 160 * len(chunk) > PREVIEW_HEAD_BYTES
    assert sum(map(len, artifacts.content(store, thread, made.ref))) == made.size_bytes
    assert made.preview.truncated
