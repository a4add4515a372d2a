"""Write docs/errors.md: every error code, its exit status and status of HTTP, what it means, and
what to do; and docs/error-messages.md: what commands that ask about code print.

    python tools/build_errors_page.py

The comment above each code in `foundation/errors.py` says both, with a `|` between, on one line or
several; a line that begins with a capital letter names a group of codes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tersely.doors.http.failures import status_of
from tersely.foundation.errors import EXIT_OF_CODE

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tersely" / "foundation" / "errors.py"
PAGE = ROOT / "docs" / "errors.md"
MESSAGES_PAGE = ROOT / "docs" / "error-messages.md"
# The rooms whose messages a person meets who asks about code. Those of the relay and of the agent have
# pages of their own.
_ROOMS = ("capabilities", "cli", "code", "context", "foundation", "integrations", "workspace.py")
_LEFT_OUT = ("capabilities/relay", "cli/relay", "cli/agent", "foundation/network")
_GROUPS = {"Lookups", "Questions", "Surroundings"}  # of codes
# the functions that make an error, with the code that they give it by themselves
_MAKERS = {"TerselyError": "", "_usage": "usage", "_invalid": "invalid_argument"}
_GROUP = re.compile(r"    # (?P<title>[A-Z][^|]+)")
_COMMENT = re.compile(r"    # (?P<text>.+)")
_CODE = re.compile(r'    "(?P<code>[a-z_]+)": EXIT_\w+,')
_HEAD = """# Errors

Every failure is `CODE: MESSAGE` on standard error, often with a hint below. With `--json`, over HTTP and in protocols
it is an object with `code`, `message` and `hint`. Scripts test the code. The exit status of the command follows from
it: 1 is no result, 2 a usage error, 3 an environment error, 70 a defect in Tersely.
`python tools/build_errors_page.py` makes this page; a test compares it with the sources.
"""
_MESSAGES = """# Messages

You asked about code and got an error. Find its message here: `…` stands for a name or a number. The last column is the
hint that is printed below the message; where none is, it is what its [code](errors.md) asks for.

| code | message | what to do |
|---|---|---|
"""


class Code(NamedTuple):
    """One error code as the sources describe it."""

    group: str
    code: str
    meaning: str
    remedy: str


def codes_of(text: str) -> Iterator[Code]:
    """The codes that a module describes, in its order. Raises `ValueError` for one without a
    description.
    """
    group = ""
    about: list[str] = []
    for line in text.splitlines():
        if titled := _GROUP.fullmatch(line):
            group = titled["title"]
        elif comment := _COMMENT.fullmatch(line):
            about.append(comment["text"])
        elif named := _CODE.fullmatch(line):
            meaning, bar, remedy = " ".join(about).partition(" | ")
            if not bar:
                raise ValueError(f"{named['code']} has no description")
            yield Code(group, named["code"], meaning, remedy)
            about = []


class Message(NamedTuple):
    """One message as the sources write it, `…` in the place of what differs."""

    code: str
    text: str
    hint: str  # "" for none


def messages() -> list[Message]:
    """The messages of the rooms, each once, by code."""
    order = list(EXIT_OF_CODE)
    found = {one for path in _sources() for one in _messages_of(ast.parse(path.read_text("utf-8")))}
    return sorted(found, key=lambda one: (order.index(one.code), one))


def _sources() -> Iterator[Path]:
    root = ROOT / "src" / "tersely"
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root).as_posix()
        if place.startswith(_ROOMS) and not place.startswith(_LEFT_OUT):
            yield path


def _messages_of(module: ast.Module) -> Iterator[Message]:
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        named = {
            target.id: node.value
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in _MAKERS
            ):
                code = _MAKERS[node.func.id]
                texts = [code] if code else []
                texts += [_text(named.get(getattr(one, "id", ""), one)) for one in node.args]
                if len(texts) > 1 and texts[0] in EXIT_OF_CODE and texts[1].strip("…:;,/ "):
                    yield Message(texts[0], texts[1], "".join(texts[2:]).strip("…:; "))


def _text(node: ast.expr) -> str:
    """A text of the sources; `…` for what is computed."""
    match node:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(map(_text, parts))
        case ast.IfExp(_, text, _):
            return _text(text)
    return "…"


def page() -> str:
    """The text of the page."""
    return _HEAD + "".join(_sections())


def messages_page() -> str:
    """The text of the page of messages."""
    about = {one.code: one for one in codes_of(SOURCE.read_text("utf-8"))}
    rows = [_row(one, about[one.code]) for one in messages() if about[one.code].group in _GROUPS]
    return _MESSAGES + "".join(rows)


def _row(message: Message, about: Code) -> str:
    cells = (message.text, message.hint or about.remedy)
    written = [" ".join(cell.split()).replace("|", "\\|").replace("<", "&lt;") for cell in cells]
    return f"| `{message.code}` | {' | '.join(written)} |\n"


def _sections() -> Iterator[str]:
    group = ""
    for code in codes_of(SOURCE.read_text("utf-8")):
        if code.group != group:
            group = code.group
            yield f"\n## {group}\n\n| code | exit | HTTP | meaning | what to do |\n|---|--:|--:|---|---|\n"
        numbers = f"{EXIT_OF_CODE[code.code]} | {status_of(code.code)}"
        yield f"| `{code.code}` | {numbers} | {code.meaning} | {code.remedy} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
    MESSAGES_PAGE.write_text(messages_page(), "utf-8")
