"""The tools `editor_open`, `editor_diagnostics`, `editor_edit` and `editor_terminal`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.editors.editor import (
    TERMINAL_SECONDS,
    Diagnostic,
    EditedFiles,
    EditorBridge,
)
from tersely.agent.tools.files import editing
from tersely.agent.tools.files.places import resolved
from tersely.agent.tools.observation import failed, plain
from tersely.agent.tools.toolbox import Toolbox
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping

_UNHEARD = "it runs in the terminal; what it prints cannot be read from here"


async def open_file(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Show a file; without one, tell what the user looks at."""

    def work(editor: EditorBridge) -> str:
        if not arguments.get("path"):
            return _looked(editor)
        inside = resolved(toolbox.root, str(arguments["path"]))
        line = int(arguments.get("line") or 1)
        editor.open(inside, line)
        return f"{editor.title} shows {inside}:{line}"

    return await _done(toolbox, work)


async def diagnostics(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The remarks of the tools of the editor on a file, or on all."""

    def work(editor: EditorBridge) -> str:
        named = arguments.get("path")
        found = editor.diagnostics(resolved(toolbox.root, str(named)) if named else "")
        return "\n".join(map(_line, found)) or f"{editor.title} has no diagnostics here"

    return await _done(toolbox, work)


async def edit(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Make an edit in the editor, which can undo it."""
    try:
        editor = await toolbox.apart(lambda: the_editor(toolbox))
        changed = EditedFiles(editor, toolbox.root)
        observation = await editing.run(editing.plan_edit, toolbox.with_files(changed), arguments)
    except TerselyError as error:
        return failed(error)
    if observation.status != "ok":
        return observation
    saved = "saved" if changed.was_saved else "not saved, for there are other changes"
    return observation._replace(text=f"{observation.text} ({editor.title}: {saved})")


def plan_edit(toolbox: Toolbox, arguments: JsonMapping) -> editing.EditPlan | editing.RefusedEdit:
    """The plan of an edit of what is in the editor; raises as `editing.plan_edit`, and
    `editor_failed`.
    """
    opened = EditedFiles(the_editor(toolbox), toolbox.root)
    return editing.plan_edit(toolbox.with_files(opened), arguments)


async def terminal(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Run a command line in a terminal of the editor."""
    try:
        editor = await toolbox.apart(lambda: the_editor(toolbox))
        # who is cancelled does not wait for it
        ran = await asyncio.to_thread(editor.run, str(arguments["command"]))
    except TerselyError as error:
        return failed(error)
    output = _UNHEARD if ran.output is None else plain(ran.output).strip()
    last = f"exit status {ran.status}" if ran.status else ""
    return await toolbox.observed(
        "\n".join(filter(None, [output, last])) or "(no output)", _status(ran.status)
    )


def terminal_preview(toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The command line, and that nothing holds it back."""
    limit = f"it is waited for {TERMINAL_SECONDS:g} s"
    return f"{visible(str(arguments.get('command', '')))}\n(in a terminal of the editor, as you: not confined; {limit})"


def the_editor(toolbox: Toolbox) -> EditorBridge:
    """The editor, looked for anew: windows come and go; raises `editor_failed`."""
    editor = toolbox.choices.editor()
    if editor is None:
        raise TerselyError(
            "editor_failed", "no editor has the repository open any more", "go on without it"
        )
    return editor


def _status(status: int | None) -> str:
    return "failed" if status else "ok"


async def _done(toolbox: Toolbox, work: Callable[[EditorBridge], str]) -> Observation:
    try:
        text = await toolbox.apart(lambda: work(the_editor(toolbox)))
    except TerselyError as error:
        return failed(error)
    return await toolbox.observed(text)


def _looked(editor: EditorBridge) -> str:
    looked = editor.looked()
    if looked is None:
        return f"in {editor.title} no file of this repository is shown"
    lines = (
        f"{looked.line}-{looked.end_line}" if looked.end_line > looked.line else str(looked.line)
    )
    unsaved = ", not saved" if looked.is_unsaved else ""
    selected = f"; selected:\n{looked.text}" if looked.text else ""
    return f"the user looks at {looked.path}:{lines}{unsaved}{selected}"


def _line(one: Diagnostic) -> str:
    source = f" [{one.source}]" if one.source else ""
    message = " ".join(one.message.split())
    return f"{one.path}:{one.line}: {one.severity}: {message}{source}"
