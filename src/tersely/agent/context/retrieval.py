"""The text that is put in front of a message unasked: code that it is about, and what the project
asks of agents.

Whether anything is, is decided by rule, and the rule is told: files that are named are shown whole,
symbols with what is around them; a task in words gets the likely places, with their source where
the repository surely is about it; anything else, nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple, Protocol

from tersely.agent.context.pack_parser import PackPiece, joined, not_yet_in, pieces
from tersely.agent.events import RetrievedItem
from tersely.agent.tool_calling import PathTrie
from tersely.code.languages.registry import language_of_path
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_AGENTS_BYTES
from tersely.foundation.text.escape import visible
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import JsonMapping, JsonObject

MAX_NAMED_SYMBOLS = 4  # of one message, that code is looked up around
MAX_NAMED_FILES = 3  # of one message, that are shown whole
AGENTS_FILE = "AGENTS.md"
ASKS = f"{AGENTS_FILE} asks:"
HEADING = "Possibly relevant code, already read:"
_NAMED = re.compile(
    r"@([\w./:#-]+)|`([\w./:]+)(?:\(\))?`|\b([A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+(?=\(\)))"
)
_PATH = re.compile(r"[\w./-]*\w\.\w+")
_TEXT_FILE = re.compile(r"\.(?:cfg|css|html|ini|json|lock|md|rst|sh|toml|txt|ya?ml)$")
_COMMENT = re.compile(r"<!--.*?-->|^\s*\[?!\[.*$", re.DOTALL | re.MULTILINE)


class AskedRepository(Protocol):
    """The one that answers questions about the repository, as `tools.toolbox.Toolbox` does."""

    async def ask(self, capability: str, arguments: JsonMapping) -> str:
        """The answer in words."""

    async def value(self, capability: str, arguments: JsonMapping) -> Any:
        """The answer as a plain value."""


class Retrieval(NamedTuple):
    """A text for the prompt, what is in it, and why."""

    text: str
    items: tuple[RetrievedItem, ...]
    tokens: int
    why: str
    pieces: tuple[PackPiece, ...]


async def retrieve(
    asked: AskedRepository,
    message: str,
    most_tokens: int,
    counter: Tokenizer,
    paths: PathTrie | None = None,
) -> Retrieval | None:
    """The code that a message is about, within a budget; None where the rule says so or nothing is
    found.
    """
    most_tokens -= counter.count(f"{HEADING}\n")
    within: JsonObject = {"budget": most_tokens, "format": "numbered"}
    files = [path for path in named_paths(message, paths) if paths and path in paths.files]
    files = files[:MAX_NAMED_FILES]
    names = await _known(asked, named(message))
    text = await _pack_of(asked, names, files, within)
    if text:
        why = f"the message names {', '.join(names + files)}"
        return _found(list(pieces(text)), why, counter)
    from tersely.capabilities.packs.packet import SMALL_FILES

    try:
        packet = await asked.value("code.packet", {"task": message, "max_tokens": most_tokens})
        is_small = packet["silence"] == SMALL_FILES
        if not packet["speaks"] and not is_small:
            return None
        is_sure = is_small or packet["bodies"]
        plan = {**within, "task": [message]}
        text = await asked.ask("code.plan", plan) if is_sure else _rows(packet["rows"])
    except TerselyError:
        return None
    why = f"the task has likely owners (confidence {packet['confidence']:.2f})"
    return _found(list(pieces(text)), why, counter)


def named(message: str) -> list[str]:
    """The names of code in a message: marked with @ or backquotes, or written as only code is. No
    files.
    """
    found = ["".join(groups) for groups in _NAMED.findall(message)]
    return list(dict.fromkeys(name for name in found if not _is_file(name)))[:MAX_NAMED_SYMBOLS]


def _is_file(name: str) -> bool:
    return language_of_path(name) is not None or bool(_TEXT_FILE.search(name))


def named_paths(message: str, paths: PathTrie | None) -> list[str]:
    """The paths in a message; one that ends as a single file of the repository does is that file's."""
    words = dict.fromkeys(_PATH.findall(message))
    return [(paths.meant(word) if paths else None) or word for word in words]


async def _known(asked: AskedRepository, names: Sequence[str]) -> list[str]:
    """The names that mean one symbol each."""
    known = []
    for name in names:
        with suppress(TerselyError):
            await asked.value("code.symbol.get", {"symbol": name, "limit": 1})
            known.append(name)
    return known


async def _pack_of(
    asked: AskedRepository, names: list[str], files: list[str], within: JsonMapping
) -> str:
    """A pack around symbols, with whole files if they have room; "" where nothing has."""
    for included in (files, []) if files else ([],):
        if names or included:
            with suppress(TerselyError):
                asks = {**within, "symbols": names, "include": included}
                return await asked.ask("code.context", asks)
    return ""


def _rows(rows: Sequence[JsonMapping]) -> str:
    """Likely places without their source, as a pack has them."""
    lines: list[str] = []
    for path, in_file in groupby(rows, key=lambda row: str(row["path"])):
        lines.append(f"=== {path}")
        lines += [
            f"@{row['line']}-{row['end_line']} {row['certainty']}: {row['name']}" for row in in_file
        ]
    return "\n".join(lines)


def news(found: Retrieval, said: Sequence[str], counter: Tokenizer) -> Retrieval | None:
    """The part of what was found that is not in these texts; None where nothing is left.

    Where they say what AGENTS.md asks, nothing more of it is said.
    """
    has_asked = any(ASKS in text for text in said)
    left = not_yet_in(
        [piece for piece in found.pieces if not (has_asked and piece.file == AGENTS_FILE)], said
    )
    if left == [*found.pieces]:
        return found
    return _found(left, f"{found.why}; less what the prompt has already", counter) if left else None


def _found(parts: Sequence[PackPiece], why: str, counter: Tokenizer) -> Retrieval:
    sized: dict[str, int] = {}
    for piece in parts:
        name = piece.file or "outline"
        sized[name] = sized.get(name, 0) + (counter.count(piece.text) if piece.text else 0)
    text = f"{HEADING}\n{joined(parts)}"
    items = tuple(RetrievedItem(name, size) for name, size in sized.items() if size)
    return Retrieval(text, items, counter.count(text), why, tuple(parts))


def digest(content: bytes, most_tokens: int, counter: Tokenizer) -> str:
    """The requests of a project to agents, in short: headings, lists and commands before prose; ""
    where it asks nothing.
    """
    text = _COMMENT.sub("", content[:MAX_AGENTS_BYTES].decode("utf-8", "replace"))
    lines = [visible(line.rstrip()) for line in text.splitlines() if line.strip()]
    chosen: set[int] = set()
    spent = counter.count(f"{ASKS}\n")
    for wanted in (True, False):
        for at, line in enumerate(lines):
            cost = counter.count(f"{line}\n")
            if _is_terse(line) is wanted and spent + cost <= most_tokens:
                chosen.add(at)
                spent += cost
    return "\n".join([ASKS, *(lines[at] for at in sorted(chosen))]) if chosen else ""


def _is_terse(line: str) -> bool:
    return (
        line.lstrip().startswith(("#", "-", "*", "`", "$"))
        or line.startswith("    ")
        or line.lstrip()[:1].isdigit()
    )
