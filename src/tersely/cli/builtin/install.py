"""The commands `install` and `uninstall`: showing what would be written for an agent, asking, and
writing it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from tersely.cli.builtin import extension
from tersely.cli.builtin.daemon import resolved_root
from tersely.cli.builtin.extension import Step
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.text.suggestion import suggestion
from tersely.integrations.changes import Change, InstallRequest, carry_out, planned, undone
from tersely.integrations.declaration import Audience
from tersely.integrations.state import read_record
from tersely.integrations.table import AGENTS

_SCRIPT = "tersely"


class InstallOptions(NamedTuple):
    """The options of the commands."""

    agent: str
    root: str
    user: bool
    yes: bool
    hooks: bool = True
    texts: bool = True
    subagents: bool = True
    vsix: str = ""


def run_install(asked: InstallOptions) -> dict[str, Any]:
    """Show what would be written, ask, write; the result with its `text`."""
    wanted = _request(asked)
    step = (
        extension.adding(wanted.agent.extension_program, asked.vsix)
        if _has_extension(wanted)
        else Step(())
    )
    return _changed(asked, wanted, planned(wanted), step, is_removal=False)


def run_uninstall(asked: InstallOptions) -> dict[str, Any]:
    """Show what would be taken out, ask, take it out; the result with its `text`."""
    wanted = _request(asked)
    has_been = _has_extension(wanted) and bool(read_record(wanted.base, wanted.agent.name).files)
    step = extension.removing(wanted.agent.extension_program) if has_been else Step(())
    return _changed(asked, wanted, undone(wanted), step, is_removal=True)


def _has_extension(wanted: InstallRequest) -> bool:
    """True if an extension is meant, too: it is the user's, in whichever folder."""
    return bool(wanted.agent.extension_program) and wanted.place is Audience.USER


def _changed(
    asked: InstallOptions,
    wanted: InstallRequest,
    changes: Sequence[Change],
    step: Step,
    *,
    is_removal: bool,
) -> dict[str, Any]:
    shown = visible("".join(_diff(change) for change in changes) + step.told)
    written = bool(changes or step.words) and (asked.yes or _confirmed(shown))
    if written:
        if step.words:
            extension.carry_out(step)
        carry_out(wanted, changes, undo=is_removal)
    paths = [str(change.path) for change in changes]
    said = "" if not asked.yes and sys.stdin.isatty() else shown
    lines = [_summary(asked, bool(changes or step.words), written, is_removal)]
    lines += [step.problem] if step.problem else []
    lines += [] if is_removal else _remarks(wanted)
    return {
        "agent": asked.agent,
        "written": written,
        "files": paths,
        "text": said + "\n".join(lines) + "\n",
    }


def program() -> list[str]:
    """The words with which an agent calls this copy, from any directory and with any PATH."""
    called = Path(sys.argv[0])
    for script in (called, Path(sys.executable).with_name(_SCRIPT)):
        if script.name == _SCRIPT and script.is_absolute() and os.access(script, os.X_OK):
            return [str(script)]
    return [sys.executable, "-m", "tersely"]


def _request(asked: InstallOptions) -> InstallRequest:
    if asked.agent not in AGENTS:
        hint = suggestion(asked.agent, AGENTS)
        raise TerselyError("usage", f"there is no agent {asked.agent!r}", hint)
    place = Audience.USER if asked.user else Audience.PROJECT
    base = Path.home() if asked.user else Path(resolved_root(asked.root))
    wanted = InstallRequest(
        AGENTS[asked.agent], place, base, program(), asked.hooks, asked.texts, asked.subagents
    )
    if place is Audience.PROJECT and not any(target.project for target in wanted.agent.targets):
        title = wanted.agent.title
        raise TerselyError(
            "usage", f"{title} reads nothing of a repository", f"install {asked.agent} --user"
        )
    return wanted


def _diff(change: Change) -> str:
    before = (change.before or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    old = str(change.path) if change.before is not None else "/dev/null"
    new = str(change.path) if change.after is not None else "/dev/null"
    lines = [
        line if line.endswith("\n") else f"{line}\n"
        for line in unified_diff(before, after, old, new)
    ]
    return "".join(lines)


def _confirmed(shown: str) -> bool:
    """True if somebody at a terminal agrees; nobody does where there is none."""
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(f"{shown}\nwrite this? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _summary(asked: InstallOptions, has_changes: bool, written: bool, is_removal: bool) -> str:
    title = AGENTS[asked.agent].title
    if not has_changes:
        return f"{title}: nothing to remove" if is_removal else f"{title}: already installed"
    if not written:
        return f"{title}: not written; --yes writes it"
    if is_removal:
        return f"{title}: removed"
    root = ["--root", asked.root] if asked.root else []
    undoing = shlex.join(
        ["tersely", "uninstall", asked.agent, *(["--user"] if asked.user else root)]
    )
    return f"{title}: written; `{undoing}` removes it"


def _remarks(wanted: InstallRequest) -> list[str]:
    lines = [f"{wanted.agent.title}: {wanted.agent.lacks}"] if wanted.agent.lacks else []
    if wanted.agent.extension_program and wanted.place is Audience.PROJECT:
        lines.append(f"the extension is the user's: tersely install {wanted.agent.name} --user")
    if wanted.hooks and wanted.agent.prompt_event:
        lines.append(
            "hooks are silent until there is an index: `tersely index` makes one, a daemon keeps it warm"
        )
    return lines
