"""Tells the user's own words in a message from what is quoted there: code, diffs, logs, what others
have written.

Quoted text asks for nothing, whoever wrote it, so no word of it may unlock tools. A front that
knows what was pasted says so; other quoted text is recognised by what it looks like. When in doubt,
text counts as quoted: the user can still ask in a sentence, and the model can request tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

# Fences, also within a line; a fence that is not closed goes on to the end.
_FENCED = re.compile(
    r"^[ \t]*(~{3,}).*?(?:^[ \t]*\1|\Z)|(`{3,}).*?(?:\2|\Z)", re.DOTALL | re.MULTILINE
)
# a straight quotation mark ends with its line
_MARKED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|[“„][^”“]*[”“]|«[^«»]*»")
# Lines that nobody types who talks to somebody.
_LOOKS = {
    "a quotation": r"\s*>",
    "a row of a table": r"\s*\|.*\|\s*$",
    "a time": r"\W{0,2}(?:\d{4}-\d\d-\d\d[T\s]|\d\d:\d\d:\d\d|\d\d/\w{3}/\d{4}|[A-Z][a-z]{2}\s+\d\d?\s\d\d:\d\d)",
    "a level": r"\W{0,2}(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|(?:PASS|FAIL)(?:ED)?|SKIPPED)\b",
    "a package manager": r"npm (?:ERR!|error|WARN)",
    "git": r"commit [0-9a-f]{7}|On branch |Changes (?:not staged|to be) |(?:Author|Date|Merge):\s"
    r"|(?:no changes|nothing) (?:added )?to commit\b",
    "a compiler": r"\S+?[:(]\d+(?:[:,]\d+)?\)?:\s+(?:fatal )?(?:error|warning|note)\b|(?:error|warning)\[\w+\]:",
    "a test runner": r"E   |[=_*-]{3,}\s.*[=_*-]{3,}\s*$",
    "a stack": r"Traceback \(|\s*File \".*\", line \d|\s*at \S+.*[:(]|Caused by:|panic:|thread '.*' panicked",
    "an exception": r"(?:[\w$]+\.)*[A-Z]\w*(?:Error|Exception|Warning)\b(?::|\s*$)",
    "a shell": r"\s*(?:\$|%|>>>|❯|➜)\s|\w[\w.-]*@[\w.-]+[:~\s].*?[$#]\s",
    "code": r".*[;{}]\s*$|\s*(?:async )?(?:def|class|fn|func)\s+\w+.*[:(]\s*$",
    "an import": r"\s*(?:import\s+[\w.]+|from\s+[\w.]+\s+import\b.*)\s*$",
    "markup": r"\s*</?\w[^>]*>",
    "JSON": r"\s*\"[^\"]+\"\s*:",
    "a conversation": r"\s*(?:<\|\w+\|>|\[/?INST\])|(?i:system|assistant|human|user|ai)\s*:",
}
_MATERIAL = re.compile("|".join(f"(?:{look})" for look in _LOOKS.values()))
_DIFF = re.compile(r"diff --(?:git|cc)\s|@@ -\d|--- \S|\+\+\+ \S|Index: \S|index [0-9a-f]{7,}")
_OF_DIFF = re.compile(
    r"[ +\-\\@]|(?:new|deleted|old) (?:file )?mode|similarity |rename |copy |Binary files |$"
)
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
# What lines of code and of tables look like. A paragraph is quoted as a whole if most of its lines
# look like this.
_STRUCTURE = re.compile(
    r"\s{2}|\s*//|.*(?:\w\(.*\)|\s[=!+<>&|]=?=?\s|[=-]>|::|\w\[|[,({\[]\s*$|\s{3,}\S)"
)
_LEAST_LINES = 3  # of such a paragraph
_SEEN_CHARACTERS = 300  # of a line, from which it is told what it is


def own_words(message: str, pasted: Iterable[str] = ()) -> str:
    """The message without what is quoted in it; `pasted` are parts of it that were not typed."""
    for text in sorted(pasted, key=len, reverse=True):
        message = message.replace(text, "\n") if text.strip() else message
    lines = _FENCED.sub("\n", message).strip().split("\n")
    seen = list(zip(lines, _looks(lines), strict=True))
    start = next((at for at, (_, look) in enumerate(seen) if any(look)), len(seen))
    end = next((at for at in range(len(seen), start, -1) if any(seen[at - 1][1])), start)
    typed = lines[:start]  # before and after what is quoted somebody says what to do with it
    for is_text, group in groupby(seen[start:end], lambda each: bool(each[0].strip())):
        typed += _typed(list(group)) if is_text else [""]
    said = _MARKED.sub(" ", "\n".join([*typed, *lines[end:]]))
    return "\n".join(" ".join(line.split()) for line in said.split("\n"))


class _Look(NamedTuple):
    """The likeness of a line to quoted material: by itself, or only as a part of some."""

    is_material: bool
    is_structure: bool


def _looks(lines: Iterable[str]) -> Iterator[_Look]:
    """The likeness of each line; below the head of a diff, in a comment, or indented after a blank
    line: material.
    """
    is_diff = is_code = is_list = is_comment = False
    before = ""
    for whole in lines:
        line = whole[:_SEEN_CHARACTERS]
        is_comment = "/*" in line or (is_comment and "*/" not in before)
        is_diff = bool(_DIFF.match(line)) or (is_diff and bool(_OF_DIFF.match(line)))
        is_list = bool(_LISTED.match(line)) or (
            is_list and (not line.strip() or line[:1].isspace())
        )
        is_code = bool(_INDENTED.match(line)) and not is_list and (is_code or not before.strip())
        before = line
        is_structure = not is_list and bool(_STRUCTURE.match(_MARKED.sub("x", line)))
        yield _Look(is_diff or is_code or is_comment or bool(_MATERIAL.match(line)), is_structure)


def _typed(paragraph: Sequence[tuple[str, _Look]]) -> list[str]:
    """The lines of a paragraph that somebody has typed."""
    odd = sum(any(look) for _, look in paragraph)
    if len(paragraph) >= _LEAST_LINES and 2 * odd > len(paragraph):
        return []
    return [line for line, look in paragraph if not look.is_material]
