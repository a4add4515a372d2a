"""`code.dfg`: where the values that a function reads come from."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, indented
from tersely.capabilities.declaration.declaration import (
    capability,
    frozen,
    option,
)
from tersely.capabilities.declaration.values import lines_text
from tersely.capabilities.flow.places import FUNCTION, ONE_KIND, flow_note, routine_of
from tersely.capabilities.flow.variables import known_variable
from tersely.code.symbols import Kind
from tersely.foundation.types import Strings

if TYPE_CHECKING:
    from tersely.code.routines import AccessPath, Routine
    from tersely.workspace import Workspace


@frozen
class Flow:
    """A value of `variable` that is read on `use_line` and may have been put there on
    `definition_line`.

    `how` is parameter, definition, or change for what was changed in place.
    """

    variable: str
    definition_line: int
    use_line: int
    how: str


@frozen
class DataFlow:
    """The def-use chains of a routine. `free` are names that it reads of what is around it."""

    symbol: str
    line: int
    end_line: int
    parameters: Strings
    free: Strings
    flows: Page[Flow]
    note: str


def text(flow: DataFlow, style: Style) -> str:
    """A line for each definition, with the lines that may read it."""
    lines = [f"{style.symbol(flow.symbol)}  {style.faint(lines_text(flow.line, flow.end_line))}"]
    lines += [style.doubtful(flow.note)] if flow.note else []
    if not flow.flows.total:
        lines.append("nothing that it puts into a variable is read in it")
    rows = []
    for (variable, line, how), group in groupby(
        flow.flows.items, key=lambda one: (one.variable, one.definition_line, one.how)
    ):
        uses = ", ".join(str(one.use_line) for one in group)
        rows.append((variable, f"line {line}", "" if how == "definition" else how, f"→ {uses}"))
    lines += indented(rows, [style.symbol, None, style.faint])
    return "\n".join([*lines, *rest_line(flow.flows, "flow", style)])


@capability("code.dfg", text, "dfg Session.validate", "dfg Session.validate --variable token")
def run(
    workspace: Workspace,
    *,
    symbol: str = FUNCTION,
    variable: str | None = option(None, "only flows of this variable", metavar="NAME"),
    kind: Kind | None = ONE_KIND,
    limit: int = limit_option(500, "flows"),
    offset: int = offset_option("flows"),
) -> DataFlow:
    """Def-use chains of a function: where the values that it reads come from.

    A flow leads from a line that puts a value into a variable, or changes in place what it holds,
    to a line that may read it. Parts of objects count by themselves as far as they are written:
    `self.cache`.
    """
    meant, routines, at = routine_of(workspace, symbol, kind)
    routine = routines.routines[at]
    wanted = known_variable(variable, routine, meant.path)
    flows = [flow for flow in _flows(routine) if wanted in ("", flow.variable)]
    page = page_of(flows, limit, offset)
    names = tuple(written(name) for name in routine.parameters)
    note = "; ".join(filter(None, (flow_note(routines, at), _cut_note(routine))))
    return DataFlow(meant.id, routine.line, routine.end_line, names, routine.free, page, note)


def _cut_note(routine: Routine) -> str:
    from tersely.code.flow.reaching import MAX_FLOWS, data_flows

    return (
        f"only the first {MAX_FLOWS:,} flows are looked at"
        if len(data_flows(routine)) >= MAX_FLOWS
        else ""
    )


def _flows(routine: Routine) -> list[Flow]:
    from tersely.code.flow.reaching import data_flows

    found: dict[Flow, None] = {}
    for flow in data_flows(routine):
        definer, reader = routine.points[flow.definer], routine.points[flow.reader]
        if flow.path[0].startswith("<"):
            continue
        changes = flow.path in definer.mutates and flow.path not in definer.writes
        how = "parameter" if flow.definer == 0 else "change" if changes else "definition"
        lines = (
            routine.statements[definer.statement].line,
            routine.statements[reader.statement].line,
        )
        found[Flow(path_text(flow.path), *lines, how)] = None
    return sorted(found, key=lambda flow: (flow.variable, flow.definition_line, flow.use_line))


def path_text(path: AccessPath) -> str:
    """A variable as it is written: `self.cache[key]`."""
    return written(path[0]) + "".join(path[1:])


def written(name: str) -> str:
    """The name of a variable without the mark that tells it from one that it hides."""
    return name.partition("'")[0]
