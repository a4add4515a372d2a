"""The report of `doctor` on the model: whether one is served, what was tried with it, and how calls
will be asked for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MIN_WINDOW_TOKENS

if TYPE_CHECKING:
    from tersely.cli.agent.command_spec import ChatParameters
    from tersely.cli.agent.servers import Server

_UNDER = " " * 7  # the text of a finding
_NEEDED = {"streaming"}  # the rest decides how, not whether, the agent works


def examined_model(root: Path, parameters: ChatParameters) -> Iterator[tuple[bool, str]]:
    """Each finding on the server that is meant, a line with its hint below, and whether it is well.

    Asks the model for a few short answers, where there is one.
    """
    from tersely.cli.agent.chat import server_of
    from tersely.foundation.settings import load

    server = server_of(parameters, load(root))
    try:
        yield from asyncio.run(_tried(server))
    except TerselyError as error:
        hint = indent(f"\n{error.hint}", _UNDER) if error.hint else ""
        yield not server.url, f"{error.message}{hint}"  # who named none may not want one


async def _tried(server: Server) -> list[tuple[bool, str]]:
    from tersely.agent.models.connecting import probe
    from tersely.agent.opening import call_format_of
    from tersely.cli.agent.servers import connected

    found, model = await connected(server)
    await model.close()
    report = await probe(found.url, found.model, found.kind, found.key, found.window)
    can = report.abilities
    lines = [(True, f"model {can.model} of {can.server} at {report.url}")]
    for finding in report.findings:
        said = f"  {finding.what}: {'yes' if finding.works else 'no'}{f', {finding.detail}' if finding.detail else ''}"
        lines.append((finding.works or finding.what not in _NEEDED, said))
    if 0 < can.window < MIN_WINDOW_TOKENS:
        lines.append(
            (
                False,
                f"  the window is too small: at least {MIN_WINDOW_TOKENS:,} tokens, better 8,192",
            )
        )
    return [*lines, (True, f"  calls are asked for by: {call_format_of(can)}")]
