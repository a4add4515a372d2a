"""Short names for long identifiers in the code of a pack, with a legend that gives the long ones back.

An identifier is given an alias only if it means nothing else: wherever a file whose code is shown has it, it has it as
an identifier, and not as a word of a string. An alias is a word that stands nowhere else in the pack. So replacing each
by what the legend says gives the pack as it would be without. Names of files and symbols outside of code stay as they
are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from string import ascii_uppercase

from tersely.code.languages.registry import LANGUAGES, language_of_path
from tersely.code.pack.model import Count, Extract, Item, Pack
from tersely.code.pack.scale import Fitted, Scale
from tersely.code.pack.texts import Texts
from tersely.code.syntax.spans import doc_spans, plain_names

MAX_ALIASES = 52
_WORD = re.compile(r"[^\W\d]\w*")


def with_aliases(fitted: Fitted, texts: Texts, scale: Scale) -> Fitted:
    """The pack with as many aliases as make it shorter, legend and all; as it is if none do."""
    chosen = _worth(fitted.pack, texts, scale.count_once)
    taken = {*_WORD.findall(fitted.text), *(word for text in _shown(fitted.pack) for word in _WORD.findall(text))}
    while chosen:
        free = (name for name in _short_names() if name not in taken)
        legend = dict(zip(chosen, free, strict=False))
        shorter = scale.settle(_renamed(fitted.pack, legend))
        if shorter.pack.used < fitted.pack.used:
            return shorter
        chosen = chosen[: len(chosen) // 2]
    return fitted


def _short_names() -> Iterator[str]:
    yield from ascii_uppercase
    yield from ("".join(pair) for pair in product(ascii_uppercase, repeat=2))


def _worth(pack: Pack, texts: Texts, count: Count) -> list[str]:
    """The identifiers for which an alias saves more tokens than its entry in the legend takes, the best first."""
    times: Counter[str] = Counter()
    ambiguous: set[str] = set()
    for path, shown in _by_path(pack).items():
        words = Counter(word for text in shown for word in _WORD.findall(text))
        plain = _plain(path, texts)
        ambiguous.update(word for word in words if word not in plain)
        times.update(words)
    gains = {
        word: number * (count(f" {word}") - 1) - count(f" A={word}")
        for word, number in times.items()
        if number > 1 and word not in ambiguous
    }
    paying = (word for word, gain in gains.items() if gain > 0)
    return sorted(paying, key=lambda word: (-gains[word], word))[:MAX_ALIASES]


def _plain(path: str, texts: Texts) -> frozenset[str]:
    name = language_of_path(path)
    if name is None:
        return frozenset()
    source = texts.source(path)
    docs = () if texts.with_docs else doc_spans(source, LANGUAGES[name])
    return plain_names(source, LANGUAGES[name], docs)


def _by_path(pack: Pack) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in pack.items:
        if not item.delta:
            found.setdefault(item.symbol.path, []).extend([item.code, item.signature])
    for extract in pack.extracts:
        if not extract.delta:
            found.setdefault(extract.path, []).append(extract.text)
    return found


def _shown(pack: Pack) -> Iterator[str]:
    for item in pack.items:
        yield from (item.code, item.signature, item.qualified)
    yield from (extract.text for extract in pack.extracts)


def _renamed(pack: Pack, legend: Mapping[str, str]) -> Pack:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, legend))})\b")

    def short(text: str) -> str:
        return pattern.sub(lambda found: legend[found[0]], text)

    items = tuple(_item(item, short) for item in pack.items)
    extracts = tuple(_extract(extract, short) for extract in pack.extracts)
    entries = tuple((alias, name) for name, alias in legend.items())
    return replace(pack, items=items, extracts=extracts, aliases=entries)


def _item(item: Item, short: Callable[[str], str]) -> Item:
    if item.delta:
        return item
    signature = _but(item.symbol.name, item.signature, short)
    qualified = _but(item.symbol.qualname, item.qualified, short)
    return replace(item, code=short(item.code), signature=signature, qualified=qualified)


def _extract(extract: Extract, short: Callable[[str], str]) -> Extract:
    return extract if extract.delta else replace(extract, text=short(extract.text))


def _but(name: str, text: str, short: Callable[[str], str]) -> str:
    """A signature with aliases, but for the name of what it is the signature of: by that it is asked for."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) if name else None
    if found is None:
        return short(text)
    return short(text[: found.start()]) + found[0] + short(text[found.end() :])
