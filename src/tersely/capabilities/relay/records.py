"""The records of a thread: reports, checkpoints, replays, copies; and the figures and settings of
the relay.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from json import dumps

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import (
    Effect,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.threads import THREAD_ID
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_NAME_CHARACTERS
from tersely.foundation.text.escape import visible, visible_line
from tersely.relay.wire.documents import (
    THREAD_ERRORS,
    Capabilities,
    CapabilityTold,
    CheckpointTold,
    Mirrored,
    RelayTold,
    Replayed,
    ReportTold,
    SavingsOf,
    Settings,
)


class ReportFormat(StrEnum):
    """The forms in which a report is written."""

    MD = "md"
    JSON = "json"


_capability = partial(relay_capability, fails=THREAD_ERRORS)


@_capability(
    "thread.report", lambda made, style: visible(made.text), "report THREAD", effect=Effect.WRITE
)
def report(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
    format: ReportFormat = option(ReportFormat.MD, "how it is written"),
) -> ReportTold:
    """Write a report of a thread, as an artifact of it."""
    from tersely.relay.threads import reports

    relay, kind = context.relay, format.value
    made, text, figures = reports.write(
        relay.store, thread, kind, context.agent, relay.count_tokens
    )
    return ReportTold(made.ref, kind, made.size_bytes, thread, text, figures)


@_capability(
    "thread.checkpoint",
    lambda made, style: f"{made.state_ref}, event {made.seq}",
    "checkpoint THREAD --name before",
    effect=Effect.WRITE,
)
def checkpoint(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
    name: str = option("", "what to call it", maximum=MAX_NAME_CHARACTERS),
) -> CheckpointTold:
    """Mark where a thread is now."""
    from tersely.relay.threads.bundles import replay as replays

    return replays.checkpoint(context.relay.store, thread, name, context.agent)


def _replay_text(found: Replayed, style: Style) -> str:
    lines = [f"{one.outcome:<8} {one.event:>6}  {one.capability}" for one in found.calls]
    lines += [visible(f"\nevent {one.event}:\n{one.changes}") for one in found.calls if one.changes]
    return "\n".join(lines or ["no calls were made"])


@_capability("thread.replay", _replay_text, "replay THREAD", effect=Effect.WRITE)
def replay(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
    after: int = option(0, "those after this event", minimum=0),
) -> Replayed:
    """Make the calls of a thread again and compare."""
    from tersely.relay.threads.bundles import replay as replays

    relay = context.relay
    return Replayed(replays.replay(relay.store, relay.calls, thread, context.agent, after))


@_capability(
    "thread.mirror",
    lambda written, style: written.path,
    "mirror THREAD",
    effect=Effect.WRITE,
    fails=(*THREAD_ERRORS, "artifact_damaged", "unwritable_output"),
)
def mirror(
    context: RelayContext,
    *,
    thread: str = THREAD_ID,
) -> Mirrored:
    """Write a thread to files that people can read."""
    from tersely.relay.threads import mirror as mirrors

    written = mirrors.write(context.relay.store, context.relay.home, thread)
    return Mirrored(str(written.path), written.events, written.artifacts, written.left_out)


def _savings_text(figures: SavingsOf, style: Style) -> str:
    rows = [
        ("artifacts", f"{figures.artifacts:,}", ""),
        (
            "naive tokens (if pasted)",
            f"{figures.naive_tokens:,}",
            f"{figures.estimate.naive_tokens:,}",
        ),
        (
            "actual tokens (via refs)",
            f"{figures.actual_tokens:,}",
            f"{figures.estimate.actual_tokens:,}",
        ),
        ("tokens avoided", f"{figures.avoided_tokens:,}", f"{figures.estimate.avoided_tokens:,}"),
        ("calls", f"{figures.invocations:,}", ""),
        ("cache hits", f"{figures.cache_hits:,}", ""),
    ]
    return "\n".join(
        aligned([("", "tokens", "characters / 4"), *rows], [style.faint], right=(1, 2))
    )


@_capability(
    "token.savings",
    _savings_text,
    "stats THREAD",
    "stats --agent ann",
    fails=(*THREAD_ERRORS, "invalid_argument"),
)
def savings(
    context: RelayContext,
    *,
    thread: str = positional("the id of a thread", default="", metavar="THREAD-ID"),
    agent: str = option("", "those of an agent"),
    capability: str = option("", "those of a capability"),
) -> SavingsOf:
    """Tokens saved, of a thread, an agent, a capability or all."""
    from msgspec import structs

    from tersely.relay.threads import threads
    from tersely.relay.threads.accounting import ALL
    from tersely.relay.threads.accounting import savings as figures_of

    kinds = {"thread": thread, "agent": agent, "capability": capability}
    named = [f"{kind}/{name}" for kind, name in kinds.items() if name]
    if len(named) > 1:
        raise TerselyError(
            "usage", "one of THREAD-ID, --agent and --capability", "figures are of one of them"
        )
    if thread:
        threads.get(context.relay.store, thread)
    scope = named[0] if named else ALL
    return SavingsOf(**structs.asdict(figures_of(context.relay.store, scope)), scope=scope)


def _calls_text(found: Capabilities, style: Style) -> str:
    rows = [(one.name, one.effect, _about(one)) for one in found.capabilities]
    return "\n".join(aligned(rows, [style.symbol]))


@_capability("cap.list", _calls_text, "cap list", fails=())
def calls(context: RelayContext) -> Capabilities:
    """List what can be called on behalf of a thread."""
    known = context.relay.calls
    return Capabilities([offer.told(known.held[offer.name]) for offer in known.offers()])


def _settings_text(found: Settings, style: Style) -> str:
    """The settings as `config.toml` has them."""
    rows = [("home", found.home), *((name, dumps(value)) for name, value in found.policy.items())]
    for one in found.services:
        decided = ", ".join(
            f"{name} {value if isinstance(value, str) else dumps(value)}"
            for name, value in one.items()
            if name != "name" and value != ""
        )
        rows.append((f"service {one['name']}", visible_line(decided)))
    return "\n".join(aligned(rows, [style.faint]))


@_capability("relay.config", _settings_text, "config", fails=())
def settings(context: RelayContext) -> Settings:
    """The settings in force."""
    relay = context.relay
    return Settings(str(relay.home), relay.policy.told(), relay.services.settings)


def _status_text(found: RelayTold, style: Style) -> str:
    rows = [
        ("relay", f"{found.url or 'no TCP port'}, process {found.pid}"),
        ("home", found.home),
        ("version", found.version),
        ("up", f"{found.uptime:,} s"),
        ("workspace", found.workspace),
    ]
    return "\n".join(aligned([(name, visible_line(value)) for name, value in rows], [style.faint]))


@_capability("relay.status", _status_text, "status", fails=())
def status(context: RelayContext) -> RelayTold:
    """Show the relay's address and uptime."""
    from msgspec.structs import replace

    from tersely.foundation.clock import wall_seconds

    about: RelayTold = context.relay.about
    return replace(about, uptime=round(wall_seconds() - about.started))


def _about(one: CapabilityTold) -> str:
    held = f" ({one.held_back:,} held back)" if one.held_back else ""
    return visible_line(one.description) + held
