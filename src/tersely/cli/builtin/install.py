"""The commands `install` and `uninstall`: showing what would be written for an agent, asking, and
writing it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Container, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tersely.cli.builtin import extension
from tersely.cli.builtin.daemon import resolved_root
from tersely.cli.builtin.extension import EditorStep
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.text.suggestion import suggestion
from tersely.integrations.changes import InstallRequest, SettingsChange, carry_out, planned, undone
from tersely.integrations.declaration import Audience
from tersely.integrations.state import read_record
from tersely.integrations.table import AGENTS
from tersely.integrations.wrapped import SHARED

if TYPE_CHECKING:
    from tersely.cli.builtin.installing import InstallParameters
    from tersely.foundation.types import JsonObject

_SCRIPT = "tersely"


class Plan(NamedTuple):
    """The changes for one agent: of its files, and by a command of its editor."""

    request: InstallRequest
    changes: Sequence[SettingsChange]
    step: EditorStep
    is_removal: bool

    @property
    def is_empty(self) -> bool:
        """True if nothing would change."""
        return not (self.changes or self.step.words)

    def carry_out(self) -> None:
        """Make the changes; raises what keeps them from being made."""
        if self.step.words:
            extension.carry_out(self.step)
        carry_out(self.request, self.changes, undo=self.is_removal)


def planned_install(root: str, asked: InstallParameters) -> Plan:
    """The plan to add Tersely to one agent; raises `usage`, and `unreadable_file`."""
    wanted = _request(root, asked)
    # the extension is the user's, in whichever folder
    editor = wanted.agent.extension_program if wanted.place is Audience.USER else ""
    step = extension.adding(editor, asked.vsix) if editor else EditorStep(())
    return Plan(wanted, planned(wanted), step, is_removal=False)


def planned_removal(root: str, asked: InstallParameters, leaving: Container[str] = ()) -> Plan:
    """The plan to take Tersely out of one agent, and out of those that are `leaving` by other plans;
    raises `usage`, and `unreadable_file`.
    """
    wanted = _request(root, asked)
    is_users = wanted.place is Audience.USER  # the extension is, in whichever folder
    editor = wanted.agent.extension_program if is_users else ""
    has_been = bool(editor and read_record(wanted.base, wanted.agent.name).files)
    step = extension.removing(editor) if has_been else EditorStep(())
    return Plan(wanted, undone(wanted, leaving), step, is_removal=True)


def carried_out(root: str, asked: InstallParameters, plan: Plan) -> JsonObject:
    """Show what a plan would change, ask, change it; the result with its `text`. Raises
    `path_not_found` where all but the extension is written, for this copy has none.
    """
    wanted, changes, step, is_removal = plan
    about = "" if is_removal else "".join(f"{line}\n" for line in _about_hooks(wanted))
    shown = visible("".join(_diff(change) for change in changes) + step.told) + about
    written = not plan.is_empty and is_agreed(asked, shown, "remove" if is_removal else "write")
    if written:
        plan.carry_out()
    lines = [_summary(root, asked, not plan.is_empty, written, is_removal)]
    if step.remedy and (written or not changes):
        raise TerselyError("path_not_found", f"{lines[0]}; {step.problem}", step.remedy)
    lines += [step.problem] if step.problem else []
    lines += [] if is_removal else _remarks(wanted)
    return {
        "agent": asked.agent,
        "written": written,
        "files": [str(change.path) for change in changes],
        "text": unseen(asked, shown) + "\n".join(lines) + "\n",
    }


def program() -> list[str]:
    """The words with which an agent calls this copy, from any directory and with any PATH."""
    called = Path(sys.argv[0])
    for script in (called, Path(sys.executable).with_name(_SCRIPT)):
        if script.name == _SCRIPT and script.is_absolute() and os.access(script, os.X_OK):
            return [str(script)]
    return [sys.executable, "-m", "tersely"]


def _request(root: str, asked: InstallParameters) -> InstallRequest:
    if asked.agent not in AGENTS:
        hint = suggestion(asked.agent, AGENTS)
        raise TerselyError("usage", f"there is no agent {asked.agent!r}", hint)
    place = Audience.USER if asked.user else Audience.PROJECT
    base = Path.home() if asked.user else Path(resolved_root(root))
    wanted = InstallRequest(
        AGENTS[asked.agent], place, base, program(), asked.hooks, asked.texts, asked.subagents
    )
    if place is Audience.PROJECT and not any(target.project for target in wanted.agent.targets):
        title = wanted.agent.title
        raise TerselyError(
            "usage",
            f"{title} has no settings in a repository",
            f"tersely install {asked.agent} --user",
        )
    return wanted


def _diff(change: SettingsChange) -> str:
    before = (change.before or "").splitlines(keepends=True)
    after = (change.after or "").splitlines(keepends=True)
    old = str(change.path) if change.before is not None else "/dev/null"
    new = str(change.path) if change.after is not None else "/dev/null"
    lines = [
        line if line.endswith("\n") else f"{line}\n"
        for line in unified_diff(before, after, old, new)
    ]
    return "".join(lines)


def is_agreed(asked: InstallParameters, shown: str, verb: str) -> bool:
    """True if changes may be made: it was said beforehand, or somebody at a terminal agrees to what
    is shown there when asked whether to `verb` it.
    """
    if asked.yes or not sys.stdin.isatty():
        return asked.yes
    sys.stderr.write(f"{shown}\n{verb} this? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def unseen(asked: InstallParameters, shown: str) -> str:
    """The text that `is_agreed` has not shown yet."""
    return "" if not asked.yes and sys.stdin.isatty() else shown


def _summary(
    root: str, asked: InstallParameters, has_changes: bool, written: bool, is_removal: bool
) -> str:
    title = AGENTS[asked.agent].title
    if not has_changes:
        return f"{title}: nothing to remove" if is_removal else f"{title}: already installed"
    if not written:
        untouched = (
            "not removed; --yes removes it" if is_removal else "not written; --yes writes it"
        )
        return f"{title}: {untouched}"
    if is_removal:
        return f"{title}: removed"
    place = ["--user"] if asked.user else ["--root", root] if root else []
    undoing = shlex.join(["tersely", "uninstall", asked.agent, *place])
    return f"{title}: written; `{undoing}` removes it"


def _about_hooks(wanted: InstallRequest) -> list[str]:
    """The things that the hooks of an agent do, in four lines at most."""
    agent = wanted.agent
    if not any(target.is_hook for target in wanted.targets()):
        return []
    packet = "on a prompt: code that the task is about is put beside it, at most 1,000 tokens"
    outline = "on reading a large file whole: its outline is given in its place, once"
    after = "after an edit: what still uses what it has changed; after a search for text: the definitions around it"
    others = (
        "on every event: the relay of this machine is told that the agent works, and gives it what others write; a "
        "file that another has claimed is not changed"
    )
    return [
        *([packet] if agent.prompt_event else []),
        *([outline] if agent.read_event else []),
        *([after] if agent.after_event else []),
        others,
    ]


def _remarks(wanted: InstallRequest) -> list[str]:
    lines = [f"{wanted.agent.title}: {wanted.agent.lacks}"] if wanted.agent.lacks else []
    if any(target.is_hook for target in wanted.targets()):
        lines.append(
            "the first prompt waits for the index, or has no packet: `tersely index` makes one now"
        )
    if wanted.place is Audience.PROJECT and shutil.which(SHARED[0]) is None:
        lines.append(
            "files that others have, too, call `tersely` by its name, which is not on your PATH: put it there, or use "
            "--user"
        )
    return lines
