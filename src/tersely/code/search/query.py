"""A question taken apart: a regular expression, quoted text, names, and words.

/def \\w+_token/              a regular expression, searched for in each line
"Content-Type"               text that must be there as it stands
Session.validate             a name: what is called so comes first
where are tokens validated   words: what is called so, says so, or means so
retry in `urlopen` "backoff" some of each
"""

from __future__ import annotations

import re
from functools import lru_cache

from tersely.code.search.words import (
    ASKING_WORDS,
    STOP_WORDS,
    parts_of,
    pieces_of,
    stem,
    stems_of,
    words_of_text,
)
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import Strings, frozen

CACHED_QUESTIONS = 8  # one is asked several times for its terms

_EXPRESSION = re.compile(r"/(.+)/(i?)", re.DOTALL)
_QUOTED = re.compile(r"\"([^\"]+)\"")
_TICKED = re.compile(r"`([^`]+)`")
_QUALIFIED = re.compile(r"[^\s()\"'`]*[^\W\d][^\s()\"'`]*")
# A word that nobody would write in prose: `snake_case`, `camelCase`, `a.b`, `a::b`, `call()`.
_CODE_WORD = re.compile(
    r"(?<![\w.])(?:[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)+|[^\W\d]\w*(?=\(\))|\w*[^\W_]_\w+|_\w+|\w*[a-z0-9][A-Z]\w*)(?![\w])"
)
_ABOUT_TESTS = frozenset(
    {"test", "spec", "mock", "fixtur", "assert", "unittest", "pytest", "testcas", "benchmark"}
)
# How subjects of changes and titles of reports begin, and what else gives them away. Some orders
# are given to programs as well as to their authors; what a program is to do has an article more
# often (`add a column`, but `add --column`).
_CHANGE = re.compile(
    r"""
    ^\s*(?:\[[^\]]+\]|[\w./-]+(?:\([^)]*\))?!?)\s*:\s   # scope: …
    | ^\s*\[[^\]]+\]\s                                   # [scope] …
    | ^\W*(?:fix(?:e[sd])?|bug|deprecated?|refactor(?:ed)?|clean(?:ed)?|improved?|updated?|optimi[sz]ed?
        |simplif(?:y|ied)|support(?:ed)?|(?:dis)?allow(?:ed)?|avoid(?:ed)?|prevent(?:ed)?|don.?t|do\s+not|also|better
        |properly|correctly|respect(?:ed)?|reject(?:ed)?|accept(?:ed)?|preserved?|ignored?|raised?|throw|exposed?
        |extend(?:ed)?|rewrite|reduced?|revert(?:ed)?|upgraded?|tighten(?:ed)?|introduced?|restored?
        |(?:add|remove|replace|rename|move|drop|correct|ensure|switch|change|implement|make|use|include|exclude|provide
            |omit|initiali[sz]e|detect|limit)(?:d|ed)?(?!\s+(?:an?|the|any|all|to|this|with|in)\b)
        )\s
    | \b(?:bugs?|crash(?:es|ed)?|regression|fails|failing|broken|wrong|incorrect(?:ly)?|instead\s+of|no\s+longer|now
        |again|by\s+default|doesn.?t|error\s+when|missing|workaround|CVE-\d+)\b
    | \s--\w
    """,
    re.IGNORECASE | re.VERBOSE,
)


@frozen
class Query:
    """A question, taken apart."""

    text: str
    expression: re.Pattern[bytes] | None  # a regular expression; then there is nothing else
    quoted: Strings  # text that must be there
    name: str  # the whole question, where it may be a name; else ""
    names: Strings  # names inside of a longer question
    words: Strings
    about_tests: bool
    about_change: bool  # it tells of a change or a defect rather than of what code does

    @property
    def terms(self) -> Strings:
        """The terms that the words look up, each once."""
        return _terms_of(self.words)

    @property
    def asks(self) -> bool:
        """True if it is put as a question, and so about what it names."""
        return any(map(_is_asking, self.words))

    @property
    def pieces(self) -> list[str]:
        """What the words mean is made of these; words that only ask mean nothing."""
        telling = [word for word in self.words if not _is_asking(word)] or self.words
        return [piece for word in telling for piece in pieces_of(word)]


def _is_asking(word: str) -> bool:
    return word.lower() in ASKING_WORDS


@lru_cache(CACHED_QUESTIONS)
def _terms_of(words: Strings) -> Strings:
    terms: dict[str, None] = {}
    for word in [word for word in words if word.lower() not in STOP_WORDS] or words:
        terms.update(dict.fromkeys(map(stem, parts_of(word))))
    return tuple(terms)


def read_query(text: str) -> Query:
    """Understand a question; `invalid_argument` for one that says nothing or a broken expression."""
    text = text.strip()
    expression = _EXPRESSION.fullmatch(text)
    if expression:
        return Query(
            text,
            _compiled(expression[1], expression[2]),
            (),
            "",
            (),
            (),
            about_tests=True,
            about_change=False,
        )
    quoted = tuple(_QUOTED.findall(text))
    rest = _QUOTED.sub(" ", text).strip()
    ticked = _TICKED.findall(rest)
    prose = rest.replace("`", " ")
    bare = prose.strip().removesuffix("()")
    name = bare if bare and not quoted and _QUALIFIED.fullmatch(bare) else ""
    names = (
        ()
        if name
        else tuple(dict.fromkeys([*(tick.strip() for tick in ticked), *_CODE_WORD.findall(prose)]))
    )
    words = tuple(words_of_text(prose))
    if not words and not quoted and not name:
        raise TerselyError("invalid_argument", f"the question {text!r} has no words")
    stems = set(stems_of(words))
    return Query(
        text,
        None,
        quoted,
        name,
        names,
        words,
        not _ABOUT_TESTS.isdisjoint(stems),
        _CHANGE.search(text) is not None,
    )


def _compiled(expression: str, flags: str) -> re.Pattern[bytes]:
    try:
        return re.compile(expression.encode(), re.MULTILINE | (re.IGNORECASE if flags else 0))
    except (re.error, OverflowError, RecursionError) as error:
        raise TerselyError(
            "invalid_argument", f"/{expression}/ is not a regular expression: {error}"
        ) from error
