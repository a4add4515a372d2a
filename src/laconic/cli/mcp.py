"""The command `mcp`. It alone loads the protocol's SDK, which takes longer than most commands take to answer."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from pathlib import Path

from laconic.cli.daemon import ANSWER_WORDS, resolved_root
from laconic.daemon.asking import Asking
from laconic.foundation.errors import LaconicError

_EXTRA = frozenset({"mcp", "mcp_types", "anyio", "uvicorn"})


def run_mcp(root: str, port: int | None, *, all_tools: bool) -> None:
    """Serve until the client leaves: over the standard streams, or over HTTP on a port."""
    named = Path(resolved_root(root)) if root else None
    gc.enable()  # a server lives long, unlike other commands
    if port is None:  # the thread that reads standard input would keep an interrupted process waiting
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve(named, port, all_tools))


async def _serve(named: Path | None, port: int | None, all_tools: bool) -> None:
    try:
        from laconic.protocols.mcp.roots import Roots
        from laconic.protocols.mcp.server import make_server
        from laconic.protocols.mcp.transports import serve_http, serve_streams
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in _EXTRA:
            raise
        message = f"the package {package} is not installed"
        raise LaconicError("missing_extra", message, "pip install 'laconic[mcp]' installs what is needed") from error
    asking = Asking(ANSWER_WORDS)
    server = make_server(asking.ask, Roots(named, follows_client=port is None), all_tools=all_tools)
    try:
        if port is None:
            await serve_streams(server)
        else:
            await serve_http(server, port, _tell)
    finally:
        asking.close()


def _tell(url: str) -> None:
    sys.stderr.write(f"serving at {url}\n")
    sys.stderr.flush()
