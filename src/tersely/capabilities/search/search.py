"""`code.search`: symbols by what they do, what they are called, and what is written in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.files.places import files_below, normal
from tersely.capabilities.text import Style, clipped, counted
from tersely.code.symbols import Kind
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.workspace import Workspace

MAX_HITS = 200
PATTERN_MARKS = frozenset("*?[")
SIGNATURE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Parameters:
    """What to search for, and among what."""

    query: tuple[str, ...] = positional(
        'words that say what it does; a name; "quoted text"; or a /regular expression/', metavar="QUERY", minimum=1
    )
    kind: Kind | None = option(None, "only symbols of this kind", metavar="KIND")
    path: tuple[str, ...] = option(
        (), "only in this directory or file, or where a pattern fits (src/*/api.py)", role=Role.PATH
    )
    language: str | None = option(None, "only in files of this language", metavar="LANGUAGE")
    limit: int = option(10, "how many hits to show", minimum=1, maximum=MAX_HITS, metavar="N")


@dataclass(frozen=True, slots=True)
class Hit:
    """One symbol that was found; `share` is how much of the question is found again in it, from 0 to 1."""

    id: str
    kind: Kind
    path: str
    line: int
    end_line: int
    signature: str
    share: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hits:
    """The best first, out of `total` symbols that match or, where all are ranked, that were looked at."""

    query: str
    hits: tuple[Hit, ...]
    total: int
    ranked: bool  # false where hits have the text or are matched by the expression, and all others do not


def run(workspace: Workspace, parameters: Parameters) -> Hits:
    """Search, bringing the search files up to date before."""
    from tersely.code.languages.registry import LANGUAGES
    from tersely.code.search.query import read_query
    from tersely.code.search.searcher import Filters

    if parameters.language is not None and parameters.language not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise TerselyError("invalid_argument", f"unknown language {parameters.language!r}", f"known: {known}")
    question = " ".join(parameters.query)
    query = read_query(question)
    filters = Filters(
        frozenset({parameters.kind} if parameters.kind else ()),
        tuple(_existing(workspace, path) for path in parameters.path),
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


def _existing(workspace: Workspace, path: str) -> str:
    """A directory, file or pattern that some indexed file fits; raises `path_not_found`."""
    from tersely.code.search.searcher import path_fits

    if not PATTERN_MARKS.isdisjoint(path):
        if not any(path_fits(file.path, path) for file in workspace.engine.store.files()):
            raise TerselyError("path_not_found", f"no indexed file matches {path!r}", "tersely tree lists them")
        return path
    files = files_below(workspace, path)
    return files[0].path if len(files) == 1 else normal(path)


def text(found: Hits, style: Style) -> str:
    """A line for each hit, and the reasons below it."""
    if not found.hits:
        far = ": no symbol has a word of the query or is close to it in meaning"
        return style.doubtful(f"no results{far if found.ranked and found.total else ''}")
    lines = []
    for hit in found.hits:
        place = style.symbol(f"{hit.path}:{hit.line}")
        lines.append(f"{place}  {clipped(hit.signature, SIGNATURE_CHARACTERS)}  {style.good(f'({hit.share:.0%})')}")
        lines.append(f"    {style.faint('; '.join([*_owner(hit), *hit.reasons]))}")
    if not found.ranked and found.total > len(found.hits):
        more = counted(found.total - len(found.hits), "more symbol has it", "more symbols have it")
        lines.append(style.doubtful(f"… {more}: --limit {min(found.total, MAX_HITS)} shows them"))
    return "\n".join(lines)


def _owner(hit: Hit) -> list[str]:
    """What the symbol is in, if it is in anything but its file."""
    owner = hit.id.removeprefix(f"{hit.path}:").rpartition(".")[0]
    return [f"in {owner}"] if owner and hit.id != hit.path else []


CAPABILITY = Capability(
    name="code.search",
    summary="Search symbols by meaning, name or text",
    description="Ranks every symbol by the words of the question (stems of split identifiers, weighed by where they "
    "stand) and by meaning. What is called as the question says comes first. Tests are demoted unless the question "
    "speaks of them. The percentage is how much of the question is found again, in words or in meaning.\n\n"
    'Text in double quotes must be there as it stands: "Content-Type" header. An expression between slashes is tried '
    "on each line: /def \\w+_token/, and /…/i disregards case.\n\n"
    "The first search of a repository makes the search files, which takes seconds; later ones bring them up to date.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=('search "where tokens are validated"', "search Session.validate", "search retry --kind function"),
)
