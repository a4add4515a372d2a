"""Questions whose answers a repository itself knows.

- *docstrings*: the first sentence of a symbol's documentation asks for the symbol. The corpus is
  without documentation.
- *commits*: the subject of a commit asks for the functions that it changed. The corpus is older
  than all the commits.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.scratch import git
from tersely.code.engine import Engine
from tersely.code.index.storage.schema import symbol_id, symbol_rows
from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.places import is_test
from tersely.code.symbols import CALLABLE_KINDS, CLASS_KINDS
from tersely.code.syntax.extract import extract

SEED = 20
MAX_QUERIES = 150  # of one set and repository
WINDOW_COMMITS = 600  # the newest ones, whose subjects ask; the corpus is what was before them
# a commit that changes more is about something else than its subject can say
MAX_CHANGED_FUNCTIONS = 5
MIN_WORDS, MAX_WORDS = 4, 30

_MARKERS = re.compile(
    r"^\s*(?:[rbuRBU]*(?:\"\"\"|''')|/\*\*?|\*/|///?!?|//!|#+|--+|\*)?\s?|(?:\"\"\"|'''|\*/)\s*$"
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?:\s|$)|\n\s*\n|\n\s*(?:@|:\w+|-{3,})"
)
_NOT_A_DESCRIPTION = re.compile(
    r"^(?:@|:|\W*todo\b|deprecated\b|see\b|copyright\b|eslint|noqa|type:)", re.IGNORECASE
)
ROUTINE = re.compile(
    r"\b(?:bump|release|merge|revert|typos?|lint|format(?:ting)?|changelog|deps?|dependabot|readme|docs?|version|ci"
    r"|tests?|chore|style|clippy|rustfmt|gofmt|prettier|pre-commit|mypy|comments?)\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\s*\(?(?:closes |fixes |refs )?#\d+\)?", re.IGNORECASE)
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and the ids of all symbols that answer it."""

    text: str
    answers: frozenset[str]


def docstring_queries(engine: Engine) -> list[Query]:
    """A sample of the documented functions and classes outside of tests; equal sentences are one
    question.
    """
    asked: dict[str, set[str]] = {}
    for file in engine.store.files():
        if is_test(file.path):
            continue
        source = engine.source(file.path)
        for symbol in engine.store.symbols_of(file.path):
            if symbol.doc_end_byte and symbol.kind in CALLABLE_KINDS | CLASS_KINDS:
                doc = source[symbol.doc_start_byte : symbol.doc_end_byte].decode("utf-8", "replace")
                sentence = first_sentence(doc, symbol.name)
                if sentence:
                    asked.setdefault(sentence, set()).add(symbol.id)
    return _sample(Query(text, frozenset(answers)) for text, answers in sorted(asked.items()))


def first_sentence(doc: str, name: str) -> str:
    """The first sentence of a documentation without the symbol's own name at its start; "" if it is
    no description.
    """
    text = (
        "\n".join(_MARKERS.sub("", _MARKERS.sub("", line)) for line in doc.strip().splitlines())
        .strip()
        .strip("\"'")
    )
    sentence = " ".join(_SENTENCE_END.split(text, maxsplit=1)[0].split())
    sentence = re.sub(
        rf"^(?:the\s+)?`?{re.escape(name)}`?(?:\(\))?\s+(?:is|are|does|will)?\s*",
        "",
        sentence,
        flags=re.IGNORECASE,
    )
    words = sentence.split()
    if (
        not MIN_WORDS <= len(words) <= MAX_WORDS
        or _NOT_A_DESCRIPTION.search(sentence)
        or not sentence.isascii()
    ):
        return ""
    return sentence


def commit_queries(repository: Path, known: frozenset[str]) -> list[Query]:
    """A sample of the newest commits that change a few functions which `known` has."""
    queries = []
    for commit, parent, text in telling_commits(repository, WINDOW_COMMITS):
        changed = changed_functions(repository, parent, commit)
        if 1 <= len(changed) <= MAX_CHANGED_FUNCTIONS and changed & known:
            queries.append(Query(text, frozenset(changed & known)))
    return _sample(queries)


def telling_commits(repository: Path, window: int) -> Iterator[tuple[str, str, str]]:
    """(commit, parent, text) of the newest commits without merges whose subject says what they do."""
    listed = git(
        repository,
        "rev-list",
        "--no-merges",
        f"--max-count={window}",
        "--format=%H%x00%P%x00%s",
        "HEAD",
    )
    for line in listed.decode("utf-8", "replace").splitlines():
        commit, parents, subject = (*line.split("\0", 2), "", "")[:3]
        text = " ".join(_REFERENCE.sub("", subject).split())
        if (
            len(parents.split()) == 1
            and len(text.split()) >= MIN_WORDS
            and not ROUTINE.search(text)
        ):
            yield commit, parents, text


def base_of_commits(repository: Path) -> str:
    """The commit before all that `commit_queries` asks about."""
    listed = git(
        repository, "rev-list", "--no-merges", f"--max-count={WINDOW_COMMITS}", "HEAD"
    ).split()
    return f"{listed[-1].decode()}^"


def changed_functions(repository: Path, parent: str, commit: str) -> set[str]:
    """Ids of the functions outside of tests in which a commit changes or removes lines."""
    names = git(repository, "diff", "--name-only", "--diff-filter=M", "-z", parent, commit).decode(
        "utf-8", "replace"
    )
    paths = [
        path for path in names.split("\0") if path and language_of_path(path) and not is_test(path)
    ]
    found: set[str] = set()
    for path in paths[: 2 * MAX_CHANGED_FUNCTIONS]:
        patch = git(repository, "diff", "--unified=0", parent, commit, "--", path)
        hunks = [(int(first), int(count or 1)) for first, count in _HUNK.findall(patch)]
        source = git(repository, "show", f"{parent}:{path}")
        found.update(_functions_at(path, source, hunks))
    return found


def _functions_at(path: str, source: bytes, hunks: Iterable[tuple[int, int]]) -> Iterator[str]:
    language = language_of_path(path)
    assert language
    rows = symbol_rows(0, path, extract(source, LANGUAGES[language]).definitions)
    functions = [
        (row[7], row[8], str(row[3]))
        for row in rows
        if row[5] in CALLABLE_KINDS and row[5] != "lambda"
    ]
    for first, count in hunks:
        last = first + max(count, 1) - 1
        around = [
            (start, end, name) for start, end, name in functions if start <= last and first <= end
        ]
        inner = [
            (start, end, name)
            for start, end, name in around
            if not any(
                start <= other[0] and other[1] <= end and other[2] != name for other in around
            )
        ]
        yield from (symbol_id(path, name) for _, _, name in inner)


def _sample(queries: Iterable[Query]) -> list[Query]:
    listed = list(queries)
    random.Random(SEED).shuffle(listed)
    return listed[:MAX_QUERIES]
