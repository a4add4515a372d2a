"""An answer never lags behind a change that was made before the question."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.daemon.asking import Talk, serving
from tests.repositories import initialized


def found(talk: Talk, name: str) -> list[str]:
    reply = talk.ask(cmd="code.symbol.find", queries=name)
    return (
        [symbol["id"] for symbol in reply["result"]["symbols"]["items"]] if reply["success"] else []
    )


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.fsync=none"]
    subprocess.run(
        ["git", *identity, *words], cwd=root, check=True, capture_output=True, timeout=60
    )


def test_every_kind_of_change_is_seen_at_once(shop: Path, talk: Talk) -> None:
    assert found(talk, "added") == []
    money = shop / "src/shop/money.py"
    money.write_text(money.read_text() + "\ndef added(): ...\n")
    assert found(talk, "added") == ["src/shop/money.py:added"]
    (shop / "src/new.py").write_text("def added(): ...\n")
    assert found(talk, "added") == ["src/new.py:added", "src/shop/money.py:added"]
    money.unlink()
    assert found(talk, "added") == ["src/new.py:added"]
    (shop / "src/new.py").rename(shop / "src/newer.py")
    assert found(talk, "added") == ["src/newer.py:added"]
    (shop / ".gitignore").write_text("newer.py\n")
    assert found(talk, "added") == []


def test_directories_may_come_and_go(shop: Path, talk: Talk) -> None:
    assert found(talk, "deep") == []
    (shop / "a/b/c").mkdir(parents=True)
    (shop / "a/b/c/d.py").write_text("def deep(): ...\n")
    assert found(talk, "deep") == ["a/b/c/d.py:deep"]
    (shop / "a/b/c/d.py").write_text("def deep(): ...\ndef deeper(): ...\n")
    assert found(talk, "deeper") == ["a/b/c/d.py:deeper"]
    (shop / "a/b").rename(shop / "a/z")
    assert found(talk, "deep") == ["a/z/c/d.py:deep"]
    (shop / "a/z/c/d.py").write_text("def deepest(): ...\n")
    assert found(talk, "deepest") == ["a/z/c/d.py:deepest"]
    (shop / "a/z/c/d.py").unlink()
    (shop / "a/z/c").rmdir()
    assert found(talk, "deepest") == []


def test_a_document_is_as_it_is_now_also_where_nobody_watches(shop: Path, talk: Talk) -> None:
    document = shop / "node_modules/documented/README.md"
    document.parent.mkdir(parents=True)
    for title in ("Before", "After"):
        document.write_text(f"# {title}\n")
        reply = talk.ask(cmd="code.symbol.get", symbol="node_modules/documented/README.md")
        assert f"# {title}" in json.dumps(reply)


def test_that_a_foreign_index_is_not_read_is_no_note_of_every_answer(shop: Path) -> None:
    (shop / ".tersely" / ("f" * 32)).mkdir(parents=True)
    with serving(shop), Talk(shop) as talk:
        assert "notes" not in talk.ask(cmd="code.symbol.find", queries="format_cents")


def test_directories_of_dependencies_are_not_watched(shop: Path) -> None:
    for number in range(20):
        (shop / f"node_modules/p{number}").mkdir(parents=True)
    initialized(shop)
    (shop / ".gitignore").write_text("ignored/\n")
    (shop / "ignored/inner").mkdir(parents=True)
    with serving(shop), Talk(shop) as talk:
        talk.ask(cmd="warm")
        watched = talk.ask(cmd="status")["watched_directories"]
        assert watched == len({"", "src", "src/shop", "tests", ".git", ".git/info"})
        assert found(talk, "dep") == []


@pytest.mark.slow
def test_a_branch_switch_of_thousands_of_files_is_survived(shop: Path) -> None:
    initialized(shop)
    git(shop, "add", ".")
    git(shop, "commit", "-m", "one")
    git(shop, "switch", "-c", "many")
    for number in range(2_000):
        (shop / f"m{number % 40}").mkdir(exist_ok=True)
        (shop / f"m{number % 40}/f{number}.py").write_text(f"def many{number}(): ...\n")
    git(shop, "add", ".")
    git(shop, "commit", "-m", "two")
    git(shop, "switch", "main")
    with serving(shop), Talk(shop) as talk:
        for _ in range(2):
            assert found(talk, "many1999") == []
            git(shop, "switch", "many")
            assert found(talk, "many1999") == ["m39/f1999.py:many1999"]
            talk.ask(cmd="invalidate")
            assert talk.ask(cmd="status")["files"] == 2_006
            git(shop, "switch", "main")
        assert found(talk, "many0") == []


def test_what_no_revision_covers_is_seen_too(shop: Path, talk: Talk) -> None:
    (shop / "tsconfig.json").write_text(
        '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["one/*"]}}}'
    )
    for name in ("one", "two"):
        (shop / name).mkdir()
        (shop / name / "lib.ts").write_text("export function work() { return 1; }\n")
    (shop / "main.ts").write_text(
        'import { work } from "@/lib";\nexport function go() { return work(); }\n'
    )

    def callee() -> Any:
        return [
            call["callee"]
            for call in talk.ask(cmd="calls", target="go", direction="callees")["result"][
                "callees"
            ]["items"]
        ]

    assert callee() == ["one/lib.ts:work"]
    (shop / "tsconfig.json").write_text(
        '{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["two/*"]}}}'
    )
    assert callee() == ["two/lib.ts:work"]


def test_settings_are_those_of_the_moment(shop: Path, talk: Talk) -> None:
    ask = {"cmd": "context", "target": "checkout"}
    assert talk.ask(**ask)["result"]["budget"] == 2_000
    (shop / ".tersely/config.toml").write_text("budget_tokens = 500\n")
    assert talk.ask(**ask)["result"]["budget"] == 500
    (shop / ".tersely/config.toml").write_text("budget_tokens = 'many'\n")
    assert talk.ask(**ask)["code"] == "invalid_setting"


@pytest.mark.parametrize(
    "command", [{"cmd": "invalidate", "path": "src/shop/money.py"}, {"cmd": "invalidate"}]
)
def test_being_told_of_a_change_is_no_harm(talk: Talk, command: dict[str, str]) -> None:
    before = talk.ask(cmd="code.stats")["revision"]
    assert talk.ask(**command)["success"]
    assert talk.ask(cmd="code.stats")["revision"] == before


def test_a_change_is_read_without_being_asked(shop: Path, talk: Talk) -> None:
    talk.ask(cmd="warm")
    before = talk.ask(cmd="status")["revision"]
    (shop / "src/shop/money.py").write_text("def other(): ...\n")
    while talk.ask(cmd="status")["revision"] == before:  # every reply has a deadline of its own
        pass
