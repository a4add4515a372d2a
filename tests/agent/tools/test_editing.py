"""Edits: what fits is made in one step and can be taken back; the rest is refused with the lines
that are there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agent.tools.box import call, opened, tokens, tool
from tests.depth import examples
from tests.repositories import initialized, repository

from tersely.agent.tools import undoing
from tersely.agent.tools.approvals import Verdict
from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.files import editing, edits, replacing
from tersely.agent.tools.files.content import read_content
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.limits import MAX_WHOLE_LINES, OBSERVATION_TOKENS

APP = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"


def undo(toolbox: Toolbox) -> Observation:
    return asyncio.run(undoing.undo(toolbox))


def write(root: Path, text: str, name: str = "app.py") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_lines_that_were_shown_are_replaced(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    assert "2|    return 1" in call(toolbox, "read", path="app.py").text
    told = call(toolbox, "edit", path="app.py", start=2, end=2, body="    x = 1\n    return x\n")
    assert told.status == "ok"
    assert path.read_text() == APP.replace("    return 1\n", "    x = 1\n    return x\n")
    assert told.change is not None
    assert (told.change.added_lines, told.change.removed_lines) == (2, 1)
    assert "-    return 1\n+    x = 1\n+    return x\n" in told.change.diff
    assert "moved by +1" in told.text


def test_lines_that_were_not_shown_are_shown_instead(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    told = call(toolbox, "edit", path="app.py", start=6, body="    return 3\n")
    assert told.status == "refused"
    assert "6|    return 2" in told.text
    assert "3|" in told.text
    assert "2|" not in told.text.replace("return 2", "")
    assert path.read_text() == APP
    assert call(toolbox, "edit", path="app.py", start=6, body="    return 3\n").status == "ok"


def test_an_edit_of_what_has_changed_since_is_refused(toolbox: Toolbox, root: Path) -> None:
    write(root, APP)
    call(toolbox, "read", path="app.py")
    path = write(root, "# new\n" + APP)
    told = call(toolbox, "edit", path="app.py", start=2, body="    return 3\n")
    assert told.status == "refused"
    assert "has changed since" in told.text
    assert "2|def one():" in told.text
    assert path.read_text() == "# new\n" + APP


def test_lines_below_an_edit_that_moved_them_are_not_edited_by_their_old_numbers(
    toolbox: Toolbox, root: Path
) -> None:
    write(root, APP)
    call(toolbox, "read", path="app.py")
    assert call(toolbox, "edit", path="app.py", start=1, end=0, body="import os\n").status == "ok"
    told = call(toolbox, "edit", path="app.py", start=6, body="    return 3\n")
    assert told.status == "refused"
    assert "7|    return 2" in told.text


def test_lines_below_an_edit_that_moved_nothing_still_count_as_shown(
    toolbox: Toolbox, root: Path
) -> None:
    path = write(root, APP)
    call(toolbox, "read", path="app.py")
    call(toolbox, "edit", path="app.py", start=2, body="    return 10\n")
    assert call(toolbox, "edit", path="app.py", start=6, body="    return 20\n").status == "ok"
    assert path.read_text() == APP.replace("1\n", "10\n").replace("2\n", "20\n")


def test_a_text_is_replaced_where_it_stands_once(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    assert call(toolbox, "edit", path="app.py", old="return 1", body="return 5").status == "ok"
    assert path.read_text() == APP.replace("return 1", "return 5")


def test_a_text_that_stands_twice_is_refused_with_both_places(toolbox: Toolbox, root: Path) -> None:
    write(root, APP)
    told = call(toolbox, "edit", path="app.py", old="    return", body="    yield")
    assert told.status == "refused"
    assert "2 places" in told.text
    assert "2|    return 1" in told.text
    assert "6|    return 2" in told.text


def test_a_text_with_another_margin_is_found_and_the_new_lines_get_the_margin_of_the_file(
    toolbox: Toolbox, root: Path
) -> None:
    path = write(root, "class A:\n    def f(self):\n        x = 1\n        return x\n")
    told = call(
        toolbox,
        "edit",
        path="app.py",
        old="def f(self):\n    x = 1\n",
        body="def f(self):\n    x = 2\n",
    )
    assert told.status == "ok"
    assert path.read_text() == "class A:\n    def f(self):\n        x = 2\n        return x\n"


def test_a_text_that_is_not_there_is_answered_with_what_is_like_it(
    toolbox: Toolbox, root: Path
) -> None:
    write(root, APP)
    told = call(toolbox, "edit", path="app.py", old="def too():\n    return 9\n", body="")
    assert told.status == "refused"
    assert "5|def two():" in told.text


def test_a_short_file_is_replaced_as_a_whole_and_a_long_one_is_not(
    toolbox: Toolbox, root: Path
) -> None:
    path = write(root, APP)
    assert call(toolbox, "edit", path="app.py", body="x = 1\n").status == "refused"
    assert call(toolbox, "read", path="app.py").status == "ok"
    assert call(toolbox, "edit", path="app.py", body="x = 1\n").status == "ok"
    assert path.read_text() == "x = 1\n"
    write(root, "x = 1\n" * (MAX_WHOLE_LINES + 1))
    assert "give start and end" in call(toolbox, "edit", path="app.py", body="x = 2\n").text


def test_write_refuses_a_file_that_exists_and_says_which_call_to_use(
    toolbox: Toolbox, root: Path
) -> None:
    path = write(root, APP)
    told = call(toolbox, "write", path="app.py", body="x\n")
    assert told.status == "refused"
    assert "edit(app.py, start, end, body)" in told.text
    assert path.read_text() == APP


def test_new_files_get_their_folders_and_both_go_with_undo(toolbox: Toolbox, root: Path) -> None:
    assert call(toolbox, "write", path="a/b/c.py", body="x = 1").status == "ok"
    assert (root / "a/b/c.py").read_text() == "x = 1\n"
    assert call(toolbox, "create", path="a/__init__.py").status == "ok"
    assert (root / "a/__init__.py").read_bytes() == b""
    assert undo(toolbox).status == "ok"
    assert undo(toolbox).status == "ok"
    assert list(root.iterdir()) == []
    assert undo(toolbox).status == "refused"


def test_an_edit_that_breaks_the_syntax_is_not_made(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    call(toolbox, "read", path="app.py")
    told = call(toolbox, "edit", path="app.py", start=1, body="def one(:\n")
    assert told.status == "refused"
    assert "syntax" in told.text
    assert path.read_text() == APP
    assert undo(toolbox).status == "refused"


def test_a_file_that_was_broken_before_can_be_mended_in_steps(toolbox: Toolbox, root: Path) -> None:
    write(root, "def one(:\n    pass\n\ndef two(:\n    pass\n")
    call(toolbox, "read", path="app.py")
    assert call(toolbox, "edit", path="app.py", start=1, body="def one():\n").status == "ok"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nx\r\ny\r\nc\r\n"),
        (b"a\nb\nc", b"a\nx\ny\nc"),
        (b"\xef\xbb\xbfa\nb\nc\n", b"\xef\xbb\xbfa\nx\ny\nc\n"),
        ("a\nb\né\n".encode("latin-1"), "a\nx\ny\né\n".encode("latin-1")),
        ("a\nb\né\n".encode("utf-16"), "a\nx\ny\né\n".encode("utf-16")),
        (b"a\nb\n\x0c\x1b[31m\n", b"a\nx\ny\n\x0c\x1b[31m\n"),
    ],
)
def test_what_is_not_edited_keeps_its_bytes(
    toolbox: Toolbox, root: Path, before: bytes, after: bytes
) -> None:
    (root / "t.txt").write_bytes(before)
    call(toolbox, "read", path="t.txt")
    assert call(toolbox, "edit", path="t.txt", start=2, body="x\ny\n").status == "ok"
    assert (root / "t.txt").read_bytes() == after
    undo(toolbox)
    assert (root / "t.txt").read_bytes() == before


def test_the_last_line_of_a_file_without_a_final_newline(toolbox: Toolbox, root: Path) -> None:
    path = write(root, "a\nb", "t.txt")
    call(toolbox, "read", path="t.txt")
    assert call(toolbox, "edit", path="t.txt", start=3, end=2, body="c\n").status == "ok"
    assert path.read_text() == "a\nb\nc"


def test_permissions_and_links_stay(toolbox: Toolbox, root: Path) -> None:
    path = write(root, "#!/bin/sh\necho a\n", "run.sh")
    path.chmod(0o751)
    (root / "link.sh").symlink_to("run.sh")
    assert call(toolbox, "edit", path="link.sh", old="echo a", body="echo b").status == "ok"
    assert (root / "link.sh").is_symlink()
    assert path.read_text() == "#!/bin/sh\necho b\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    undo(toolbox)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("#!/bin/sh\necho a\n", 0o751)


@pytest.mark.parametrize(
    "path",
    [
        "../out.txt",
        "/etc/passwd",
        "a/../../out.txt",
        "away/x.txt",
        ".git/config",
        "sub/.GIT/hooks/x",
        ".tersely/x",
    ],
)
def test_no_path_leads_out_of_the_repository(
    toolbox: Toolbox, root: Path, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.txt").write_text("secret\n")
    (tmp_path / "out.txt").write_text("secret\n")
    (root / "away").symlink_to(outside)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").touch()
    (root / ".git/config").write_text("secret\n")
    for name, more in (
        ("read", {}),
        ("edit", {"old": "secret", "body": "x"}),
        ("write", {"body": "x"}),
        ("create", {}),
    ):
        told = call(toolbox, name, path=path, **more)
        assert told.status == "failed", (name, told)
        assert "secret" not in told.text
    assert (outside / "x.txt").read_text() == (tmp_path / "out.txt").read_text() == "secret\n"


def test_a_folder_that_becomes_a_link_on_the_way_is_not_followed(
    toolbox: Toolbox, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, APP, "sub/app.py")
    outside = tmp_path / "outside"
    write(outside, APP)
    call(toolbox, "read", path="sub/app.py")
    original = replacing.opened_parent

    def raced(*given: Any, **named: Any) -> Any:
        (root / "sub").rename(root / "old")
        (root / "sub").symlink_to(outside)
        monkeypatch.setattr(replacing, "opened_parent", original)
        return original(*given, **named)

    monkeypatch.setattr(replacing, "opened_parent", raced)
    assert (
        call(toolbox, "edit", path="sub/app.py", start=2, body="    return 3\n").status == "failed"
    )
    assert (outside / "app.py").read_text() == APP
    assert sorted(path.name for path in outside.iterdir()) == ["app.py"]


def test_a_file_that_changes_while_an_edit_is_made_is_left_alone(
    toolbox: Toolbox, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(root, APP)
    call(toolbox, "read", path="app.py")
    original = toolbox.kept.add_checkpoint

    def raced(*given: Any) -> int:
        path.write_text("somebody = 1\n")
        return original(*given)

    monkeypatch.setattr(toolbox.kept, "add_checkpoint", raced)
    assert (
        "version_conflict"
        in call(toolbox, "edit", path="app.py", start=2, body="    return 3\n").text
    )
    assert path.read_text() == "somebody = 1\n"
    assert [found.name for found in root.iterdir()] == ["app.py"]
    assert undo(toolbox).status == "refused"


def test_undo_leaves_what_somebody_has_changed_since(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    call(toolbox, "edit", path="app.py", old="return 1", body="return 5")
    path.write_text("mine\n")
    assert undo(toolbox).text.startswith("left as they are: app.py (it was changed since)")
    assert path.read_text() == "mine\n"


def test_pipes_large_and_binary_files_are_refused(toolbox: Toolbox, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with (root / "large").open("wb") as file:
        file.truncate(3_000_000_000)
    (root / "binary").write_bytes(b"\x00\x01")
    for name in ("pipe", "large", "binary", "."):
        for told in (
            call(toolbox, "read", path=name),
            call(toolbox, "edit", path=name, old="a", body="b"),
        ):
            assert told.status == "failed"


def test_a_preview_shows_the_diff_and_changes_nothing(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    shown = editing.preview(
        editing.plan_edit,
        toolbox,
        {"path": "app.py", "old": "return 1", "body": "return '\x1b[31m\u202e'"},
    )
    assert "-    return 1" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert path.read_text() == APP


def test_refusals_are_bounded(toolbox: Toolbox, root: Path) -> None:
    write(root, "".join(f"x{number} = '{'word ' * 60}'\n" for number in range(200)))
    told = call(toolbox, "edit", path="app.py", start=20, end=180, body="y = 1\n")
    assert told.status == "refused"
    assert tokens(toolbox, told) <= OBSERVATION_TOKENS + 20


LINES = st.lists(st.sampled_from(["a", "bb", "", "  c", "é", "x\x0c", "\r"]), max_size=6)
ENDINGS = st.sampled_from(["\n", "\r\n"])
FILES = st.builds(
    lambda lines, ending, last: ending.join(lines) + (ending if last else ""),
    LINES,
    ENDINGS,
    st.booleans(),
)
STEPS = st.lists(st.tuples(st.integers(1, 7), st.integers(0, 7), LINES), min_size=1, max_size=6)


@settings(max_examples=examples(), suppress_health_check=[HealthCheck.too_slow])
@given(text=FILES, steps=STEPS)
def test_undo_goes_back_through_any_sequence_of_edits(
    text: str, steps: list[tuple[int, int, list[str]]]
) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(made(folder), Path(folder) / "kept") as toolbox,
    ):
        path = toolbox.root / "t.txt"
        path.write_bytes(text.encode())
        states = [path.read_bytes()]
        for start, end, lines in steps:
            call(toolbox, "read", path="t.txt")
            body = "".join(f"{line}\n" for line in lines)
            if call(toolbox, "edit", path="t.txt", start=start, end=end, body=body).status == "ok":
                states.append(path.read_bytes())
        assert path.read_bytes() == states[-1]
        for state in reversed(states[:-1]):
            assert undo(toolbox).status == "ok"
            assert path.read_bytes() == state
        assert undo(toolbox).status == "refused"


def made(folder: str) -> Path:
    root = Path(folder) / "repository"
    root.mkdir()
    return root


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.agent.tools.box import call, opened
from tersely.agent.tools.files import edits, replacing
from tersely.agent.tools.files.content import read_content

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

root, kept, where = sys.argv[1:]
with opened(Path(root), Path(kept)) as toolbox:
    call(toolbox, "edit", path="app.py", old="return 1", body="return 5")
    setattr(replacing if where == "replace" else os, where, killed)
    call(toolbox, "edit", path="app.py", old="return 2", body="return 6")
"""


@pytest.mark.parametrize("where", ["replace", "rename", "fsync"])
def test_a_program_that_is_killed_in_the_middle_has_lost_nothing(
    root: Path, tmp_path: Path, where: str
) -> None:
    path = write(root, APP)
    words = [sys.executable, "-c", KILLED, str(root), str(tmp_path / "kept"), where]
    ended = subprocess.run(
        words, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert ended.returncode == -signal.SIGKILL
    assert path.read_text() == APP.replace("return 1", "return 5")
    with opened(root, tmp_path / "kept") as toolbox:
        assert undo(toolbox).status == "ok"
        assert path.read_text() == APP
        assert undo(toolbox).status == "refused"


def test_nobody_is_asked_about_an_edit_that_does_not_fit(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    edit = tool("edit")
    refusal = edit.refusal(toolbox, {"path": "app.py", "start": 6, "body": "    return 3\n"})
    assert refusal is not None
    assert "6|    return 2" in refusal.text
    assert edit.refusal(toolbox, {"path": "app.py", "start": 6, "body": "    return 3\n"}) is None
    assert tool("write").refusal(toolbox, {"path": "app.py", "body": "x\n"}) is not None
    assert tool("write").refusal(toolbox, {"path": "b.py", "body": "x\n"}) is None
    assert path.read_text() == APP


def test_a_text_that_stands_in_very_many_places_is_refused_at_once(
    toolbox: Toolbox, root: Path
) -> None:
    write(root, "a" * 500_000 + "\n" + "a\n" * 100_000, "t.txt")
    told = call(toolbox, "edit", path="t.txt", old="a", body="b")
    assert "600000 places" in told.text
    assert tokens(toolbox, told) <= OBSERVATION_TOKENS + 20


@pytest.mark.parametrize("path", ["pkg/", "app.py/x.py", "app.py/x/y.py", " ", "a\nb"])
def test_a_new_file_that_cannot_be_is_not_made(toolbox: Toolbox, root: Path, path: str) -> None:
    write(root, APP)
    for name, more in (("write", {"body": "x\n"}), ("create", {})):
        assert call(toolbox, name, path=path, **more).status in {"refused", "failed"}
    assert [found.name for found in root.iterdir()] == ["app.py"]
    assert undo(toolbox).status == "refused"


@settings(max_examples=examples(100))
@given(text=FILES, start=st.integers(-1, 8), end=st.integers(-1, 8), lines=LINES)
def test_an_edit_replaces_its_lines_and_no_others(
    text: str, start: int, end: int, lines: list[str]
) -> None:
    content = read_content(text.encode(), "t.txt")
    body = "".join(f"{line}\n" for line in lines)
    made = edits.ranged(content, start, end, body)
    count = len(content.lines)
    assert isinstance(made, edits.LineEdit) is (
        1 <= start <= count + 1 and start - 1 <= end <= count
    )
    if isinstance(made, edits.LineEdit):
        after = content.replaced(made.start, made.end, made.body)
        wanted = [line.removesuffix("\r") for line in lines]
        assert after.shown == content.shown[: start - 1] + wanted + content.shown[end:]
        assert read_content(after.encoded(), "t.txt").lines == after.lines
        assert after.lines[: start - 2] == content.lines[: max(0, start - 2)] or start < 2


PIPELINE = "let a = b |> c(%)\n"  # a proposal that the grammar does not know


def test_what_only_the_grammar_speaks_against_is_asked_about_when_it_is_sent_again(
    root: Path, tmp_path: Path
) -> None:
    path = write(root, "let a = 1\n", "a.js")
    again = {"path": "a.js", "old": "let a = 1", "body": PIPELINE}
    edit = tool("edit")
    with opened(root, tmp_path / "kept", policy={1: Verdict.ALLOW}) as toolbox:
        assert toolbox.verdict(edit, again) is Verdict.ALLOW
        told = call(toolbox, "edit", **again)
        assert told.status == "refused"
        assert "send the same again: the user is asked" in told.text
        assert path.read_text() == "let a = 1\n"
        assert toolbox.verdict(edit, again) is Verdict.ASK
        assert edit.refusal(toolbox, again) is None
        assert "The grammar does not understand it: line 1" in edit.preview(toolbox, again)
        other = {**again, "body": "let a = b |> d(%)\n"}
        assert toolbox.verdict(edit, other) is Verdict.ALLOW
        assert call(toolbox, "edit", **other).status == "refused"
        assert call(toolbox, "edit", **again).status == "ok"
    assert path.read_text() == PIPELINE


def test_a_new_file_that_the_grammar_does_not_understand_is_asked_about_as_well(
    toolbox: Toolbox, root: Path
) -> None:
    new = {"path": "a.js", "body": PIPELINE}
    assert tool("write").refusal(toolbox, new) is not None
    assert tool("write").refusal(toolbox, new) is None
    assert call(toolbox, "write", **new).status == "ok"


def test_of_a_file_that_was_broken_only_what_is_new_is_named(toolbox: Toolbox, root: Path) -> None:
    path = write(root, f"{PIPELINE}let d = 1\nlet e = 1\n", "a.js")
    assert (
        call(toolbox, "edit", path="a.js", old="let d = 1", body="let before = 0\nlet d = 2").status
        == "ok"
    )
    told = call(toolbox, "edit", path="a.js", old="let e = 1", body="let e = (1")
    assert "line 4" in told.text
    assert "line 1" not in told.text
    assert path.read_text() == f"{PIPELINE}let before = 0\nlet d = 2\nlet e = 1\n"


def test_a_draft_of_a_program_that_was_killed_is_neither_listed_nor_committed(
    root: Path, tmp_path: Path
) -> None:
    write(root, APP)
    write(root, "*", ".tersely/.gitignore")
    initialized(root)
    words = [sys.executable, "-c", KILLED, str(root), str(tmp_path / "kept"), "rename"]
    subprocess.run(words, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    (draft,) = (root / ".tersely/drafts").iterdir()
    listed = subprocess.run(
        ["git", "status", "--short"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    assert listed == "?? app.py\n"
    with opened(root, tmp_path / "kept"):
        assert draft.exists()  # somebody may be at work
    os.utime(draft, (0, 0))
    with opened(root, tmp_path / "kept") as toolbox:
        assert not draft.exists()
        added = {"old": "return 2", "body": "return 2\n    # two"}
        assert call(toolbox, "edit", path="app.py", **added).status == "ok"
    assert list((root / ".tersely/drafts").iterdir()) == []


@pytest.mark.parametrize(
    ("before", "old", "body", "after"),
    [
        (
            "f:\n\tif x:\n\t\ty\n",
            "    if x:\n        y",
            "    if x:\n        z\n    w",
            "f:\n\tif x:\n\t\tz\n\tw\n",
        ),
        (
            "f:\n\t\ty\n",
            "        y",
            "        y\n            z\n    w",
            "f:\n\t\ty\n\t\t\tz\n\tw\n",
        ),
        (
            "f:\n    if x:\n        y\n",
            "\tif x:\n\t\ty",
            "\tif x:\n\t\ty\n\t\t\tz",
            "f:\n    if x:\n        y\n            z\n",
        ),
        (
            "f:\n  if x:\n    y\n",
            "if x:\n  y",
            "if x:\n  z\n    w",
            "f:\n  if x:\n    z\n      w\n",
        ),
        ("f:\n\tif x:\n", "  if x:", "  if x:\n    y", "f:\n\tif x:\n\t\ty\n"),
    ],
)
def test_new_lines_get_the_tabs_or_spaces_of_the_file(
    toolbox: Toolbox, root: Path, before: str, old: str, body: str, after: str
) -> None:
    path = write(root, before, "a.txt")
    assert call(toolbox, "edit", path="a.txt", old=old, body=body).status == "ok"
    assert path.read_text() == after


def test_a_file_that_is_read_only_is_left_alone(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    path.chmod(0o444)
    assert "read-only" in call(toolbox, "edit", path="app.py", old="return 1", body="return 5").text
    assert path.read_text() == APP


@pytest.mark.parametrize(
    ("path", "there"), [("APP.py", "app.py"), ("Sub/new.py", "sub"), ("sub/A.TXT", "sub/a.txt")]
)
def test_a_new_file_is_not_made_beside_one_that_differs_by_case(
    toolbox: Toolbox, root: Path, path: str, there: str
) -> None:
    write(root, APP)
    write(root, "x", "sub/a.txt")
    told = call(toolbox, "write", path=path, body="x = 1\n")
    assert told.status == "refused"
    assert f"there is {there}, which differs by case alone" in told.text
    assert call(toolbox, "write", path="sub/b.txt", body="x\n").status == "ok"


@pytest.mark.parametrize("path", ["~/.profile", "~root/x", "x/" * 600 + "y"])
def test_a_path_that_means_another_place_makes_no_folder(
    toolbox: Toolbox, root: Path, path: str
) -> None:
    for name in ("read", "write", "create"):
        assert call(toolbox, name, path=path, body="x\n").status == "failed"
    assert list(root.iterdir()) == []


def test_a_text_stays_a_text(toolbox: Toolbox, root: Path) -> None:
    path = write(root, APP)
    assert "NUL" in call(toolbox, "edit", path="app.py", old="return 1", body="return '\0'").text
    assert "NUL" in call(toolbox, "write", path="b.py", body="\0").text
    assert path.read_text() == APP


@pytest.mark.parametrize(("named", "is_asked"), [("app.py", True), ("b.py", False)])
def test_a_new_file_of_the_name_of_one_that_the_user_names_is_asked_about_once(
    toolbox: Toolbox, root: Path, named: str, is_asked: bool
) -> None:
    write(root, APP)
    toolbox.named = ["x.py", named]
    told = [call(toolbox, "create", path=f"src/{named}", body="x = 1\n") for _ in range(2)]
    # of one that is nowhere yet the model may know better where it belongs
    assert (f"the user names {named}" in told[0].text) is is_asked
    assert (root / f"src/{named}").read_text() == "x = 1\n"


def test_a_new_file_is_written_as_the_user_writes_it(toolbox: Toolbox, root: Path) -> None:
    toolbox.named = ["NOTES.md"]
    assert call(toolbox, "create", path="notes.md", body="x\n").text.startswith("NOTES.md is")
    assert [path.name for path in root.iterdir() if path.is_file()] == ["NOTES.md"]


@pytest.mark.parametrize("name", ["write", "create"])
def test_a_file_that_is_written_again_is_shown_then_changed(
    toolbox: Toolbox, root: Path, name: str
) -> None:
    path = write(root, APP)
    bodies = [f"{APP}\n# {number}\n" for number in range(3)]
    told = [call(toolbox, name, path="app.py", body=body) for body in bodies]
    assert [each.status for each in told] == ["refused", "ok", "refused"]
    assert all(
        f"{number}|{line}" in told[0].text for number, line in enumerate(APP.splitlines(), 1)
    )
    assert told[1].change is not None
    assert path.read_text() == bodies[1]  # and who writes it once more is told again


def test_a_long_file_that_is_written_again_and_again_is_shown(toolbox: Toolbox, root: Path) -> None:
    text = "".join(f"x{number} = 1\n" for number in range(MAX_WHOLE_LINES + 1))
    path = write(root, text)
    told = [call(toolbox, "write", path="app.py", body="x = 1\n") for _ in range(3)]
    assert [each.status for each in told] == ["refused"] * 3
    assert all("1|x0 = 1" in each.text for each in told)
    assert path.read_text() == text


def test_a_file_that_is_so_already_is_not_written(toolbox: Toolbox, root: Path) -> None:
    write(root, APP)
    assert (
        call(toolbox, "write", path="app.py", body=APP).text
        == "refused: app.py: it is so already, nothing is to be done"
    )


def test_an_edit_that_misses_shows_the_file(toolbox: Toolbox, root: Path) -> None:
    write(root, APP)
    told = call(toolbox, "edit", path="app.py", old="zzzz\n", body="y\n")
    assert "2|    return 1" in told.text
    assert told.text.endswith("send the corrected call.")


NUMBERED = {
    "a range": {"start": 2, "end": 2, "body": "2|    return 3"},
    "a text": {"old": "2|    return 1", "body": "2|    return 3"},
    "a text, its numbers aside": {"old": " 2|    return 1\n", "body": "    return 3"},
}


@pytest.mark.parametrize("how", NUMBERED)
def test_lines_that_are_quoted_with_their_numbers_are_edited(
    toolbox: Toolbox, root: Path, how: str
) -> None:
    path = write(root, APP)
    call(toolbox, "read", path="app.py")
    assert call(toolbox, "edit", path="app.py", **NUMBERED[how]).status == "ok"
    assert path.read_text() == APP.replace("return 1", "return 3")


@pytest.mark.parametrize("name", ["edit", "write"])
def test_lines_go_where_their_numbers_say(toolbox: Toolbox, root: Path, name: str) -> None:
    path = write(root, "apple\nbanana\n", "fruits.txt")
    call(toolbox, "read", path="fruits.txt")
    assert call(toolbox, name, path="fruits.txt", body="3|cherry\n").status == "ok"
    assert call(toolbox, name, path="fruits.txt", body="2|blueberry\n").status == "ok"
    assert path.read_text() == "apple\nblueberry\ncherry\n"
    assert call(toolbox, name, path="fruits.txt", body="9|plum\n").status == "refused"


def test_a_table_keeps_its_numbers(toolbox: Toolbox, root: Path) -> None:
    path = write(root, "1|ann\n2|bob\n", "table.psv")
    call(toolbox, "read", path="table.psv")
    assert call(toolbox, "edit", path="table.psv", old="2|bob", body="2|eve").status == "ok"
    assert path.read_text() == "1|ann\n2|eve\n"


def test_a_file_is_created_with_what_is_to_be_in_it(toolbox: Toolbox, root: Path) -> None:
    assert call(toolbox, "create", path="a/b.txt", body="hello\n").status == "ok"
    assert call(toolbox, "create", path="a/c.txt").status == "ok"
    assert (root / "a/b.txt").read_text() == "hello\n"
    assert (root / "a/c.txt").read_text() == ""


def test_after_an_edit_the_model_is_told_what_it_breaks(tmp_path: Path, root: Path) -> None:
    user = "from app import one\n\n\ndef three():\n    return one()\n"
    repository(root, {"app.py": APP, "user.py": user})
    said = "calls `one`, which has another signature: user.py:5"

    async def edited() -> list[str]:
        with opened(root, tmp_path / "kept") as toolbox:
            return await edited_in(toolbox)

    async def edited_in(toolbox: Toolbox) -> list[str]:
        texts = []
        for old, body in (("one():", "one(times):"), ("return 2", "return 3")):
            arguments = {"path": "app.py", "old": old, "body": body}
            texts.append((await tool("edit").run(toolbox, arguments)).text)
        write(root, "def three():\n    return 1\n", "user.py")
        last = await tool("edit").run(
            toolbox, {"path": "app.py", "old": "return 3", "body": "return 4"}
        )
        return [*texts, last.text]

    first, second, third = asyncio.run(edited())
    assert first.endswith(f"\n{said}")
    assert second.endswith(f"\n{said}")  # it is still so
    assert "another signature" not in third
