"""What nobody can beat: the least work that a measured command includes. Run as a program for a
process of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bench.speed.child import Command


def python_start(folder: Path) -> Command:
    """An interpreter that does nothing."""
    return Command([sys.executable, "-c", "pass"], folder)


def ctags(executable: str, folder: Path) -> Command:
    """Universal Ctags over the tree: definitions only."""
    return Command([executable, "-R", "-f", "-", "."], folder)


def parsing(folder: Path) -> Command:
    """tree-sitter over every file of a known language, in one process, trees thrown away."""
    return Command(
        [sys.executable, "-m", "bench.speed.floors", str(folder)], Path(__file__).parents[2]
    )


def parse_all(folder: Path) -> int:
    """The work of `parsing`; returns the number of files."""
    from tersely.code.languages.registry import LANGUAGES, language_of_path
    from tersely.code.syntax.extract import parse

    parsed = 0
    for path in sorted(folder.rglob("*")):
        language = language_of_path(path.name)
        if language is not None and path.is_file():
            parse(path.read_bytes(), LANGUAGES[language])
            parsed += 1
    return parsed


if __name__ == "__main__":
    parse_all(Path(sys.argv[1]))
