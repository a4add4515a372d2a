"""The hint for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable


def suggestion(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The known name that a wrong one may mean, as a question; where none is like it `otherwise`,
    or the list of those that are known.
    """
    import difflib  # only who errs pays for it

    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    listed = f"known: {', '.join(known)}" if known else ""
    return listed if otherwise is None else otherwise
