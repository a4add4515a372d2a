"""The records of a thread: reports, checkpoints, replays, copies; and the figures and settings of
the relay.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from tersely.capabilities.relay.answers.documents import (
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
    document,
)
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.threads import ThreadParameters
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_NAME_CHARACTERS
from tersely.foundation.text.escape import visible, visible_line


class Format(StrEnum):
    """The forms in which a report is written."""

    MD = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class ReportParameters:
    """A report to be written."""

    thread: str = positional("the id of a thread", metavar="THREAD-ID")
    format: Format = option(Format.MD, "how it is written")


@dataclass(frozen=True, slots=True)
class CheckpointParameters:
    """A mark to be made."""

    thread: str = positional("the id of a thread", metavar="THREAD-ID")
    name: str = option("", "what to call it", maximum=MAX_NAME_CHARACTERS)


@dataclass(frozen=True, slots=True)
class ReplayParameters:
    """The calls of a thread to be made again."""

    thread: str = positional("the id of a thread", metavar="THREAD-ID")
    after: int = option(0, "those after this event", minimum=0)


@dataclass(frozen=True, slots=True)
class SavingsParameters:
    """The one whose figures are asked for; all without a name."""

    thread: str = positional("the id of a thread", default="", metavar="THREAD-ID")
    agent: str = option("", "those of an agent")
    capability: str = option("", "those of a capability")


@dataclass(frozen=True, slots=True)
class NoParameters:
    """Nothing is left to say."""


def report(context: RelayContext, parameters: ReportParameters) -> ReportTold:
    """A report, as an artifact of its thread."""
    from tersely.relay.threads import reports

    relay, kind = context.relay, parameters.format.value
    made, text, figures = reports.write(
        relay.store, parameters.thread, kind, context.agent, relay.count_tokens
    )
    told = {
        "artifact_ref": made.ref,
        "format": kind,
        "size": made.size_bytes,
        "thread_id": parameters.thread,
    }
    return document(ReportTold, {**told, "text": text, "token_savings": figures})


def checkpoint(context: RelayContext, parameters: CheckpointParameters) -> CheckpointTold:
    """The versions at which a thread is now, written down."""
    from tersely.relay.threads.bundles import replay as replays

    made = replays.checkpoint(
        context.relay.store, parameters.thread, parameters.name, context.agent
    )
    return document(CheckpointTold, made)


def replay(context: RelayContext, parameters: ReplayParameters) -> Replayed:
    """The results that the calls of a thread have now."""
    from tersely.relay.threads.bundles import replay as replays

    relay = context.relay
    found = replays.replay(
        relay.store, relay.calls, parameters.thread, context.agent, parameters.after
    )
    return document(Replayed, {"calls": found})


def mirror(context: RelayContext, parameters: ThreadParameters) -> Mirrored:
    """A thread as files."""
    from tersely.relay.threads import mirror as mirrors

    written = mirrors.write(context.relay.store, context.relay.home, parameters.thread)
    return document(Mirrored, {**written._asdict(), "path": str(written.path)})


def savings(context: RelayContext, parameters: SavingsParameters) -> SavingsOf:
    """The tokens that somebody has been spared."""
    from tersely.relay.threads import threads
    from tersely.relay.threads.accounting import ALL
    from tersely.relay.threads.accounting import savings as figures_of

    kinds = {
        "thread": parameters.thread,
        "agent": parameters.agent,
        "capability": parameters.capability,
    }
    named = [f"{kind}/{name}" for kind, name in kinds.items() if name]
    if len(named) > 1:
        raise TerselyError(
            "usage", "one of THREAD-ID, --agent and --capability", "figures are of one of them"
        )
    if parameters.thread:
        threads.get(context.relay.store, parameters.thread)
    scope = named[0] if named else ALL
    return document(SavingsOf, {"scope": scope, **figures_of(context.relay.store, scope).told()})


def calls(context: RelayContext, parameters: NoParameters) -> Capabilities:
    """The capabilities that can be called on behalf of a thread."""
    known = context.relay.calls
    told = [{**offer.told(), "held_back": known.held[offer.name]} for offer in known.offers()]
    return document(Capabilities, {"capabilities": told})


def settings(context: RelayContext, parameters: NoParameters) -> Settings:
    """The policy in force."""
    relay = context.relay
    return Settings(str(relay.home), relay.policy.told(), relay.services.settings)


def status(context: RelayContext, parameters: NoParameters) -> RelayTold:
    """The relay's process, as it tells of itself."""
    from msgspec.structs import replace

    from tersely.foundation.clock import wall_seconds

    about: RelayTold = context.relay.about
    return replace(about, uptime=round(wall_seconds() - about.started))


def _replay_text(found: Replayed, style: Style) -> str:
    lines = [f"{one.outcome:<8} {one.event:>6}  {one.capability}" for one in found.calls]
    lines += [visible(f"\nevent {one.event}:\n{one.changes}") for one in found.calls if one.changes]
    return "\n".join(lines or ["no calls were made"])


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


def _calls_text(found: Capabilities, style: Style) -> str:
    rows = [(one.name, one.effect, _about(one)) for one in found.capabilities]
    return "\n".join(aligned(rows, [style.symbol]))


def _about(one: CapabilityTold) -> str:
    held = f" ({one.held_back:,} held back)" if one.held_back else ""
    return visible_line(one.description) + held


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


def _status_text(found: RelayTold, style: Style) -> str:
    rows = [
        ("relay", f"{found.url or 'no TCP port'}, process {found.pid}"),
        ("home", found.home),
        ("version", found.version),
        ("up", f"{found.uptime:,} s"),
        ("workspace", found.workspace),
    ]
    return "\n".join(aligned([(name, visible_line(value)) for name, value in rows], [style.faint]))


_capability = partial(relay_capability, fails=THREAD_ERRORS)

REPORT = _capability(
    "thread.report", "Write a report of a thread, as an artifact of it", ReportParameters, report,
    lambda made, style: visible(made.text), "report THREAD", effect=Effect.WRITE,
)  # fmt: skip
CHECKPOINT = _capability(
    "thread.checkpoint", "Mark where a thread is now", CheckpointParameters, checkpoint,
    lambda made, style: f"{made.state_ref}, event {made.seq}", "checkpoint THREAD --name before", effect=Effect.WRITE,
)  # fmt: skip
REPLAY = _capability(
    "thread.replay", "Make the calls of a thread again and compare", ReplayParameters, replay, _replay_text,
    "replay THREAD", effect=Effect.WRITE,
)  # fmt: skip
MIRROR = _capability(
    "thread.mirror", "Write a thread to files that people can read", ThreadParameters, mirror,
    lambda written, style: written.path, "mirror THREAD", effect=Effect.WRITE,
    fails=(*THREAD_ERRORS, "artifact_damaged", "unwritable_output"),
)  # fmt: skip
SAVINGS = _capability(
    "token.savings", "Tokens saved, of a thread, an agent, a capability or all", SavingsParameters, savings,
    _savings_text, "stats THREAD", "stats --agent ann", fails=(*THREAD_ERRORS, "invalid_argument"),
)  # fmt: skip
CALLS = _capability("cap.list", "List what can be called on behalf of a thread", NoParameters, calls, _calls_text,
                    "cap list", fails=())  # fmt: skip
SETTINGS = _capability("relay.config", "The settings in force", NoParameters, settings, _settings_text, "config",
                       fails=())  # fmt: skip
STATUS = _capability("relay.status", "Show the relay's address and uptime", NoParameters, status, _status_text,
                     "status", fails=())  # fmt: skip
