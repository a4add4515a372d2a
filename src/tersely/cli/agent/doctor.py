"""What `doctor` says of the model: whether one is served, what was tried with it, and how calls will be asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from tersely.foundation.errors import TerselyError

if TYPE_CHECKING:
    from tersely.cli.agent.servers import Server

_UNDER = " " * 7  # the text of a finding
_NEEDED = {"streaming"}  # the rest decides how, not whether, the agent works


def examined_model(root: Path) -> Iterator[tuple[bool, str]]:
    """Each finding, and whether it is well. Asks the model for a few short answers, where there is one."""
    from tersely.cli.agent.chat import server_of
    from tersely.cli.agent.declared import ChatParameters
    from tersely.foundation.settings import load

    server = server_of(ChatParameters(), load(root))
    try:
        yield from asyncio.run(_tried(server))
    except TerselyError as error:
        hint = indent(f"\n{error.hint}", _UNDER) if error.hint else ""
        yield not server.url, f"{error.message}{hint}"  # who named none may not want one


async def _tried(server: Server) -> list[tuple[bool, str]]:
    from tersely.agent.models.connecting import probe
    from tersely.agent.opening import way_of
    from tersely.cli.agent.servers import connected

    found, model = await connected(server)
    await model.close()
    report = await probe(found.url, found.model, found.kind, found.key, found.window)
    can = report.abilities
    lines = [(True, f"model {can.model} of {can.server} at {report.url}")]
    for finding in report.findings:
        said = f"  {finding.what}: {'yes' if finding.works else 'no'}{f', {finding.detail}' if finding.detail else ''}"
        lines.append((finding.works or finding.what not in _NEEDED, said))
    return [*lines, (True, f"  calls are asked for by: {way_of(can)}")]
