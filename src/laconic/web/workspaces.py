"""The code capabilities as offers of the relay, asked of a repository's code daemon or of processes of our own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from laconic.capabilities import catalogue
from laconic.capabilities.binding import schema
from laconic.capabilities.declaration import Capability, Effect
from laconic.daemon.asking import Asking
from laconic.foundation.errors import LaconicError
from laconic.foundation.limits import MAX_REQUEST_SECONDS
from laconic.relay.accounting import Size
from laconic.relay.calls import Call, Given, Offer, Scope
from laconic.relay.policy import Reach

ROOT = "root"
_FRESHEN = "code.index"


class Workspaces:
    """Any number of repositories, each asked through its own processes. Used from the threads of calls."""

    def __init__(
        self, asking: Asking, loop: asyncio.AbstractEventLoop, default: str, count_tokens: Callable[[str], int]
    ) -> None:
        """`default` is the repository of calls that name none, empty if there is none."""
        self._asking = asking
        self._loop = loop
        self._default = default
        self._count_tokens = count_tokens

    def offers(self) -> Iterator[Offer]:
        """Every capability of the catalogue."""
        return map(self._offer, catalogue.every())

    def _offer(self, capability: Capability[Any, Any]) -> Offer:
        def run(call: Call) -> Given:
            root, arguments = self._split(call.arguments)
            reply = self._ask(root, capability.name, arguments)
            return Given([reply["text"].encode()], "code", capability.name, replaced=self._replaced(root, reply))

        def scope(call: Call) -> Scope:
            root, _ = self._split(call.arguments)
            return Scope(str(root), self._ask(root, _FRESHEN, {})["revision"])

        return Offer(
            capability.name,
            capability.summary,
            _schema(capability),
            run,
            reach=Reach.READ if capability.effect is Effect.READ else Reach.WRITE,
            scope=scope if capability.cacheable else None,
        )

    def _ask(self, root: Path, command: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        asked = self._asking.ask(root, command, arguments, lambda done, total: None)
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(MAX_REQUEST_SECONDS)

    def _split(self, arguments: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
        """The repository that a call is about, and the rest of its arguments."""
        rest = dict(arguments)
        named = rest.pop(ROOT, self._default)
        if not isinstance(named, str) or not named:
            raise LaconicError("invalid_argument", "root: the directory of a repository", "the call names none")
        try:
            root = Path(named).resolve(strict=True)
        except (OSError, RuntimeError, ValueError) as error:
            raise LaconicError("root_not_found", f"{named[:200]}: {error}", "name a directory with root") from None
        if not root.is_dir():
            raise LaconicError("root_not_found", f"{named[:200]} is no directory", "name a directory with root")
        return root, rest

    def _replaced(self, root: Path, reply: Mapping[str, Any]) -> Size | None:
        """What an agent would have read without the answer: the files that it shows parts of."""
        texts = []
        for path in reply.get("files", ()):
            try:
                texts.append((root / path).read_text("utf-8", "replace"))
            except OSError:
                continue
        if not texts:
            return None
        return Size(sum(map(self._count_tokens, texts)), sum(map(len, texts)))


def _schema(capability: Capability[Any, Any]) -> dict[str, Any]:
    described = schema(capability.parameters)
    properties = {ROOT: {"type": "string", "description": "the repository, as a directory of this machine"}}
    return {**described, "properties": {**properties, **described.get("properties", {})}}
