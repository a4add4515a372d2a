"""`code.packet`: what a task is about, in so few tokens that they can stand before every task; or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.text import Style, clipped
from tersely.capabilities.values import lines_text
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS, SETTLE_ROUNDS

if TYPE_CHECKING:
    from tersely.code.lenses.owners.look import Owners
    from tersely.code.lenses.owners.task import Task
    from tersely.workspace import Workspace

DEFAULT_PACKET_TOKENS = 400

# Chosen on 1,125 commits of 25 repositories that `bench/` does not judge packets by, each left out of the fit in its
# turn: from here on it speaks of 267 and finds 96 % of the changed files. In repositories with more than 250 files it
# speaks of 22 of 180 and finds 98 %.
DEFAULT_CONFIDENCE = 0.93
SIGNATURE_CHARACTERS = 90
LEADING_FILES = 3  # whose symbols are shown before further files are named
LEADING_SYMBOLS = 3  # of one file, before those of the next
LEAST_WORTH = 0.08  # of a symbol that is shown, beside what speaks for the best
REVISION_CHARACTERS = 12
SMALL_FILES = "the files that it would name are smaller than the packet"
CHANGE_LIKELY = 0.5  # from where on a file stands among those that will probably be changed


@dataclass(frozen=True, slots=True)
class Parameters:
    """The task, and what the packet may cost and has to be worth."""

    task: str = positional("the task in words, as it is given to an agent", default="", metavar="TASK")
    task_file: str = option(
        "", "a file with the task, or - for one on standard input", role=Role.CONTENT, metavar="FILE"
    )
    test_command: str = option("", "what tells whether the task is done; without it tests are looked for")
    max_tokens: int = option(
        DEFAULT_PACKET_TOKENS, "the most tokens of the packet", minimum=1, maximum=MAX_BUDGET_TOKENS, metavar="N"
    )
    min_confidence: float = option(
        DEFAULT_CONFIDENCE,
        "below it there is no packet: which share of the files to be changed is expected among its own",
        minimum=0,
        maximum=1,
        metavar="SHARE",
    )


@dataclass(frozen=True, slots=True)
class PacketSymbol:
    """A symbol that matters for the task. Lines count from 1 and are inclusive."""

    id: str
    line: int
    end_line: int
    signature: str


@dataclass(frozen=True, slots=True)
class PacketFile:
    """A file that the task is probably about."""

    path: str
    probability: float  # that it is changed
    why: tuple[str, ...]
    symbols: tuple[PacketSymbol, ...]


@dataclass(frozen=True, slots=True)
class Packet:
    """The packet as printed, or nothing. `used` counts every token of `text`."""

    speaks: bool  # false: the confidence is too low, or the files are smaller than the packet; `text` is empty
    confidence: float
    text: str
    used: int
    files: tuple[PacketFile, ...]  # those in `text`, or that it would have shown
    tests: tuple[str, ...]  # files of tests that reach the symbols
    test_command: str
    files_left_out: int  # of those that were found, for want of tokens
    symbols_left_out: int
    looked_at: int  # files that could have been the owners
    silence: str = ""  # why there is no packet


def run(workspace: Workspace, parameters: Parameters) -> Packet:
    """Look for owners; where they are sure enough, for their tests, and fit both into the tokens."""
    from tersely.code.lenses.owners.task import read_task

    text = parameters.task_file or parameters.task
    if not text.strip():
        raise TerselyError("usage", "TASK is missing", "the task in words, or --task-file FILE")
    task = read_task(text)
    owners = _owners(workspace, task)
    files = _files(workspace, owners)
    sure = round(owners.confidence, 3)
    if sure < parameters.min_confidence or not files:
        low = f"nothing in this repository matches the prompt (confidence {sure:.3f})"
        return Packet(False, sure, "", 0, files, (), parameters.test_command, 0, 0, owners.looked_at, low)
    tests, command = _tests(workspace, owners, parameters.test_command)
    packet = _fitted(workspace, parameters.max_tokens, sure, files, tests, command, owners.looked_at)
    if _pays(workspace, packet):
        return packet
    return replace(packet, speaks=False, silence=SMALL_FILES, text="", used=0)


def _pays(workspace: Workspace, packet: Packet) -> bool:
    """Whether the files that a packet names are larger than it: else they say more in fewer tokens."""
    tokens = 0
    for path in dict.fromkeys([*(one.path for one in packet.files), *packet.tests]):
        tokens += workspace.tokenizer.count(workspace.source(path).decode("utf-8", "replace"))
        if tokens >= packet.used:
            return True
    return False


def _owners(workspace: Workspace, task: Task) -> Owners:
    from tersely.code.index.subjects import subjects
    from tersely.code.lenses.owners.look import Look

    engine = workspace.engine
    return Look(engine.store, engine.search.searcher(), engine.source, subjects(workspace.root)).owners(task)


def _files(workspace: Workspace, owners: Owners) -> tuple[PacketFile, ...]:
    texts = workspace.texts()
    least = LEAST_WORTH * max((one.worth for owner in owners.files for one in owner.symbols), default=0.0)
    return tuple(
        PacketFile(
            owner.path,
            round(owner.probability, 3),
            owner.why,
            tuple(
                PacketSymbol(
                    one.symbol.id,
                    one.symbol.start_line,
                    one.symbol.end_line,
                    clipped(texts.signature(one.symbol).plain or one.symbol.name, SIGNATURE_CHARACTERS),
                )
                for one in owner.symbols
                if one.worth >= least
            ),
        )
        for owner in owners.files
    )


def _tests(workspace: Workspace, owners: Owners, given: str) -> tuple[tuple[str, ...], str]:
    """Files of tests, and the line that runs them unless one was given."""
    from tersely.code.lenses.affected.suites import Suites
    from tersely.code.lenses.owners.contract import command_of, tests_of

    engine = workspace.engine
    files = tests_of(owners, engine.store, engine.graph, Suites(engine.store.symbols_of, engine.source))
    return tuple(files), given or command_of(files, engine.store, workspace.root)


@dataclass(frozen=True, slots=True)
class _Draft:
    """How many symbols are shown of each file, and how many files."""

    shown: tuple[int, ...]

    def more(self, file: int) -> _Draft:
        """With one more symbol of a file."""
        return _Draft(tuple(number + (at == file) for at, number in enumerate(self.shown)))

    def another(self) -> _Draft:
        """With one more file, by its path alone."""
        return _Draft((*self.shown, 0))


def _fitted(
    workspace: Workspace,
    budget: int,
    sure: float,
    files: tuple[PacketFile, ...],
    tests: tuple[str, ...],
    command: str,
    looked_at: int,
) -> Packet:
    """As much as fits: the first file and its test first, then further files, then symbols by turns."""

    def made(draft: _Draft) -> Packet:
        chosen = tuple(
            PacketFile(one.path, one.probability, one.why, one.symbols[:number])
            for one, number in zip(files, draft.shown, strict=False)
        )
        left = len(files) - len(chosen), sum(len(one.symbols) for one in files) - sum(draft.shown)
        packet = Packet(True, sure, "", 0, chosen, tests, command, *left, looked_at)
        return _counted(packet, workspace.revision, workspace.tokenizer.count)

    best = made(_Draft((0,)))
    if best.used > budget:
        raise TerselyError("budget_too_small", f"no packet fits into {budget} tokens", f"it takes {best.used}")
    draft = _Draft((0,))
    for step in _steps(files):
        if step < len(draft.shown) and draft.shown[step] >= len(files[step].symbols):
            continue
        tried = draft.another() if step >= len(draft.shown) else draft.more(step)
        packet = made(tried)
        if packet.used <= budget:
            draft, best = tried, packet
    return best


def _steps(files: Sequence[PacketFile]) -> Iterator[int]:
    """What to add next: a file that is not there yet, or one more symbol of one that is."""
    likely = [at for at, one in enumerate(files) if one.probability >= CHANGE_LIKELY] or [0]
    leading = sorted({*likely, *range(min(LEADING_FILES, len(files)))})
    yield from (at for at in likely if at)
    yield from (0 for _ in range(LEADING_SYMBOLS))
    yield from (at for at in range(len(files)) if at not in likely)
    for turn in range(max(len(one.symbols) for one in files)):
        yield from (at for at in leading if turn < len(files[at].symbols))


def _counted(packet: Packet, revision: str, count: Callable[[str], int]) -> Packet:
    """The packet with its text, which says how many tokens it has."""
    used = 0
    for _ in range(SETTLE_ROUNDS):
        text = _written(packet, revision, used)
        before, used = used, count(text)
        if used == before:
            break
    return replace(packet, text=text, used=used)


def _written(packet: Packet, revision: str, used: int) -> str:
    """The packet in words."""
    lines = [f"Likely owners of this task (confidence {packet.confidence:.2f}; check before editing):"]
    for one in packet.files:
        exact = f"  {one.why[0]}" if one.why else ""
        lines.append(f"{one.path}  {one.probability:.2f}{exact}")
        lines += [f"  {lines_text(part.line, part.end_line)}  {part.signature}" for part in one.symbols]
    if packet.test_command:
        lines.append(f"test: {packet.test_command}")
    elif packet.tests:
        lines.append(f"tests: {' '.join(packet.tests)}")
    left = f"left out {packet.files_left_out} files, {packet.symbols_left_out} symbols"
    receipt = f"revision {revision[:REVISION_CHARACTERS]}, {packet.looked_at} files looked at, {left}, {used} tokens"
    return "\n".join([*lines, f"receipt: {receipt}"]) + "\n"


def text(packet: Packet, style: Style) -> str:
    """The packet, or that there is none."""
    if packet.speaks:
        return packet.text
    return style.faint(f"no packet: {packet.silence}")


CAPABILITY = Capability(
    name="code.packet",
    summary="Files, symbols and tests that a task is likely about, in a few hundred tokens, or nothing",
    description="To be put before a task that an agent is given. The text of the task is looked at for paths, stack "
    "traces, names and messages, and compared in words and meaning with all symbols and with what earlier commits "
    "said. The packet names the files that will probably be changed, their symbols with lines, the tests that reach "
    "them with the command that runs them, and what it was made from.\n\n"
    "The confidence says which share of the files to be changed is expected among those that are found, at most "
    "eight. Below --min-confidence there is no packet: a wrong hint costs more than none.",
    parameters=Parameters,
    run=run,
    text=text,
    cacheable=False,  # what commits said is no part of the revision
    examples=('packet "Session.send drops the Content-Length header of empty bodies"', "packet --task-file - --json"),
)
