"""The files beside the index: updated equals rebuilt, others are not disturbed, damage is mended."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.code.search.repositories import FILES, found, ids, lay
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.search.searcher import Filters, RankedHits
from tersely.code.search.storage import segment_store
from tersely.foundation.storage.private import index_places

QUESTIONS = (
    "where are tokens validated",
    "send mail",
    "alpha beta",
    "gamma of delta",
    "fix the wrong alpha in beta",
)
WORDS = ("alpha", "beta", "gamma", "delta", "token", "send", "value", "parse")

FUNCTIONS = st.lists(
    st.tuples(st.sampled_from(WORDS), st.lists(st.sampled_from(WORDS), max_size=6)), max_size=4
)
TEXTS = FUNCTIONS.map(
    lambda functions: "\n".join(
        f'def {name}_{number}(x):\n    """{" ".join(words)}."""\n    return {"".join(words) or "x"}(x)\n'
        for number, (name, words) in enumerate(functions)
    )
)
STATES = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "pkg/c.py", "pkg/d.py", "tests/test_e.py"]), TEXTS
)


def answers(root: Path) -> list[RankedHits]:
    with Engine.open(root) as engine:
        engine.refresh()
        return [engine.search.find(question, Filters(), 10) for question in QUESTIONS]


def beside(root: Path) -> Path:
    """Where the index lies."""
    return Path(index_places(os.path.realpath(root)).in_repository)


def search_files(root: Path) -> set[str]:
    return set(os.listdir(beside(root) / "search"))


@settings(max_examples=examples())
@given(st.lists(STATES, min_size=1, max_size=5))
def test_updated_answers_are_those_of_a_rebuilt_index(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str]]
) -> None:
    """To the last bit: hits hold their shares and reasons."""
    root = tmp_path_factory.mktemp("updated")
    for state in states:
        lay(root, state)
        found(root, "alpha")
    updated = answers(root)
    shutil.rmtree(root / ".tersely")
    assert answers(root) == updated


def test_many_small_changes_leave_few_files(shop: Path) -> None:
    for number in range(3 * segment_store.MAX_SMALL_SEGMENTS):
        (shop / f"f{number}.py").write_text(f"def alpha_{number}(): pass\n")
        found(shop, "alpha")
    assert len(search_files(shop)) <= segment_store.MAX_SMALL_SEGMENTS + 3
    updated = answers(shop)
    shutil.rmtree(beside(shop) / "search")
    assert answers(shop) == updated


def test_only_changed_files_are_read(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(shop, "token")
    read: list[str] = []
    build = segment_store.build_segment

    def noting(files, embed):  # type: ignore[no-untyped-def]
        read.extend(file.path for file in files)
        return build(files, embed)

    monkeypatch.setattr(segment_store, "build_segment", noting)
    found(shop, "token")
    assert read == []
    (shop / "shop" / "mail.py").write_text("def deliver(letter): pass\n")
    assert ids(found(shop, "deliver a letter"))[0] == "shop/mail.py:deliver"
    assert read == ["shop/mail.py"]


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "foreign": lambda path: path.write_bytes(b"PK\x03\x04 something else " * 100),
    "altered": lambda path: path.write_bytes(path.read_bytes()[:-200] + bytes(200)),
    "a longer header": lambda path: path.write_bytes(
        path.read_bytes()[:16] + b"\xff" * 8 + path.read_bytes()[24:]
    ),
    "gone": lambda path: path.unlink(),
    "a link": lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("which", ["catalogue", "segment"])
def test_damage_is_mended_without_a_word(shop: Path, damage: str, which: str) -> None:
    before = answers(shop)
    directory = beside(shop) / "search"
    names = sorted(search_files(shop) - {"catalogue", "lock"})
    DAMAGE[damage](directory / ("catalogue" if which == "catalogue" else names[0]))
    assert answers(shop) == before
    assert answers(shop) == before


def test_a_catalogue_of_other_sources_is_not_used(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = answers(shop)
    old = search_files(shop)
    monkeypatch.setattr(segment_store, "sources_fingerprint", lambda: "another version")
    assert answers(shop) == before
    assert search_files(shop) & old == {"catalogue", "lock"}


def test_nobody_waits_for_a_writer(shop: Path) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
    directory = beside(shop) / "search"
    directory.mkdir()
    with (directory / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert (
            ids(found(shop, "where are tokens validated"))[0]
            == "shop/tokens.py:TokenStore.validate"
        )
        assert search_files(shop) == {"lock"}
    before = answers(shop)
    assert "catalogue" in search_files(shop)
    assert answers(shop) == before


def test_a_link_in_place_of_the_directory_is_not_followed(
    shop: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    beside(shop).parent.mkdir()
    beside(shop).mkdir(0o700)
    (beside(shop) / "search").symlink_to(elsewhere)
    assert found(shop, "send the receipt").hits
    assert list(elsewhere.iterdir()) == []


def test_where_nothing_can_be_written_search_works_in_memory(shop: Path) -> None:
    (shop / ".tersely").write_text("in the way")
    assert ids(found(shop, "where are tokens validated"))[0] == "shop/tokens.py:TokenStore.validate"


def test_one_process_goes_on_while_another_updates(shop: Path) -> None:
    with Engine.open(shop) as engine:
        engine.refresh()
        before = engine.search.find("where are tokens validated")
        lay(shop, {**FILES, "new.py": "def validate_tokens_here(): pass\n"})
        found(shop, "token")
        assert engine.search.find("where are tokens validated").hits[0].symbol.path != ""
        engine.refresh()
        assert (
            engine.search.find("validate tokens here").hits[0].symbol.id
            == "new.py:validate_tokens_here"
        )
        assert before.hits
