"""Decides whether a message is about what a search has found for it, by the words that both have.

A search finds something even for thanks, or for talk about the conversation. So words that say what
to do, or that fit any program, count for nothing, and enough of the others have to stand in what
was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

_WORD = re.compile(r"[^\W\d_]{3,}")
_GENERAL = frozenset(
    """
    about above add after again all also and another answer any anybody anything apart approach architecture ask
    back bad because been before begin better between both bug but can change changes check code come commit commits
    continue conversation correct could create day delete describe did difference different does doing done each
    edit else enough entry error every example explain explanation fail failing fails far fast faster file files
    find fine first fix folder for from function general get give going good got great had has have hello help
    helpful here how idea implement into its just kind know last later less let like line lines list look made make
    many may maybe mean meant might model more most much must name need new next not note now number off okay one
    only open other our out over overview own part place please point problem program project question questions
    quickly read really refactor remove rename repo repository right run runs said same say says see sentence
    session sets should show simple simpler since slow small smaller some somebody something sort still stop such
    sum summarise summarize sure take talk tell test tests than thank thanks that the their them then there these
    they thing things think this those times today together told tomorrow too tool tools translate true try under
    understand undo unit until update use used user uses using very want was way well were what when where whether
    which while who whole why will with without word words work works would write wrong yes yesterday yet you your
    """.split()
)
_LEAST_WORDS = 2  # of the message in what was found
_LEAST_SHARE = 0.5  # of its words; one in a name will do where the meaning is as near as that
_STEM = 4  # letters that two forms of a word have in common
_WITH_WORDS = ("name", "signature", "documentation", "path", "calls", "body")


class Supported(NamedTuple):
    """Symbols that a message is probably about, and the words that say so."""

    symbols: tuple[str, ...]
    words: tuple[str, ...]


def supported(
    message: str, hits: Sequence[Mapping[str, Any]], most_symbols: int
) -> Supported | None:
    """The first of the `hits` of `code.search` for a message, if its own words speak for them; else
    None.
    """
    wanted = set(map(str.lower, _WORD.findall(message))) - _GENERAL
    if not wanted:
        return None
    symbols: list[str] = []
    words: list[str] = []
    for hit in hits[:most_symbols]:
        told = {word for reason in hit["reasons"] for word in _words_of(reason)}
        found = sorted(word for word in wanted if any(_is_form(word, each) for each in told))
        if _is_enough(len(found), len(wanted), hit):
            symbols.append(hit["id"])
            words += found
    return Supported(tuple(symbols), tuple(dict.fromkeys(words))) if symbols else None


def _is_enough(found: int, wanted: int, hit: Mapping[str, Any]) -> bool:
    if found >= _LEAST_WORDS:
        return found >= _LEAST_SHARE * wanted
    is_named = any(reason.startswith("name:") for reason in hit["reasons"])
    return found > 0 and is_named and hit["share"] >= _LEAST_SHARE


def _words_of(reason: str) -> Iterable[str]:
    """The words of the message that a reason names, such as `documentation: old turns`."""
    kind, _, said = reason.partition(": ")
    return said.lower().split() if kind in _WITH_WORDS else ()


def _is_form(word: str, other: str) -> bool:
    return word == other or (
        len(word) > _STEM and word[:-1].startswith(other[: max(_STEM, len(other) - 2)])
    )
