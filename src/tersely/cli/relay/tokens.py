"""Commands about who may ask the relay: the token of the home, the tokens of identities, and who
was refused.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import option, positional
from tersely.cli.own_command import CommandCall, command, worded
from tersely.foundation.text.escape import visible_line
from tersely.foundation.types import JsonObject, Strings
from tersely.relay.wire.home import home_directory


class _Kind(StrEnum):
    PERSON = "person"
    AGENT = "agent"


class _Level(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


@command("token new")
def _new(
    asked: CommandCall,
    *,
    identity: str = positional("whose it is", metavar="NAME", minimum=1, maximum=32),
    kind: _Kind = option(_Kind.PERSON, "what has the name"),
    scope: _Level = option(_Level.WRITE, "how far it goes"),
    thread: Strings = option(
        (), "a thread, or a pattern of ids, beside those that it is a member of"
    ),
    channel: Strings = option((), "a channel, or a pattern of them (default: all)"),
    project: Strings = option((), "a project, or a pattern of them (default: all)"),
    days: int = option(0, "until it expires (default: never)", minimum=0, maximum=36_500),
    tenant: str = option("default", "the tenant that it belongs to", maximum=63),
    bearer: bool = option(
        False, "print a token for programs that send it, not a code for `tersely join`"
    ),
) -> JsonObject:
    """Let an identity ask from elsewhere: a code to join with."""
    made = asked.ask(
        "token_new", identity=identity, kind=kind, tenant=tenant, level=scope, threads=thread,
        channels=channel, projects=project, days=days, bearer=bearer,
    )  # fmt: skip
    if made.is_code:
        told = f"{made.secret}\nThe code works once, until {made.token.code_until}: tersely join https://HOST:PORT\n"
    else:
        told = f"{made.secret}\nIt is shown this once; its id is {made.token.id}.\n"
    return worded(made, told)


@command("token list")
def _list(asked: CommandCall) -> JsonObject:
    """List the tokens of identities."""
    told = asked.ask("token_list")
    return worded(told, _table(told.tokens, asked.style) if told.tokens else "there are none\n")


@command("token revoke")
def _revoke(
    asked: CommandCall,
    *,
    token: str = positional(
        "the id of a token, or the name of an identity for all of its tokens", metavar="TOKEN"
    ),
) -> JsonObject:
    """End a token at once, with all that is open by it."""
    told = asked.ask("token_revoke", name=token)
    return worded(told, "".join(f"{one.id} of {one.identity} is revoked\n" for one in told.tokens))


@command("token rotate")
def _rotate(
    asked: CommandCall,
    *,
    token: str = positional(
        "the id of a token (default: that of the home)", default="", metavar="TOKEN"
    ),
) -> JsonObject:
    """Make a new token; the one before opens nothing any more."""
    from tersely.relay.relay import make_home, rotate_token

    if token:
        made = asked.ask("token_rotate", name=token)
        return worded(
            made, f"{made.secret}\nIts id is {made.token.id}; the one before opens nothing.\n"
        )
    home = home_directory()
    make_home(home)
    path = rotate_token(home)
    return {"path": str(path), "text": f"{path} is new: the one before opens nothing any more\n"}


@command("audit")
def _audit(
    asked: CommandCall,
    *,
    limit: int = option(100, "how many at most", minimum=1, maximum=1_000),
) -> JsonObject:
    """Show which requests were refused."""
    told = asked.ask("audit", limit=limit)
    lines = []
    for one in told.refusals:
        who = f"{one.tenant}/{one.identity}" if one.identity else "unknown"
        left_out = f" (and {one.not_written:,} before it)" if one.not_written else ""
        lines.append(
            visible_line(
                f"{one.at} {who} {one.address} {one.asked}: {one.code}: {one.message}{left_out}"
            )
        )
    return worded(told, "".join(f"{line}\n" for line in lines) or "nothing was refused\n")


def _table(tokens: list[Any], style: Style) -> str:
    rows: list[Strings] = [("id", "identity", "kind", "scope", "tenant", "machine", "until")]
    for one in tokens:
        until = f"{one.code_until} (code)" if one.code_until else one.expires_at or "it is revoked"
        rows.append(
            (
                one.id,
                one.identity,
                one.kind,
                one.level,
                one.tenant,
                visible_line(one.machine),
                until,
            )
        )
    return "\n".join(aligned(rows, [style.symbol])) + "\n"
