"""Reading files, and windows around the lines that keywords find: what everybody does who has no
index.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bench.tokens.questions import HALF, SYMBOL, Question
from tersely.code.search.words import STOP_WORDS

CONTEXT_LINES = 5  # around a line that is found
MIN_KEYWORD_CHARACTERS = 4
MAX_KEYWORDS = 8
MAX_FILES = 20

_WORD = re.compile(r"[^\W\d]\w+")


def answers(question: Question) -> Iterator[tuple[str, str]]:
    """(name, text) of each way, whole."""
    yield "full files", "".join(read(question.tree, path) for path in _files(question))
    yield "ripgrep windows", _windows(question)


def _files(question: Question) -> list[str]:
    """The files that the question names, or those in which its words are found the most often."""
    if question.kind == SYMBOL:
        return [question.symbol.path]
    if question.kind == HALF:
        return list(question.changed)
    said = _grep(question, "--count", *_patterns(question))
    counts = [line.rpartition(":") for line in said.splitlines()]
    return [
        path for path, _, _ in sorted(counts, key=lambda row: (-int(row[2]), row[0]))[:MAX_FILES]
    ]


def read(tree: Path, path: str) -> str:
    """A file as whoever reads it is shown it: below a line that names it."""
    return f"=== {path} whole\n" + (tree / path).read_text("utf-8", "replace")


def _windows(question: Question) -> str:
    """What `rg --line-number --context 5` prints, the files with the most lines first."""
    said = _grep(
        question,
        "--line-number",
        f"--context={CONTEXT_LINES}",
        "--heading",
        "--break",
        *_patterns(question),
    )
    files = said.split("\n\n")
    return "\n\n".join(sorted(files, key=lambda text: -text.count("\n")))


def _patterns(question: Question) -> list[str]:
    words = [question.symbol.name] if question.kind == SYMBOL else keywords(question.subject)
    return [part for word in words for part in ("-e", word)]


def keywords(text: str) -> list[str]:
    """The words of a sentence that are worth looking for, the longest first."""
    words = dict.fromkeys(word for word in _WORD.findall(text) if word.lower() not in STOP_WORDS)
    long = [word for word in words if len(word) >= MIN_KEYWORD_CHARACTERS]
    return sorted(long or words, key=lambda word: -len(word))[:MAX_KEYWORDS] or ["\0"]


def _grep(question: Question, *words: str) -> str:
    """Git's own search: it finds and prints the lines that ripgrep does, and is there wherever git
    is.
    """
    command = ["git", "grep", "--word-regexp", "--ignore-case", "--fixed-strings", "-I", *words]
    done = subprocess.run(command, cwd=question.tree, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")
