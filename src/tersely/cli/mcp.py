"""The command `mcp`. It alone loads the protocol's SDK, which takes longer than most commands take to answer."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tersely.capabilities import catalogue
from tersely.capabilities.declaration import parameters_of
from tersely.capabilities.references import has_references, with_references
from tersely.capabilities.reply import BUDGET
from tersely.cli import cassettes
from tersely.cli.daemon import ANSWER_WORDS, resolved_root
from tersely.cli.extras import Extra, with_extra
from tersely.cli.services import RelayServices
from tersely.code.index.refresh import Progress
from tersely.daemon.asking import Asking
from tersely.foundation.errors import TerselyError
from tersely.foundation.tokens import Tokenizer
from tersely.protocols.commands import call
from tersely.protocols.mcp.tools import STORE, keeps

_AGENT = "mcp"


def run_mcp(root: str, port: int | None, *, all_tools: bool) -> None:
    """Serve until the client leaves: over the standard streams, or over HTTP on a port."""
    named = Path(resolved_root(root)) if root else None
    gc.enable()  # a server lives long, unlike other commands
    if port is None:  # the thread that reads standard input would keep an interrupted process waiting
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve(named, port, all_tools))


async def _serve(named: Path | None, port: int | None, all_tools: bool) -> None:
    with with_extra(Extra.MCP):
        from tersely.protocols.mcp.roots import Roots
        from tersely.protocols.mcp.server import make_server
        from tersely.protocols.mcp.transports import serve_http, serve_streams
    asking = Asking(ANSWER_WORDS)
    roots = Roots(named, follows_client=port is None)
    server = make_server(partial(_ask, asking), roots, RelayServices(_AGENT), all_tools=all_tools)
    try:
        if port is None:
            await serve_streams(server)
        else:
            await serve_http(server, port, _tell)
    finally:
        asking.close()


async def _ask(
    asking: Asking, root: Path, command: str, arguments: Mapping[str, Any], on_progress: Progress
) -> dict[str, Any]:
    """Ask with what the arguments refer to, and keep the answer where that is wanted: its reference is the reply."""
    if STORE not in arguments and not has_references(arguments):
        return await asking.ask(root, command, arguments, on_progress)
    given = dict(arguments)
    is_kept = given.pop(STORE, False)
    own = {name: value for name, value in given.items() if name != BUDGET}
    capability = catalogue.load(call(command, own, str(root)).capability)
    if is_kept and not keeps(capability):
        raise TerselyError("invalid_argument", f"{capability.name} has no {STORE}", "packs have")
    given = await asyncio.to_thread(with_references, parameters_of(capability.parameters), given, cassettes.fetch)
    reply = await asking.ask(root, command, given, on_progress)
    if not is_kept:
        return reply
    tokens = Tokenizer().count(reply["text"])
    told = await asyncio.to_thread(cassettes.keep, reply["text"], capability.name, tokens, _AGENT)
    return {**reply, "text": f"{told['uri']}\n{told['summary']}\n"}


def _tell(url: str) -> None:
    sys.stderr.write(f"serving at {url}\n")
    sys.stderr.flush()
