"""The things that wait for the person at the relay: messages that are not read, and agents that
want permission.
"""

from __future__ import annotations

from tersely.capabilities.relay.context import PERSON
from tersely.client import AsyncClient
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import JsonObject

MAX_TOLD_PERMISSIONS = 20  # of all that wait


async def waiting() -> JsonObject:
    """The number of messages that the person has not read, and what agents wait for; nothing where
    no relay runs.
    """
    try:
        async with AsyncClient.local(PERSON) as relay:
            found = await relay.ask("agent.list")
    except TerselyError as error:
        return {"problem": error.code, "unread": 0, "permissions": []}
    unread = sum(one.waiting for one in found.agents if one.name == PERSON)
    told = found.permissions[:MAX_TOLD_PERMISSIONS]
    permissions = [
        {"id": one.id, "agent": one.agent, "what": f"{one.tool}: {one.what}"} for one in told
    ]
    return {"problem": "", "unread": unread, "permissions": permissions}
