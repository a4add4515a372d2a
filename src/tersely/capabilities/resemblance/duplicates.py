"""`code.duplicates`: groups of functions that are nearly the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.files.places import files_below
from tersely.capabilities.paging import Page, limit_option, offset_option, page_of, rest_line
from tersely.capabilities.resemblance.likeness import Likeness, likeness, rows
from tersely.capabilities.text import Style, counted
from tersely.capabilities.values import lines_text
from tersely.foundation.limits import MAX_CLUSTER_FUNCTIONS

if TYPE_CHECKING:
    from tersely.code.search.duplicates.clusters import Cluster
    from tersely.code.search.duplicates.comparing import Comparing
    from tersely.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where to look, and what counts."""

    path: str = positional("a directory or file; without it the whole repository", default="", role=Role.PATH)
    threshold: int = option(80, "the least similarity, in percent", minimum=30, maximum=100, metavar="PERCENT")
    least: int = option(30, "pass over functions with fewer tokens", minimum=1, maximum=10_000, metavar="TOKENS")
    tests: bool = option(True, "look at files of tests too")
    limit: int = limit_option(20, "groups")
    offset: int = offset_option("groups")


@dataclass(frozen=True, slots=True)
class Group:
    """Functions that resemble an exemplar. `lines` are those of `others`, and of those that are not listed."""

    exemplar: str
    path: str
    line: int
    end_line: int
    lines: int
    others: tuple[Likeness, ...]
    more: int  # that resemble it too and are not listed


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The groups, those with the most lines that say nothing new first."""

    functions: int  # that were compared
    duplicates: int  # functions that resemble an exemplar
    lines: int  # that they have
    groups: Page[Group]


def run(workspace: Workspace, parameters: Parameters) -> Duplicates:
    """Find the groups, and what differs in those that are listed."""
    import numpy as np

    from tersely.code.places import is_test
    from tersely.code.search.duplicates.clusters import clusters
    from tersely.code.search.duplicates.comparing import Comparing

    engine = workspace.engine
    wanted = {file.path for file in files_below(workspace, parameters.path)}
    functions = engine.functions
    is_wanted = np.array(
        [path in wanted and (parameters.tests or not is_test(path)) for path in functions.paths], np.bool_
    )
    chosen = np.flatnonzero(is_wanted[functions.file_of] & (functions.table.tokens >= parameters.least))
    comparing = Comparing(functions, engine.source, engine.store.symbols_of)
    found = clusters(functions, chosen, parameters.threshold / 100, comparing.is_within)
    weights = {cluster.exemplar: _lines(cluster, comparing) for cluster in found}
    found.sort(key=lambda cluster: (-weights[cluster.exemplar], cluster.exemplar))
    page = page_of(found, parameters.limit, parameters.offset)
    groups = tuple(_group(cluster, weights[cluster.exemplar], comparing) for cluster in page.items)
    return Duplicates(
        len(chosen),
        sum(len(cluster.members) for cluster in found),
        sum(weights.values()),
        Page(groups, page.total, page.offset, page.more),
    )


def _lines(cluster: Cluster, comparing: Comparing) -> int:
    symbols = (comparing.symbol(one.function) for one in cluster.members)
    return sum(symbol.end_line - symbol.start_line + 1 for symbol in symbols)


def _group(cluster: Cluster, lines: int, comparing: Comparing) -> Group:
    symbol = comparing.symbol(cluster.exemplar)
    listed = cluster.members[:MAX_CLUSTER_FUNCTIONS]
    others = tuple(likeness(cluster.exemplar, one, comparing) for one in listed)
    return Group(
        symbol.id, symbol.path, symbol.start_line, symbol.end_line, lines, others, len(cluster.members) - len(listed)
    )


def text(found: Duplicates, style: Style) -> str:
    """The exemplar of each group, and below it the others with what they have in its place."""
    if not found.groups.total:
        return f"{counted(found.functions, 'function')} compared, none nearly the same as another"
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


CAPABILITY = Capability(
    name="code.duplicates",
    summary="Groups of functions that are nearly the same: one exemplar, and what differs in the others",
    description="Each of a group is at least as similar to its exemplar as --threshold asks; `tersely help similar` "
    "says how that is measured. Groups that repeat the most lines come first.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("duplicates", "duplicates src --threshold 90 --no-tests"),
)
