"""`code.index`: bring the index up to date, and say what it holds and leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.paging import (
    Page,
    limit_option,
    offset_option,
    page_of,
    rest_line,
)
from tersely.capabilities.answers.text import Style, counted, indented
from tersely.capabilities.declaration.declaration import capability, frozen, option

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class LeftOut:
    """A file, or a directory with all below it, that is not indexed."""

    path: str
    reason: str


@frozen
class Unread:
    """A place in an indexed file that could not be read."""

    path: str
    line: int
    message: str


@frozen
class Refreshed:
    """The changes of a refresh, and what the index now holds: files by language, left out by
    reason.
    """

    added: int
    changed: int
    removed: int
    unchanged: int
    taken: int  # of these, files that were not read for their facts: another index had them
    seconds: float
    behind: bool  # another process is writing: the index is that of before
    files: dict[str, int]
    symbols: int
    left_out: dict[str, int]
    other_files: int  # in no language of ours
    skipped: Page[LeftOut] | None  # None without --report
    problems: Page[Unread] | None


def text(refreshed: Refreshed, style: Style) -> str:
    """Two lines, and the report; one line of a repository of which nothing can be read."""
    total = sum(refreshed.files.values())
    if not total:
        others = counted(refreshed.other_files, "file")
        nothing = f"nothing to index: {others} of unsupported types"
        return "\n".join([style.doubtful(nothing), *_left_out(refreshed, style)])
    languages = ", ".join(
        f"{language} {number:,}" for language, number in by_number(refreshed.files)
    )
    lines = [
        f"{counted(total, 'file')}, {counted(refreshed.symbols, 'symbol')}  {style.faint(languages)}".rstrip(),
        f"{_news(refreshed)}  {style.faint(f'{refreshed.seconds:.2f} s')}",
    ]
    return "\n".join([*lines, *_left_out(refreshed, style)])


@capability(
    "code.index",
    text,
    "index",
    "index --report",
    found=lambda refreshed: bool(refreshed.files),
    cacheable=False,
    checks_freshness=False,
)
def run(
    workspace: Workspace,
    *,
    report: bool = option(
        False, "list the files that are left out, with the reason, and what could not be read"
    ),
    limit: int = limit_option(200, "entries of each list of the report"),
    offset: int = offset_option("entries of each list of the report"),
) -> Refreshed:
    """Bring the index up to date.

    Every other command does so by itself before it answers. The index lies in .tersely in the
    repository; it may be deleted at any time.
    """
    done = workspace.refresh()
    store = workspace.engine.store
    counts = store.counts()
    skipped = problems = None
    if report:
        left_out = [LeftOut(one.path, _words(one.reason.value)) for one in store.skipped()]
        unread = [Unread(path, problem.line, problem.message) for path, problem in store.problems()]
        skipped = page_of(left_out, limit, offset)
        problems = page_of(unread, limit, offset)
    return Refreshed(
        done.added,
        done.changed,
        done.removed,
        done.unchanged,
        done.taken,
        round(done.seconds, 3),
        done.is_behind,
        counts["files"],
        sum(counts["symbols"].values()),
        {_words(reason): number for reason, number in counts["skipped"].items()},
        done.unknown,
        skipped,
        problems,
    )


def _words(reason: str) -> str:
    return reason.replace("_", " ")


def _news(refreshed: Refreshed) -> str:
    changes = {"added": refreshed.added, "changed": refreshed.changed, "removed": refreshed.removed}
    if refreshed.taken:
        return f"built, {counted(refreshed.taken, 'file')} as known from another worktree or clone"
    if refreshed.added and not refreshed.unchanged + refreshed.changed + refreshed.removed:
        return "built"  # all of it; the number of files is said already
    return (
        ", ".join(f"{number:,} {what}" for what, number in changes.items() if number)
        or "nothing has changed"
    )


def _left_out(refreshed: Refreshed, style: Style) -> list[str]:
    if refreshed.skipped is None or refreshed.problems is None:
        if not refreshed.left_out:
            return []
        reasons = ", ".join(
            f"{reason} {number:,}" for reason, number in by_number(refreshed.left_out)
        )
        number = sum(refreshed.left_out.values())
        return [f"left out {number:,}: {reasons}  {style.faint('index --report lists them')}"]
    lines = [style.heading("left out") if refreshed.skipped.total else "nothing is left out"]
    paths = [(one.path, one.reason) for one in refreshed.skipped.items]
    lines += indented(paths, [None, style.faint])
    lines += rest_line(refreshed.skipped, "path", style)
    if refreshed.other_files:
        others = counted(refreshed.other_files, "file is", "files are")
        lines.append(style.faint(f"{others} of unsupported types"))
    if refreshed.problems.total:
        lines.append(style.heading("parse errors"))
        rows = [(f"{one.path}:{one.line}", one.message) for one in refreshed.problems.items]
        lines += indented(rows, [None, style.faint])
        lines += rest_line(refreshed.problems, "place", style)
    return lines


def by_number(counts: dict[str, int]) -> list[tuple[str, int]]:
    """The largest first."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
