"""`code.duplicates`: functions that are nearly the same, in groups or as one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Role,
    capability,
    frozen,
    option,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.files.places import ANYWHERE, files_below, normal
from tersely.capabilities.search.likeness import Likeness, likeness, rows
from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.code.search.duplicates.clusters import Cluster
    from tersely.code.search.duplicates.comparing import Comparing
    from tersely.workspace import Workspace

MAX_CLUSTER_FUNCTIONS = 50  # listed of one cluster


@frozen
class Group:
    """Functions that resemble an exemplar. `lines` are those of `others`, and of those that are not
    listed.
    """

    exemplar: str
    path: str
    line: int
    end_line: int
    lines: int
    others: tuple[Likeness, ...]
    more: int  # that resemble it too and are not listed


@frozen
class Duplicates:
    """The groups, those with the most lines that say nothing new first."""

    functions: int  # that were compared
    duplicates: int  # functions that resemble an exemplar
    lines: int  # that they have
    groups: Page[Group]


def text(found: Duplicates, style: Style) -> str:
    """The exemplar of each group, and below it the others with what they have in its place."""
    if not found.groups.total:
        return f"{counted(found.functions, 'function')} compared, no near-copies found"
    groups = counted(found.groups.total, "group")
    duplicates = f"{counted(found.duplicates, 'function')}, {counted(found.lines, 'line')}"
    blocks = [f"{groups} with {duplicates} that repeat others, of {found.functions:,} compared"]
    for group in found.groups.items:
        where = style.faint(f"@{lines_text(group.line, group.end_line)}")
        blocks.append(f"{style.heading(group.exemplar)} {where}")
        blocks += [f"  {line}" for line in rows(group.others, style)]
        if group.more:
            blocks.append(style.doubtful(f"  … {group.more:,} more"))
    return "\n".join([*blocks, *rest_line(found.groups, "group", style)])


@capability(
    "code.duplicates",
    text,
    "duplicates",
    "duplicates src --threshold 90 --no-tests",
    "duplicates --of Session.get --threshold 50",
)
def run(
    workspace: Workspace,
    *,
    path: str = ANYWHERE,
    of: str = option(
        "",
        "only functions that are like this one, however short",
        role=Role.SYMBOL,
        metavar="SYMBOL",
    ),
    threshold: int = option(
        80, "the least similarity, in percent", minimum=30, maximum=100, metavar="PERCENT"
    ),
    least: int = option(
        30, "pass over functions with fewer tokens", minimum=1, maximum=10_000, metavar="TOKENS"
    ),
    tests: bool = option(True, "look at files of tests too"),
    limit: int = limit_option(20, "groups"),
    offset: int = offset_option("groups"),
) -> Duplicates:
    """Groups of functions that are nearly the same: one exemplar, and what differs in the others.

    Each of a group is at least as similar to its exemplar as --threshold asks; with --of SYMBOL,
    the exemplar is that function. Groups that repeat the most lines come first.

    How similar two functions are is the part of their overlapping runs of four tokens that both
    have (Jaccard). Comments and documentation do not count. All names of variables count as one, and
    so do all literals: a copy whose variables were renamed is still 100% like. The
    differences are those of the code as written.
    """
    from tersely.code.places import is_test
    from tersely.code.search.duplicates.clusters import Cluster, clusters, similar
    from tersely.code.search.duplicates.comparing import Comparing
    from tersely.foundation.arrays import np

    engine = workspace.engine
    engine.note_left_out(normal(path))
    wanted = {file.path for file in files_below(workspace, path)}
    functions = engine.functions
    in_wanted_file = np.array(
        [path in wanted and (tests or not is_test(path)) for path in functions.paths],
        np.bool_,
    )
    is_wanted = in_wanted_file[functions.file_of]
    comparing = Comparing(functions, engine.source, engine.store.symbols_of)
    similarity = threshold / 100
    if of:
        one = _function(workspace, of, comparing)
        chosen = np.flatnonzero(is_wanted)
        like_it = similar(functions, one, similarity, comparing.is_within)
        members = tuple(other for other in like_it if is_wanted[other.function])
        found = [Cluster(one, members)] if members else []
    else:
        chosen = np.flatnonzero(is_wanted & (functions.table.tokens >= least))
        found = clusters(functions, chosen, similarity, comparing.is_within)
    weights = {cluster.exemplar: _lines(cluster, comparing) for cluster in found}
    found.sort(key=lambda cluster: (-weights[cluster.exemplar], cluster.exemplar))
    page = page_of(found, limit, offset)
    return Duplicates(
        len(chosen),
        sum(len(cluster.members) for cluster in found),
        sum(weights.values()),
        page.each(lambda cluster: _group(cluster, weights[cluster.exemplar], comparing)),
    )


def _function(workspace: Workspace, query: str, comparing: Comparing) -> int:
    """The number of the function that is meant; raises `invalid_argument` for what is no function
    with a body.
    """
    symbol = workspace.engine.symbol(query)
    index = comparing.index_of(symbol)
    if index is None:
        message = (
            f"{symbol.id} is a {symbol.kind.value}, and only functions with a body are compared"
        )
        raise TerselyError("invalid_argument", message, "name a function or method")
    return index


def _lines(cluster: Cluster, comparing: Comparing) -> int:
    symbols = (comparing.symbol(one.function) for one in cluster.members)
    return sum(symbol.end_line - symbol.start_line + 1 for symbol in symbols)


def _group(cluster: Cluster, lines: int, comparing: Comparing) -> Group:
    symbol = comparing.symbol(cluster.exemplar)
    listed = cluster.members[:MAX_CLUSTER_FUNCTIONS]
    others = tuple(likeness(cluster.exemplar, one, comparing) for one in listed)
    return Group(
        symbol.id,
        symbol.path,
        symbol.start_line,
        symbol.end_line,
        lines,
        others,
        len(cluster.members) - len(listed),
    )
