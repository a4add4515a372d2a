"""`code.search`: symbols by what they do, what they are called, and what is written in them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tersely.capabilities.answers.reply import fitted
from tersely.capabilities.answers.text import Style, clipped, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.declaration.values import OF_KIND, lines_text
from tersely.capabilities.files.places import files_below, normal
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError
from tersely.foundation.text.shortening import shortened
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from tersely.code.index.storage.schema import IndexedFile
    from tersely.code.search.inside import Passage
    from tersely.workspace import Workspace

MAX_HITS = 200
DEFAULT_HITS_TOKENS = 1_000
PATTERN_MARKS = frozenset("*?[")
SIGNATURE_CHARACTERS = 120
MAX_QUOTED_LINES = 2  # of one definition
QUOTED_CHARACTERS = 100  # of a line


@frozen
class CodeSearchParameters:
    """The words to search for, and among what."""

    query: Strings = positional(
        'words that say what it does; a name; "quoted text"; or a /regular expression/',
        metavar="QUERY",
        minimum=1,
    )
    kind: Kind | None = OF_KIND
    in_: Strings = option(
        (),
        "search inside these files, or below directories",
        role=Role.PATH,
        metavar="FILE…",
        greedy=True,
    )
    language: str | None = option(None, "only in files of this language", metavar="LANGUAGE")
    limit: int = option(10, "how many hits to show", minimum=1, maximum=MAX_HITS, metavar="N")
    budget: int = budget_option(DEFAULT_HITS_TOKENS, "the most tokens of the hits", "N")


@frozen
class QuotedLine:
    """A line of a definition that holds something of the question."""

    line: int
    text: str


@frozen
class Hit:
    """One symbol that was found; `share` is how much of the question is found again in it, from 0
    to 1.
    """

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int
    signature: str
    share: float
    reasons: Strings
    # of a search inside files: the lines that tell most, in order
    quoted: tuple[QuotedLine, ...] = ()
    lines: int = 0  # of a search inside files: how many lines hold something


@frozen
class Hits:
    """The best first, out of `total` symbols that match or, where all are ranked, that were looked
    at.
    """

    query: str
    hits: tuple[Hit, ...]
    total: int
    # false where hits have the text or are matched by the expression, and all others do not
    ranked: bool
    without_room: int = 0  # hits that the budget leaves out
    words_left_out: int = 0  # of a long question, that were not looked for inside files


def text(found: Hits, style: Style) -> str:
    """A line for each hit, with the lines found in it, or the reasons below it."""
    if not found.hits:
        far = ": no symbol has a word of the query or is close to it in meaning"
        return style.doubtful(f"no results{far if found.ranked and found.total else ''}")
    lines = []
    for hit in found.hits:
        lines += _inside_row(hit, style) if hit.lines else _ranked_rows(hit, style)
    if found.words_left_out:
        words = counted(found.words_left_out, "word")
        lines.append(style.doubtful(f"… {words} at the end of the question were not looked for"))
    left = found.without_room if found.ranked else found.total - len(found.hits)
    if left:
        more = counted(left, "more symbol", "more symbols")
        allow = "--budget" if found.without_room else f"--limit {min(found.total, MAX_HITS)}"
        lines.append(style.doubtful(f"… {more}: {allow} allows more"))
    return "\n".join(lines)


@capability(
    "code.search",
    text,
    'search "where tokens are validated"',
    "search Session.validate",
    "search expired token --in src/auth.py src/session.py",
    found=lambda found: bool(found.hits),
)
def run(
    workspace: Workspace,
    *,
    parameters: CodeSearchParameters = group(CodeSearchParameters),
) -> Hits:
    r"""Search symbols by meaning, name or text.

    Ranks every symbol by the words of the question (stems of split identifiers, weighed by where
    they stand) and by meaning. Symbols with the name in the question come first. Tests are demoted
    unless the question is about them. The percentage is how much of the question is found again,
    in words or in meaning.

    Text in double quotes must be there as it stands: "Content-Type" header. An expression between
    slashes is tried on each line: /def \w+_token/, and /…/i disregards case.

    With --in and files it searches inside them: definitions that have any of the words, in any case
    and also inside longer words. Those with most come first, each with its best lines. A directory
    or a pattern (src/*/api.py) narrows the ranking instead.

    The first search of a repository makes the search files, which takes seconds; later ones bring
    them up to date. A search inside files needs none.
    """
    from tersely.code.languages.registry import LANGUAGES

    if parameters.language is not None and parameters.language not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise TerselyError(
            "invalid_argument", f"unknown language {parameters.language!r}", f"known: {known}"
        )
    places = [_existing(workspace, place) for place in parameters.in_]
    files = [
        file for place in dict.fromkeys(places) if (file := _file(workspace, place)) is not None
    ]
    is_inside = bool(places) and len(files) == len(set(places))
    found = (
        _inside(workspace, parameters, files)
        if is_inside
        else _ranked(workspace, parameters, places)
    )
    numbers = range(min(1, len(found.hits)), len(found.hits) + 1)
    return fitted(partial(_first, found), text, numbers, parameters.budget, workspace.tokenizer)


def _ranked(workspace: Workspace, parameters: CodeSearchParameters, places: Sequence[str]) -> Hits:
    """The hits in all files, or in those that are in some places."""
    from tersely.code.search.query import read_query
    from tersely.code.search.searcher import Filters

    question = " ".join(parameters.query)
    query = read_query(question)
    filters = Filters(
        frozenset({parameters.kind} if parameters.kind else ()),
        tuple(places),
        frozenset({parameters.language} if parameters.language else ()),
    )
    found = workspace.search(question, filters, parameters.limit)
    texts = workspace.texts()
    hits = [
        Hit(
            hit.symbol.id,
            hit.symbol.kind,
            hit.symbol.path,
            hit.line,
            hit.symbol.end_line,
            texts.signature(hit.symbol).plain or hit.symbol.name,
            round(hit.share, 3),
            hit.reasons,
        )
        for hit in found.hits
    ]
    return Hits(question, tuple(hits), found.total, not query.quoted and query.expression is None)


def _inside(
    workspace: Workspace, parameters: CodeSearchParameters, files: Sequence[IndexedFile]
) -> Hits:
    """The definitions of some files that hold words of the question."""
    question = " ".join(parameters.query)
    searched = [file for file in files if parameters.language in {None, file.language}]
    kinds = frozenset({parameters.kind} if parameters.kind else ())
    found = workspace.engine.search.find_inside(
        question, searched, kinds, parameters.limit, workspace.engine.symbols_of
    )
    sources = {
        path: _lines(workspace, path)
        for path in dict.fromkeys(one.symbol.path for one in found.passages)
    }
    texts = workspace.texts()
    hits = [
        Hit(
            one.symbol.id,
            one.symbol.kind,
            one.symbol.path,
            one.symbol.start_line,
            one.symbol.end_line,
            texts.signature(one.symbol).plain or one.symbol.name,
            round(one.share, 3),
            (),
            _quoted(one, sources[one.symbol.path]),
            len(one.lines),
        )
        for one in found.passages
    ]
    return Hits(
        question, tuple(hits), found.total, ranked=False, words_left_out=found.terms_left_out
    )


def _lines(workspace: Workspace, path: str) -> list[str]:
    return workspace.source(path).decode("utf-8", "replace").split("\n")


def _quoted(passage: Passage, source: Sequence[str]) -> tuple[QuotedLine, ...]:
    shown = sorted(passage.lines[:MAX_QUOTED_LINES])
    return tuple(
        QuotedLine(line, shortened(source[line - 1].strip(), QUOTED_CHARACTERS)) for line in shown
    )


def _first(found: Hits, number: int) -> Hits:
    return replace(found, hits=found.hits[:number], without_room=len(found.hits) - number)


def _file(workspace: Workspace, path: str) -> IndexedFile | None:
    """The file of the index, or document, at a path."""
    document = workspace.engine.document(path)
    return document.file if document is not None else workspace.engine.store.file(path)


def _existing(workspace: Workspace, path: str) -> str:
    """A directory, file or pattern that some indexed file fits; raises `path_not_found`."""
    from tersely.code.search.searcher import path_fits

    if not PATTERN_MARKS.isdisjoint(path):
        if not any(path_fits(file.path, path) for file in workspace.engine.store.files()):
            raise TerselyError(
                "path_not_found", f"no indexed file matches {path!r}", "tersely tree lists them"
            )
        return path
    if workspace.engine.document(normal(path)) is not None:
        return normal(path)
    place, files = normal(path), files_below(workspace, path)
    is_directory = not place or files[0].path.startswith(f"{place}/")
    return place if is_directory else files[0].path


def _ranked_rows(hit: Hit, style: Style) -> list[str]:
    place = style.symbol(f"{hit.path}:{hit.line}")
    row = f"{place}  {clipped(hit.signature, SIGNATURE_CHARACTERS)}  {style.good(f'({hit.share:.0%})')}"
    return [row, f"    {style.faint('; '.join([*_owner(hit), *hit.reasons]))}"]


def _inside_row(hit: Hit, style: Style) -> list[str]:
    """`path:12-40 Class.method  (35: a line; 37: another; +3)`; what stands in no definition has
    the path alone.
    """
    qualname = hit.id.removeprefix(hit.path).removeprefix(":")
    place = f"{hit.path}:{lines_text(hit.line, hit.end_line)} {qualname}" if qualname else hit.path
    quoted = [f"{one.line}: {one.text}" for one in hit.quoted]
    left = hit.lines - len(quoted)
    if left:
        quoted.append(f"+{left}")
    return [f"{style.symbol(place)}  ({'; '.join(quoted)})"]


def _owner(hit: Hit) -> list[str]:
    """The owner of the symbol, if it is in anything but its file."""
    owner = hit.id.removeprefix(f"{hit.path}:").rpartition(".")[0]
    return [f"in {owner}"] if owner and hit.id != hit.path else []
