"""What a change touches and what the rest of it needs, asked of real git repositories."""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import repositories
from tests.cli.asking import Answer, Ask
from tests.depth import examples
from tests.repositories import commit, git, write

from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.text.tokens import count

Repository = Callable[[Mapping[str, str]], Path]

SHOP = {
    "shop/__init__.py": "",
    "shop/money.py": (
        "RATE = 2\n\n\ndef cents(value):\n    rate = RATE\n    return value * rate\n\n\n"
        "def shown(value):\n    text = f'{value}'\n    return text\n\n\ndef unused():\n    return None\n"
    ),
    "shop/orders.py": (
        "from shop.money import cents\n\n\ndef total(prices):\n    return sum(cents(one) for one in prices)\n"
    ),
    "tests/test_money.py": "from shop.money import cents\n\n\ndef test_cents():\n    assert cents(1) == 2\n",
    "notes.txt": "one\ntwo\nthree\n",
}


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text("utf-8")
    assert old in text
    write(root, {path: text.replace(old, new, 1)})


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Makes a repository with one commit of some files the current directory."""

    def made(files: Mapping[str, str]) -> Path:
        root = repositories.repository(tmp_path / "changing", {".gitignore": ".tersely\n", **files})
        monkeypatch.chdir(root)
        return root

    return made


def packed(answer: Answer) -> dict[str, Any]:
    assert answer.status == 0, answer.err
    found: dict[str, Any] = json.loads(answer.out)
    return found


def slices(ask: Ask, *words: str) -> dict[str, dict[str, Any]]:
    found = packed(ask("diff-context", "--format", "json", *words))
    return {one["id"]: one for one in found["slices"]} | {
        name: {} for name in found["signatures_only"]
    }


def changed(ask: Ask, *words: str) -> dict[str, dict[str, Any]]:
    return {name: one for name, one in slices(ask, *words).items() if "diff_lines" in one}


def test_a_changed_function_comes_with_its_lines_its_callers_and_its_tests(
    repository: Repository, ask: Ask
) -> None:
    root = repository(SHOP)
    edit(root, "shop/money.py", "rate = RATE", "rate = RATE + 1")
    found = slices(ask)
    cents = found["shop/money.py:cents"]
    assert cents["relevance"] == "contains_diff"
    assert cents["diff_lines"] == [5]
    assert cents["removed"] == [[5, "    rate = RATE"]]
    assert "rate = RATE + 1" in cents["code"]
    said = ask("diff-context").out
    assert "def total(" in said
    assert "def test_cents(" in said
    assert "\n-    rate = RATE\n+    rate = RATE + 1\n" in said
    assert re.search(r"^@@ -\d+,\d+ \+\d+,\d+ @@$", said, re.MULTILINE)


def test_a_deletion_belongs_to_what_lost_the_lines(repository: Repository, ask: Ask) -> None:
    root = repository(SHOP)
    edit(
        root, "shop/money.py", "    text = f'{value}'\n    return text\n", "    return f'{value}'\n"
    )
    edit(root, "shop/money.py", "\n\ndef unused():\n    return None\n", "")
    found = slices(ask)
    assert found["shop/money.py:shown"]["removed"] == [
        [10, "    text = f'{value}'"],
        [10, "    return text"],
    ]
    gone = found["shop/money.py:unused"]
    assert gone["relevance"] == "deleted"
    assert gone["code"].startswith("def unused():")


def test_changes_outside_of_symbols_and_in_other_files_are_shown_as_they_are(
    repository: Repository, ask: Ask
) -> None:
    root = repository(SHOP)
    write(root, {"new.txt": "hello\n", "empty.txt": ""})
    edit(root, "shop/money.py", "RATE = 2\n", "import math\n\nRATE = 2\n")
    edit(root, "notes.txt", "two\n", "zwei\n")
    found = slices(ask)
    assert "zwei" in found["notes.txt"]["code"]
    assert found["notes.txt"]["diff_lines"] == [2]
    assert found["new.txt"]["code"] == "hello\n"
    assert found["shop/money.py"]["diff_lines"] == [1, 2]
    assert "new, empty" in ask("diff-context").out


def test_renames_modes_links_and_binary_files_are_told(repository: Repository, ask: Ask) -> None:
    root = repository({**SHOP, "run.sh": "echo\n" * 4, "data.bin": "a\0b"})
    git(root, "mv", "shop/orders.py", "shop/sales.py")
    edit(root, "shop/sales.py", "return sum", "return 1 + sum")
    (root / "run.sh").chmod(0o755)
    (root / "data.bin").write_bytes(b"b\0c")
    (root / "link").symlink_to("notes.txt")
    git(root, "add", "-A")
    (root / "loose").symlink_to("/etc/hostname")
    said = ask("diff-context", "--format", "compact").out
    assert "=== loose\n@1 symbolic link" in said
    for note in ("renamed from shop/orders.py", "mode 100644 → 100755", "binary", "symbolic link"):
        assert note in said
    assert "shop/sales.py:total" in changed(ask)


def test_a_submodule_is_told_by_its_commits(
    repository: Repository, ask: Ask, tmp_path: Path
) -> None:
    inner = tmp_path / "inner"
    write(inner, {"x.py": "a = 1\n"})
    git(inner, "init", "-q")
    commit(inner)
    root = repository(SHOP)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub")
    commit(root)
    write(root / "sub", {"x.py": "a = 2\n"})
    git(root / "sub", "commit", "-q", "-am", "m")
    head = git(root / "sub", "rev-parse", "HEAD")[:10]
    assert f"→ {head}" in ask("diff-context", "--worktree").out


def test_a_clone_that_borrows_objects_names_the_setting_that_helps(
    repository: Repository, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(SHOP)
    git(tmp_path, "clone", "-q", "--shared", str(root), "shared")
    monkeypatch.chdir(tmp_path / "shared")
    for command in ["diff-context"], ["breaks"], ["plan", "the changes", "--base", "HEAD"]:
        answer = ask(*command)
        assert answer.status == 3
        assert f"TERSELY_GIT_ELSEWHERE={root}/.git/objects allows it" in answer.err
    planned = ask("plan", "the rate of exchange of the total")
    assert planned.status == 0
    assert "what has changed is not known" in planned.err
    monkeypatch.setenv("TERSELY_GIT_ELSEWHERE", f"{root}/.git/objects")
    assert ask("diff-context").status == 0


def test_a_clone_that_has_fetched_no_contents_is_answered(
    repository: Repository, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(SHOP)
    edit(root, "shop/money.py", "rate = RATE", "rate = RATE + 1")
    commit(root)
    git(root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{root}", "blobless")
    root.rename(tmp_path / "gone")
    monkeypatch.chdir(tmp_path / "blobless")
    known = ask("diff-context")
    assert known.status == 0
    fetched_in_part = ask("diff-context", "--base", "HEAD~1")
    assert fetched_in_part.status == 0
    assert "differs; git has not fetched what it was" in fetched_in_part.out
    edit(tmp_path / "blobless", "shop/money.py", "rate = RATE + 1", "rate = RATE + 2")
    found = ask("diff-context")
    assert "-    rate = RATE + 1\n+    rate = RATE + 2\n" in found.out
    assert "def total(" in found.out


def test_line_ends_do_not_matter(repository: Repository, ask: Ask) -> None:
    root = repository(
        {"a.py": "def f():\r\n    x = 1\r\n    return x\r\n", "b.py": "def g():\n    return 1"}
    )
    write(
        root,
        {"a.py": "def f():\r\n    x = 2\r\n    return x\r\n", "b.py": "def g():\n    return 1\n"},
    )
    found = changed(ask)
    assert found["a.py:f"]["removed"] == [[2, "    x = 1"]]
    assert found["b.py:g"]["diff_lines"] == [2]


def test_the_base_is_where_branches_part(repository: Repository, ask: Ask) -> None:
    root = repository(SHOP)
    git(root, "checkout", "-q", "-b", "work")
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    commit(root)
    git(root, "checkout", "-q", "main")
    edit(root, "shop/money.py", "RATE = 2", "RATE = 3")
    commit(root)
    git(root, "checkout", "-q", "work")
    assert set(changed(ask, "--base", "main")) == set(changed(ask)) == {"shop/orders.py:total"}
    assert changed(ask, "--worktree") == {}


def test_a_commit_is_shown_as_it_was_whatever_the_working_tree_holds(
    repository: Repository, ask: Ask
) -> None:
    root = repository(SHOP)
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    commit(root)
    write(root, {"shop/orders.py": "# moved\n" * 9 + "def total(prices):\n    return 0\n"})
    total = changed(ask, "--base", "HEAD~1", "--head", "HEAD")["shop/orders.py:total"]
    assert total["lines"] == [4, 5]
    assert "1 + sum(" in total["code"]


def test_what_is_staged_is_shown_without_what_is_not(repository: Repository, ask: Ask) -> None:
    root = repository(SHOP)
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    git(root, "add", "-A")
    edit(root, "shop/orders.py", "1 + sum(", "2 + sum(")
    edit(root, "shop/money.py", "rate = RATE", "rate = 1")
    found = changed(ask, "--staged")
    assert set(found) == {"shop/orders.py:total"}
    assert "1 + sum(" in found["shop/orders.py:total"]["code"]


def test_what_is_staged_for_the_commit_that_a_hook_is_asked_about_is_shown(
    repository: Repository, ask: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`git commit PATH` makes an index of its own, and names it to its hooks."""
    root = repository(SHOP)
    edit(root, "shop/money.py", "rate = RATE", "rate = 1")
    git(root, "add", "-A")
    (root / ".git/hooks").mkdir(exist_ok=True)
    hook = root / ".git/hooks/pre-commit"
    hook.write_text(
        f'#!/bin/sh\ncp "$GIT_INDEX_FILE" .git/kept; echo "$GIT_INDEX_FILE" > {tmp_path}/named\n'
    )
    hook.chmod(0o755)
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    git(root, "commit", "-q", "-m", "m", "shop/orders.py")
    assert "next-index" in (tmp_path / "named").read_text()
    git(root, "reset", "-q", "--soft", "HEAD~1")
    assert set(changed(ask, "--staged")) == {"shop/money.py:cents", "shop/orders.py:total"}
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/kept")
    assert set(changed(ask, "--staged")) == {"shop/orders.py:total"}
    (tmp_path / "index").write_bytes((root / ".git/kept").read_bytes())
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))  # of no repository
    assert len(changed(ask, "--staged")) == 2


SESSIONS = {
    "web/sessions.py": (
        "class Sessions:\n"
        "    def open_session(self, app):\n"
        + "".join(f"        step_{number} = app.step({number})\n" for number in range(18))
        + "        return step_1\n\n"
        "    def close(self):\n        self.done = True\n        return self.done\n\n\n"
        "def started(app):\n    found = Sessions()\n    return found\n"
    ),
    "web/ctx.py": (
        "from web.sessions import Sessions, started\n\n\n"
        "# calls open_session and started\ndef push(app):\n    sessions = Sessions()\n"
        "    return sessions.open_session(app)\n\n\ndef pop(app):\n    return started(app)\n"
    ),
}
RENAMES = {
    "method": ("def open_session", "def start_session", {"Sessions.start_session"}),
    "function": ("def started", "def begun", {"begun"}),
    "class": ("class Sessions", "class Store", {"Store"}),
    "changed method": (
        "def close(self):\n        self.done",
        "def end(self):\n        self.ended",
        {"Sessions.end"},
    ),
}


@pytest.mark.parametrize("name", RENAMES)
@pytest.mark.parametrize("moves", [False, True])
def test_what_has_another_name_is_one_item_with_its_changed_lines(
    repository: Repository, ask: Ask, name: str, moves: bool
) -> None:
    old, new, expected = RENAMES[name]
    root = repository(SESSIONS)
    path = "web/store.py" if moves else "web/sessions.py"
    if moves:
        git(root, "mv", "web/sessions.py", path)
    edit(root, path, old, new)
    found = ask("diff-context", "--worktree", "--json").result
    here = {one.partition(":")[2] for one in found["changed"] if one.startswith(f"{path}:")}
    assert (here, found["deleted"]) == (expected, [])
    shown = ask("diff-context", "--worktree").out
    assert re.search(rf"(?m)^-\s*{re.escape(old.partition(chr(10))[0])}", shown)
    assert shown.count("step_3") == (name == "changed method")  # which is near the change
    assert shown.count("renamed from") == 1 + moves


def test_what_still_names_what_is_gone_stands_first(repository: Repository, ask: Ask) -> None:
    root = repository(SESSIONS)
    edit(root, "web/sessions.py", "def open_session", "def start_session")
    first, heading = ask("diff-context", "--worktree").out.split("\n")[:2]
    assert first == "=== web/ctx.py"
    assert "still calls `open_session`, which is gone: web/ctx.py:7" in heading
    # a change that brings the rest along leaves nothing to say
    edit(root, "web/ctx.py", "sessions.open_session", "sessions.start_session")
    assert "still" not in ask("diff-context", "--worktree").out


def test_what_still_names_what_was_removed_stands_first(repository: Repository, ask: Ask) -> None:
    root = repository(SESSIONS)
    text = (root / "web/sessions.py").read_text()
    (root / "web/sessions.py").write_text(text[: text.index("def started")])
    shown = ask("diff-context", "--worktree").out
    assert shown.startswith("=== web/ctx.py")
    assert "still names `started`, which is gone: web/ctx.py:1" in shown
    assert "still calls `started`, which is gone: web/ctx.py:11" in shown
    assert "web/ctx.py:4" not in shown  # a comment


def test_calls_of_what_has_another_signature_stand_first(repository: Repository, ask: Ask) -> None:
    root = repository(SESSIONS)
    edit(root, "web/sessions.py", "def started(app):", "def started(app, name):")
    shown = ask("diff-context", "--worktree").out
    assert shown.startswith("=== web/ctx.py")
    assert "calls `started`, which has another signature: web/ctx.py:11" in shown
    edit(root, "web/ctx.py", "started(app)", "started(app, 1)")
    assert "another signature" not in ask("diff-context", "--worktree").out


@pytest.mark.parametrize(
    ("path", "old", "new", "fits"),
    [
        ("a.py", "def f(x):", "def f(x: int, y=2, *rest) -> int:", True),
        ("a.py", "def f(x):", "def f(y=2, x=1):", False),
        ("a.py", "def f(x):", "def f(x, *, y):", False),
        ("a.js", "function f(x)", "function f(x, y = 2)", True),
        ("a.js", "function f(x)", "function f(x, y)", False),
        ("a.ts", "function f(x)", "function f(x: number, y?: string)", True),
        ("a.ts", "function f(x: number)", "function f(x: string)", False),
    ],
)
def test_calls_that_fit_a_new_signature_are_not_stale(
    repository: Repository, ask: Ask, path: str, old: str, new: str, fits: bool
) -> None:
    python = path.endswith("py")
    body = (
        "\n    return x\n\n\ndef g():\n    f(1)\n"
        if python
        else " {\n  return x\n}\nfunction g() {\n  f(1)\n}\n"
    )
    root = repository({path: old + body})
    edit(root, path, old, new)
    said = "calls `f`, which has another signature" in ask("diff-context", "--worktree").out
    assert said is not fits


def test_what_of_a_change_has_no_room_is_counted_in_words(repository: Repository, ask: Ask) -> None:
    words = [f"word{at}" for at in range(60)]
    root = repository({
        f"{one}.py": "".join(f"def {one}_{word}():\n    return '{one} {word}'\n\n\n" for word in words)
        for one in ("kept", "named")
    })  # fmt: skip
    (root / "kept.py").write_text(
        (root / "kept.py").read_text().replace("return 'kept", "return 'new")
    )
    (root / "named.py").write_text(
        (root / "named.py").read_text().replace("def named_", "def called_")
    )
    footer = ask("diff-context", "--worktree", "--budget", "600").out.rstrip().rpartition("\n")[2]
    assert re.search(r"\+\d+ more changed, \+\d+ more renamed", footer), footer
    assert "contains_diff" not in footer
    assert footer.count("renamed") == 1


def test_what_is_stale_takes_a_part_of_the_room(repository: Repository, ask: Ask) -> None:
    users = "".join(
        f"\n\ndef use_{number}(app):\n    step = app.step({number})\n    started(app)\n    return step\n"
        for number in range(9)
    )
    root = repository({**SESSIONS, "web/users.py": "from web.sessions import started\n" + users})
    edit(root, "web/sessions.py", "def started(app):", "def started(app, name):")
    for budget, most in (("1600", 4), ("800", 2), ("400", 1)):
        shown = ask("diff-context", "--worktree", "--budget", budget).out
        assert (shown.count(" stale of "), f"+{10 - most} more stale," in shown) == (most, True), (
            shown
        )


WRAP = "def wrap(f):\n    def inner(*a):\n        return f(*a)\n\n    return inner\n"
LOCAL = "def reads():\n    f = open('a')\n    return f.read()\n"


@pytest.mark.parametrize(
    ("gone", "path", "old", "new"),
    [
        ("a function in a test", "test_lib.py", "    def f(x):\n        return x\n\n    ", "    f = print\n    "),
        ("a function in a function", "own.py", "    def f(x):\n        return x\n\n    ", "    f = print\n    "),
        ("a function", "whole.py", "def f(x):\n    return x\n\n\n", ""),
        ("a function of tests", "test_whole.py", "def f(x):\n    return x\n\n\n", ""),
    ],
)  # fmt: skip
def test_what_a_function_names_by_itself_does_not_mean_what_is_gone(
    repository: Repository, ask: Ask, gone: str, path: str, old: str, new: str
) -> None:
    root = repository({
        "lib.py": WRAP + "\n\n" + LOCAL + ("\n\nprint(f)\n" if gone == "a function of tests" else ""),
        path: f"from lib import wrap\n\n\n{'def test_it():' if old[0] == ' ' else ''}\n{old}print(wrap)\n",
    })  # fmt: skip
    edit(root, path, old, new)
    shown = ask("diff-context", "--worktree").out
    assert path in shown
    assert "which is gone" not in shown


def test_an_import_inside_a_function_still_means_what_is_gone(
    repository: Repository, ask: Ask
) -> None:
    root = repository({
        "whole.py": "def f(x):\n    return x\n\n\nprint(1)\n",
        "lib.py": "def uses(x):\n    from whole import f\n\n    return f(x)\n",
    })  # fmt: skip
    edit(root, "whole.py", "def f(x):\n    return x\n\n\n", "")
    shown = ask("diff-context", "--worktree").out
    assert "still calls `f`, which is gone: lib.py:4" in shown


def test_a_name_that_others_have_too_is_not_taken_for_what_is_gone(
    repository: Repository, ask: Ask
) -> None:
    root = repository({
        "a.py": "def run(x):\n    y = x\n    return y\n\n\ndef other():\n    return 1\n",
        "b.py": "def run(x):\n    return x\n",
        "c.py": "from b import run\n\n\ndef use():\n    return run(1)\n",
        "d.py": "from a import run\n\n\ndef use():\n    return run(1)\n",
    })  # fmt: skip
    edit(root, "a.py", "def run(x):\n    y = x\n    return y\n\n\n", "")
    shown = ask("diff-context", "--worktree").out
    assert "still calls `run`, which is gone: d.py:5" in shown
    assert "c.py:5" not in shown


@pytest.mark.slow
def test_a_file_that_is_too_large_costs_only_itself(
    repository: Repository, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository({**SHOP, "data.sql": "insert\n" * (MAX_FILE_BYTES // 7 + 1)})
    (root / "data.sql").write_text("update\n" * (MAX_FILE_BYTES // 7 + 1))
    edit(root, "shop/money.py", "rate = RATE", "rate = 1")
    monkeypatch.setattr("tersely.code.index.history.changes.MAX_DIFF_BYTES", MAX_FILE_BYTES)
    shown = ask("diff-context", "--worktree")
    assert shown.status == 0, shown.err
    assert "rate = 1" in shown.out
    assert "=== data.sql\n@1 too large" in shown.out
    for words in (("change-impact",), ("plan", "cents", "in", "shop/money.py", "is", "wrong")):
        assert ask(*words).status == 0


def test_a_conflict_is_shown_as_the_file_is(repository: Repository, ask: Ask) -> None:
    root = repository({"notes.txt": "one\n"})
    git(root, "checkout", "-q", "-b", "other")
    write(root, {"notes.txt": "two\n"})
    commit(root)
    git(root, "checkout", "-q", "main")
    write(root, {"notes.txt": "three\n"})
    commit(root)
    with pytest.raises(subprocess.CalledProcessError):
        git(root, "merge", "-q", "other")
    assert "<<<<<<<" in slices(ask, "--worktree")["notes.txt"]["code"]


def test_without_a_change_there_is_nothing_to_say(repository: Repository, ask: Ask) -> None:
    repository(SHOP)
    answer = ask("diff-context")
    assert answer.status == 0
    assert answer.out.startswith("=== nothing differs between ")
    assert answer.out.endswith(" and worktree\n")
    assert json.loads(ask("diff-context", "--format", "json").out)["note"].startswith(
        "nothing differs between "
    )


def test_an_empty_patch_is_one_in_which_nothing_differs(
    repository: Repository, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(SHOP)
    for said, status, out in [(b"", 0, "=== nothing differs\n"), (b"no patch\n", 2, "")]:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(said)))
        answer = ask("diff-context", "-")
        assert (answer.status, answer.out) == (status, out)


def test_a_file_whose_contents_git_does_not_have_is_said_and_the_rest_answered(
    repository: Repository, ask: Ask
) -> None:
    root = repository(SHOP)
    lost = subprocess.run(
        ["git", "rev-parse", "HEAD:shop/orders.py"], cwd=root, check=True, capture_output=True
    )
    name = lost.stdout.decode().strip()
    (root / ".git/objects" / name[:2] / name[2:]).unlink()
    edit(root, "shop/orders.py", "sum(", "0 + sum(")
    edit(root, "shop/money.py", "\n\ndef unused():\n    return None\n", "")
    found = slices(ask, "--worktree")
    assert found["shop/money.py:unused"]["relevance"] == "deleted"
    said = ask("diff-context", "--worktree").out
    assert "=== shop/orders.py\n@1 differs; git has not fetched what it was\n" in said
    assert "shop/orders.py:total" in ask("change-impact", "--json").result["changed"]


def test_a_deleted_file_costs_a_line(repository: Repository, ask: Ask) -> None:
    root = repository(SHOP)
    (root / "shop/money.py").unlink()
    answer = ask("diff-context", "--worktree", "--json").result
    assert "shop/money.py:cents" in answer["deleted"]
    assert [item["id"] for item in answer["items"] if item["reason"].startswith("deleted")] == [
        "shop/money.py"
    ]
    assert " deleted" in answer["text"]
    assert "return None" not in answer["text"]


def test_a_file_that_changed_in_very_many_places_fits_in_few_tokens(
    repository: Repository, ask: Ask
) -> None:
    rows = [f"  {number}," for number in range(1_000)]
    repository({"data.json": "\n".join(rows)})
    rows[::3] = [f"{row} 0," for row in rows[::3]]
    write(Path(), {"data.json": "\n".join(rows)})
    text = ask("diff-context", "--worktree", "--budget", "150").out
    assert "changed 1,4,7,10,13,16,19,22,25,28,31,34 and 322 more" in text


def test_a_deleted_binary_file_costs_a_line(repository: Repository, ask: Ask) -> None:
    root = repository({**SHOP, "logo.png": "\x89PNG\0\0"})
    (root / "logo.png").unlink()
    edit(root, "shop/money.py", "RATE = 2", "RATE = 3")
    found = slices(ask, "--worktree")
    assert found["logo.png"]["relevance"] == "deleted, binary"
    assert "=== logo.png\n@1 deleted, binary\n" in ask("diff-context", "--worktree").out
    assert "logo.png" in ask("diff-context", "--worktree", "--json").result["deleted"]


def test_a_patch_says_the_same_before_and_after_it_is_applied(
    repository: Repository, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(SHOP)
    edit(root, "shop/money.py", "rate = RATE", "rate = RATE + 1")
    patch = git(root, "diff")
    (root.parent / "one.patch").write_text(patch)
    applied = changed(ask, "../one.patch")
    git(root, "checkout", "-q", ".")
    assert changed(ask, "../one.patch") == applied != {}
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(patch.encode())))
    assert changed(ask, "-") == applied


def test_a_patch_reads_nothing_outside_of_the_repository(
    repository: Repository, ask: Ask, tmp_path: Path
) -> None:
    root = repository(SHOP)
    (tmp_path / "secret.txt").write_text("secret\nmore\n")
    (root / "bad.patch").write_text(
        "--- a/../secret.txt\n+++ b/../secret.txt\n@@ -2 +2 @@\n-more\n+less\n"
    )
    answer = ask("diff-context", "bad.patch")
    assert answer.status == 0
    assert "does not apply" in answer.out
    assert "secret\n" not in answer.out


def test_refusals_say_why_on_one_line(
    repository: Repository, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(SHOP)
    (root / "no.patch").write_text("hello\n")
    for words, code in (
        (("--base", "nothing"), "invalid_argument"),
        (("--head", "HEAD", "--staged"), "usage"),
        (("no.patch", "--staged"), "usage"),
        (("no.patch",), "invalid_argument"),
        (("absent.patch",), "unreadable_file"),
    ):
        answer = ask("diff-context", *words)
        assert answer.status != 0
        assert code in answer.err or code in ask("--json", "diff-context", *words).out
    plain = tmp_path / "plain"
    plain.mkdir()
    monkeypatch.chdir(plain)
    assert "git_unavailable" in ask("--json", "diff-context").out


def test_a_history_that_is_too_short_is_told(
    repository: Repository, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(SHOP)
    git(root, "checkout", "-q", "-b", "work")
    write(root, {"a.txt": "a\n"})
    commit(root)
    git(root, "checkout", "-q", "main")
    write(root, {"b.txt": "b\n"})
    commit(root)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", root.as_uri(), str(clone))
    monkeypatch.chdir(clone)
    answer = ask("--json", "diff-context", "--base", "origin/work")
    assert "git_unavailable" in answer.out
    assert "unshallow" in answer.out


def test_of_a_long_function_the_lines_are_shown_that_are_like_the_changed_ones(
    repository: Repository, ask: Ask
) -> None:
    def steps(word: str) -> str:
        return "".join(
            f"    {word}_{number} = prepare_{word}(number={number})\n" for number in range(60)
        )

    def request(word: str) -> str:
        return f"    {word} = open_connection({word}_1, retry_limit=limit_of({word}_2))\n"

    files = {
        f"shop/{word}.py": f"def {word}_all():\n{steps(word)}{request(word)}{steps(word)}    return {word}\n"
        for word in ("orders", "payments")
    }
    root = repository(files)
    edit(
        root, "shop/orders.py", "retry_limit=limit_of(orders_2)", "retry_policy=policy_of(orders_2)"
    )
    code = slices(ask, "--budget", "1500")["shop/payments.py:payments_all"]["code"]
    assert "retry_limit=limit_of" in code
    assert code.count("\n") < 100


EDIT = st.tuples(
    st.integers(0, 30), st.sampled_from(["", "    x = cents(2)", "def new(): pass", "# é"])
)
FORM = st.sampled_from(["text", "compact", "ultracompact", "markdown", "json"])


@given(edits=st.lists(EDIT, max_size=6), budget=st.integers(300, 900), form=FORM)
@settings(
    max_examples=examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_pack_exceeds_its_budget(
    ask: Ask, changing: Path, edits: list[tuple[int, str]], budget: int, form: str
) -> None:
    lines = SHOP["shop/money.py"].splitlines()
    for at, text in edits:
        lines[at % len(lines) : at % len(lines) + 1] = [text] if text else []
    (changing / "shop/money.py").write_text("\n".join(lines))
    answer = ask("diff-context", "--worktree", "--budget", str(budget), "--format", form)
    assert answer.status == 0
    assert count(answer.out) <= budget


@pytest.fixture
def changing(repository: Repository) -> Path:
    return repository(SHOP)


def test_a_large_file_that_is_gone_costs_a_line(repository: Repository, ask: Ask) -> None:
    large = "x = 1\n" * (MAX_FILE_BYTES // 5)
    root = repository({**SHOP, "large.py": large, "large.txt": large})
    (root / "large.py").unlink()
    (root / "large.txt").unlink()
    edit(root, "shop/money.py", "rate = RATE", "rate = 3")
    answer = ask("diff-context", "--worktree", "--json").result
    assert {"large.py", "large.txt"} == set(answer["deleted"])
    assert "=== large.py\n@1 deleted\n" in answer["text"]
    assert (
        ask("plan", "the rate of cents in shop/money.py is wrong", "--budget", "4000").status == 0
    )


def test_a_large_file_matters_where_it_writes_a_changed_name(
    repository: Repository, ask: Ask
) -> None:
    large = "x = 1\n" * (MAX_FILE_BYTES // 5)
    root = repository({**SHOP, "other.py": large, "using.py": f"{large}total(1)\n"})
    (root / "other.py").write_text(f"{large}y = 1\n")
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    git(root, "add", "shop/orders.py")
    noted = ask("diff-context", "--staged").err
    assert "using.py (too large)" in noted
    assert "other.py" not in noted


def test_both_ends_are_said_as_they_were_asked_for(repository: Repository, ask: Ask) -> None:
    root = repository(SHOP)
    edit(root, "shop/orders.py", "sum(", "1 + sum(")
    git(root, "commit", "-q", "-am", "m")
    for words, ends in (
        (("--base", "HEAD~1", "--head", "main"), ("HEAD~1", "main")),
        (("--base", "main~1"), ("main~1", "worktree")),
        (("--base", "HEAD~1", "--staged"), ("HEAD~1", "index")),
    ):
        found = packed(ask("diff-context", "--format", "json", *words))
        assert (found["base"], found["head"]) == ends
        answer = ask("diff-context", "--json", *words).result
        assert (answer["base"], answer["head"]) == ends
    assert ask("diff-context").out == "=== nothing differs between main and worktree\n"
    assert (
        ask("diff-context", "--worktree").out == "=== nothing differs between HEAD and worktree\n"
    )


def test_files_of_the_first_commit_were_not_written_together(
    repository: Repository, ask: Ask
) -> None:
    others = {
        f"other_{at}.py": f"def other_{at}(value):\n    return value + {at} * 1000\n"
        for at in range(9)
    }
    root = repository({**SHOP, **others})
    edit(root, "shop/money.py", "rate = RATE", "rate = 3")
    assert "co-change" not in ask("diff-context", "--worktree", "--budget", "4000").out


MOVED = {
    "lib/one.py": "def f(x):\n    return x\n\n\ndef other():\n    return 1\n",
    "lib/two.py": "def there():\n    return 2\n",
    "user.py": "from lib.one import f\n\n\ndef use():\n    return f(1)\n",
}


def test_what_still_names_what_has_moved_is_told_where_it_is(
    repository: Repository, ask: Ask
) -> None:
    root = repository(MOVED)
    function = "def f(x):\n    return x\n\n\n"
    edit(root, "lib/one.py", function, "")
    edit(root, "lib/two.py", "def there", f"{function}def there")
    shown = ask("diff-context", "--worktree").out
    assert "still calls `f`, which is in lib/two.py now: user.py:5" in shown
    # what it was moved from still has it
    edit(root, "lib/one.py", "def other", "from lib.two import f\n\n\ndef other")
    assert "still" not in ask("diff-context", "--worktree").out


def test_imports_of_a_file_that_has_moved_are_told(repository: Repository, ask: Ask) -> None:
    root = repository(MOVED)
    git(root, "mv", "lib/one.py", "lib/three.py")
    shown = ask("diff-context", "--worktree").out
    assert "imports `lib/one.py`, which is lib/three.py now: user.py:1" in shown


@pytest.mark.parametrize(
    ("old", "new", "use", "said"),
    [
        ("return x, 1", "return x, 1, 2", "a, b = f(1)", "which returns 3, not 2"),
        ("return x, 1", "return x, 1, 2", "a = f(1)", ""),
        ("return x, 1", "return 1, x", "a, b = f(1)", ""),
        ("return x", "print(x)", "a = f(1)", "which returns nothing any more"),
        ("return x", "print(x)", "f(1)", ""),
        ("def f", "async def f", "a = f(1)", "which has to be awaited now"),
    ],
)
def test_calls_that_take_what_is_returned_otherwise_are_stale(
    repository: Repository, ask: Ask, old: str, new: str, use: str, said: str
) -> None:
    returned = old if old.startswith("return") else "return x"
    root = repository(
        {
            "a.py": f"def f(x):\n    {returned}\n",
            "b.py": f"from a import f\n\n\ndef g():\n    {use}\n",
        }
    )
    edit(root, "a.py", old, new)
    shown = ask("diff-context", "--worktree").out
    assert (f"calls `f`, {said}" in shown) if said else ("calls `f`" not in shown)
