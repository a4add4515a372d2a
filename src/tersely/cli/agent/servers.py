"""Finding the server of a model: the one that was named, else where servers usually listen on this
machine.
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from urllib.parse import urlsplit

from tersely.agent.models.connecting import Model, Notify, connect
from tersely.foundation.errors import TerselyError

LOOK_SECONDS = 0.5  # for something to listen at a usual place
USUAL = (
    ("llama.cpp", "http://127.0.0.1:8080"),
    ("Ollama", "http://127.0.0.1:11434"),
    ("LM Studio", "http://127.0.0.1:1234"),
    ("vLLM", "http://127.0.0.1:8000"),
)
START = """start one of these, then ask again:
  llama-server -hf Qwen/Qwen2.5-Coder-7B-Instruct-GGUF:Q4_K_M -c 8192 --cache-reuse 256
  ollama serve, then: ollama pull qwen2.5-coder:7b
or name your server: tersely chat --url http://HOST:PORT (or TERSELY_CHAT_URL)"""


class Server(NamedTuple):
    """The address of a model as it was asked for."""

    url: str  # "" for the usual places
    model: str = ""
    kind: str = "auto"
    key: str = ""
    window: int = 0


async def connected(server: Server, notify: Notify | None = None) -> tuple[Server, Model]:
    """The model, and where it was found; a server that is loading is waited for where `notify` can
    say so.

    Raises `model_unavailable`, which says what to start.
    """
    if server.url:
        return server, await connect(*server, notify=notify)
    failures = []
    for _, url in USUAL:
        if not await _listens(url):
            continue
        found = server._replace(url=url)
        try:
            return found, await connect(*found, notify=notify)
        except TerselyError as error:
            failures.append(f"{url}: {error.message}")
    places = ", ".join(f"{urlsplit(url).port} ({name})" for name, url in USUAL)
    why = f" ({'; '.join(failures)})" if failures else ""
    raise TerselyError(
        "model_unavailable", f"no model is served on this machine: tried ports {places}{why}", START
    )


async def _listens(url: str) -> bool:
    place = urlsplit(url)
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            _, writer = await asyncio.open_connection(place.hostname, place.port)
    except OSError:  # and `TimeoutError`, which is one
        return False
    writer.close()
    return True
