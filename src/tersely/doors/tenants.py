"""The tenants of a relay process: each has a relay of its own, opened when the first of its
identities asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Self

from tersely.doors.http.app import make_apps
from tersely.doors.http.remote import Tenant
from tersely.doors.socket import serve as router
from tersely.foundation.errors import TerselyError
from tersely.relay.access.principals import LOCAL
from tersely.relay.access.tokens import Tokens
from tersely.relay.relay import Relay

MAX_OPEN_TENANTS = 256


class Tenants:
    """The tenants that are open. Used on one loop; `closing` ends them."""

    def __init__(
        self, main: Tenant, url: str, tokens: Tokens, look_after: Callable[[Relay], Awaitable[None]]
    ) -> None:
        """`url` is the database of PostgreSQL, where there is one. `main` is the tenant of this
        machine's user; `look_after` keeps a relay in order until it is cancelled.
        """
        self._main = main
        self._url = url
        self._tokens = tokens
        self._look_after = look_after
        self._open: dict[str, Tenant] = {LOCAL: main}
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await self._stack.aclose()

    async def get(self, name: str) -> Tenant:
        """The tenant of a name, which the tokens of its identities have vouched for; raises `busy`."""
        found = self._open.get(name)
        if found is not None:
            return found
        async with self._opening:
            if name not in self._open:
                self._open[name] = await self._opened(name)
            return self._open[name]

    async def _opened(self, name: str) -> Tenant:
        if len(self._open) >= MAX_OPEN_TENANTS:
            raise TerselyError("busy", f"{MAX_OPEN_TENANTS} tenants are open")
        relay = self._stack.enter_context(
            await asyncio.to_thread(open_tenant, self._main.relay, self._url, name)
        )
        told = self._main.relay.about
        about = type(told)("", told.pid, "", told.version, told.program, told.started, "")
        app = make_apps(relay, about, _no_token, self._tokens).bare
        made = Tenant(relay, app, await self._stack.enter_async_context(router.routing(relay)))
        self._tasks.append(asyncio.create_task(_forever(partial(self._look_after, relay))))
        return made


def open_tenant(main: Relay, url: str, name: str) -> Relay:
    """The relay of a tenant beside the main one, where it is decided what agents may do."""
    return Relay.open(
        main.home,
        main.count_tokens,
        url=url,
        tenant=name,
        durable=main.store.is_durable,
        policy=main.policy,
    )


async def _forever(look_after: Callable[[], Awaitable[None]]) -> None:
    await look_after()


def _no_token() -> str:
    raise TerselyError("unauthorized", "a tenant has no token of a home")
