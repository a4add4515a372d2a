"""Print the syntax nodes of each room, so that growth is seen: `python tools/sizes.py [ROOT]`, or
`make sizes`.

A room is a package or module of `src/tersely`; of those in `OPENED` each one inside is a room as
well. The sums of `src/tersely`, `bench` and `tests` come last, with their total. Syntax nodes are
counted by Python's own `ast`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PRODUCT = "src/tersely"
OPENED = ("code", "relay", "agent")
BESIDE = ("bench", "tests")


def nodes(place: Path) -> int:
    """Syntax nodes of a Python file, or of all Python files below a folder."""
    files = place.rglob("*.py") if place.is_dir() else [place]
    return sum(sum(1 for _ in ast.walk(ast.parse(file.read_bytes()))) for file in files)


def rooms(folder: Path) -> Iterator[Path]:
    """The packages and modules of a folder, packages first."""
    inside = [
        path for path in sorted(folder.iterdir()) if path.suffix == ".py" or any(path.glob("*.py"))
    ]
    yield from sorted(inside, key=lambda path: path.suffix == ".py")


def sizes(root: Path) -> Iterator[tuple[str, int]]:
    """(name, syntax nodes) of each room, what is inside of another indented, and of the sums."""
    for room in rooms(root / PRODUCT):
        yield room.name, nodes(room)
        for inner in rooms(room) if room.name in OPENED else ():
            yield f"  {inner.name}", nodes(inner)
    total = 0
    for name in (PRODUCT, *BESIDE):
        count = nodes(root / name)
        total += count
        yield name, count
    yield "total", total


def main(words: list[str]) -> None:
    """Print a line a room."""
    for name, count in sizes(Path(words[0]) if words else Path(__file__).parents[1]):
        print(f"{name:<32} {count:>9,}")


if __name__ == "__main__":
    main(sys.argv[1:])
