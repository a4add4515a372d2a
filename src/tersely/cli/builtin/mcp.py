"""The command `mcp`: a small process beside an agent. It asks the daemon of a repository, and loads
nothing of it.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tersely.capabilities import catalogue
from tersely.capabilities.answers.reply import BUDGET
from tersely.capabilities.declaration.references import has_references, with_references
from tersely.cli.builtin.daemon import ANSWER_WORDS, resolved_root
from tersely.cli.printing import cassettes
from tersely.cli.services import RelayServices
from tersely.daemon.asking import Asking
from tersely.daemon.ndjson.commands import call
from tersely.doors.mcp.roots import Roots
from tersely.doors.mcp.server import Ask, make_service
from tersely.doors.mcp.stdio import serve_streams
from tersely.doors.mcp.tools import STORE
from tersely.foundation.ids import new_id
from tersely.foundation.process.ancestry import client_name
from tersely.foundation.text.tokens import Tokenizer
from tersely.foundation.types import JsonMapping
from tersely.integrations import adoption, state
from tersely.integrations.adoption import AdoptionNote

if TYPE_CHECKING:
    from tersely.cli.builtin.serving import McpParameters
    from tersely.code.index.refresh import Progress
    from tersely.doors.mcp.session import ServedMethods
    from tersely.foundation.types import JsonObject

_AGENT = "mcp"  # how the names of its readers begin


def run_mcp(root: str, given: McpParameters) -> None:
    """Serve over the standard streams until the client leaves."""
    named = Path(resolved_root(root)) if root else None
    gc.enable()  # a server lives long, unlike other commands
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve_streams(named, given))


async def _serve_streams(named: Path | None, given: McpParameters) -> None:
    asking = Asking(ANSWER_WORDS, starts_daemons=True)
    adoption.note(AdoptionNote.SESSION)
    await serve_streams(service(_Noting(partial(answer, asking, given)), named, given))
    asking.close()
    os._exit(0)  # threads that wait, for a daemon to start or for the relay, would keep the process


class _Noting:
    """Asks, and notes that this session has done so."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._is_noted = False

    async def __call__(
        self, root: Path, command: str, arguments: JsonMapping, on_progress: Progress
    ) -> JsonObject:
        """The answer of the code service to one question."""
        if not self._is_noted:
            self._is_noted = True
            adoption.note(AdoptionNote.ASKED)
        return await self._ask(root, command, arguments, on_progress)


def service(ask: Ask, named: Path | None, given: McpParameters) -> ServedMethods:
    """The methods that one client is served."""
    connection = new_id()

    def session_of(root: Path) -> str:
        return f"{_AGENT}-{connection}-{state.context_of(str(root))}"

    others = RelayServices(client_name(os.environ, os.getppid()))
    return make_service(
        ask,
        Roots(named),
        others,
        session_of,
        all_tools=given.all_tools,
        structured=given.structured,
    )


async def answer(
    asking: Asking,
    given: McpParameters,
    root: Path,
    command: str,
    arguments: JsonMapping,
    on_progress: Progress,
) -> JsonObject:
    """The reply, with the answer as data where that is wanted and there is such."""
    reply = await _ask(asking, root, command, arguments, on_progress)
    if not given.structured:
        return reply
    from tersely.doors.mcp.structured import data_arguments

    own = data_arguments(command, arguments)
    return reply if own is None else {**reply, "data": await asking.value(root, command, own)}


async def _ask(
    asking: Asking, root: Path, command: str, arguments: JsonMapping, on_progress: Progress
) -> JsonObject:
    """Ask with what the arguments refer to, and keep the answer where that is wanted: its reference
    is the reply.
    """
    if STORE not in arguments and not has_references(arguments):
        return await asking.ask(root, command, arguments, on_progress)
    given = dict(arguments)
    is_kept = given.pop(STORE, False)
    own = {name: value for name, value in given.items() if name != BUDGET}
    capability = catalogue.load(call(command, own, str(root)).capability)
    given = await asyncio.to_thread(with_references, capability.parameters, given, cassettes.fetch)
    reply = await asking.ask(root, command, given, on_progress)
    if not is_kept:
        return reply
    tokens = Tokenizer().count(reply["text"])
    told = await asyncio.to_thread(cassettes.keep, reply["text"], capability.name, tokens, _AGENT)
    return {**reply, "text": f"{told['uri']}\n{told['summary']}\n"}
