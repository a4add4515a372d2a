"""The page of agents, users and services by name, with what they do and what waits for them; and of
channels.
"""

from __future__ import annotations

from collections.abc import Iterable

from tersely.doors.http.ui.pages.work import held
from tersely.doors.http.ui.rendering import ShownPage, Trail, Visit
from tersely.foundation.activity import GONE
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import UI_PAGE_ROWS
from tersely.foundation.types import JsonObject
from tersely.relay.relay import Relay
from tersely.relay.store.mailboxes import Identity

MAX_UI_NAME_CHARACTERS = 200
# what an agent says of itself, as far as it is shown
_ABOUT = ("task", "program", "model", "workingDirectory")


def agents_page(visit: Visit) -> ShownPage:
    """Everybody who is known, those that are here first."""
    relay = visit.relay
    known, start = listed(relay, relay.mail.identities.all()), visit.number("after") or 0
    values = {
        "waiting": relay.permissions.listed()[:UI_PAGE_ROWS],
        "rows": known[start : start + UI_PAGE_ROWS],
        "more": (("agents",), {"after": start + UI_PAGE_ROWS})
        if len(known) > start + UI_PAGE_ROWS
        else None,
        "channels": relay.mail.channels.all()[:UI_PAGE_ROWS],
    }
    return ShownPage("Agents", "relay/agents.html", values)


def agent_page(visit: Visit) -> ShownPage:
    """One agent, by its name in the query, also one that is still to come; raises
    `recipient_not_found`.
    """
    relay, name = visit.relay, visit.query.get("name", "")
    if not 0 < len(name) <= MAX_UI_NAME_CHARACTERS:
        raise TerselyError(
            "recipient_not_found", "Nobody can be called that.", "Go back to the agents."
        )
    identity = relay.mail.identities.get(name) or Identity(name, kind="has not come yet")
    (agent,) = listed(relay, [identity])
    values = {
        "agent": agent,
        "about": [(one, identity.details[one]) for one in _ABOUT if identity.details.get(one)],
        "waiting": [one for one in relay.permissions.listed() if one.agent == name],
        "screen": relay.mail.presence.screen(name),
        "held": [one for one in held(relay) if one.claim.holder == name][:UI_PAGE_ROWS],
    }
    return ShownPage(name, "relay/agent.html", values, Trail("Agents", "/ui/agents"))


def listed(relay: Relay, known: Iterable[Identity]) -> list[JsonObject]:
    """Agents with what they do and what waits for them, those that are here first."""
    mail, owed = relay.mail, relay.mail.questions.owed()
    rows = [
        {
            **one._asdict(),
            "state": (state := relay.state_of(one.name)),
            "is_here": state != GONE,
            "waiting": mail.load(one.name)[0],
            "owes": owed.get(one.name, []),
        }
        for one in known
    ]
    return sorted(rows, key=lambda row: (not row["is_here"], row["name"]))
