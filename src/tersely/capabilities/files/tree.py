"""`code.tree`: the indexed files by directory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tersely.capabilities.declaration import Capability, Role, option, positional
from tersely.capabilities.files.places import files_below, normal
from tersely.capabilities.text import Style, aligned, counted
from tersely.foundation.limits import MAX_PAGE_ENTRIES, MAX_TREE_LEVELS

if TYPE_CHECKING:
    from tersely.code.index.schema import IndexedFile
    from tersely.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Parameters:
    """Which part of the tree, how deep, how long."""

    path: str = positional("the directory to show; without it the whole repository", default="", role=Role.PATH)
    depth: int = option(
        MAX_TREE_LEVELS, "how many levels to open at most", minimum=1, maximum=MAX_TREE_LEVELS, metavar="N"
    )
    limit: int = option(
        100,
        "how many entries to show; a directory stays closed if opening it takes more",
        minimum=1,
        maximum=MAX_PAGE_ENTRIES,
        metavar="N",
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a directory with what is in it; the entries of a closed directory are not shown."""

    name: str
    language: str  # empty for a directory
    files: int
    bytes: int
    closed: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """The directory asked for, and how many directories below it are closed."""

    root: Entry
    closed: int


@dataclass(slots=True)
class _Folder:
    """A directory under construction; its name may span several levels that hold nothing else."""

    name: str
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[IndexedFile] = field(default_factory=list)
    is_open: bool = False

    def add(self, file: IndexedFile, parts: list[str]) -> None:
        """Put a file where its path says."""
        folder = self
        for part in parts[:-1]:
            folder = folder.folders.setdefault(part, _Folder(part))
        folder.files.append(file)

    def merged(self) -> _Folder:
        """The same directory, with chains of directories that hold only one another made one."""
        folder = self
        while len(folder.folders) == 1 and not folder.files:
            (inner,) = folder.folders.values()
            folder = _Folder(f"{folder.name}/{inner.name}", inner.folders, inner.files)
        folder.folders = {name: inner.merged() for name, inner in sorted(folder.folders.items())}
        return folder

    def entry(self) -> Entry:
        """The finished value."""
        inner = [folder.entry() for folder in self.folders.values()]
        own = [Entry(file.path.rpartition("/")[2], file.language, 1, file.size, False, ()) for file in self.files]
        entries = (*inner, *own)
        files, size = sum(entry.files for entry in entries), sum(entry.bytes for entry in entries)
        return Entry(self.name, "", files, size, not self.is_open, entries if self.is_open else ())


def run(workspace: Workspace, parameters: Parameters) -> Tree:
    """The tree, opened level by level as far as the bounds allow."""
    path = normal(parameters.path)
    files = files_below(workspace, path)
    top = _Folder(path or ".")
    for file in files:
        top.add(file, file.path.removeprefix(f"{path}/").split("/") if path else file.path.split("/"))
    top.folders = {name: folder.merged() for name, folder in sorted(top.folders.items())}
    _open(top, parameters.depth, parameters.limit)
    root = top.entry()
    return Tree(root, sum(entry.closed for entry in _walk(root)))


def _open(top: _Folder, depth: int, limit: int) -> None:
    """Open directories, the outer before the inner, as long as all entries shown stay within the limit."""
    top.is_open = True
    shown = len(top.folders) + len(top.files)
    waiting = deque((folder, 2) for folder in top.folders.values())
    while waiting:
        folder, level = waiting.popleft()
        size = len(folder.folders) + len(folder.files)
        if level <= depth and shown + size <= limit:
            folder.is_open = True
            shown += size
            waiting.extend((inner, level + 1) for inner in folder.folders.values())


def _walk(entry: Entry) -> Iterator[Entry]:
    yield entry
    for inner in entry.entries:
        yield from _walk(inner)


def text(tree: Tree, style: Style) -> str:
    """One entry a line, indented, with sizes."""
    lines = aligned(list(_rows(tree.root, 0)), [None, style.faint, style.faint], right=(1, 2))
    if tree.closed:
        closed = counted(tree.closed, "directory is", "directories are")
        lines.append(style.doubtful(f"… {closed} closed: --limit N or tree PATH opens them"))
    return "\n".join(lines)


def _rows(entry: Entry, level: int) -> Iterable[tuple[str, str, str]]:
    indent = "  " * level
    if entry.language:
        yield f"{indent}{entry.name}", "", _size(entry.bytes)
        return
    mark = " …" if entry.closed else ""
    yield (
        f"{indent}{entry.name}/{mark}",
        f"{entry.files:,} {'file ' if entry.files == 1 else 'files'}",
        _size(entry.bytes),
    )
    for inner in entry.entries:
        yield from _rows(inner, level + 1)


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1000:,.1f} kB" if size_bytes >= 1000 else f"{size_bytes} B "


CAPABILITY = Capability(
    name="code.tree",
    summary="The indexed files by directory",
    description="Directories are opened level by level until the limit is reached; what stays closed says how many "
    "files it holds. Files that are not source, or ignored, are not shown.",
    parameters=Parameters,
    run=run,
    text=text,
    examples=("tree", "tree src --depth 2"),
)
