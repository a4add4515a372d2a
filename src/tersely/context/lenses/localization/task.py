"""The text of a task, taken apart: what it says in words, and what it points at exactly.

Issue reports and instructions mix prose with code, paths, messages and stack traces. What is
written as code or as a place is evidence of another kind than words are, so each is read apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tersely.code.languages.registry import language_of_path
from tersely.foundation.types import Strings, frozen

# that are read of a longer text: its beginning, and as much of its end
MAX_TASK_CHARACTERS = 40_000
MAX_TASK_NAMES = 300
MAX_TASK_FRAMES = 200
MAX_TASK_LINKS = 40
MAX_TASK_MESSAGES = 40
LEAST_MESSAGE_CHARACTERS = 12  # a shorter text is found anywhere
MAX_MESSAGE_CHARACTERS = 300
LEAST_MESSAGE_WORDS = 2

# `src/a/b.py", line 12`, `b.ts:12:5`, `(File.java:12)`, `./b.go:12 +0x1d`
# Runs of characters are bounded and begun at their beginning alone, or a long word would be looked
# through from each of its letters.
_FRAME = re.compile(
    r"(?<![\w@.+/\\-])([\w@.+/\\-]{0,300}[\w-]\.[A-Za-z]\w{0,6})"
    r"(?:[\"'],? line |:)(\d{1,6})(?:[^\n]{0,200}?, in ([\w.<>]{1,200}))?"
)
# A file by its suffix, or a folder by the slash at its end.
_PATH = re.compile(
    r"(?<![\w@.+/\\-])((?:[\w@.+-]+[/\\]+)*(?:[\w@+-][\w@.+-]{0,200}\.[A-Za-z]\w{0,6}(?![\w/])|(?<=[/\\])(?![^\s`\"'),;:])))"
)
# What a request asks to do with the code, before it says with which.
_INSTRUCTION = re.compile(
    r"^\s*(?:(?:please|now|then|(?:can|could|would) you|let's|(?:i|we) (?:need|want|would like)(?: you)? to)\s+)*"
    r"(?:change|modify|edit|adapt|adjust|update|fix|add|implement|make|improve|refactor|rewrite|extend|ensure)\s+(?=\S)",
    re.IGNORECASE,
)
# Where code hosts show a file: `…/blob/main/src/a.py#L12-L30`, `…/src/branch/main/a.py#L12`,
# `…/src/1.x/a.py#lines-12`.
_LINK = re.compile(
    r"https?://[^\s/]{1,100}/[^\s#?]{1,200}?/(?:blob|blame|src/(?:branch|commit|tag)|src)/[^/\s]{1,100}/"
    r"([^\s#?)\]>\"'`]{1,300}\.\w{1,7})(?:#(?:L|lines-)(\d{1,6})(?:[-:]L?(\d{1,6}))?)?"
)
_TICKED = re.compile(r"(?<!`)`+([^`\n]{1,200})`+")
# A word that nobody would write in prose: `snake_case`, `camelCase`, `a.b`, `a::b`, `A#b`,
# `call()`, `TwoHumps`.
_CODE_WORD = re.compile(
    r"(?<![\w.])(?:[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*)+|[^\W\d]\w*(?=\()|\w*[^\W_]_\w+|_+[^\W_]\w*|\w*[a-z0-9][A-Z]\w*)(?!\w)"
)
# `the class Blueprint`, `Blueprint class`: what the kind beside it makes a name.
_OF_KIND = re.compile(
    r"(?:(?<=[Cc]lass )|(?<=struct )|(?<=trait )|(?<=interface )|(?<=enum ))[A-Z]\w+"
    r"|(?<![\w.])[A-Z]\w+(?= (?:class|struct|enum|interface|trait|type|record|protocol)\b)"
)
# What a terminal is told between the words of what was copied out of it.
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\))")
_SPLIT = re.compile(r"\.|::|#|->")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|'([^'\n]+)'|“([^”\n]+)”")
# `ValueError: what went wrong`, `error: …`, `panicked at …: …`
_MESSAGE = re.compile(
    r"^\W{0,4}[\w.:]*(?:Error|Exception|Warning|Failure|[Pp]anic|error|fatal|warning)\b[^:\n]{0,60}:\s*(.+)$",
    re.MULTILINE,
)


# What the forms of issue trackers put around a report: headings that only ask, boxes to tick,
# comments, versions, the marks around code.
_COMMENT = re.compile(r"<!--.{0,10000}?-->", re.DOTALL)
_TICK_BOX = re.compile(r"^\s*[-*] \[[ xX]\].*$", re.MULTILINE)
_FORM_HEADINGS = (
    r"(?:steps |minimal |code |example )*to reproduce",
    r"reproduction|long story short|related (?:component|issue number)|code of conduct",
    r"(?:what (?:is|was) )?(?:the )?(?:expected|actual|current)(?: behaviou?r| output| result)?",
    r"what (?:happened|did you expect.*)",
    r"(?:describe the |bug |problem )?(?:bug|description)",
    r"additional (?:context|information|dependencies)",
    r"anything else.*",
    r"minimal complete verifiable example",
    r"mvce.*",
    r"(?:relevant log |output of |your version of ).*",
    r"(?:your )?environment|system information|os / environment|installed versions|(?:\w+ )?versions?",
    r"(?:full |python )?(?:logs?/)?(?:tracebacks?|stack ?traces?)",
    r"what do these changes do|(?:are there changes in|is it a substantial) .*",
    r"checklist|configuration|command used|code sample.*|\w+ output",
    r"summary|motivation|feature request",
    r"(?:is your feature request related|would you like|describe) .*",
)
_FORM_HEADING = re.compile(
    rf"^(?:[^\w\n]|_)*(?:{'|'.join(_FORM_HEADINGS)})[\s:?.*_#]*$", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"^[ \t>]*(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
# The lines of a trace of Python, which are read as frames: its words are those of whatever was called.
_TRACE = re.compile(
    r"^.*\bTraceback \(most recent call last\):.*$"
    r"|^.*\bFile \"[^\"\n]{1,300}\", line \d{1,6}.*(?:\n[ \t]{3,}\S.*)?(?:\n[ \t]*[~^]+[ \t]*$)?",
    re.MULTILINE,
)
# What reports say of themselves: each is rarer in code than it is in them.
_OF_REPORTS = re.compile(
    r"(?<![\w.`])(?:expect(?:ed)?|actual|behaviou?r|reproduce|python|example|issue|bug|fix|like|think|works?|way|instead"
    r"|however|need|try|tried|trying|happens?|following|getting|got|want|please|thanks|know|seems?|see|problem"
    r"|correct(?:ly)?|wrong|install|pip|minimal|code|since|still|now|even|really|latest|current(?:ly)?|something"
    r"|import|print|results?|outputs?)(?![\w.(`])",
    re.IGNORECASE,
)
# `python: 3.8.2`, `OS-release: 5.4`, `pandas==1.0`, `numpy 1.18.1`: a name and a version alone on a
# line.
_VERSION_LINE = re.compile(
    r"^[\s|*-]*[A-Za-z][\w .()/+-]{0,40}?(?:\s*[:=|]{1,2}\s*|\s+)"
    r"v?(?:\d+(?:[.\-+~]\w+)+|\d+|None|installed)[\s|]*$",
    re.MULTILINE,
)
# Where others wrote of it, but for links to code, and who signed.
_ELSEWHERE = re.compile(
    r"https?://(?!\S+/(?:blob|blame|src)/)\S+|^[\w-]+-(?:by|[Ss]ession|[Ii]d): .*$", re.MULTILINE
)
_CLOSING = re.compile(
    r"^\W*(?:thanks|thank you|many thanks|cheers|regards|best regards|best|sincerely|hi|hello|hey)\b[^\n]{0,40}$",
    re.IGNORECASE | re.MULTILINE,
)
_AROUND_REPORTS = (
    _TICK_BOX, _FORM_HEADING, _FENCE, _VERSION_LINE, _ELSEWHERE, _CLOSING, _OF_REPORTS,
)  # fmt: skip
# The line of source that a trace of Python prints below a frame, and what it calls.
_TRACE_SOURCE = re.compile(r", in [\w.<>]{1,200}\n\s{2,}(\S[^\n]{0,300})")
_CALLED = re.compile(r"([^\W\d]\w*)\s*\(")


class TraceLine(NamedTuple):
    """One line of a stack trace. The innermost call is the last of its trace in some languages, the
    first in others.
    """

    path: str
    line: int
    function: str


class CodeLink(NamedTuple):
    """A file that a code host shows, and there some lines; 0 for none."""

    path: str
    first_line: int
    last_line: int


@frozen
class Task:
    """A task in parts. Names are without arguments; those of the title come first in everything.

    Paths are evidence as places, so neither the words nor the names have parts of them.
    """

    title: str  # in words
    text: str  # all of it in words, cut at the bound
    frames: tuple[TraceLine, ...]
    links: tuple[CodeLink, ...]
    paths: Strings  # as written, those of folders with a slash at their end
    title_names: Strings  # written as code in the title
    names: Strings  # written as code anywhere else
    messages: Strings  # quoted texts, and what errors say
    trace_calls: Strings  # what the last line of source in a trace calls


def read_task(text: str) -> Task:
    """Take a text apart; an empty one has empty parts."""
    text = _TERMINAL.sub("", _shortened(text.strip()))
    title, _, body = _without_form(text).strip().partition("\n")
    title, body = _without_places(title) or title, _without_places(body)
    prose = f"{title}\n{_TRACE.sub('', body)}".strip()
    frames = [TraceLine(one[1], int(one[2]), one[3] or "") for one in _FRAME.finditer(text)][
        -MAX_TASK_FRAMES:
    ]
    title_names = _names(title)
    known = set(title_names)
    return Task(
        title.strip(),
        prose,
        tuple(frames),
        _links(text),
        _first(one.replace("\\", "/") for one in _PATH.findall(text)),
        title_names,
        tuple(name for name in _names(body) if name not in known),
        _messages(text),
        _trace_calls(text),
    )


def _shortened(text: str) -> str:
    """The text, or its beginning and its end: reports begin with what is wrong, logs end with it."""
    if len(text) <= MAX_TASK_CHARACTERS:
        return text
    half = MAX_TASK_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


def _without_form(text: str) -> str:
    """The text without what its form asked for and what reports say of themselves; its first line
    stays.
    """
    title, _, body = text.partition("\n")
    body = _COMMENT.sub("", body)
    for pattern in _AROUND_REPORTS:
        body = pattern.sub("", body)
    return f"{title}\n{body}"


def _without_places(text: str) -> str:
    """The text without links to code, and without what is a path for sure: it has a folder, or the
    suffix of a language.
    """
    return _PATH.sub(
        lambda found: (
            " " if re.search(r"[/\\]", found[1]) or language_of_path(found[1]) else found[1]
        ),
        _LINK.sub(" ", text),
    ).strip()


def without_instruction(text: str) -> str:
    """The text without the words at its beginning that only ask for a change."""
    return _INSTRUCTION.sub("", text)


def _trace_calls(text: str) -> Strings:
    sources = _TRACE_SOURCE.findall(text)
    return _first(_CALLED.findall(sources[-1])) if sources else ()


def ends_of(name: str) -> Strings:
    """The parts of a qualified name, the last first: what it is, then what that belongs to."""
    return tuple(part for part in reversed(_SPLIT.split(name)) if part)


def _names(text: str) -> Strings:
    ticked = [name for quoted in _TICKED.findall(text) for name in _identifiers(quoted)]
    return _first([*ticked, *_CODE_WORD.findall(text), *_OF_KIND.findall(text)])


def _identifiers(code: str) -> Iterable[str]:
    """The names in a piece of code; a lone word between backticks is one whatever it looks like."""
    lone = code.strip().removesuffix("()")
    return [lone] if re.fullmatch(r"[\w.:#-]+", lone) else _CODE_WORD.findall(code)


def _links(text: str) -> tuple[CodeLink, ...]:
    found = (
        CodeLink(path, *sorted((int(first or 0), int(last or first or 0))))
        for path, first, last in _LINK.findall(text)
    )
    return tuple(dict.fromkeys(found))[:MAX_TASK_LINKS]


def _messages(text: str) -> Strings:
    quoted = (next(part for part in groups if part) for groups in _QUOTED.findall(text))
    said = (one[1].strip() for one in _MESSAGE.finditer(text))
    return _first(
        one[:MAX_MESSAGE_CHARACTERS]
        for one in [*said, *quoted]
        if len(one) >= LEAST_MESSAGE_CHARACTERS and len(one.split()) >= LEAST_MESSAGE_WORDS
    )[:MAX_TASK_MESSAGES]


def _first(found: Iterable[str]) -> Strings:
    """Each once, in the order of appearance, as many as are looked at."""
    return tuple(dict.fromkeys(found))[:MAX_TASK_NAMES]
