"""The tokens of identities: made, listed and ended by the relay's own user; and the code that
becomes one.
"""

from __future__ import annotations

from typing import Any

from tersely.capabilities.relay.contract.shapes import (
    AuditTold,
    Joined,
    NewToken,
    RefusalTold,
    TokenMade,
    TokensTold,
    TokenTold,
)
from tersely.doors.http.request_parsing import AskedOperation
from tersely.doors.http.routes.plain import Handler
from tersely.foundation.errors import TerselyError
from tersely.relay.access.principals import (
    EVERYTHING,
    LOCAL,
    Level,
    Principal,
    PrincipalKind,
    Scopes,
)
from tersely.relay.access.tokens import Grant, IdentityToken, Tokens
from tersely.relay.encoding import timestamp
from tersely.relay.relay import Relay

_DAY_MS = 86_400_000


def handlers(tokens: Tokens | None) -> dict[str, Handler]:
    """The handlers of the operations on tokens; without any, they say that this relay has none."""

    def there() -> Tokens:
        if tokens is None:
            raise TerselyError("denied", "this relay has no tokens", "ask where it runs")
        return tokens

    def token_new(relay: Relay, asked: AskedOperation) -> Any:
        grant = _grant(asked.body)
        if grant.tenant == LOCAL:
            _take_name(relay, grant)
        token, secret = there().issue(grant) if asked.body.bearer else there().issue_code(grant)
        return TokenMade(_told(token), secret, is_code=not asked.body.bearer)

    def token_list(relay: Relay, asked: AskedOperation) -> Any:
        return TokensTold([_told(one) for one in there().known()])

    def token_revoke(relay: Relay, asked: AskedOperation) -> Any:
        return TokensTold([_told(one) for one in there().revoke(asked.path["name"])])

    def token_rotate(relay: Relay, asked: AskedOperation) -> Any:
        token, secret = there().rotate(asked.path["name"])
        return TokenMade(_told(token), secret, is_code=False)

    def join(relay: Relay, asked: AskedOperation) -> Any:
        token, secret = there().exchange(asked.body.code, asked.body.machine)
        return Joined(token.identity, token.kind, token.tenant, secret, token.id)

    def audit(relay: Relay, asked: AskedOperation) -> Any:
        return AuditTold([_refusal(one) for one in relay.audit.latest(asked.query["limit"])])

    made: tuple[Handler, ...] = (token_new, token_list, token_revoke, token_rotate, join, audit)
    return {one.__name__: one for one in made}


def _take_name(relay: Relay, grant: Grant) -> None:
    """Keep the name of an identity for it; raises `name_taken`."""
    try:
        relay.access.act_as(Principal(grant.identity, grant.kind), grant.identity)
    except TerselyError as error:
        hint = (
            "choose another name for the identity, or `tersely agents retire` the agent that has it"
        )
        raise TerselyError("name_taken", error.message, hint) from None


def _grant(body: NewToken) -> Grant:
    scopes = Scopes(
        Level(body.level),
        tuple(body.threads),
        tuple(body.channels) or EVERYTHING,
        tuple(body.projects) or EVERYTHING,
    )
    lasts_ms = body.days * _DAY_MS if body.days else None
    return Grant(body.identity, PrincipalKind(body.kind), body.tenant, scopes, lasts_ms)


def _told(token: IdentityToken) -> TokenTold:
    scopes = token.scopes
    return TokenTold(
        token.id, token.identity, token.kind, token.tenant, scopes.level, list(scopes.threads), list(scopes.channels),
        list(scopes.projects), timestamp(token.created_ms), _at(token.expires_ms), _at(token.code_until_ms),
        token.machine,
    )  # fmt: skip


def _at(at_ms: int | None) -> str:
    return "" if at_ms is None else timestamp(at_ms)


def _refusal(one: Any) -> RefusalTold:
    it = one.refusal
    return RefusalTold(
        one.number, timestamp(one.at_ms), it.code, it.message, it.asked, it.door, it.identity, it.tenant, it.token_id,
        it.address, it.not_written,
    )  # fmt: skip
