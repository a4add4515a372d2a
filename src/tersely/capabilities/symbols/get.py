"""`code.symbol.get`: the source of symbols, or what has changed in one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
    positional,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_SHOWN_LINES
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.symbols import Symbol
    from tersely.workspace import Workspace

UNCHANGED = "UNCHANGED"
MAX_SYMBOLS = 50  # of one question
_LEAVES_NO_MEMORY = frozenset({"database_unavailable", "database_locked"})


@frozen
class Source:
    """A symbol with the lines of its code, each ended by a newline; `more` lines of it follow.

    `offset` and `more` count the lines that are there to show: those of documentation are not where
    it is left out.

    `diff` is what has changed since the version whose tag was given, if that is still remembered:
    hunks of a unified diff of the two normalised texts, which is how they stand in the file but for
    the indentation that they share.
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
    offset: int  # lines before the content
    more: int


@frozen
class Sources:
    """Several symbols, in the order in which they were asked for."""

    symbols: tuple[Source, ...]
    missing: Strings  # names that mean no symbol, or more than one


def text(source: Source | Sources | str, style: Style) -> str:
    """A line about each symbol, then its code, or what has changed in it if that is shorter."""
    if isinstance(source, Sources):
        gone = [style.doubtful(f"not shown: {why}") for why in source.missing]
        return "\n".join([*(_text_among_others(one, style) for one in source.symbols), *gone])
    if isinstance(source, str):
        return source
    if source.undocumented:
        return _text_among_others(source, style)
    about = f"{source.kind.value}, {lines_text(*source.lines)}, etag {source.etag}"
    if source.diff is not None and len(source.diff) < len(source.content):
        changed = style.doubtful("changed:")
        return "\n".join(
            [
                f"{style.symbol(source.id)}  {style.faint(about)}  {changed}",
                source.diff.rstrip("\n"),
            ]
        )
    return _with_head(source, about, style)


@capability(
    "code.symbol.get",
    text,
    "symbol get Session.validate Session.close",
    "symbol get src/auth.py:validate --etag 5cfb1a142ef6",
    remembering=frozenset({"etag"}),
)
def run(
    workspace: Workspace,
    *,
    symbol: Strings = positional("the symbols", role=Role.SYMBOL, minimum=1),
    etag: str | None = option(
        None,
        "the tag of the version that is known: answer UNCHANGED, or what has changed",
        metavar="TAG",
        bare="",
    ),
    code: bool = option(
        False, "leave documentation out, as it is left out of several symbols at once"
    ),
    limit: int = option(
        400, "how many lines to show", minimum=1, maximum=MAX_SHOWN_LINES, metavar="N"
    ),
    offset: int = option(
        0, "how many lines to skip first", minimum=0, maximum=1_000_000, metavar="N"
    ),
) -> Source | Sources | str:
    """Source of symbols.

    The lines as they stand in the file, decorators and documentation included, and an ETag. It is a
    hash of the symbol that edits elsewhere, moves and indentation of the whole do not change. With
    --etag the answer is UNCHANGED, or the difference from the version that had the tag. Of several
    symbols at once documentation is left out; names without a symbol are listed at the end.
    """
    if len(symbol) > MAX_SYMBOLS:
        raise TerselyError(
            "invalid_argument", f"at most {MAX_SYMBOLS} symbols at once", "ask for fewer"
        )
    if len(symbol) == 1:
        one = workspace.engine.symbol(symbol[0])
        return _one(workspace, one, etag, limit, offset, with_docs=not code)
    if etag is not None:
        raise TerselyError(
            "usage", "--etag is about one symbol", "name one symbol, or leave out --etag"
        )
    symbols: list[Symbol] = []
    missing: list[TerselyError] = []
    for name in dict.fromkeys(symbol):
        try:
            symbols.append(workspace.engine.symbol(name))
        except TerselyError as error:
            missing.append(error)
    if not symbols:
        raise missing[0]
    found = (
        _one(workspace, one, None, limit, offset, with_docs=False) for one in dict.fromkeys(symbols)
    )
    return Sources(tuple(one for one in found if isinstance(one, Source)), tuple(map(str, missing)))


def _one(
    workspace: Workspace,
    symbol: Symbol,
    known: str | None,
    limit: int,
    offset: int,
    *,
    with_docs: bool,
) -> Source | str:
    from tersely.context.pack.delta.etag import etag_of, normalised

    source = workspace.engine.source(symbol.path)
    workspace.engine.note_not_understood(symbol.path, symbol.start_line, symbol.end_line)
    normal = normalised(symbol, source)
    etag = etag_of(normal)
    # Whoever passes over some lines wants to see the others.
    if known == etag and not offset:
        return UNCHANGED
    diff = _remembered(workspace, symbol, etag, normal, known)
    # Not `splitlines`: a form feed, for one, ends no line that anybody else counts.
    lines = source.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    numbers = list(range(symbol.start_line, symbol.end_line + 1))
    if not with_docs:
        code = {line.number for line in workspace.texts().body(symbol)}
        numbers = [number for number in numbers if number in code]
    shown = numbers[offset : offset + limit]
    return Source(
        symbol.id,
        symbol.kind,
        symbol.path,
        etag,
        (symbol.start_line, symbol.end_line),
        shown[0] if shown else symbol.end_line,
        "".join(f"{lines[number - 1]}\n" for number in shown),
        len(numbers) <= symbol.end_line - symbol.start_line,
        diff if not offset else None,
        offset,
        max(0, len(numbers) - offset - len(shown)),
    )


def _remembered(
    workspace: Workspace, symbol: Symbol, etag: str, normal: str, known: str | None
) -> str | None:
    """Keep this version to compare the next with; the difference from the known one, None if that
    is forgotten.
    """
    from tersely.context.pack.delta.deltas import diff_of

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


def _text_among_others(source: Source, style: Style) -> str:
    about = lines_text(*source.lines)
    return _with_head(
        source, f"{about}, without documentation" if source.undocumented else about, style
    )


def _with_head(source: Source, about: str, style: Style) -> str:
    head = f"{style.symbol(source.id)}  {style.faint(about)}"
    if source.offset and not source.content:
        return f"{head}\n{style.doubtful(f'no lines from {source.offset} on')}"
    lines = [head, source.content.rstrip("\n")]
    if source.more:
        following = source.offset + source.content.count("\n")
        lines.append(
            style.doubtful(f"… {counted(source.more, 'more line')}: --offset {following} continues")
        )
    return "\n".join(lines)
