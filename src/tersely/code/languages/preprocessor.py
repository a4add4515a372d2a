"""C and C++ source as their grammars can read it: text for the preprocessor is blanked out, byte
for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Macro(NamedTuple):
    """Macros without a meaning for definitions; the group `macro` of the pattern is blanked out."""

    signs: tuple[bytes, ...]  # source without any of these has none
    pattern: re.Pattern[bytes]


_WORD = rb"_{0,2}[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\([^()\n]*\))?"
_DECLARING = (
    rb"(?:auto|void|bool|char|int|unsigned|signed|long|short|float|double|static|inline|constexpr|explicit|virtual"
    rb"|friend|extern|template|typename|using|class|struct|union|enum|namespace|operator)\b"
)
_EXPORT = rb"[A-Z][A-Z0-9_]*_(?:EXPORT|API|PUBLIC|EXTERN)"
MACROS = (
    Macro(  # `class A_EXPORT Name {`, `struct __align__(8) Name {`
        (b"class", b"struct", b"union"),
        re.compile(
            rb"(?:class|struct|union)[ \t]+(?P<macro>(?:(?:[A-Z][A-Z0-9_]+|__\w+)(?:\([^()\n]*\))?[ \t]+)+)"
            rb"(?=\s*(?!final\b)[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
        ),
    ),
    Macro(  # `class A_EXPORT Name;`
        (b"_EXPORT", b"_API", b"_PUBLIC", b"_EXTERN"),
        re.compile(rb"(?:class|struct)[ \t]+(?P<macro>" + _EXPORT + rb")(?=[ \t]+\w+[ \t]*;)"),
    ),
    Macro(  # `A_API int f();`
        (b"_EXPORT", b"_API", b"_PUBLIC", b"_EXTERN"),
        re.compile(
            rb"^[ \t]*(?:static[ \t]+|extern[ \t]+)?(?P<macro>" + _EXPORT + rb")(?=[ \t]+\w)",
            re.MULTILINE,
        ),
    ),
    Macro(  # `typedef int (WINAPI *F)(int);`
        (b"typedef",),
        re.compile(
            rb"typedef\b[^;{}()]*\([ \t]*(?P<macro>[A-Z][A-Z_]{2,})(?=[ \t]*\**[ \t]*\w+[ \t]*\)[ \t]*\()"
        ),
    ),
    Macro(  # `A_BEGIN_NAMESPACE`, alone on its line
        (b"BEGIN", b"END", b"NAMESPACE", b"PRAGMA"),
        re.compile(
            rb"^(?P<macro>_{0,2}(?=[A-Z0-9_]*(?:BEGIN|END|NAMESPACE|PRAGMA))[A-Z][A-Z0-9]*_[A-Z0-9_]+"
            rb"(?:\([^\n]*\))?)(?=[ \t]*$)",
            re.MULTILINE,
        ),
    ),
    Macro(  # `A_CONSTEXPR A_INLINE auto f() -> int {`
        (b"_",),
        re.compile(
            rb"^[ \t]*(?:template[ \t]*<[^\n;{}]*>[ \t]*)?(?P<macro>(?:"
            + _WORD
            + rb"[ \t]+)+)(?="
            + _DECLARING
            + rb")",
            re.MULTILINE,
        ),
    ),
    Macro(  # `int x GUARDED_BY(m);`
        (b"GUARDED_BY", b"ACQUIRED_", b"LOCK", b"NO_THREAD"),
        re.compile(
            rb"\b(?P<macro>(?:ABSL_)?(?:(?:PT_)?GUARDED_BY|ACQUIRED_(?:AFTER|BEFORE)|LOCKS_EXCLUDED"
            rb"|(?:EXCLUSIVE|SHARED)_LOCKS_REQUIRED|(?:EXCLUSIVE_|SHARED_)?(?:UN)?LOCK_FUNCTION)\([^()\n]*\)"
            rb"|NO_THREAD_SAFETY_ANALYSIS\b)"
        ),
    ),
)
# `PyAPI_FUNC(int) f(…);`, `typeof(x) y;`: a type that is an argument.
WRAPPED_TYPES = re.compile(
    rb"^(?P<words>[ \t]*(?:(?:static|extern|const|inline|typedef)[ \t]+)*)"
    rb"(?P<macro>[A-Z]\w*[A-Z]\w*|(?:__)?typeof(?:__)?)"
    rb"\((?P<type>[\w \t*:,]+)\)(?=[ \t]+(?:const[ \t]+)?\**[A-Za-z_]\w*\s*[;=(\[])",
    re.MULTILINE,
)
# `export module a.b:c;`, `import a;`, and the word `export` before a declaration.
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
# `int table[] = {`, elements, `#include "more.h"`.
DIRECTIVE_IN_INITIALIZER = re.compile(
    rb"=\s*\{[^{};]*?^(?P<directive>[ \t]*#[ \t]*(?:include|define|undef)\b[^\n]*)", re.MULTILINE
)
MAX_DIRECTIVES_IN_INITIALIZERS = 50  # of one initialiser; with more the grammar has to cope
LOOK_BACK_BYTES = 300  # from a directive, to find the construct around it
# initialisers of a constructor, arguments, operands
BEGUN = re.compile(rb"(?:\)\s*:|[(&|=+?])\s*\Z")
DANGLING = re.compile(rb'\b(?:if|while|for)\s*\([^;{}]*\)\s*\Z|\b(?:else|extern\s*"C")\s*\Z')
CONDITIONAL = re.compile(rb"^[ \t]*#[ \t]*if", re.MULTILINE)
# Text in which braces do not count, the directives that choose, and the braces.
BRANCHING = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[{}]"
    rb"|^[ \t]*#[ \t]*(?P<directive>if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?P<condition>[^\n]*)",
    re.MULTILINE | re.DOTALL,
)


def readable_c(source: bytes) -> bytes:
    """C as its grammar can read it."""
    return with_whole_branches(without_included_elements(without_digraphs(source)))


def readable_cpp(source: bytes) -> bytes:
    """C++ as its grammar can read it, headers of C included."""
    source = without_module_words(without_macros(source))
    return with_whole_branches(WRAPPED_TYPES.sub(_unwrap, source))


def without_included_elements(source: bytes) -> bytes:
    """The source without directives among the elements of an initialiser, where the grammar has
    none.
    """
    for _ in range(MAX_DIRECTIVES_IN_INITIALIZERS):
        source, found = DIRECTIVE_IN_INITIALIZER.subn(_without_directive, source)
        if not found:
            break
    return source


def _without_directive(match: re.Match[bytes]) -> bytes:
    start = match.start("directive") - match.start()
    return match[0][:start] + b" " * (len(match[0]) - start)


def without_digraphs(source: bytes) -> bytes:
    """The source with brackets in place of the digraphs of old keyboards."""
    if not any(mark in source for mark in (b"<%", b"<:", b"%:", b"??")):
        return source
    return DIGRAPH.sub(lambda match: DIGRAPHS[match[0]], source)


def without_macros(source: bytes) -> bytes:
    """The source with macros of linkage, calling conventions and locks blanked out."""
    for macro in MACROS:
        if any(sign in source for sign in macro.signs):
            source = macro.pattern.sub(_without_macro, source)
    return source


def _without_macro(match: re.Match[bytes]) -> bytes:
    start, end = (place - match.start() for place in match.span("macro"))
    return match[0][:start] + b" " * (end - start) + match[0][end:]


def without_module_words(source: bytes) -> bytes:
    """The source without `export`, and without the lines that name and import modules."""
    if b"export" not in source and b"import" not in source and b"module" not in source:
        return source
    return MODULE_WORDS.sub(_blank, source)


def _blank(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match[0])


def _unwrap(match: re.Match[bytes]) -> bytes:
    words, macro, made = match["words"], match["macro"], match["type"]
    if macro.endswith((b"typeof", b"typeof__")):
        return words + b"auto".ljust(len(match[0]) - len(words))
    if b"," in made:  # `SLIST_HEAD(name, element)`: a struct of any type
        return (words + macro).ljust(len(match[0]))
    return words + b" " * (len(macro) + 1) + made + b" "


class Branch(NamedTuple):
    """One branch of `#if … #else … #endif`: where its directive, and its text up to the next one,
    lie.
    """

    directive: int
    start: int
    end: int
    opens: int  # how many more braces it opens than it closes
    is_off: bool  # after `#if 0`


def with_whole_branches(source: bytes) -> bytes:
    """The source with only the first of branches that open or close different blocks, since a tree
    can hold but one.

    Code that alone opens or closes a block, `#ifdef X` `} else {` `#endif`, is left without its
    directives, and so is code inside a statement or a list.
    """
    if not CONDITIONAL.search(source):
        return source
    result = bytearray(source)
    for branches, end in _conditionals(source):
        if not any(branch.opens for branch in branches) and not _is_inside(source, branches):
            continue
        kept = next((branch for branch in branches if not branch.is_off), None)
        for branch in branches:
            _erase(result, branch.directive, branch.start if branch is kept else branch.end)
        _erase(result, branches[-1].end, end)
    return bytes(result)


def _is_inside(source: bytes, branches: list[Branch]) -> bool:
    """True if a conditional begins or its branches end inside a statement or list, as far as the
    text shows.
    """
    if BEGUN.search(source, max(0, branches[0].directive - LOOK_BACK_BYTES), branches[0].directive):
        return True
    return any(
        DANGLING.search(source, max(branch.start, branch.end - LOOK_BACK_BYTES), branch.end)
        for branch in branches
    )


def _erase(source: bytearray, start: int, end: int) -> None:
    source[start:end] = re.sub(rb"[^\n]", b" ", source[start:end])


def _conditionals(source: bytes) -> Iterator[tuple[list[Branch], int]]:
    """The branches of each conditional, and its end; inner ones first."""
    open_ones: list[list[Branch]] = []
    for match in BRANCHING.finditer(source):
        directive = match["directive"]
        if directive is None:
            if open_ones and match[0] in (b"{", b"}"):
                last = open_ones[-1][-1]
                open_ones[-1][-1] = last._replace(
                    opens=last.opens + (1 if match[0] == b"{" else -1)
                )
            continue
        if directive.startswith(b"if"):
            open_ones.append([])
        elif open_ones:
            open_ones[-1][-1] = open_ones[-1][-1]._replace(end=match.start())
        if directive != b"endif" and open_ones:
            is_off = match["condition"].strip() == b"0"
            open_ones[-1].append(Branch(match.start(), match.end(), match.end(), 0, is_off))
        elif open_ones:
            yield _close_conditional(open_ones), match.end()


def _close_conditional(open_ones: list[list[Branch]]) -> list[Branch]:
    """The branches of the innermost conditional, which ends; blocks that its first branch opens
    count for the branch around it.
    """
    branches = open_ones.pop()
    if open_ones:
        around = open_ones[-1][-1]
        open_ones[-1][-1] = around._replace(opens=around.opens + branches[0].opens)
    return branches
