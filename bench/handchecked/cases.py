"""The questions and their true answers: one JSON object a line in `answers/<language>.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "answers"
SUFFIX = ".jsonl"
DEFAULT_DEPTH = 3  # of an impact, as the command has it


@dataclass(frozen=True, slots=True)
class Case:
    """One question. `of` is a symbol id, a path or a place; `answer` holds ids, or `path:line` of
    definitions.
    """

    language: str
    repository: str  # owner/name
    commit: str
    question: str
    of: str
    answer: frozenset[str]
    checked: str  # how the answer was found
    depth: int = DEFAULT_DEPTH

    @property
    def name(self) -> str:
        """The question on one line."""
        return f"{self.question} {self.of}"


def languages(folder: Path = ANSWERS) -> list[str]:
    """The languages that have answers."""
    return sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))


def cases(language: str, folder: Path = ANSWERS) -> Iterator[Case]:
    """All cases of a language, in the order of the file."""
    for line in (folder / f"{language}{SUFFIX}").read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield _case(language, json.loads(line))


def _case(language: str, row: dict[str, Any]) -> Case:
    return Case(
        language,
        row["repository"],
        row["commit"],
        row["question"],
        row["of"],
        frozenset(row["answer"]),
        row["checked"],
        row.get("depth", DEFAULT_DEPTH),
    )
