"""`code.symbol.get`: the source of symbols, or what has changed in one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.text import Style, counted
from tersely.capabilities.values import lines_text
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SHOWN_LINES

if TYPE_CHECKING:
    from tersely.code.symbols import Symbol
    from tersely.workspace import Workspace

UNCHANGED = "UNCHANGED"
MAX_SYMBOLS = 50  # of one question
_LEAVES_NO_MEMORY = frozenset({"database_unavailable", "database_locked"})


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which symbols, and how much of each."""

    symbol: tuple[str, ...] = positional("the symbols", role=Role.SYMBOL, minimum=1)
    etag: str | None = option(
        None, "the tag of the version that is known: answer UNCHANGED, or what has changed", metavar="TAG", bare=""
    )
    limit: int = option(400, "how many lines to show", minimum=1, maximum=MAX_SHOWN_LINES, metavar="N")
    offset: int = option(0, "how many lines to skip first", minimum=0, maximum=1_000_000, metavar="N")


@dataclass(frozen=True, slots=True)
class Source:
    """A symbol with the lines of its code, each ended by a newline; `more` lines of it follow.

    Of several symbols at once the lines of documentation are left out.

    `diff` is what has changed since the version whose tag was given, if that is still remembered: hunks of a unified
    diff of the two normalised texts, which is how they stand in the file but for the indentation that they share.
    """

    id: str
    kind: Kind
    path: str
    etag: str
    lines: tuple[int, int]  # of the file, first and last
    first_line: int  # of the content
    content: str
    undocumented: bool  # lines of documentation are left out of the content
    diff: str | None
    more: int


@dataclass(frozen=True, slots=True)
class Sources:
    """Several symbols, in the order in which they were asked for."""

    symbols: tuple[Source, ...]


def run(workspace: Workspace, parameters: Parameters) -> Source | Sources | str:
    """The lines of the symbol or symbols; of one whose tag is given, `UNCHANGED` where that is so."""
    if len(parameters.symbol) > MAX_SYMBOLS:
        raise TerselyError("invalid_argument", f"at most {MAX_SYMBOLS} symbols at once", "ask for fewer")
    symbols = [workspace.engine.symbol(name) for name in parameters.symbol]
    if len(symbols) == 1:
        return _one(workspace, symbols[0], parameters)
    if parameters.etag is not None:
        raise TerselyError("usage", "--etag is about one symbol", "name one symbol, or leave out --etag")
    found = (_one(workspace, symbol, parameters) for symbol in dict.fromkeys(symbols))
    whole = tuple(one for one in found if isinstance(one, Source))
    return Sources(whole if parameters.offset else tuple(_code_alone(workspace, one) for one in whole))


def _code_alone(workspace: Workspace, source: Source) -> Source:
    """A source without its documentation: who asks for many symbols at once wants to know what they do."""
    symbol = workspace.engine.symbol(source.id)
    kept = {line.number for line in workspace.texts().body(symbol)}
    numbered = enumerate(source.content.split("\n")[:-1], source.first_line)
    code = "".join(f"{line}\n" for number, line in numbered if number in kept)
    return replace(source, content=code, undocumented=code != source.content)


def _one(workspace: Workspace, symbol: Symbol, parameters: Parameters) -> Source | str:
    from tersely.context.pack.memory.etag import etag_of, normalised

    source = workspace.engine.source(symbol.path)
    normal = normalised(symbol, source)
    etag = etag_of(normal)
    # Whoever passes over some lines wants to see the others.
    if parameters.etag == etag and not parameters.offset:
        return UNCHANGED
    diff = _remembered(workspace, symbol, etag, normal, parameters.etag)
    # Not `splitlines`: a form feed, for one, ends no line that anybody else counts.
    lines = source.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    own = lines[symbol.start_line - 1 : symbol.end_line]
    shown = own[parameters.offset : parameters.offset + parameters.limit]
    return Source(
        symbol.id,
        symbol.kind,
        symbol.path,
        etag,
        (symbol.start_line, symbol.end_line),
        symbol.start_line + parameters.offset,
        "".join(f"{line}\n" for line in shown),
        False,
        diff if not parameters.offset else None,
        max(0, len(own) - parameters.offset - len(shown)),
    )


def _remembered(workspace: Workspace, symbol: Symbol, etag: str, normal: str, known: str | None) -> str | None:
    """Keep this version to compare the next with; the difference from the known one, None if that is forgotten."""
    from tersely.context.pack.memory.deltas import diff_of

    try:
        with workspace.sessions() as sessions:
            with suppress(TerselyError):
                sessions.keep_version(symbol.id, etag, normal)
            before = sessions.version(symbol.id, known) if known else None
    except TerselyError as error:
        if error.code not in _LEAVES_NO_MEMORY:
            raise
        return None
    return (diff_of(before, normal) or None) if before is not None else None


def text(source: Source | Sources | str, style: Style) -> str:
    """A line about each symbol, then its code, or what has changed in it if that is shorter."""
    if isinstance(source, Sources):
        return "\n".join(_text_among_others(one, style) for one in source.symbols)
    if isinstance(source, str):
        return source
    about = f"{source.kind.value}, {lines_text(*source.lines)}, etag {source.etag}"
    if source.diff is not None and len(source.diff) < len(source.content):
        changed = style.doubtful("changed:")
        return "\n".join([f"{style.symbol(source.id)}  {style.faint(about)}  {changed}", source.diff.rstrip("\n")])
    return _with_head(source, about, style)


def _text_among_others(source: Source, style: Style) -> str:
    about = lines_text(*source.lines)
    return _with_head(source, f"{about}, without documentation" if source.undocumented else about, style)


def _with_head(source: Source, about: str, style: Style) -> str:
    lines = [f"{style.symbol(source.id)}  {style.faint(about)}", source.content.rstrip("\n")]
    if source.more:
        following = source.first_line - source.lines[0] + source.content.count("\n")
        lines.append(style.doubtful(f"… {counted(source.more, 'more line')}: --offset {following} continues"))
    return "\n".join(lines)


CAPABILITY = Capability(
    name="code.symbol.get",
    summary="Source of symbols",
    description="The lines as they stand in the file, decorators and documentation included, and an ETag: the hash of "
    "the symbol, which edits elsewhere, moves and another indentation of the whole do not change. Given back with "
    "--etag, the answer is UNCHANGED, or the difference from the version that had the tag. Of several symbols at once "
    "documentation is left out.",
    parameters=Parameters,
    run=run,
    text=text,
    remembering=frozenset({"etag"}),
    examples=("symbol get Session.validate Session.close", "symbol get src/auth.py:validate --etag 5cfb1a142ef6"),
)
