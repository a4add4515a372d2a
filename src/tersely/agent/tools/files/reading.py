"""The tools that only look: `read`, `search`, `list`, `outline`; and the two that the loop itself
acts upon.

All but the lines of files are questions to capabilities, asked of the repository's daemon where
there is one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from tersely.agent.context.pack_parser import PackPiece
from tersely.agent.tools.declaration import Observation
from tersely.agent.tools.files import places
from tersely.agent.tools.files.content import read_content
from tersely.agent.tools.files.numbered import NumberedLines, shown_in
from tersely.agent.tools.observation import clipped, failed, folded, within_bytes
from tersely.agent.tools.toolbox import Toolbox
from tersely.capabilities.answers.reply import REST
from tersely.foundation.errors import TerselyError
from tersely.foundation.git.runner import GitUnavailableError, finished, started
from tersely.foundation.limits import MAX_SHOWN_LINES
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.text.shortening import listed
from tersely.foundation.types import JsonMapping, JsonObject

MAX_READ_BYTES = 50_000_000  # of a file that lines are shown of
MAX_FOUND = 5  # symbols of one search
REF = "ref"
_MOST_OTHERS = 40  # names that are listed beside those of the index
_MOST_NAME_CHARACTERS = 80
_NOTE_TOKENS = 24  # for a line that says how to read on


async def read(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Lines of what an earlier observation left out, of a symbol, or of a file: the first of these
    that is named and is there.
    """
    start, end = arguments.get("start"), arguments.get("end")
    path, symbol = str(arguments.get("path") or ""), str(arguments.get("symbol") or "")
    try:
        if arguments.get(REF):
            ref = str(arguments[REF]).strip().removeprefix(REF).strip()
            with suppress(TerselyError) if path or symbol else nullcontext():
                text = await toolbox.apart(lambda: toolbox.kept.artifact(ref))
                return _lines_of_ref(toolbox, ref, text, start, end)
        if symbol:
            found = await toolbox.value("code.symbol.get", {"symbol": symbol, "limit": 1})
            path, (first, last) = found["path"], found["lines"]
            start, end = _inside(first, start, last), _inside(last, end, first)
        return await toolbox.apart(lambda: _lines_of_file(toolbox, path, start, end))
    except TerselyError as error:
        return failed(error)


def _inside(bound: int, line: Any, other: int) -> int:
    """A line between two others, both included; the first of them in place of any other."""
    return line if line is not None and min(bound, other) <= line <= max(bound, other) else bound


async def search(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """Search symbols by meaning, name or text."""
    asked = {"query": [str(arguments["query"])], "limit": MAX_FOUND}
    return await _answered(toolbox, "code.search", asked)


async def search_text(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The lines of files that contain a text, as git finds them."""
    words = [
        "grep",
        "--line-number",
        "-I",
        "--fixed-strings",
        "--untracked",
        "-e",
        str(arguments["text"]),
    ]
    try:
        found = await toolbox.apart(lambda: _found_by_git(toolbox.root, words))
    except GitUnavailableError as error:
        return failed(TerselyError("git_unavailable", str(error), error.hint))
    return await toolbox.observed(visible(found) or "no line contains it")


def _found_by_git(root: Path, words: Sequence[str]) -> str:
    """The output of git; "" where it finds nothing. Raises `GitUnavailableError`."""
    status, output, errors = finished(started(str(root), words), str(root))
    if status > 1:
        raise GitUnavailableError(errors.decode("utf-8", "replace").strip())
    return output.decode("utf-8", "replace")


async def list_files(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The files and folders of one folder; beside those that the index has, the names of all
    others.
    """
    asked = _with_path(arguments)
    try:
        told = await toolbox.ask("code.tree", {**asked, "depth": 1})
    except TerselyError as error:
        return failed(error)
    # which names options
    text = "\n".join(line for line in told.splitlines() if not line.startswith(REST))
    others = await asyncio.to_thread(_others, toolbox.root, str(asked.get("path", ".")), text)
    return await toolbox.observed("\n".join(filter(None, [text, others])))


async def outline(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The definitions of a file or folder."""
    return await _answered(toolbox, "code.structure", _with_path(arguments))


async def respond(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The answer to the user: the loop ends the turn with it."""
    return Observation(visible(str(arguments["text"])))


async def request_tools(toolbox: Toolbox, arguments: JsonMapping) -> Observation:
    """The wish for a tier: the loop decides."""
    return Observation(f"tier {arguments['tier']} is asked for")


def _others(root: Path, path: str, told: str) -> str:
    """The names in a folder that a listing of it does not have."""
    try:
        inside = places.resolved(root, path)
        with os.scandir(root / inside) as entries:
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries)
    except (TerselyError, OSError):
        return ""
    known = set(told.replace("/", "/ ").split())
    others = [
        name for name in names if name not in known and name.rstrip("/") not in places.NOT_OURS
    ]
    shown = listed(list(map(visible_line, others)), _MOST_OTHERS, " ")
    return f"not indexed: {shown}" if others else ""


def _with_path(arguments: JsonMapping) -> JsonObject:
    path = str(arguments.get("path") or "").strip().removesuffix("/")
    return {"path": path} if path not in {"", "."} else {}


async def _answered(toolbox: Toolbox, capability: str, arguments: JsonMapping) -> Observation:
    try:
        return await toolbox.observed(await toolbox.ask(capability, arguments))
    except TerselyError as error:
        return failed(error)


def _lines_of_file(toolbox: Toolbox, path: str, start: Any, end: Any) -> Observation:
    inside = places.resolved(toolbox.root, path)
    found = toolbox.files.read(inside, MAX_READ_BYTES)
    lines = read_content(found.data, inside).lines
    text, seen = _within(toolbox, lines, start, end, f"path {inside}")
    toolbox.shown.add(inside, found.data, seen)
    first, last = int(start or 1), int(start or 1) + text.count("\n")
    text += _rest_of_long_lines(toolbox, [line.rstrip("\r\n") for line in lines[first - 1 : last]])
    if path.strip() == inside and start is None:
        return Observation(text)
    name = visible_line(inside)[-_MOST_NAME_CHARACTERS:]
    return Observation(f"{name} from line {first} of {len(lines)}\n{text}")


def mark_shown(toolbox: Toolbox, pieces: Iterable[PackPiece]) -> None:
    """Take note of the lines of files that pieces of a pack show, as far as the files have them so."""
    for piece in pieces:
        with suppress(TerselyError):
            inside = places.resolved(toolbox.root, piece.file)
            data = toolbox.files.read(inside, MAX_READ_BYTES).data
            toolbox.shown.add(inside, data, shown_in(piece.code, read_content(data, inside).lines))


def _rest_of_long_lines(toolbox: Toolbox, lines: Sequence[str]) -> str:
    """The places where those lines are to be read whole that are shown cut."""
    long = [line for line in lines if clipped(line) != line]
    if not long:
        return ""
    ref = toolbox.kept.add_artifact(within_bytes(visible("\n".join(long))))
    return f"\n… cut lines: read ref {ref}"


def _lines_of_ref(toolbox: Toolbox, ref: str, whole: str, start: Any, end: Any) -> Observation:
    return Observation(_within(toolbox, folded(whole), start, end, f"ref {ref}")[0])


def _within(toolbox: Toolbox, lines: Any, start: Any, end: Any, name: str) -> tuple[str, list[int]]:
    """The lines that were asked for as far as there is room, and how to read on."""
    if not lines:
        return "the file is empty", []
    first = 1 if start is None else int(start)
    last = min(len(lines) if end is None else int(end), len(lines), first + MAX_SHOWN_LINES)
    if not 1 <= first <= last:
        raise TerselyError(
            "invalid_argument", f"there are lines 1-{len(lines)}", f"not {start}-{end}"
        )
    numbered = NumberedLines(lines, toolbox.tokenizer)
    # for the name of the file, and for long lines
    most = toolbox.choices.observation_tokens - 2 * _NOTE_TOKENS
    text, seen = numbered.within(range(first, last + 1), most)
    shown = text.count("\n") + 1
    if shown == last - first + 1 and (last == len(lines) or end is not None):
        return text, seen
    text, seen = numbered.within(range(first, last + 1), most - _NOTE_TOKENS)
    follows = first + text.count("\n") + 1
    rest = f"… {len(lines)} lines in all: read {visible_line(name)[-_MOST_NAME_CHARACTERS:]} start {follows}"
    return f"{text}\n{rest}", [line for line in seen if line < follows]
