"""Write the tables of docs/commands.md: every command, what it answers, and an example that is run.

    python -m tools.build_commands_page

The commands and what they do are those of `tersely help`; the text around the tables is written by
hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tersely.cli.help.overview import OWN_COMMANDS, RELAY_COMMANDS, SECTIONS

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
_TABLES = re.compile(r"(?<=## All commands\n\n).*?(?=\n## How a symbol is named\n)", re.DOTALL)

# Words that are answered in this repository; of a command that is not here, its manual page.
EXAMPLES = {
    "context": "context Tokenizer.truncate --budget 800",
    "diff-context": "diff-context --worktree",
    "packet": 'packet "Tokenizer.truncate cuts a word in half" --min-confidence 0',
    "coverage-context": "coverage-context --coverage-file lcov.info",
    "rank-files": "rank-files --coverage-file lcov.info",
    "coverage-slice": "coverage-slice src/tersely/__main__.py --coverage-file lcov.info",
    "plan": 'plan "count tokens faster" --explain',
    "search": 'search "where tokens are counted"',
    "map": "map src --budget 500",
    "duplicates": "duplicates src --threshold 70",
    "symbol find": 'symbol find "read_*" --kind function',
    "symbol get": "symbol get content_hash",
    "symbol slice": "symbol slice Tokenizer.truncate",
    "symbol deps": "symbol deps Tokenizer.truncate",
    "symbol references": "symbol references Tokenizer",
    "symbol callers": "symbol callers content_hash",
    "symbol callees": "symbol callees Tokenizer.truncate",
    "definition": "definition src/tersely/__main__.py:10",
    "calls": "calls storage/store.py:Store.find --no-external",
    "impact": "impact content_hash --depth 2",
    "breaks": "breaks",
    "conflicts": "conflicts",
    "enclosing": "enclosing src/tersely/foundation/storage/hashing.py:20",
    "change-impact": "change-impact src/tersely/foundation/storage/hashing.py",
    "dead": "dead src --kind function",
    "cycles": "cycles --calls",
    "slice": "slice src/tersely/code/flow/blocks.py:40 --with-code",
    "cfg": "cfg basic_blocks",
    "dfg": "dfg basic_blocks",
    "complexity": "complexity src --above 10",
    "tree": "tree src --depth 2",
    "structure": "structure src/tersely/foundation",
    "extract": "extract src/tersely/foundation/storage/hashing.py",
    "imports": "imports src/tersely/workspace.py",
    "importers": "importers tersely.foundation.limits",
    "index": "index --report",
    "stats": "stats",
    "daemon": "daemon start",
    "warm": "warm",
    "help": "help context",
    "completion": "completion bash",
}


def page() -> str:
    """The text of the page, with the tables as the program has them."""
    return _TABLES.sub(lambda _: tables(), PAGE.read_text("utf-8"))


def tables() -> str:
    """A table of each section of help."""
    sections = {**SECTIONS, "Relay": RELAY_COMMANDS, "Tersely": OWN_COMMANDS}
    return "\n".join("".join(_section(*section)) for section in sections.items())


def _section(title: str, commands: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield f"### {title}\n\n| command | what it answers or does | example |\n|---|---|---|\n"
    for name, (_, about) in commands.items():
        example = EXAMPLES.get(name, f"help {name}")
        yield f"| `{name}` | {about.replace('|', chr(92) + '|')} | `tersely {example}` |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
