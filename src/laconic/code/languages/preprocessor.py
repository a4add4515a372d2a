"""C and C++ source as their grammars can read it: what only a preprocessor knows is blanked out, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# `class A_EXPORT Name {`, `typedef int (WINAPI *F)(int);`, `A_API int f();`, `int x GUARDED_BY(m);`: macros about
# linkage and locks.
LINKAGE_MACROS = re.compile(
    rb"\b(?:class|struct|union)[ \t]+(?P<before>(?:(?:[A-Z][A-Z0-9_]+|__\w+)(?:\([^()\n]*\))?[ \t]+)+)"
    rb"(?=\s*(?!final\b)[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
    rb"|\b(?:class|struct)[ \t]+(?P<ahead>[A-Z][A-Z0-9_]*_(?:EXPORT|API|PUBLIC|EXTERN))(?=[ \t]+\w+[ \t]*;)"
    rb"|^[ \t]*typedef\b[^;{}()]*\([ \t]*(?P<convention>[A-Z][A-Z_]{2,})(?=[ \t]*\**[ \t]*\w+[ \t]*\)[ \t]*\()"
    rb"|(?P<after>\b(?:ABSL_)?(?:(?:PT_)?GUARDED_BY|ACQUIRED_(?:AFTER|BEFORE)|(?:EXCLUSIVE|SHARED)_LOCKS_REQUIRED"
    rb"|LOCKS_EXCLUDED|(?:EXCLUSIVE_|SHARED_)?(?:UN)?LOCK_FUNCTION)\([^()\n]*\)|\bNO_THREAD_SAFETY_ANALYSIS\b)"
    rb"|^[ \t]*(?:static[ \t]+|extern[ \t]+)?(?P<first>[A-Z][A-Z0-9_]*_(?:EXPORT|API|PUBLIC|EXTERN))(?=[ \t]+\w)",
    re.MULTILINE,
)
# `PyAPI_FUNC(int) f(…);`, `typeof(x) y;`: a type that is an argument.
WRAPPED_TYPES = re.compile(
    rb"^(?P<words>[ \t]*(?:(?:static|extern|const|inline|typedef)[ \t]+)*)"
    rb"(?P<macro>[A-Z]\w*[A-Z]\w*|(?:__)?typeof(?:__)?)"
    rb"\((?P<type>[\w \t*:,]+)\)(?=[ \t]+(?:const[ \t]+)?\**[A-Za-z_]\w*\s*[;=(\[])",
    re.MULTILINE,
)
# `export module a.b:c;`, `import a;`, and the word `export` before what it exports.
MODULE_WORDS = re.compile(
    rb"^(?:export[ \t]+)?(?:module|import)\b[ \t]*(?:[\w.: \t]|<[^>\n]*>|\"[^\"\n]*\"|\[\[[^\n]*?\]\])*(?:;|$)"
    rb"|^[ \t]*export\b(?=\s*[\w{])(?!\s+(?:import|module)\b)",
    re.MULTILINE,
)
DIGRAPHS = {
    b"<%": b"{ ", b"%>": b" }", b"<:": b"[ ", b":>": b" ]", b"%:": b"# ", b"%:%:": b"##  ",
    b"??=": b"#  ", b"??(": b"[  ", b"??)": b"  ]", b"??<": b"{  ", b"??>": b"  }", b"??/": b"  \\",
    b"??!": b"|  ", b"??-": b"~  ", b"??'": b"^  ",
}  # fmt: skip
DIGRAPH = re.compile(rb"<%|%>|<:(?!:[^:>])|(?<!:):>|%:%:|%:|\?\?[=()<>/!'-]")
CHOOSING = re.compile(rb"^[ \t]*#[ \t]*el", re.MULTILINE)
# What braces do not count in, the directives that choose, and the braces.
BRANCHING = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[{}]"
    rb"|^[ \t]*#[ \t]*(?P<directive>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?P<condition>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)


def readable_c(source: bytes) -> bytes:
    """C as its grammar can read it."""
    return with_whole_branches(without_digraphs(source))


def readable_cpp(source: bytes) -> bytes:
    """C++ as its grammar can read it, headers of C included."""
    source = without_module_words(without_linkage_macros(source))
    return with_whole_branches(WRAPPED_TYPES.sub(_unwrapped, source))


def without_digraphs(source: bytes) -> bytes:
    """Brackets in place of what stood for them on old keyboards."""
    if not any(mark in source for mark in (b"<%", b"<:", b"%:", b"??")):
        return source
    return DIGRAPH.sub(lambda match: DIGRAPHS[match[0]], source)


def without_linkage_macros(source: bytes) -> bytes:
    """The source with macros of linkage and locks blanked out."""

    def blank(match: re.Match[bytes]) -> bytes:
        start, end = match.span(match.lastgroup or 0)
        return match[0][: start - match.start()] + b" " * (end - start) + match[0][end - match.start() :]

    return LINKAGE_MACROS.sub(blank, source)


def without_module_words(source: bytes) -> bytes:
    """The source without `export`, and without the lines that name and import modules."""
    if b"export" not in source and b"import" not in source and b"module" not in source:
        return source
    return MODULE_WORDS.sub(_blank, source)


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])


def _unwrapped(match: re.Match[bytes]) -> bytes:
    words, macro, made = match["words"], match["macro"], match["type"]
    if macro.endswith((b"typeof", b"typeof__")):
        return words + b"auto".ljust(len(match[0]) - len(words))
    if b"," in made:  # `SLIST_HEAD(name, element)`: whatever type that makes
        return (words + macro).ljust(len(match[0]))
    return words + b" " * (len(macro) + 1) + made + b" "


class Branch(NamedTuple):
    """One branch of `#if … #else … #endif`: where its text lies, how many more braces it opens than it closes."""

    start: int
    end: int
    opens: int
    is_off: bool  # after `#if 0`


def with_whole_branches(source: bytes) -> bytes:
    """Of branches that open or close different blocks, only the first is left, since a tree can hold but one."""
    if not CHOOSING.search(source):
        return source
    result = bytearray(source)
    for branches in _conditionals(source):
        if not any(branch.opens for branch in branches):
            continue
        kept = next((branch for branch in branches if not branch.is_off), branches[0])
        for branch in branches:
            if branch is not kept:
                result[branch.start : branch.end] = re.sub(rb"[^\n]", b" ", source[branch.start : branch.end])
    return bytes(result)


def _conditionals(source: bytes) -> Iterator[list[Branch]]:
    """The branches of each conditional that has several, inner ones first."""
    open_ones: list[list[Branch]] = []
    for match in BRANCHING.finditer(source):
        directive = match["directive"]
        if directive is None:
            if open_ones and match[0] in (b"{", b"}"):
                last = open_ones[-1][-1]
                open_ones[-1][-1] = last._replace(opens=last.opens + (1 if match[0] == b"{" else -1))
            continue
        if directive.startswith(b"if"):
            open_ones.append([])
        elif open_ones:
            open_ones[-1][-1] = open_ones[-1][-1]._replace(end=match.start())
        if directive == b"endif":
            if open_ones:
                yield from _closed(open_ones)
        elif open_ones:
            open_ones[-1].append(Branch(match.end(), match.end(), 0, match["condition"].strip() == b"0"))


def _closed(open_ones: list[list[Branch]]) -> Iterator[list[Branch]]:
    """The innermost conditional ends; what its first branch opens, the branch around it does."""
    branches = open_ones.pop()
    if open_ones:
        around = open_ones[-1][-1]
        open_ones[-1][-1] = around._replace(opens=around.opens + branches[0].opens)
    if len(branches) > 1:
        yield branches
