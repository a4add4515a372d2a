"""What a model is shown: bounded, harmless, and nothing of it lost."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.agent.tools.box import call
from tests.depth import examples

from tersely.agent.tools.checkpoint_store import CheckpointStore
from tersely.agent.tools.observation import FOLDED_CHARACTERS, bounded, folded, plain
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import OBSERVATION_TOKENS
from tersely.foundation.text.escape import visible
from tersely.foundation.text.tokens import Tokenizer

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=80),
        st.sampled_from(["x" * 5_000, "😀" * 500, "\x1b[31mred", "", "word " * 30]),
    ),
    max_size=80,
).map("\n".join)


@settings(max_examples=examples(60))
@given(text=TEXTS, most=st.integers(80, 500))
def test_any_text_is_bounded_harmless_and_whole_behind_its_reference(text: str, most: int) -> None:
    tokenizer = Tokenizer()
    with tempfile.TemporaryDirectory() as folder:
        kept = CheckpointStore.open(Path(folder), "session")
        shown = bounded(text, kept, tokenizer, most_tokens=most)
        assert tokenizer.count(shown.text) <= most
        assert visible(shown.text) == shown.text
        whole = visible(text).rstrip("\n")
        assert (kept.artifact(shown.ref) if shown.ref else shown.text) == whole
        kept.close()


def test_the_beginning_and_the_end_are_shown(tmp_path: Path) -> None:
    kept = CheckpointStore.open(tmp_path, "session")
    shown = bounded("\n".join(map(str, range(1, 1_001))), kept, Tokenizer(), most_tokens=100)
    first, _, last = shown.text.partition(" left out: read ref ")
    assert first.startswith("1\n2\n3\n")
    assert last.endswith("\n999\n1000")
    kept.close()


def test_artifacts_are_kept_until_their_session_is_forgotten(tmp_path: Path) -> None:
    kept = CheckpointStore.open(tmp_path, "one")
    ref = kept.add_artifact("text")
    kept.close()
    for session in ("one", "forked"):
        again = CheckpointStore.open(tmp_path, session)
        assert again.artifact(ref) == "text"
        again.close()
    again = CheckpointStore.open(tmp_path, "one")
    again.forget()
    with pytest.raises(TerselyError, match="artifact_not_found"):
        again.artifact(ref)
    again.close()


@given(st.text(alphabet="\x1b\x9b]P[0m;\x07\\\r\nab", max_size=60))
def test_no_sequence_survives(text: str) -> None:
    assert "\x1b" not in visible(plain(text))
    assert "\r" not in plain(text)


@given(st.lists(st.text(alphabet="ab\U0001f600", max_size=1_500), max_size=5).map("\n".join))
def test_long_lines_are_folded_and_nothing_of_them_is_lost(text: str) -> None:
    lines = folded(text)
    assert max(map(len, lines)) <= FOLDED_CHARACTERS + 1
    joined = "".join(line[:-1] if line.endswith("…") else f"{line}\n" for line in lines)
    assert joined == f"{text}\n"


def test_one_line_without_end_is_read_on_to_its_end(root: Path, toolbox: Toolbox) -> None:
    whole = "".join(f"{number:07}," for number in range(40_000))
    (root / "data.json").write_text(whole)
    for told in (
        call(toolbox, "bash", command="cat data.json"),
        call(toolbox, "read", path="data.json"),
    ):
        assert toolbox.tokenizer.count(told.text) <= OBSERVATION_TOKENS
        assert told.text.removeprefix("1|").startswith("0000000,0000001,")
        ref = told.text.partition("read ref ")[2].split()[0]
        count = len(folded(whole))
        assert "0039999," in call(toolbox, "read", ref=ref, start=count, end=count).text
    assert call(toolbox, "bash", command="cat data.json").text.endswith("0039999,")
