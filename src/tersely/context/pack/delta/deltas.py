"""The difference of two texts as it is sent: the hunks of a unified diff, without the names of
files.
"""

from __future__ import annotations

MAX_DIFF_LINES = 4_000  # of two versions that are compared


CONTEXT_LINES = 1  # around each hunk: enough to see where it belongs


def diff_of(old: str, new: str) -> str:
    """Hunks that make `new` of `old`, each line ended; "" where there are none or the texts are too
    long to compare.

    Lines end at line feeds alone, and a text that does not end with one is compared as if it did.
    """
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > MAX_DIFF_LINES:
        return ""
    from difflib import unified_diff  # only who has something to compare pays for it

    hunks = list(unified_diff(before, after, n=CONTEXT_LINES, lineterm=""))[2:]
    return "".join(f"{line}\n" for line in hunks)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
