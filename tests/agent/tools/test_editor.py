"""Hands in the user's editor: a real Neovim around the agent, and a window at a socket of this
user.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingUnixStreamServer
from typing import Any

import pytest
from tests.agent.tools.box import call, opened, tool

from tersely.agent.opening import found_editor
from tersely.agent.tool_calling.call import ToolCall
from tersely.agent.tool_calling.text_call_format import WrittenCall
from tersely.agent.tool_calling.validation import checked
from tersely.agent.tools.approvals import Mode, ToolApprovals, Verdict
from tersely.agent.tools.editors.neovim import Neovim
from tersely.agent.tools.table import TOOLS

NVIM = os.environ.get("NVIM_PROGRAM", "")
needs_nvim = pytest.mark.skipif(not NVIM, reason="NVIM_PROGRAM names no Neovim")


@pytest.fixture
def neovim(root: Path, tmp_path: Path) -> Iterator[tuple[Neovim, dict[str, str]]]:
    place = tmp_path / "n.sock"
    words = [NVIM, "--clean", "--headless", "-n", "--listen", str(place), str(root / "a.txt")]
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    with subprocess.Popen(
        words, cwd=root, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        environment = {"NVIM": str(place)}
        try:
            found = None
            while not isinstance(found, Neovim):
                assert process.poll() is None
                found = found_editor(root, environment)
            yield found, environment
        finally:
            process.kill()


def lua(neovim: Neovim, text: str) -> Any:
    """What a Lua expression is in Neovim."""
    return Neovim._ask(_running(neovim, f"return {text}"), "")


def _running(neovim: Neovim, text: str) -> Neovim:
    made = Neovim(neovim._place, neovim._root)
    made._lua = text
    return made


@needs_nvim
def test_files_selection_and_diagnostics_in_neovim(
    root: Path, tmp_path: Path, neovim: tuple[Neovim, dict[str, str]]
) -> None:
    nvim, environment = neovim
    (root / "b.txt").write_text("first\nsecond\n")
    with opened(
        root, tmp_path / "kept", editor=partial(found_editor, root, environment)
    ) as toolbox:
        assert call(toolbox, "editor_open", path="b.txt", line=2).text == "Neovim shows b.txt:2"
        assert "looks at b.txt:2" in call(toolbox, "editor_open").text
        lua(nvim, "vim.cmd('normal! ggVjy')")
        assert call(toolbox, "editor_open").text.endswith("b.txt:1-2; selected:\nfirst\nsecond")
        assert "no diagnostics" in call(toolbox, "editor_diagnostics").text
        told = "{{ lnum = 1, col = 0, severity = 2, message = 'odd\\nword', source = 'me' }}"
        lua(nvim, f"vim.diagnostic.set(vim.api.nvim_create_namespace('t'), 0, {told})")
        assert (
            call(toolbox, "editor_diagnostics", path="b.txt").text
            == "b.txt:2: warning: odd word [me]"
        )
        assert (
            call(toolbox, "editor_diagnostics", path="a.txt").text
            == "Neovim has no diagnostics here"
        )


@needs_nvim
def test_an_edit_in_neovim_is_undone_there(
    root: Path, tmp_path: Path, neovim: tuple[Neovim, dict[str, str]]
) -> None:
    nvim, environment = neovim
    with opened(
        root, tmp_path / "kept", editor=partial(found_editor, root, environment)
    ) as toolbox:
        call(toolbox, "read", path="a.txt")
        done = call(toolbox, "editor_edit", path="a.txt", old="two", body="2")
        assert done.status == "ok"
        assert done.text.endswith("(Neovim: saved)")
        assert done.change is not None
        assert (root / "a.txt").read_text() == "one\n2\nthree\n"
        lua(nvim, "vim.cmd('silent undo')")
        assert lua(nvim, "vim.api.nvim_buf_get_lines(0, 0, -1, false)") == ["one", "two", "three"]
        refused = call(toolbox, "editor_edit", path="a.txt", start=2, end=2, body="zwei")
        assert refused.status == "refused"  # the buffer is not what was shown
        again = call(toolbox, "editor_edit", path="a.txt", start=2, end=2, body="zwei")
        assert again.text.endswith("(Neovim: not saved, for there are other changes)")
        assert (root / "a.txt").read_text() == "one\n2\nthree\n"
        (root / "new.txt").write_text("x\ny")
        call(toolbox, "read", path="new.txt")
        assert call(toolbox, "editor_edit", path="new.txt", old="x", body="z").status == "ok"
        assert (root / "new.txt").read_text() == "z\ny"


@needs_nvim
def test_a_command_in_a_terminal_of_neovim(
    root: Path, tmp_path: Path, neovim: tuple[Neovim, dict[str, str]]
) -> None:
    nvim, environment = neovim
    with opened(
        root, tmp_path / "kept", editor=partial(found_editor, root, environment)
    ) as toolbox:
        done = call(toolbox, "editor_terminal", command="ls; echo gone >&2; exit 3")
        assert done.status == "failed"
        assert "a.txt" in done.text
        assert done.text.endswith("gone\nexit status 3")
        assert lua(nvim, "vim.bo.buftype") == ""  # the user's window keeps the focus
        assert call(toolbox, "editor_open", path="a.txt").status == "ok"
        assert lua(nvim, "#vim.api.nvim_list_wins()") == 2


class Window:
    """What listens at a socket of a window: what it was asked, and what it answers."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, dict[str, Any]]] = []


@contextmanager
def listening(place: Path, answers: dict[str, Any]) -> Iterator[Window]:
    window = Window(answers)

    class Conversation(StreamRequestHandler):
        def handle(self) -> None:
            asked = json.loads(self.rfile.readline())
            window.asked.append((asked["method"], asked["params"]))
            answer = window.answers[asked["method"]]
            line = (
                answer
                if isinstance(answer, bytes)
                else json.dumps({"result": answer}).encode() + b"\n"
            )
            self.wfile.write(line)

    place.parent.mkdir(mode=0o700, exist_ok=True)
    with ThreadingUnixStreamServer(str(place), Conversation) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield window
        finally:
            server.shutdown()


def hello(*folders: Path, focused: bool = True) -> dict[str, Any]:
    return {"editor": "Code", "folders": [str(folder) for folder in folders], "focused": focused}


@pytest.fixture
def sockets() -> Iterator[tuple[Path, dict[str, str]]]:
    """Where windows listen, a place with a short name, and the environment that says so."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place, f"tersely-{os.geteuid()}"), {"TMPDIR": place}


def test_the_window_with_the_repository_is_found(
    root: Path, tmp_path: Path, sockets: tuple[Path, dict[str, str]]
) -> None:
    folder, environment = sockets
    assert found_editor(root, environment) is None
    link = tmp_path / "link"
    link.symlink_to(root)
    with (
        listening(folder / "editor-1.sock", {"hello": hello(tmp_path / "other")}),
        listening(folder / "editor-2.sock", {"hello": hello(root, focused=False)}),
        listening(folder / "editor-3.sock", {"hello": hello(link), "open": None}) as used,
    ):
        found = found_editor(root, environment)
        assert found is not None
        found.open("a.txt", 3)
    # as the editor writes it
    assert used.asked[-1] == ("open", {"path": f"{link}/a.txt", "line": 3})
    assert found_editor(root, environment) is None  # what was left behind is nobody


def test_a_place_that_others_may_write_to_is_not_asked(
    root: Path, sockets: tuple[Path, dict[str, str]]
) -> None:
    folder, environment = sockets
    with listening(folder / "editor-1.sock", {"hello": hello(root)}) as window:
        folder.chmod(0o770)
        assert found_editor(root, environment) is None
        assert window.asked == []
        folder.chmod(0o700)
        (folder / "editor-1.sock").rename(folder / "other.sock")
        (folder / "editor-1.sock").symlink_to(folder / "other.sock")
        assert found_editor(root, environment) is None
    assert found_editor(root, {**environment, "NVIM": str(root)}) is None


@pytest.mark.parametrize(
    "said",
    [b"", b"no json\n", b"[]\n", b'{"result": {"folders": 3}}\n', b'{"error": "no"}\n'],
    ids=repr,
)
def test_a_window_that_answers_nonsense_is_nobody(
    root: Path, sockets: tuple[Path, dict[str, str]], said: bytes
) -> None:
    with listening(sockets[0] / "editor-1.sock", {"hello": said}):
        assert found_editor(root, sockets[1]) is None


def test_what_a_window_says_is_held_to_the_repository(
    root: Path, tmp_path: Path, sockets: tuple[Path, dict[str, str]]
) -> None:
    one = {"line": 2, "severity": "error", "message": "bad\x1b[31m", "source": ""}
    answers = {
        "hello": hello(root),
        "look": {
            "path": "/etc/passwd",
            "line": 1,
            "end_line": 1,
            "text": "secret",
            "unsaved": False,
        },
        "diagnostics": [{**one, "path": f"{root}/a.txt"}, {**one, "path": "/etc/passwd"}],
        "run": {"output": "\x1b[32mgreen\x1b[0m\r\n", "status": 1},
        "open": b'{"error": "the window is gone"}\n',
    }
    with (
        listening(sockets[0] / "editor-1.sock", answers),
        opened(root, tmp_path / "kept", editor=partial(found_editor, root, sockets[1])) as toolbox,
    ):
        assert call(toolbox, "editor_open").text == "in Code no file of this repository is shown"
        assert call(toolbox, "editor_diagnostics").text == "a.txt:2: error: bad\\x1b[31m"
        assert call(toolbox, "editor_terminal", command="x").text == "green\nexit status 1"
        assert (
            "editor_failed: Code: the window is gone"
            in call(toolbox, "editor_open", path="a.txt").text
        )
        assert call(toolbox, "editor_open", path="../../etc/passwd").status == "failed"
    with opened(root, tmp_path / "kept", editor=partial(found_editor, root, sockets[1])) as toolbox:
        assert "no editor has the repository open" in call(toolbox, "editor_diagnostics").text


def test_an_unconfined_command_is_asked_about_in_auto_mode() -> None:
    arguments = {"command": "ls"}

    def asked(one: ToolApprovals) -> Verdict:
        return one.verdict(tool("editor_terminal"), arguments, "ls")

    assert asked(ToolApprovals(mode=Mode.AUTO)) is Verdict.ASK
    assert asked(ToolApprovals({2: Verdict.ALLOW}, Mode.AUTO)) is Verdict.ALLOW
    assert asked(ToolApprovals({2: Verdict.ALLOW}, Mode.PLAN)) is Verdict.DENY
    assert ToolApprovals(mode=Mode.AUTO).verdict(tool("bash"), arguments, "ls") is Verdict.ALLOW


@pytest.mark.parametrize(
    ("named", "values", "meant", "arguments"),
    [
        (
            "vscode_open_file",
            {"path": "a.py", "line": 3},
            "editor_open",
            {"path": "a.py", "line": 3},
        ),
        (
            "vscode_edit",
            {"path": "a.py", "start": 1, "end": 2, "content": "x"},
            "editor_edit",
            {"path": "a.py", "start": 1, "end": 2, "body": "x\n"},
        ),
        ("vscode_run_terminal", {"command": "ls"}, "editor_terminal", {"command": "ls"}),
    ],
)
def test_models_may_call_them_by_other_names(
    named: str, values: dict[str, Any], meant: str, arguments: dict[str, Any]
) -> None:
    found = checked(WrittenCall(named, values), TOOLS)
    assert isinstance(found, ToolCall)
    assert (found.tool, found.arguments) == (meant, arguments)
