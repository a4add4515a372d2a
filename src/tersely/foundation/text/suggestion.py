"""The hint for a name that is not known."""

from __future__ import annotations

from collections.abc import Iterable

# Of a known name with what was written, below which it is not meant: the part of both that agrees.
LEAST_LIKENESS = 0.7


def suggestion(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """The known name that a wrong one may mean, as a question; where none is like it `otherwise`,
    or the list of those that are known.
    """
    import difflib  # only who errs pays for it

    known = list(known)
    begun = [one for one in known if name and one.startswith(name)]
    near = begun or difflib.get_close_matches(name, known, n=1, cutoff=LEAST_LIKENESS)
    if near:
        return f"did you mean {near[0]}?"
    listed = f"known: {', '.join(known)}" if known else ""
    return listed if otherwise is None else otherwise
