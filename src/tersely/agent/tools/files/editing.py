"""The tools that change files: `edit`, `write`, `create`.

A change is planned first, which is also what an approval shows. It is made only if the file still
is what the plan was made from, the model was shown the lines that it replaces, and the file is no
less understood by its grammar after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from tersely.agent.tools.checkpoint_store import UNDONE
from tersely.agent.tools.declaration import MadeChange, Observation
from tersely.agent.tools.files import edits, places, replacing
from tersely.agent.tools.files.content import FileContent, body_lines, read_content
from tersely.agent.tools.files.diffs import FileDifference, difference
from tersely.agent.tools.files.numbered import NumberedLines, unquoted
from tersely.agent.tools.observation import clipped, failed
from tersely.agent.tools.toolbox import Toolbox
from tersely.code.syntax.check import introduced_problems
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.listing import in_repository
from tersely.foundation.limits import MAX_EDITED_BYTES, MAX_WHOLE_LINES
from tersely.foundation.text.escape import visible
from tersely.foundation.types import JsonMapping, Numbers, Strings

_SO_ALREADY = "it is so already, nothing is to be done"
_AGAIN = "If it is right, send the same again: the user is asked"
_GO_ON = "Go on with what is left, or answer the user."
_CORRECT = "These are its lines now: send the corrected call."
MAX_SHOWN_OF_EDIT = 4  # lines at each end of one that was made
_NEW_MODE = 0o644
_RUNNABLE_MODE = 0o755
_WRITABLE = 0o222
# that an edit waits for the uses that it breaks; a first index may take longer
BREAKS_SECONDS = 5.0


class EditPlan(NamedTuple):
    """A change that fits: what the file is, what it would be, and which of its lines are replaced."""

    inside: str
    data: bytes | None  # None where there is no file
    after: bytes
    mode: int
    edit: edits.LineEdit
    diff: FileDifference
    doubt: str = ""  # what the grammar does not understand of it, where the model insists


class RefusedEdit(NamedTuple):
    """A change that does not fit: why, and the lines that are shown with that."""

    inside: str
    why: str
    data: bytes = b""
    lines: Strings = ()  # of the whole file
    shown: Numbers = ()
    doubted: bytes = b""  # what would have been written, where the grammar alone speaks against it


Planning = Callable[[Toolbox, JsonMapping], EditPlan | RefusedEdit]


async def run(plan: Planning, toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Make the change that a call asks for."""

    def work() -> Observation:
        planned = plan(toolbox, arguments)
        return (
            _refusal(toolbox, planned)
            if isinstance(planned, RefusedEdit)
            else _carry_out(toolbox, planned)
        )

    try:
        made = await toolbox.apart(work)
    except TerselyError as error:
        return failed(error)
    if not (made.change and made.change.removed_lines and in_repository(str(toolbox.root))):
        return made
    with suppress(TerselyError, TimeoutError):
        asking = toolbox.value("code.breaks", {"files": [made.change.path]})
        uses = await asyncio.wait_for(asking, BREAKS_SECONDS)
        return made._replace(text=f"{made.text}\n{uses['line']}".strip())
    return made


def preview(plan: Planning, toolbox: Toolbox, arguments: JsonMapping) -> str:
    """The diff that a call would make, or why it would make none."""
    try:
        planned = plan(toolbox, arguments)
    except TerselyError as error:
        return visible(str(error))
    if isinstance(planned, RefusedEdit):
        return visible(f"{planned.inside}: {planned.why}")
    doubt = (
        visible(f"The grammar does not understand it: {planned.doubt}\n") if planned.doubt else ""
    )
    return planned.diff.text + doubt


def refusal(plan: Planning, toolbox: Toolbox, arguments: JsonMapping) -> Observation | None:
    """The observation for the model if the change does not fit."""
    try:
        planned = plan(toolbox, arguments)
    except TerselyError as error:
        return failed(error)
    return _refusal(toolbox, planned) if isinstance(planned, RefusedEdit) else None


def is_doubtful(plan: Planning, toolbox: Toolbox, arguments: JsonMapping) -> bool:
    """True if a change is asked for again that the grammar speaks against."""
    if toolbox.has_doubts:
        with suppress(TerselyError):
            planned = plan(toolbox, arguments)
            return isinstance(planned, EditPlan) and bool(planned.doubt)
    return False


def plan_edit(toolbox: Toolbox, arguments: JsonMapping) -> EditPlan | RefusedEdit:
    """The plan of an edit; raises `TerselyError` where there is no file to edit."""
    inside = places.resolved(toolbox.root, str(arguments["path"]))
    found = toolbox.files.read(inside)
    if not found.mode & _WRITABLE:
        return RefusedEdit(inside, "it is read-only: whoever made it so does not want it changed")
    content = read_content(found.data, inside)
    made = _edit_of(content, arguments, str(arguments.get("body", "")))
    if isinstance(made, edits.EditRefusal):
        shown = tuple(line for lines in made.ranges for line in lines)
        return RefusedEdit(inside, made.why, found.data, content.lines, shown)
    if made.needs and not toolbox.shown.was(inside, found.data, made.needs):
        return _unseen(toolbox, inside, found.data, content, made)
    after = content.replaced(made.start, made.end, made.body)
    return _plan(toolbox, inside, found.data, found.mode, content, after, made)


def plan_new(toolbox: Toolbox, arguments: JsonMapping) -> EditPlan | RefusedEdit:
    """The plan of a new file, an empty one without a body."""
    path, body = str(arguments["path"]), str(arguments.get("body", ""))
    inside = places.resolved(toolbox.root, path)
    if path.rstrip().endswith("/"):
        return RefusedEdit(inside, "it names a folder: folders are made with the files in them")
    meant = _named_otherwise(toolbox, inside)
    if meant.casefold() == inside.casefold():
        inside, meant = meant, ""
    if places.exists(toolbox.root, inside):
        return _plan_existing(toolbox, inside, arguments)
    if other := places.alike(toolbox.root, inside):
        return RefusedEdit(
            inside,
            f"there is {other}, which differs by case alone: name that, or choose another name",
        )
    if meant and inside not in toolbox.refused:
        return RefusedEdit(inside, f"the user names {meant}: use that, or send the same again")
    content = FileContent((), "utf-8", b"", "\n")
    after = content._replace(lines=tuple(f"{line}\n" for line in body_lines(body)))
    mode = _RUNNABLE_MODE if body.startswith("#!") else _NEW_MODE
    return _plan(toolbox, inside, None, mode, content, after, edits.LineEdit(1, 0, body, range(0)))


def _named_otherwise(toolbox: Toolbox, inside: str) -> str:
    """The path in the user's message for which this new one may have been taken: of a file of that
    name that there is, or written in other letters; "" for none.
    """
    folder, _, name = inside.rpartition("/")
    if inside in toolbox.named:
        return ""
    for path in toolbox.named:
        its_folder, _, its_name = path.rpartition("/")
        is_likely = its_folder == folder or places.exists(toolbox.root, path)
        if is_likely and its_name.casefold() == name.casefold():
            return path
    return ""


def _plan_existing(toolbox: Toolbox, inside: str, arguments: JsonMapping) -> EditPlan | RefusedEdit:
    """The plan of a new file where one is: a refusal, and an edit of the whole for who has been
    refused before and was shown all of it.
    """
    data = places.read(toolbox.root, inside).data
    content = read_content(data, inside)
    lines, body = content.lines, str(arguments.get("body", ""))
    if content.shown == body_lines(body):
        return RefusedEdit(inside, _SO_ALREADY)
    may_replace = inside in toolbox.refused and len(lines) <= MAX_WHOLE_LINES
    if body and (may_replace or unquoted(body, content.shown).first > 1):
        return plan_edit(toolbox, {"path": inside, "body": body})
    why = f"it exists with {len(lines)} lines: {_call_to_use(inside, len(lines))}"
    return RefusedEdit(inside, why, data, lines)


def _call_to_use(inside: str, lines: int) -> str:
    whole = f"edit({inside}, body) replaces all of it, " if lines <= MAX_WHOLE_LINES else ""
    return f"{whole}edit({inside}, start, end, body) replaces lines of it"


def _edit_of(
    content: FileContent, arguments: JsonMapping, body: str
) -> edits.LineEdit | edits.EditRefusal:
    """The three ways to say an edit."""
    start, end = arguments.get("start"), arguments.get("end")
    lines = content.shown
    old = unquoted(str(arguments.get("old") or ""), lines).text
    body, first = unquoted(body, lines)
    if old:
        return edits.replacing(content, old, body)
    if start is not None:
        return edits.ranged(content, int(start), int(start if end is None else end), body)
    if first:
        last = first + len(body_lines(body)) - 1
        return edits.ranged(content, first, min(last, len(lines)), body)
    if not body.strip():
        return edits.EditRefusal("the body is empty")
    return edits.whole(content, body)


def _unseen(
    toolbox: Toolbox, inside: str, data: bytes, content: FileContent, made: edits.LineEdit
) -> RefusedEdit:
    """Lines that the model has not been shown as they are now."""
    lines = edits.around(made, len(content.lines))
    is_outdated = toolbox.shown.is_outdated(inside, data)
    why = "the file has changed since it was shown" if is_outdated else "not shown yet as it is now"
    return RefusedEdit(
        inside, f"{_range_text(made.start, made.end)}: {why}", data, content.lines, tuple(lines)
    )


def _range_text(start: int, end: int) -> str:
    """A range of lines in words; a place between lines where it is empty."""
    if end > start:
        return f"lines {start}-{end}"
    return f"line {start}" if end == start else f"before line {start}"


def _plan(
    toolbox: Toolbox,
    inside: str,
    data: bytes | None,
    mode: int,
    before: FileContent,
    after: FileContent,
    made: edits.LineEdit,
) -> EditPlan | RefusedEdit:
    if "\0" in made.body:
        return RefusedEdit(inside, "the body holds a NUL character: it would be no text")
    encoded = after.encoded()
    if len(encoded) > MAX_EDITED_BYTES:
        return RefusedEdit(inside, f"it would have more than {MAX_EDITED_BYTES:,} bytes")
    if encoded == data:
        return RefusedEdit(inside, _SO_ALREADY)
    shown = after.shown
    problems = introduced_problems(inside, data or b"", encoded)
    said = "; ".join(
        f"line {one.line} {one.message}: {clipped(_line(shown, one.line))}" for one in problems[:3]
    )
    if said and not toolbox.is_doubted(inside, encoded):
        why = f"the syntax would be broken, nothing was written: {said}"
        return RefusedEdit(inside, f"{why}\n{_AGAIN}", doubted=encoded)
    return EditPlan(
        inside, data, encoded, mode, made, difference(inside, before.shown, shown), said
    )


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].strip() if number <= len(lines) else "end of file"


def _carry_out(toolbox: Toolbox, plan: EditPlan) -> Observation:
    """Write down what is about to be done, do it, and say so."""
    folders = replacing.missing_folders(toolbox.root, plan.inside) if plan.data is None else ()
    checkpoint = toolbox.kept.add_checkpoint(plan.inside, plan.data, plan.mode, plan.after, folders)
    try:
        if plan.data is None:
            replacing.create(toolbox.root, plan.inside, plan.after, plan.mode)
        else:
            toolbox.files.replace(plan.inside, plan.data, plan.after, plan.mode)
    except TerselyError:
        toolbox.kept.mark({checkpoint: UNDONE})
        raise
    toolbox.refused.discard(plan.inside)
    start, removed = plan.edit.start, plan.edit.end - plan.edit.start + 1
    added = len(body_lines(plan.edit.body))
    toolbox.shown.edited(plan.inside, plan.data or b"", plan.after, start, removed, added)
    text, added_lines, removed_lines = plan.diff
    change = MadeChange(plan.inside, text, added_lines, removed_lines, checkpoint)
    report = _report(plan, start, removed, added)
    if plan.data is not None:
        report += f"\n{_lines_after(toolbox, plan, range(start - 1, start + added + 1))}"
    return Observation(f"{report}\n{_GO_ON}", change=change)


def _lines_after(toolbox: Toolbox, plan: EditPlan, around: range) -> str:
    """The first and the last lines of an edit with one on either side, as they are now."""
    lines = read_content(plan.after, plan.inside).lines
    wanted = [number for number in around if 0 < number <= len(lines)]
    ends = dict.fromkeys([*wanted[:MAX_SHOWN_OF_EDIT], *wanted[-MAX_SHOWN_OF_EDIT:]])
    text, seen = NumberedLines(lines, toolbox.tokenizer).within(
        ends, toolbox.choices.observation_tokens
    )
    toolbox.shown.add(plan.inside, plan.after, seen)
    return text


def _report(plan: EditPlan, start: int, removed: int, added: int) -> str:
    name = visible(plan.inside)
    if plan.data is None:
        return f"{name} is written, {added} lines"
    was, new = _range_text(start, start + removed - 1), _range_text(start, start + added - 1)
    what = (
        f"{new} replaced"
        if added == removed
        else f"{was} removed"
        if not added
        else f"{new} written"
    )
    moved = f"; lines below moved by {added - removed:+}" if added != removed else ""
    return f"{name}: {what}{moved}"


def _refusal(toolbox: Toolbox, refused: RefusedEdit) -> Observation:
    """The reason, and the lines as they are, which then count as shown."""
    if refused.doubted:
        toolbox.doubt(refused.inside, refused.doubted)
    first = f"refused: {refused.inside}: {refused.why}"
    numbered = NumberedLines(refused.lines, toolbox.tokenizer)
    room = toolbox.choices.observation_tokens - toolbox.tokenizer.count(first)
    toolbox.refused.add(refused.inside)
    wanted = refused.shown or range(1, len(refused.lines) + 1)
    text, seen = numbered.within(dict.fromkeys(wanted), room)
    if seen:
        toolbox.shown.add(refused.inside, refused.data, seen)
    shown = f"\n{text}\n{_CORRECT}" if text else ""
    return Observation(f"{visible(first)}{shown}", "refused")
