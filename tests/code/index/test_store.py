"""Asking an index: lookups as people write them, and rows as the graph wants them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.index.dumped import dumped

from tersely.code.index.content import Reason, Skipped
from tersely.code.index.qualified_names import dotted_name
from tersely.code.index.refresh import refresh
from tersely.code.index.storage.store import MAX_KEPT_INDEXES, Store
from tersely.code.symbols import Kind
from tersely.foundation.storage.private import index_places
from tersely.foundation.storage.roots import is_repository

Plant = Callable[[dict[str, str | bytes]], None]

AUTH = """\
import os
from .models import User as Account

class Session:
    limit = 3
    def validate(self, user): return check(user)
    def close(self): ...
    class Session:
        def validate(self): ...

def validate(user):
    def inner(): ...
    return Session().validate(user)

def again(): ...
def again(): ...
"""


@pytest.fixture
def store(root: Path, plant: Plant) -> Iterator[Store]:
    plant({
        "src/auth.py": AUTH,
        "src/models.py": "class User:\n    def validate_all(self): ...\n",
        "tests/auth.py": "from src.auth import Session\ndef test_validate(): Session().validate(None)\n",
        "we:ird.py": "def odd(): ...\n",
        "binary.py": b"\0",
    })  # fmt: skip
    with Store.open(root) as opened:
        refresh(root, opened)
        yield opened


def found(store: Store, query: str, *kinds: Kind) -> list[str]:
    return [symbol.id for symbol in store.find(query, kinds)]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("src/auth.py:Session.validate", ["src/auth.py:Session.validate"]),
        ("auth.py:Session.close", ["src/auth.py:Session.close"]),
        ("Session.validate", ["src/auth.py:Session.validate", "src/auth.py:Session.Session.validate"]),
        ("Session::close", ["src/auth.py:Session.close"]),
        ("Session.Session.validate", ["src/auth.py:Session.Session.validate"]),
        ("auth.py:validate", ["src/auth.py:Session.validate", "src/auth.py:Session.Session.validate",
                              "src/auth.py:validate"]),
        ("src/auth.py:validate", ["src/auth.py:validate"]),  # an id is never ambiguous
        ("date", []),
        ("Validate", []),
        ("ession.validate", []),
        ("th.py:validate", []),
        ("again", ["src/auth.py:again#2", "src/auth.py:again"]),
        ("again#2", ["src/auth.py:again#2"]),
        ("src/auth.py:again", ["src/auth.py:again"]),
        ("src/auth.py:again#2", ["src/auth.py:again#2"]),
        ("src/auth.py:again#3", []),
        ("auth.py", ["src/auth.py", "tests/auth.py"]),
        ("src/auth.py", ["src/auth.py"]),
        ("auth", ["src/auth.py", "tests/auth.py"]),
        ("src/auth.py:", ["src/auth.py"]),
        ("we:ird.py:odd", ["we:ird.py:odd"]),
        ("we:ird.py", ["we:ird.py"]),
        ("", []),
        (":", []),
        ("#2", []),
    ],
)  # fmt: skip
def test_lookups(store: Store, query: str, ids: list[str]) -> None:
    assert found(store, query) == ids


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("valid*", ["src/auth.py:Session.validate", "src/auth.py:Session.Session.validate", "src/auth.py:validate",
                    "src/models.py:User.validate_all"]),
        ("User.*", ["src/models.py:User.validate_all"]),
        ("S*.close", ["src/auth.py:Session.close"]),
        ("*_all", ["src/models.py:User.validate_all"]),
        ("?gain", ["src/auth.py:again#2", "src/auth.py:again"]),
        ("[!v]lose", ["src/auth.py:Session.close"]),
        ("*/auth.py:test_*", ["tests/auth.py:test_validate"]),
        ("mod*.py:*", ["src/models.py:User", "src/models.py:User.validate_all"]),
        ("*/*.py", ["src/auth.py", "src/models.py", "tests/auth.py"]),
        ("nothing*", []),
    ],
)  # fmt: skip
def test_globs(store: Store, query: str, ids: list[str]) -> None:
    assert found(store, query) == ids


SPELLED: dict[str, str | bytes] = {
    "src/click/core.py": "class Command:\n    def invoke(self): ...\n",
    "src/click/decorators.py": "def command(): ...\n",
    "src/click/__init__.py": "from .decorators import command\n",
    "tests/commands.py": "def command(): ...\n",
    "web/context.go": "package gin\ntype Context struct{}\nfunc (c *Context) JSON(code int) {}\nfunc New() {}\n",
    "web/render/json.go": "package render\ntype JSON struct{}\nfunc New() {}\n",
    "php/Installer.php": "<?php\nnamespace Acme\\Build;\nclass Installer { public function run() {} }\n",
    "php/Installer/Plugin.php": "<?php\nnamespace Acme\\Build\\Installer;\nclass Plugin {}\n",
    "lib/cli.rb": "module Cop\n  class CLI\n    def run; end\n  end\nend\n",
    "java/org/acme/Gson.java": "package org.acme;\nclass Gson { String toJson(Object value) { return null; } }\n",
    "rust/src/ops/mod.rs": "pub struct Job;\nimpl Job {\n    pub fn run(&self) {}\n}\n",
}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("click.command", ["src/click/decorators.py:command"]),
        ("click.core.Command", ["src/click/core.py:Command"]),
        ("click.Command.invoke()", ["src/click/core.py:Command.invoke"]),
        ("Command#invoke", ["src/click/core.py:Command.invoke"]),
        ("core.py:Command#invoke", ["src/click/core.py:Command.invoke"]),
        ("gin.New", ["web/context.go:New"]),
        ("example.org/acme/gin.New", ["web/context.go:New"]),
        ("(*Context).JSON", ["web/context.go:Context.JSON"]),
        ("(*gin.Context).JSON", ["web/context.go:Context.JSON"]),
        ("web/context.go:(*Context).JSON", ["web/context.go:Context.JSON"]),
        ("render.JSON", ["web/render/json.go:JSON"]),
        # a class goes before a namespace
        ("Acme\\Build\\Installer", ["php/Installer.php:Installer"]),
        ("\\Acme\\Build\\Installer::run()", ["php/Installer.php:Installer.run"]),
        ("Installer->run", ["php/Installer.php:Installer.run"]),
        ("Cop::CLI#run", ["lib/cli.rb:Cop.CLI.run"]),
        ("org.acme.Gson#toJson(Object)", ["java/org/acme/Gson.java:Gson.toJson"]),
        ("crate::ops::Job::run", ["rust/src/ops/mod.rs:Job.run"]),
        ("<Job as Task>::run", ["rust/src/ops/mod.rs:Job.run"]),
        ("Job::<T>::run", ["rust/src/ops/mod.rs:Job.run"]),
        ("os.path.command", []),
        ("click.invoke", []),
        ("ick.command", []),
        ("nothing.command", []),
    ],
)
def test_names_as_languages_write_them(
    root: Path, plant: Plant, query: str, ids: list[str]
) -> None:
    plant(SPELLED)
    with Store.open(root) as opened:
        refresh(root, opened)
        assert found(opened, query) == ids


@given(parts=st.lists(st.from_regex(r"[A-Za-z_]\w*", fullmatch=True), min_size=1, max_size=4))
def test_a_dotted_name_is_what_it_is(parts: list[str]) -> None:
    name = ".".join(parts)
    assert dotted_name(name) == name or parts[0] == "crate"
    assert dotted_name("::".join(parts)) == dotted_name(name) == dotted_name(f"{name}()")


def test_kinds_and_limit(store: Store) -> None:
    assert found(store, "validate", Kind.FUNCTION) == ["src/auth.py:validate"]
    assert found(store, "auth*", Kind.MODULE) == ["src/auth.py", "tests/auth.py"]
    assert found(store, "src/auth.py:validate", Kind.CLASS) == []
    assert [symbol.id for symbol in store.find("*", limit=2)] == [
        "src/auth.py:Session",
        "src/auth.py:Session.limit",
    ]


def test_a_symbol_that_is_named_like_a_pattern(root: Path, store: Store, plant: Plant) -> None:
    plant({"star[1].py": "def in_brackets(): ...\n"})
    refresh(root, store)
    assert found(store, "star[1].py:in_brackets") == ["star[1].py:in_brackets"]
    assert found(store, "star[1].py") == ["star[1].py"]


def test_suggestions(store: Store) -> None:
    assert store.suggestions("Sesion.valdate", 2) == ["validate"]
    assert store.suggestions("SESSION", 1) == ["Session"]
    assert store.suggestions("", 3) == []


def test_symbols_carry_everything(store: Store) -> None:
    symbol = store.symbol("src/auth.py:Session.validate")
    assert symbol is not None
    assert (symbol.kind, symbol.name, symbol.qualname, symbol.parent) == (
        Kind.METHOD, "validate", "Session.validate", "src/auth.py:Session",
    )  # fmt: skip
    assert (symbol.start_line, symbol.end_line, symbol.language) == (6, 6, "python")
    assert (
        AUTH.encode()[symbol.start_byte : symbol.end_byte]
        == b"def validate(self, user): return check(user)"
    )
    module = store.symbol("src/auth.py")
    assert module is not None
    assert (module.kind, module.name, module.qualname, module.parent) == (
        Kind.MODULE,
        "auth",
        "",
        "",
    )
    assert store.symbol("src/auth.py:Session").parent == "src/auth.py"  # type: ignore[union-attr]
    assert store.symbol("nothing.py") is None


def test_symbols_by_file_and_name(store: Store) -> None:
    file = store.file("src/auth.py")
    assert file is not None
    facts = store.facts(file.id)
    symbols = store.symbols_of("src/auth.py")
    assert [symbol.name_line for symbol in symbols] == [
        definition.name_line for definition in facts.definitions
    ]
    assert [symbol.id for symbol in store.symbols_named("validate_all")] == [
        "src/models.py:User.validate_all"
    ]
    assert [symbol.id for symbol in store.symbols()][:2] == ["src/auth.py", "src/auth.py:Session"]
    assert store.file("nothing.py") is None
    with pytest.raises(KeyError):
        store.facts(10_000)


def test_imports_and_mentions(store: Store) -> None:
    assert [(item.module, item.name, item.alias, item.line) for item in store.imports("src/auth.py")] == [
        ("os", "", "os", 1), (".models", "User", "Account", 2),
    ]  # fmt: skip
    found = [(path, item.line) for path, item in store.every_import() if item.module == "src.auth"]
    assert found == [("tests/auth.py", 1)]
    paths = {file.id: file.path for file in store.files()}
    assert {paths[file_id] for file_id in store.files_mentioning("validate")} == {
        "src/auth.py",
        "tests/auth.py",
    }
    assert store.files_mentioning("nobody") == []
    behind = dict(store.mentions("valid"))
    assert behind["ate"] == store.files_mentioning("validate")
    assert behind.keys() < {name.removeprefix("valid") for name, _ in store.mentions()}


def test_counts_and_report(store: Store) -> None:
    counts = store.counts()
    assert counts["files"] == {"python": 4}
    assert counts["symbols"]["module"] == 4
    assert counts["skipped"] == {"binary": 1}
    assert store.skipped() == [Skipped("binary.py", Reason.BINARY)]
    assert store.why_skipped("binary.py") == Reason.BINARY
    assert store.why_skipped("src/auth.py") is None


def test_lookups_use_indexes(store: Store) -> None:
    """The plans that keep lookups below a millisecond among tens of thousands of symbols."""
    for condition in (
        "s.name in ('a', 'b')",
        "s.owner = 'a' and s.name glob 'b*'",
        "s.name between 'a' and 'b'",
    ):
        sql = f"explain query plan select 1 from symbol s where {condition}"
        assert "INDEX symbol_" in store._database.row(sql)[3]  # type: ignore[index]


class TestOpening:
    def test_the_directory_keeps_itself_out_of_version_control(self, root: Path) -> None:
        Store.open(root).close()
        assert (root / ".tersely" / ".gitignore").read_text() == "*\n"
        (root / ".tersely" / ".gitignore").write_text("# mine\n")
        Store.open(root).close()
        assert (root / ".tersely" / ".gitignore").read_text() == "# mine\n"

    @pytest.mark.parametrize("odd", ["file", "link"])
    def test_what_is_no_directory_of_ours_is_left_and_the_index_lies_elsewhere(
        self, root: Path, plant: Plant, odd: str
    ) -> None:
        plant({"../outside/index.db": "precious", "a.py": "def f(): ...\n"})
        if odd == "link":
            (root / ".tersely").symlink_to("../outside")
        else:
            (root / ".tersely").touch()
        for added in (1, 0):
            with Store.open(root) as store:
                assert (refresh(root, store).added, store.notices) == (added, ())
                assert found(store, "f") == ["a.py:f"]
        assert [path.name for path in (root.parent / "outside").iterdir()] == ["index.db"]
        assert (root.parent / "outside/index.db").read_text() == "precious"

    def test_every_reader_of_a_repository_keeps_an_index(
        self, root: Path, plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """As in a container, with sudo, or in a sandbox: more of them than a repository keeps."""
        plant({"a.py": "def f(): ...\n"})
        homes = [tmp_path / str(number) for number in range(MAX_KEPT_INDEXES + 2)]
        for added in (1, 0):
            for home in homes:
                monkeypatch.setenv("TERSELY_HOME", str(home))
                with Store.open(root) as store:
                    report = refresh(root, store)
                    assert (report.added, report.notices, report.news) == (added, (), ())
        assert len(list((root / ".tersely").glob("*/index.db"))) == 1
        assert [len(list(home.glob("indexes/*/index.db"))) for home in homes] == [0, 1, 1, 1, 1]

    def test_an_index_directory_of_another_user_is_left_to_him(
        self, root: Path, plant: Plant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if os.geteuid() != 0:
            pytest.skip("only the superuser can give a directory away")
        plant({"a.py": "def f(): ...\n"})
        (root / ".tersely").mkdir()
        os.chown(root / ".tersely", 12_345, 12_345)
        monkeypatch.setenv("TERSELY_HOME", str(tmp_path / "home"))
        Store.open(root).close()
        assert list((root / ".tersely").iterdir()) == []
        assert len(list((tmp_path / "home/indexes").iterdir())) == 1

    @pytest.mark.parametrize("name", ["HOME", "TERSELY_HOME"])
    def test_an_index_never_lies_where_a_relay_has_its_home(
        self, root: Path, plant: Plant, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        plant({"a.py": "def f(): ...\n"})
        monkeypatch.setenv(name, str(root if name == "HOME" else root / ".tersely"))
        for added in (1, 0):
            with Store.open(root) as store:
                assert refresh(root, store).added == added
                assert store.notices == ()
        monkeypatch.undo()
        assert not is_repository(str(root))

    def test_an_index_that_came_with_the_files_is_not_read(
        self, root: Path, plant: Plant, tmp_path: Path
    ) -> None:
        """Whoever made it had another key, or another place; it may hold anything, and so may its
        log.
        """
        plant({"a.py": "def true(): ...\n"})
        ours = Path(index_places(str(root)).in_repository)
        made = tmp_path / "made"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("TERSELY_HOME", str(made))
            with Store.open(root) as store:
                refresh(root, store)
                with store._database.transaction():
                    store._database.execute("update symbol set name = 'false' where name = 'true'")
                    store._database.execute("update facts set facts = x'fb'")
            theirs = Path(index_places(str(root)).in_repository)
        for name in ("index.db", "index.db-wal"):
            shutil.copy(theirs / "index.db", root / ".tersely" / name)
        with Store.open(root) as store:
            refresh(root, store)
            assert found(store, "true") == ["a.py:true"]
            assert dumped(store)
            assert store.directory is not None
            assert store.directory not in {ours, theirs}
        assert theirs.stat().st_mode & 0o777 == 0o700
        assert (made / "key").stat().st_mode & 0o777 == 0o600

    def test_of_a_repository_that_moves_few_indexes_are_kept(
        self, root: Path, plant: Plant
    ) -> None:
        plant({"a.py": "def f(): ...\n"})
        for number in range(MAX_KEPT_INDEXES + 3):
            root = root.rename(root.parent / str(number))
            Store.open(root).close()
        assert len(list((root / ".tersely").glob("*/index.db"))) == MAX_KEPT_INDEXES

    def test_an_empty_store_has_no_revision(self, root: Path) -> None:
        with Store.open(root) as store:
            assert store.revision() == ""
            assert not store.is_current()
            assert store.find("a") == []
