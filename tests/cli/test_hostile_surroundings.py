"""What a repository, a disk or a shell may hold against us: each ends in an answer or in one line
that says why.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.asking import Ask, run
from tests.depth import mostly_slow

from tersely.foundation.storage.private import index_places


def refused(words: list[str], directory: Path, code: str) -> None:
    answer = run(words, directory)
    assert answer.err.startswith(f"{code}: ")
    assert "Traceback" not in answer.err
    assert answer.status not in {0, 70}


@pytest.mark.parametrize("place", ["pyproject.toml", ".tersely/config.toml"])
def test_settings_that_never_end_are_refused(shop: Path, place: str) -> None:
    path = shop / place
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    refused(["tree"], shop, "unreadable_file")
    path.unlink()
    path.touch()
    os.truncate(path, 5_000_000_000)
    refused(["tree"], shop, "unreadable_file")
    path.write_text("tersely = " + "[" * 100_000)
    refused(["tree"], shop, "invalid_setting")


@pytest.mark.parametrize(
    ("closed", "err", "status"),
    [
        (">&-", "unwritable_output: ", 3),
        ("2>&-", "", 0),
        (">&- 2>&-", "", 3),
        ("<&-", "", 0),
        (">/dev/full", "unwri", 3),
    ],
)
@pytest.mark.parametrize("words", ["tree", "--version"])
def test_streams_may_be_closed(shop: Path, closed: str, err: str, status: int, words: str) -> None:
    command = f"{sys.executable} -m tersely {words} {closed}"
    ended = subprocess.run(
        command, shell=True, cwd=shop, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stderr.startswith(err)
    assert ended.stderr.count("\n") == bool(err)
    assert ended.returncode == status


LONG = {
    "chain.js": "x = a" + ".b()" * 100_000,
    "members.ts": "x = " + "a." * 200_000 + "b",
    "arrows.js": "x = " + "a=>" * 100_000 + "1",
    "spaces.cpp": "namespace a {\n" * 50_000,
    "calls.py": "x = " + "f(" * 100_000,
    "lists.go": "package a\nvar x = " + "[" * 100_000,
}


@pytest.mark.parametrize("name", mostly_slow(LONG, "calls.py"))
def test_nesting_takes_bounded_time_and_memory(shop: Path, name: str) -> None:
    (shop / name).write_text(LONG[name])
    command = f"ulimit -v 1500000; exec {sys.executable} -m tersely index --report"
    ended = subprocess.run(
        command, shell=True, cwd=shop, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 0, ended.stderr
    assert f"{name}:1  nested too deeply" in ended.stdout or "parse errors" in ended.stdout
    assert (Path(index_places(str(shop)).in_repository) / "index.db").stat().st_size < 100_000_000


@pytest.mark.parametrize("place", ["pyproject.toml", ".tersely/config.toml"])
@pytest.mark.parametrize("target", ["../secret.toml", "/dev/zero"])
def test_settings_outside_the_repository_are_not_read(
    ask: Ask, shop: Path, place: str, target: str
) -> None:
    (shop.parent / "secret.toml").write_text(
        'budget_tokens = "SECRET"\n[tool.tersely]\nbudget_tokens = "SECRET"\n'
    )
    (shop / place).parent.mkdir(exist_ok=True)
    (shop / place).symlink_to(target if target.startswith("/") else shop.parent / "secret.toml")
    answer = ask("tree")
    assert answer.status == 0
    assert f"{place} is not read: it is a link out of the repository" in answer.err
    assert "SECRET" not in answer.out + answer.err


def test_where_no_index_can_be_written_that_is_said(
    ask: Ask, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / ".tersely").touch()
    (tmp_path / "indexes").touch()
    monkeypatch.setenv("TERSELY_HOME", str(tmp_path))
    answer = ask("tree")
    assert answer.status == 0
    assert answer.err == "note: the index is kept in memory: File exists: .tersely\n"


def test_what_git_keeps_for_itself_is_not_shown(ask: Ask, shop: Path) -> None:
    (shop / ".git").mkdir()
    (shop / ".git" / "HEAD").touch()
    (shop / ".git" / "config").write_text("SECRET")
    (shop / "link").symlink_to(".git/config")
    for path in (".git/config", "src/../.git/config", "link"):
        answer = ask("context", "checkout", "--include", path)
        assert answer.err.startswith("path_not_found: ")
        assert "SECRET" not in answer.out + answer.err


def test_a_directory_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os, sys; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    script += "from tersely.cli.main import main; sys.exit(main(['tree']))"

    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.stderr.startswith("root_not_found: ")
    assert ended.returncode == 3


def test_a_directory_that_is_closed_is_said(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    script = f"import os, sys; os.chdir({str(closed)!r}); os.chmod('.', 0); "
    script += "may_read = os.access('.', os.R_OK); from tersely.cli.main import main; "
    script += f"sys.exit(0 if may_read else main(['tree', '--root', {str(closed)!r}]))"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    closed.chmod(0o700)
    if ended.returncode == 0:
        pytest.skip("this user may read everything")
    assert ended.stderr.startswith("unreadable_file: ")
    assert ended.returncode == 3


def test_a_loop_of_links_is_no_root_and_no_file(shop: Path) -> None:
    (shop / "loop").symlink_to("loop")
    refused(["--root", "loop", "tree"], shop, "root_not_found")
    refused(["context", "checkout", "--include", "loop"], shop, "path_not_found")


@pytest.mark.parametrize(
    "words", [["context", "\udcff"], ["extract", "n\udcff.py"], ["symbol", "find", "\udcff"]]
)
def test_words_that_are_no_text_are_refused(ask: Ask, words: list[str]) -> None:
    answer = ask(*words)
    assert answer.err.startswith("invalid_argument: ")
    assert answer.status == 2


def test_a_directory_that_became_a_link_is_not_followed(
    ask: Ask, shop: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "money.py").write_text("SECRET = 1\n" * 40)
    assert ask("index").status == 0
    (shop / "src" / "shop").rename(shop / "moved")
    (shop / "src" / "shop").symlink_to(outside)
    answer = ask("symbol", "get", "src/shop/money.py:format_cents", "--no-refresh")
    assert "SECRET" not in answer.out + answer.err
    assert answer.err.startswith("unreadable_file: ")


def test_settings_of_a_compiler_do_not_lead_out_and_end(
    ask: Ask, shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.json").write_text(
        '{"compilerOptions": {"paths": {"secret": ["web/hidden.ts"]}}}'
    )
    many = ",".join(f'"./{number}.json"' for number in range(40))
    for number in range(40):
        (shop / f"{number}.json").write_text(f'{{"extends": [{many}]}}')
    up = os.path.relpath(tmp_path / "outside.json", shop)
    nested = "[" * 5000 + "]" * 5000
    (shop / "tsconfig.json").write_text(f'{{"extends": ["{up}", {many}]}}')
    (shop / "package.json").write_text(f'{{"name": "p", "exports": {{".": {nested}}}}}')
    (shop / "web").mkdir()
    (shop / "web" / "package.json").write_text("/*" * 400_000)
    (shop / "web" / "go.mod").write_text("\n" * 900_000)
    (shop / "web" / "Cargo.toml").write_text("[package]" + "\n" * 900_000)
    (shop / "web" / "hidden.ts").write_text("export const a = 1\n")
    (shop / "web" / "a.ts").write_text('import { a } from "secret"\nimport { b } from "p"\n')
    (shop / "web" / "a.go").write_text('package a\nimport "b/c"\n')
    (shop / "web" / "a.rs").write_text("use b::c;\n")
    printed = ask("imports", "web/a.ts")
    assert printed.status == 0
    assert "hidden.ts" not in printed.out
    assert ask("imports", "web/a.go").status == 0
    assert ask("imports", "web/a.rs").status == 0


@pytest.mark.parametrize(
    "damage",
    [
        "update symbol set qualname = cast(x'ff' as text)",
        "update facts set facts = x'00'",
        "update facts set facts = x''",
    ],
)
def test_damage_that_only_the_question_meets_is_mended(ask: Ask, shop: Path, damage: str) -> None:
    questions = (["calls", "checkout"], ["structure"], ["search", "validate"])
    expected = [ask(*words).out for words in questions]
    for words, before in zip(questions, expected, strict=True):
        with sqlite3.connect(
            Path(index_places(str(shop)).in_repository) / "index.db"
        ) as connection:
            connection.execute(damage)
        connection.close()
        answer = ask(*words)
        assert (answer.status, answer.out) == (0, before), answer.err
    ask("index")
    assert "damaged" not in ask("structure").err
