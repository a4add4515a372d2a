"""Documents: read when they are asked for, by heading or key path, without what may be secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import read, splinter

from tersely.code.engine import Engine
from tersely.code.index.documents import MAX_DOCUMENT_BYTES
from tersely.code.languages.registry import DOCUMENTS, document_language_of
from tersely.code.search.inside import Inside
from tersely.foundation.errors import TerselyError

FILES = {
    "README.md": "# Shop\nIntro\n\n## Install\n```sh\n# no heading\n```\n## Usage\ntext\n",
    "app.json": '{"name": "shop", "db": {"password": "hunter2", "hosts": ["a"]}, "n": 1}\n',
    "deploy.yaml": "db:\n  host: example\n  password: |\n    hunter2\n    more\napi_key: [one, two]\n",
    "Cargo.toml": 'top = 1\n[package]\nname = "shop"\n[user]\ntoken = "hunter2"\nauthors = ["me"]\n',
    "secrets.yml": "a:\n  b: hunter2\n",
    "a.py": "def install(): ...\n",
}
KEYS = {
    "README.md": ["Shop", "Shop.Install", "Shop.Usage"],
    "app.json": ["name", "db", "db.password", "db.hosts", "n"],
    "deploy.yaml": ["db", "db.host", "db.password", "api_key"],
    "Cargo.toml": [
        "top",
        "package",
        "package.name",
        "user",
        "user.token",
        "user.authors",
    ],
    "secrets.yml": ["a", "a.b"],
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    for path, text in FILES.items():
        (tmp_path / path).write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        yield engine


def searched(engine: Engine, question: str, path: str) -> Inside:
    document = engine.document(path)
    assert document is not None
    return engine.search.find_inside(question, [document.file], frozenset(), 10, engine.symbols_of)


@pytest.mark.parametrize("path", KEYS)
def test_a_document_is_known_by_its_headings_or_key_paths(engine: Engine, path: str) -> None:
    assert [one.qualname for one in engine.symbols_of(path)[1:]] == KEYS[path]
    last = KEYS[path][-1]
    assert engine.symbol(f"{path}:{last}").id == f"{path}:{last}"
    assert len(engine.source(path)) == len(FILES[path])


def test_no_document_is_in_the_index_or_meant_by_a_name_alone(engine: Engine) -> None:
    assert [file.path for file in engine.store.files()] == ["a.py"]
    with pytest.raises(TerselyError, match="no symbol is named 'Install'"):
        engine.symbol("Install")


@pytest.mark.parametrize("path", ["app.json", "deploy.yaml", "Cargo.toml", "secrets.yml"])
def test_values_that_may_be_secret_are_shown_nowhere(engine: Engine, path: str) -> None:
    assert b"hunter2" not in engine.source(path)
    assert searched(engine, "hunter2", path).passages == ()
    assert searched(engine, KEYS[path][-1].rpartition(".")[2], path).passages


def test_other_values_are_shown(engine: Engine) -> None:
    assert b'["me"]' in engine.source("Cargo.toml")
    assert b"host: example" in engine.source("deploy.yaml")
    assert b"[***, ***]" in engine.source("deploy.yaml")


def test_what_is_large_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text("[" + "1," * (MAX_DOCUMENT_BYTES // 2) + "1]")
    with Engine.open(tmp_path) as engine:
        assert engine.document("data.json") is None


@given(st.sampled_from(sorted(KEYS)), st.integers())
def test_a_broken_document_never_fails(path: str, seed: int) -> None:
    language = document_language_of(path)
    assert language in DOCUMENTS
    read(splinter(FILES[path].encode(), seed), language)
