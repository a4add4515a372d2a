"""The reason for which an item is in a pack, in words that a reader needs no key for: `called by
Flask.wsgi_app`, `near the change`.
"""

from __future__ import annotations

from tersely.context.lenses.candidate import (
    BASE,
    BY_NAME,
    CALLEE,
    CALLER,
    CERTAINTIES,
    CHANGED,
    COCHANGE,
    CONSTANT,
    DECORATOR,
    DELETED,
    ENCLOSING,
    IMPORT,
    MEMBER,
    MENTION,
    NEIGHBOUR,
    RAISED,
    REFERENCE,
    SIBLING,
    STACK,
    STALE,
    TEST,
    TYPE,
    WORDING,
)

# How a symbol is related to the one whose name follows.
_TO_ANOTHER = {
    CALLEE: "called by",
    CALLER: "calls",
    TEST: "tests",
    ENCLOSING: "class of",
    MEMBER: "member of",
    BASE: "base of",
    TYPE: "type in",
    CONSTANT: "constant in",
    DECORATOR: "decorates",
    REFERENCE: "named in",
    IMPORT: "imported by",
}
_ALONE = {
    CALLEE: "called from there",
    CALLER: "calls it",
    TEST: "tests it",
    SIBLING: "same file",
    CHANGED: "changed",
    MENTION: "uses changed names",
    COCHANGE: "changed in the same commits",
    NEIGHBOUR: "near the change",
    WORDING: "about the same words",
    RAISED: "raised the failure",
    STACK: "on the stack",
}
# In place of a noun.
_STATES = frozenset(
    {DELETED, STALE, _ALONE[CHANGED], "renamed", *(word for _, word in CERTAINTIES)}
)
# What is told of a change by weak evidence alone, or stands in the same file: of those left out
# only the sum is said.
WEAK_REASONS = frozenset({COCHANGE, MENTION, NEIGHBOUR, SIBLING, WORDING})


def reason_words(reason: str, of: str) -> str:
    """The reason of a candidate in words; `of` is the name of the symbol it is related to, "" for
    none.
    """
    base = reason.removesuffix(BY_NAME)
    suffix = " (by name alone)" if base != reason else ""
    if base == SIBLING:
        return _ALONE[SIBLING]
    if of and base in _TO_ANOTHER:
        return f"{_TO_ANOTHER[base]} {of}{suffix}"
    words = _ALONE.get(base, base)
    return f"{words} of {of}{suffix}" if of else words + suffix


def plural(reason: str, times: int) -> str:
    """The noun of a reason for so many symbols."""
    word = _ALONE[CHANGED] if reason == CHANGED else reason.removesuffix(BY_NAME)
    if times != 1 and word not in _STATES:
        word += "es" if word.endswith("s") else "s"
    return word + (BY_NAME if reason.endswith(BY_NAME) else "")
