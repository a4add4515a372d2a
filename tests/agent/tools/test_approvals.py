"""Approvals: who is asked, and what a pattern covers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tools.box import opened, tool

from tersely.agent.tools.approvals import Mode, Verdict, matches, simple_words, suggested
from tersely.agent.tools.declaration import ApprovalSubject
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError


def verdict(toolbox: Toolbox, name: str, **arguments: Any) -> Verdict:
    return toolbox.verdict(tool(name), arguments)


def test_looking_is_free_and_all_else_is_asked_about(toolbox: Toolbox) -> None:
    assert verdict(toolbox, "read", path="a") is Verdict.ALLOW
    assert verdict(toolbox, "git", arguments="status") is Verdict.ALLOW
    for name, arguments in (
        ("edit", {"path": "a"}),
        ("bash", {"command": "ls"}),
        ("fetch", {"url": "https://a.b"}),
    ):
        assert verdict(toolbox, name, **arguments) is Verdict.ASK


def test_a_tier_can_be_allowed_or_denied_as_a_whole(root: Path, tmp_path: Path) -> None:
    with opened(root, tmp_path / "kept", policy={1: Verdict.ALLOW, 2: Verdict.DENY}) as toolbox:
        assert verdict(toolbox, "edit", path="a") is Verdict.ALLOW
        assert verdict(toolbox, "bash", command="ls") is Verdict.DENY
        assert verdict(toolbox, "git", arguments="status") is Verdict.DENY
        assert verdict(toolbox, "fetch", url="https://a.b") is Verdict.ASK


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        (Mode.ASK, [Verdict.ALLOW, Verdict.ASK, Verdict.ASK]),
        (Mode.PLAN, [Verdict.DENY, Verdict.DENY, Verdict.DENY]),
        (Mode.AUTO, [Verdict.ALLOW, Verdict.ALLOW, Verdict.ASK]),
    ],
)
def test_a_mode_is_put_on_top_of_what_was_chosen(
    root: Path, tmp_path: Path, mode: Mode, verdicts: list[Verdict]
) -> None:
    with opened(root, tmp_path / "kept", policy={1: Verdict.ALLOW}, mode=mode) as toolbox:
        asked = [
            ("edit", {"path": "a"}),
            ("bash", {"command": "ls"}),
            ("fetch", {"url": "https://a.b"}),
        ]
        assert [verdict(toolbox, name, **arguments) for name, arguments in asked] == verdicts
        assert verdict(toolbox, "read", path="a") is Verdict.ALLOW
        toolbox.approvals.use_mode(Mode.ASK)
        assert verdict(toolbox, "bash", command="ls") is Verdict.ASK


@pytest.mark.parametrize("mode", Mode)
def test_what_is_denied_stays_denied_in_every_mode(root: Path, tmp_path: Path, mode: Mode) -> None:
    with opened(
        root, tmp_path / "kept", policy=dict.fromkeys((1, 2, 3), Verdict.DENY), mode=mode
    ) as toolbox:
        assert verdict(toolbox, "edit", path="a") is Verdict.DENY
        assert verdict(toolbox, "bash", command="ls") is Verdict.DENY


def test_a_tool_can_be_allowed_for_the_session(toolbox: Toolbox) -> None:
    toolbox.approvals.allow_tool(tool("edit"))
    assert verdict(toolbox, "edit", path="a") is Verdict.ALLOW
    assert verdict(toolbox, "write", path="a") is Verdict.ASK


@pytest.mark.parametrize(
    "command",
    [
        "git status; rm -rf /", "git status && rm x", "git status | sh", "git $(rm x)", "git `rm x`", "git status > x",
        "git status\nrm x", "git status & rm x", "X=1 git status", "git {a,b}", "git ~/x", "git \\\nx", "git *",
        "git 'x", "gitx status", "sudo git x", "", "git status #x", "git <(rm x)", "git status\rrm x", "git status\0rm",
    ],
)  # fmt: skip
def test_no_pattern_covers_what_does_more(toolbox: Toolbox, command: str) -> None:
    toolbox.approvals.allow_pattern(tool("bash"), "git *")
    assert verdict(toolbox, "bash", command=command) is Verdict.ASK


@pytest.mark.parametrize(
    "command", ["git", "git status", "git commit -m 'a b'", "git log --oneline -3"]
)
def test_a_pattern_covers_its_commands(toolbox: Toolbox, command: str) -> None:
    toolbox.approvals.allow_pattern(tool("bash"), "git *")
    assert verdict(toolbox, "bash", command=command) is Verdict.ALLOW


@given(st.text(max_size=30))
def test_no_command_with_a_second_program_is_simple(rest: str) -> None:
    for joint in (";", "&&", "|", "\n", "$(", "`"):
        assert simple_words(f"git status {rest}{joint}rm x") is None


@pytest.mark.parametrize(
    ("pattern", "path", "is_covered"),
    [
        ("src/*", "src/a.py", True), ("src/*", "src/a/b.py", True), ("src/*", "srcs/a.py", False),
        ("src/*.py", "src/a.py", True), ("src/*.py", "src/a/b.py", False), ("*", "a/b", True), ("a.py", "a.py", True),
    ],
)  # fmt: skip
def test_patterns_of_paths(pattern: str, path: str, is_covered: bool) -> None:
    assert matches(ApprovalSubject.PATH, pattern, path) is is_covered


def test_a_path_is_resolved_before_it_is_compared(toolbox: Toolbox, root: Path) -> None:
    (root / "src").mkdir()
    (root / "src/away").symlink_to(root)
    toolbox.approvals.allow_pattern(tool("edit"), "src/*")
    assert verdict(toolbox, "edit", path="src/a.py") is Verdict.ALLOW
    assert verdict(toolbox, "edit", path="src/../a.py") is Verdict.ASK
    assert verdict(toolbox, "edit", path="src/away/a.py") is Verdict.ASK


def test_patterns_of_hosts(toolbox: Toolbox) -> None:
    toolbox.approvals.allow_pattern(tool("fetch"), "docs.python.org")
    assert verdict(toolbox, "fetch", url="https://docs.python.org/3/") is Verdict.ALLOW
    for url in (
        "https://docs.python.org.evil.net/",
        "https://docs.python.org@evil.net/",
        "https://[",
        "x",
    ):
        assert verdict(toolbox, "fetch", url=url) is Verdict.ASK


@pytest.mark.parametrize(
    ("about", "subject", "pattern"),
    [
        (ApprovalSubject.COMMAND, "git status --short", "git status *"),
        (ApprovalSubject.COMMAND, "pytest -q", "pytest *"),
        (ApprovalSubject.COMMAND, "python x.py", "python x.py"),
        (ApprovalSubject.COMMAND, "a; b", ""),
        (ApprovalSubject.COMMAND, "git -c alias.x=!sh log", ""),
        (ApprovalSubject.COMMAND, "git -C .. log", ""),
        (ApprovalSubject.COMMAND, "git -c core.pager=sh log", "git -c core.pager=sh log"),
        (ApprovalSubject.COMMAND, "python3.12 -m http", "python3.12 -m http"),
        (ApprovalSubject.COMMAND, "vim a.py", "vim a.py"),
        (ApprovalSubject.COMMAND, "tar xf a.tar", "tar xf a.tar"),
        (ApprovalSubject.COMMAND, "./git log", "./git log"),
        (ApprovalSubject.COMMAND, "mycc 'a b' c", "mycc 'a b' c"),
        (ApprovalSubject.COMMAND, "git rebase main", "git rebase main"),
        (ApprovalSubject.PATH, "src/app/a.py", "src/app/*"),
        (ApprovalSubject.PATH, "a.py", "a.py"),
        (ApprovalSubject.HOST, "https://A.b/c", "a.b"),
    ],
)
def test_what_is_suggested_covers_the_call_itself(
    about: ApprovalSubject, subject: str, pattern: str
) -> None:
    assert suggested(about, subject) == pattern
    assert not pattern or matches(about, pattern, subject)


PROGRAMS = (
    "git",
    "cargo",
    "go",
    "npm",
    "pip",
    "pytest",
    "ls",
    "vim",
    "tar",
    "python3.12",
    "./git",
    "uv",
)
WORDS = ("-c", "a=b", "log", "xf", "-la", "status", "test", "--exec", "x.py", "a b")


@given(
    st.sampled_from(PROGRAMS),
    st.lists(st.sampled_from(WORDS), max_size=4),
    st.sampled_from(PROGRAMS + WORDS),
)
def test_what_is_suggested_covers_no_other_program_or_subcommand(
    program: str, rest: list[str], other: str
) -> None:
    words = [program, *rest]
    pattern = suggested(ApprovalSubject.COMMAND, shlex.join(words))
    assert matches(ApprovalSubject.COMMAND, pattern, shlex.join(words))
    for changed in ([other, *rest], [program, other, *rest], [program, other, *rest[1:]]):
        # a program that runs nothing its words name
        plain = len(pattern.split()) == 2 and pattern.endswith(" *")
        is_covered = matches(ApprovalSubject.COMMAND, pattern, shlex.join(changed))
        assert not is_covered or changed[:2] == words[:2] or (plain and changed[0] == program)


def test_an_empty_pattern_is_refused(toolbox: Toolbox) -> None:
    with pytest.raises(TerselyError, match="invalid_argument"):
        toolbox.approvals.allow_pattern(tool("bash"), " ")
