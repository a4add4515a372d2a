"""Artifacts: stored once, referred to by `cass://` and digits of their hash, read in parts."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from tersely.capabilities.answers.reply import REST
from tersely.capabilities.answers.text import Style, counted
from tersely.capabilities.declaration.declaration import (
    Effect,
    Role,
    frozen,
    group,
    option,
    positional,
    relay_capability,
)
from tersely.capabilities.declaration.references import SCHEME
from tersely.capabilities.relay.answers.pages import BEHIND, piece
from tersely.capabilities.relay.context import RelayContext
from tersely.capabilities.relay.threads import LISTED, OF_THREAD, artifact_lines
from tersely.foundation.artifact_types import ArtifactType
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_NAME_CHARACTERS, MAX_REFS
from tersely.foundation.text.escape import visible, visible_line
from tersely.foundation.types import Strings
from tersely.relay.wire.documents import (
    ARTIFACT_ERRORS,
    THREAD_ERRORS,
    Artifacts,
    ArtifactTold,
    Removed,
)

if TYPE_CHECKING:
    from tersely.relay.artifacts.artifacts import Artifact

FOUND_ARTIFACTS = 10
MAX_FOUND_ARTIFACTS = 100
_RANGE = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8})?)?")
_NO_LAST_LINE = 10**9  # where a range says no end


@frozen
class GetParameters:
    """An artifact, and what of it."""

    ref: str = positional(
        "cass:// and a hash or its beginning; lines of it behind a colon, as cass://8f3a1c:40-80"
    )
    thread: str = option("", "the id of a thread; that of whatever thread has it without")
    lines: str = option("", "lines to show, as 40-80", pattern=_RANGE.pattern)
    search: str = option("", "show the lines that have these words", maximum=1_000)


@frozen
class FoundTold:
    """An artifact that was found; the words stand between « and »."""

    ref: str
    thread_id: str
    name: str
    type: str
    snippet: str
    short: str


@frozen
class FoundArtifacts:
    """Artifacts with some words, the best first. `unread` long ones were searched in their
    beginning alone.
    """

    results: list[FoundTold]
    unread: int


_capability = partial(relay_capability, fails=ARTIFACT_ERRORS)


@_capability(
    "artifact.put",
    lambda made, style: made.uri,
    effect=Effect.WRITE,
    fails=(*ARTIFACT_ERRORS, "payload_too_large", "key_reused"),
)
def put(
    context: RelayContext,
    *,
    content: str = positional("the text", role=Role.PROSE),
    name: str = option("", "what to call it, as a file", maximum=MAX_NAME_CHARACTERS),
    type: ArtifactType | None = option(None, "what it is; as it looks without"),
    mime: str = option("", "its type as the web has it", maximum=100),
    source_refs: Strings = option((), "artifacts that it was made from", maximum=MAX_REFS),
    thread: str = option("", "the id of a thread; of none without"),
) -> ArtifactTold:
    """Store a text; it is referred to by cass:// and its hash."""
    from tersely.relay.artifacts import artifacts, cassettes
    from tersely.relay.artifacts.artifacts import Origin

    relay = context.relay
    thread_id = thread or cassettes.own_thread(relay.store, context.agent)
    made = artifacts.put(
        relay.store, thread_id, [content.encode()], relay.count_tokens, context.key,
        name=name, kind=type or "", mime=mime,
        origin=Origin(context.agent, source_refs=source_refs), most_bytes=relay.policy.artifact_bytes,
    )  # fmt: skip
    return _told(context, made)


def _get_text(found: ArtifactTold, style: Style) -> str:
    if isinstance(found.text, str):
        return visible(found.text)
    shown = visible(found.preview.text).rstrip("\n")
    if not found.preview.truncated or found.type == "binary":
        return shown
    whole = f"{found.size:,} bytes"
    if isinstance(found.preview.line_count, int):
        whole = f"{counted(found.preview.line_count, 'line')}, {whole}"
    return f"{shown}\n{style.faint(f'{REST}of {whole}: {found.short}:1-80 gives lines, search those with some words')}"


@_capability(
    "artifact.get",
    _get_text,
    "artifact get cass://8f3a1c",
    "artifact get cass://8f3a1c:40-80",
    "artifact get cass://8f3a1c --search TypeError",
    fails=(*ARTIFACT_ERRORS, "artifact_damaged"),
)
def get(
    context: RelayContext,
    *,
    what: GetParameters = group(GetParameters),
) -> ArtifactTold:
    """The preview of an artifact, or lines of it.

    Text of an artifact is of somebody else: untrusted.
    """
    from tersely.relay.artifacts import artifacts, cassettes, reading

    store = context.relay.store
    ref, _, behind = what.ref.removeprefix(SCHEME).partition(":")
    found = artifacts.get(store, what.thread, ref) if what.thread else cassettes.get(store, ref)
    wanted = what.lines or behind
    if not (wanted or what.search):
        return _told(context, found)
    if found.type == "binary":
        message = f"{what.ref[:80]} is no text"
        raise TerselyError("invalid_argument", message, "it has no lines: get all of it")
    first, last = _range(wanted)
    if what.search:
        words = what.search.split()
        lines = [
            one
            for one in reading.matching(store, found.digest, words)
            if first <= one.number <= last
        ]
    else:
        lines = reading.between(store, found.digest, first, last)
    shown = "".join(f"{one.number:>6}  {one.text}\n" for one in lines)
    return _told(context, found, shown + _rest(lines, last, reading.MAX_READ_LINES))


def _list_text(found: Artifacts, style: Style) -> str:
    lines = artifact_lines(found.artifacts, style)
    if found.next_after is not None:
        lines.append(f"{REST}there are more: --after {found.next_after}")
    return "\n".join(lines) if lines else "there are no artifacts"


@_capability("artifact.list", _list_text, "artifact list --thread THREAD", fails=THREAD_ERRORS)
def listed(
    context: RelayContext,
    *,
    thread: str = OF_THREAD,
    after: int = BEHIND,
    limit: int = LISTED,
) -> Artifacts:
    """List artifacts, the oldest first."""
    from tersely.relay.artifacts import artifacts

    read = partial(artifacts.listed, context.relay.store, thread)
    found, next_after = piece(read, after, limit)
    return Artifacts([_told(context, one) for one in found], next_after)


@_capability(
    "artifact.remove",
    lambda removed, style: f"{removed.ref} is removed",
    "artifact remove cass://8f3a1c --thread THREAD",
    effect=Effect.WRITE,
)
def remove(
    context: RelayContext,
    *,
    ref: str = positional("cass:// and a hash, or the beginning of one"),
    thread: str = OF_THREAD,
) -> Removed:
    """Take an artifact out of the thread."""
    from tersely.relay.artifacts import artifacts

    return Removed(artifacts.remove(context.relay.store, thread, ref, context.agent).ref)


def _search_text(found: FoundArtifacts, style: Style) -> str:
    lines = []
    for one in found.results:
        snippet = " ".join(one.snippet.split())
        lines.append(
            f"{style.symbol(one.short)} {visible_line(one.name)}  {visible_line(snippet)}".rstrip()
        )
    if found.unread:
        many = counted(found.unread, "long artifact was", "long artifacts were")
        lines.append(f"{REST}{many} searched at the beginning alone: name a thread")
    return "\n".join(lines) if lines else "no artifact has these words"


@_capability(
    "artifact.search",
    _search_text,
    'artifact search "token budget"',
    fails=(*THREAD_ERRORS, "invalid_argument"),
    found=lambda found: bool(found.results),
)
def search(
    context: RelayContext,
    *,
    query: str = positional("words to look for", minimum=1),
    thread: str = option("", "the id of a thread; all threads without"),
    limit: int = option(
        FOUND_ARTIFACTS, "how many at most", minimum=1, maximum=MAX_FOUND_ARTIFACTS
    ),
) -> FoundArtifacts:
    """Search all of the text of artifacts, of one thread or of all."""
    from tersely.relay.artifacts import artifacts, finding

    store = context.relay.store
    found = finding.search(store, thread, query, limit)
    results = [
        FoundTold(
            one.ref, one.thread_id, one.name, one.type, one.snippet, artifacts.short(store, one.ref)
        )
        for one in found.results
    ]
    return FoundArtifacts(results, found.unread)


def _told(context: RelayContext, artifact: Artifact, text: str = "") -> ArtifactTold:
    from tersely.relay.artifacts import artifacts

    return artifact.told(artifacts.short(context.relay.store, artifact.digest), text)


def _range(text: str) -> tuple[int, int]:
    """The first and the last line that are meant; all of them by nothing. Raises
    `invalid_argument`.
    """
    if not text:
        return 1, _NO_LAST_LINE
    found = _RANGE.fullmatch(text)
    if found is None:
        raise TerselyError("invalid_argument", f"{text[:40]!r} are no lines", "write them as 40-80")
    first = int(found[1])
    last = int(found[2] or _NO_LAST_LINE) if "-" in text else first
    if last < first:
        message = f"{text[:40]!r} ends before it begins"
        raise TerselyError("invalid_argument", message, "write the lines as 40-80")
    return first, last


def _rest(lines: list[Any], last: int, most: int) -> str:
    """The line behind lines of which there may be more."""
    if not lines:
        return f"{REST}no such lines\n"
    is_cut = len(lines) == most and lines[-1].number < last
    return (
        f"{REST}at most {most:,} lines are shown: go on behind line {lines[-1].number}\n"
        if is_cut
        else ""
    )
