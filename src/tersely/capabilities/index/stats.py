"""`code.stats`: what the index holds, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.capabilities.answers.text import Style, aligned
from tersely.capabilities.declaration.declaration import capability, frozen
from tersely.capabilities.index.index import by_number

if TYPE_CHECKING:
    from tersely.workspace import Workspace


@frozen
class LanguageStats:
    """The files of one language."""

    language: str
    files: int
    bytes: int


@frozen
class Stats:
    """Numbers of one revision."""

    root: str
    revision: str
    languages: tuple[LanguageStats, ...]
    symbols: dict[str, int]  # by kind
    skipped: dict[str, int]  # by reason


def text(stats: Stats, style: Style) -> str:
    """Three small tables."""
    files = sum(one.files for one in stats.languages)
    size = sum(one.bytes for one in stats.languages)
    lines = [f"{style.heading(stats.root)}  {style.faint(f'revision {stats.revision}')}"]
    languages = [(one.language, f"{one.files:,}", _kilobytes(one.bytes)) for one in stats.languages]
    lines += _table("files", f"{files:,}", _kilobytes(size), languages, style)
    kinds = [(kind, f"{number:,}", "") for kind, number in stats.symbols.items()]
    lines += _table("symbols", f"{sum(stats.symbols.values()):,}", "", kinds, style)
    if stats.skipped:
        reasons = [(reason, f"{number:,}", "") for reason, number in stats.skipped.items()]
        lines += _table("left out", f"{sum(stats.skipped.values()):,}", "", reasons, style)
    return "\n".join(lines)


@capability("code.stats", text)
def run(workspace: Workspace) -> Stats:
    """Index statistics: files, symbols and skipped files.

    Files by language, symbols by kind, and what is left out by reason.
    """
    store = workspace.engine.store
    files: dict[str, list[int]] = {}
    for file in store.files():
        files.setdefault(file.language, []).append(file.size)
    languages = [
        LanguageStats(language, len(sizes), sum(sizes)) for language, sizes in files.items()
    ]
    counts = store.counts()
    return Stats(
        str(workspace.root),
        workspace.revision,
        tuple(sorted(languages, key=lambda one: (-one.bytes, one.language))),
        dict(by_number(counts["symbols"])),
        {reason.replace("_", " "): number for reason, number in by_number(counts["skipped"])},
    )


def _table(
    title: str, number: str, size: str, rows: list[tuple[str, str, str]], style: Style
) -> list[str]:
    head, *lines = aligned(
        [(title, number, size), *((f"  {row[0]}", *row[1:]) for row in rows)], right=(1, 2)
    )
    return [style.heading(head), *lines]


def _kilobytes(size_bytes: int) -> str:
    return f"{size_bytes / 1000:,.0f} kB"
