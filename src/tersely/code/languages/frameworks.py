"""The HTTP verbs in names. What else is known of frameworks stands in the tables of `summaries`;
`docs/frameworks.md` says how to add to them.
"""

from __future__ import annotations

from tersely.code.languages.model import names

TOLD_VERBS = names("get post put patch delete")  # that tell routes of one path apart


def verb_of(name: str) -> str:
    """The verb of HTTP in the name of a function: `get`, `Get`, `GetMapping`; "" for any."""
    verb = name.lower().removesuffix("mapping")
    return verb if verb in TOLD_VERBS else ""
