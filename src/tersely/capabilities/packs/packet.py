"""`code.packet`: what a task is about, in so few tokens that they can stand before every task; or
nothing.
"""

from __future__ import annotations

from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style
from tersely.capabilities.declaration.declaration import (
    Role,
    budget_option,
    capability,
    frozen,
    group,
    option,
    positional,
)
from tersely.capabilities.packs.sessions import REMEMBERING, Session, unsent
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tersely.code.symbols import Symbol
    from tersely.context.lenses.localization.rank import LikelyFile, LikelySymbol, Location
    from tersely.context.lenses.localization.task import Task
    from tersely.context.pack.kinds.packet import Body, Brief, PacketRow
    from tersely.context.pack.sliced import SourceLines
    from tersely.context.pack.texts import Texts
    from tersely.workspace import Workspace

DEFAULT_PACKET_TOKENS = 1_000
DEFAULT_CONFIDENCE = 0.25
TAG_BYTES = 8
SENT_BEFORE = "all of it was sent before in this session"
SMALL_FILES = "the files that it would name are smaller than the packet"


@frozen
class PacketParameters:
    """The task, and what the packet may cost and has to be worth."""

    task: str = positional(
        "the task in words, as it is given to an agent", default="", metavar="TASK", role=Role.PROSE
    )
    task_file: str = option(
        "",
        "a file with the task, or - for one on standard input",
        role=Role.CONTENT,
        metavar="FILE",
    )
    test_command: str = option(
        "", "what tells whether the task is done; without it tests are looked for"
    )
    max_tokens: int = budget_option(DEFAULT_PACKET_TOKENS, "the most tokens of the packet", "N")
    min_confidence: float = option(
        DEFAULT_CONFIDENCE,
        "below it there is no packet: which share of the files to be changed is expected among its own",
        minimum=0,
        maximum=1,
        metavar="SHARE",
    )
    reader: Session = group(Session)


@frozen
class Packet:
    """The packet as printed, or nothing. `used` counts every token of `text`."""

    # false: the confidence is too low, or the files are smaller than the packet; `text` is empty
    speaks: bool
    confidence: float
    text: str = ""
    used: int = 0
    rows: tuple[PacketRow, ...] = ()  # those in `text`, the likeliest first
    bodies: tuple[Body, ...] = ()  # whose source is in `text`
    files: tuple[LikelyFile, ...] = ()  # the likeliest first, whether `text` names them or not
    tests: Strings = ()  # files of tests that name the symbols
    test_command: str = ""
    next: Strings = ()  # commands that show more, as they can be typed
    rows_left_out: int = 0  # for want of tokens
    considered_files: int = 0  # files that could have been meant
    silence: str = ""  # why there is no packet
    missing: Strings = ()  # the bounds for which some evidence was not looked for
    before: Strings = ()  # ids of symbols that were sent before in the session as they are


def text(packet: Packet, style: Style) -> str:
    """The packet, or that there is none."""
    if packet.speaks:
        return packet.text
    return style.faint(f"no packet: {packet.silence}")


@capability(
    "code.packet",
    text,
    'packet "Session.send drops the Content-Length header of empty bodies"',
    "packet --task-file - --json",
    found=lambda packet: packet.speaks or packet.silence == SENT_BEFORE,
    remembering=REMEMBERING,
    cacheable=False,  # what commits said is no part of the revision
)
def run(
    workspace: Workspace,
    *,
    parameters: PacketParameters = group(PacketParameters),
) -> Packet:
    """Where a task has to be done, with likely source.

    Put it before the task of an agent. Evidence are paths, stack traces, names and messages in the
    text, and its likeness in words and meaning to symbols and earlier commits. The packet lists the
    symbols that the task will probably change, with their lines and reasons. Then come the source
    of the likeliest where it is short, the command that runs the tests which name them, and what to
    ask next.

    The confidence is the expected share of the files to change among those found, at most eight.
    Below --min-confidence there is no packet.
    """
    from tersely.context.lenses.localization.task import read_task

    text = parameters.task_file or parameters.task
    if not text.strip():
        raise TerselyError("usage", "TASK is missing", "the task in words, or --task-file FILE")
    location = located(workspace, read_task(text))
    sure = round(location.confidence, 3)
    if sure < parameters.min_confidence or not location.symbols:
        why = f"too little in this repository matches the prompt (confidence {sure:.3f})"
        return _silent(location, parameters, why)
    tests, command = _tests(workspace, location, parameters.test_command)
    return _write_packet(workspace, parameters, location, tests, command)


def _write_packet(
    workspace: Workspace,
    parameters: PacketParameters,
    location: Location,
    tests: Strings,
    command: str,
) -> Packet:
    """The packet of a location; of a reader's session, what it was not sent before."""
    from tersely.context.pack.kinds.packet import PacketFrame, brief

    texts = workspace.texts()
    source = source_lines(workspace, texts)
    count = workspace.tokenizer.count
    frame = PacketFrame(location, tests, command, partial(_reference, workspace), source, count)
    found = brief(frame, texts, parameters.max_tokens)
    if not _pays(workspace, location, found.used):
        return _silent(location, parameters, SMALL_FILES)
    before: Strings = ()
    if parameters.reader.session is not None:
        new = _new_symbols(workspace, parameters.reader, location, found, texts)
        if not new:
            return _silent(location, parameters, SENT_BEFORE)
        sent_now = {one.symbol.id for one in new}
        before = tuple(row.id for row in found.rows if row.id not in sent_now)
        frame = replace(frame, location=replace(location, symbols=new))
        found = brief(frame, texts, parameters.max_tokens)
    shown = {row.id for row in found.rows}
    workspace.engine.note_unread(one.symbol for one in location.symbols if one.symbol.id in shown)
    return Packet(
        True, round(location.confidence, 3), found.text, found.used, found.rows, found.bodies, location.files, tests,
        command, found.next, found.rows_left_out, location.considered_files, missing=location.missing, before=before,
    )  # fmt: skip


def _silent(location: Location, parameters: PacketParameters, why: str) -> Packet:
    """No packet, and why."""
    return Packet(
        False,
        round(location.confidence, 3),
        files=location.files,
        test_command=parameters.test_command,
        considered_files=location.considered_files,
        silence=why,
    )


def _new_symbols(
    workspace: Workspace, reader: Session, location: Location, found: Brief, texts: Texts
) -> tuple[LikelySymbol, ...]:
    """The symbols of a packet that the reader was not sent as they are; from now on it was."""
    shown = {row.id for row in found.rows}
    symbols = [one for one in location.symbols if one.symbol.id in shown]
    keys = {one.symbol.id: f"{one.symbol.id}\t{_tag(texts.code(one.symbol)[0])}" for one in symbols}
    new = unsent(workspace, reader, "packet", list(keys.values()))
    return tuple(one for one in symbols if keys[one.symbol.id] in new)


def _tag(code: str) -> str:
    return blake2b(code.encode("utf-8", "replace"), digest_size=TAG_BYTES).hexdigest()


def _pays(workspace: Workspace, location: Location, used: int) -> bool:
    """True if the files that a packet names are larger than it: else they say more in fewer tokens."""
    paths = [*(one.path for one in location.files), *(one.symbol.path for one in location.symbols)]
    tokens = 0
    for path in dict.fromkeys(paths):
        tokens += workspace.tokenizer.count(workspace.source(path).decode("utf-8", "replace"))
        if tokens >= used:
            return True
    return False


def located(workspace: Workspace, task: Task) -> Location:
    """The places where a task has to be done, as far as its text tells."""
    from tersely.context.lenses.localization.rank import Look

    engine = workspace.engine
    look = Look(engine.store, engine.search.searcher(), engine.source, engine.subjects())
    return look.location(task)


def source_lines(workspace: Workspace, texts: Texts) -> SourceLines:
    """The lines of symbols, and which of them depend on which."""
    from tersely.context.pack.sliced import SourceLines

    return SourceLines(texts.body, partial(_depends, workspace))


def _depends(workspace: Workspace, symbol: Symbol, line: int) -> Iterable[int]:
    """The lines of a function on which one of them depends; that line alone where nothing is known
    of its flow.
    """
    from tersely.capabilities.flow.places import statement_place
    from tersely.code.flow.lines import lines_of_all
    from tersely.code.flow.slicing import Direction, slice_of

    try:
        at = statement_place(workspace, f"{symbol.path}:{line}")
    except TerselyError:
        return (line,)
    return lines_of_all(at.routine, slice_of(at.routine, at.statements, Direction.BACKWARD))


def _reference(workspace: Workspace, symbol: Symbol) -> str:
    """The shortest end of its name that means a symbol alone, else its id."""
    parts = symbol.qualname.split(".")
    ends = (".".join(parts[-length:]) for length in range(1, len(parts) + 1))
    return next(
        (end for end in ends if len(workspace.engine.store.find(end, (), 2)) == 1), symbol.id
    )


def _tests(workspace: Workspace, location: Location, given: str) -> tuple[Strings, str]:
    """Files of tests, and the line that runs them unless one was given."""
    from tersely.context.lenses.localization.tests_of import command_of, tests_of
    from tersely.context.lenses.test_impact.suites import Suites

    engine = workspace.engine
    files = tests_of(location, engine.store, Suites(engine.store.symbols_of, engine.source))
    return tuple(files), given or command_of(files, engine.store, workspace.root)
