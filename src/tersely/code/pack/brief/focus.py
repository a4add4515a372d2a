"""What a zoom level makes of a question: the candidates, how much each may show at most, and their bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from tersely.code.flow.reader import FlowReader
from tersely.code.lenses.candidate import Candidate, View, merged
from tersely.code.pack.brief.sketch import sketch
from tersely.code.pack.brief.zoom import Zoom
from tersely.code.pack.excerpt import Line
from tersely.code.pack.ladder import Most, SizeOf, all_of, size_bytes
from tersely.code.pack.model import Detail
from tersely.code.pack.sliced import in_parts
from tersely.code.pack.texts import Texts
from tersely.code.symbols import CALLABLE_KINDS, Edge, Kind, Symbol
from tersely.foundation.errors import TerselyError

SKETCH_PART = 0.4  # of a body, about what its sketch takes
AROUND_LINES = 2  # shown before and after a line that matters


class Focused(NamedTuple):
    """A question, seen from as far as somebody wants."""

    view: View
    texts: Texts
    most: Most
    size_of: SizeOf = size_bytes


def focused(view: View, texts: Texts, zoom: Zoom | None, callers: Callable[[str], Sequence[Edge]]) -> Focused:
    """The question at a zoom level; without one, whatever is worth most."""
    if zoom is None:
        return Focused(view, texts, all_of)
    if zoom is Zoom.FULL:
        whole = tuple(one if one.is_gone else replace(one, parts=()) for one in view.candidates)
        return Focused(replace(view, candidates=whole), texts, all_of)
    if zoom is Zoom.WINDOW:
        return _windows(view, texts, callers)
    if zoom is Zoom.SKETCH:
        return _sketches(view, texts)
    most = Detail.NAME if zoom is Zoom.MODULES else Detail.SKELETON
    return Focused(view, texts, lambda candidate: most)


def _sketches(view: View, texts: Texts) -> Focused:
    sketched = {one.symbol.id for one in view.candidates if one.symbol.kind in CALLABLE_KINDS and not one.is_gone}
    flow = FlowReader(texts.source)

    def body_of(symbol: Symbol) -> Sequence[Line] | None:
        return _sketch(symbol, texts, flow) if symbol.id in sketched else texts.body_of(symbol)

    def most(candidate: Candidate) -> Detail:
        is_file = not candidate.symbol.language  # of which nothing is known but its lines
        return Detail.BODY if candidate.symbol.id in sketched or candidate.is_gone or is_file else Detail.SKELETON

    candidates = tuple(replace(one, parts=()) if one.symbol.id in sketched else one for one in view.candidates)
    return Focused(replace(view, candidates=candidates), replace(texts, body_of=body_of), most, _sketch_bytes)


def _sketch_bytes(symbol: Symbol, detail: Detail) -> float:
    return size_bytes(symbol, detail) * (SKETCH_PART if detail is Detail.BODY else 1)


def _sketch(symbol: Symbol, texts: Texts, flow: FlowReader) -> Sequence[Line]:
    """The sketch of a function, or its body if that is shorter."""
    rows = texts.source(symbol.path).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    named = rows[symbol.name_line - 1]
    header = named[: len(named) - len(named.lstrip(" \t"))] + texts.signature(symbol).plain
    try:
        routines, at = flow.of_symbol(symbol)
    except TerselyError:  # nothing is known of how its statements run
        return [Line(symbol.start_line, header)]
    lines = sketch(routines.routines[at], header, rows)
    whole = texts.body(symbol)
    return lines if sum(len(line.text) for line in lines) < sum(len(line.text) for line in whole) else whole


def _windows(view: View, texts: Texts, callers: Callable[[str], Sequence[Edge]]) -> Focused:
    candidates = tuple(_cut_to_calls(one, callers) for one in view.candidates)
    parts = {one.symbol.id: one.parts for one in candidates if one.parts}
    had = {one.symbol.id for one in view.candidates if one.parts}

    def body_of(symbol: Symbol) -> Sequence[Line] | None:
        if symbol.id in had or symbol.id not in parts:
            return texts.body_of(symbol)
        return in_parts(texts.body(symbol), parts[symbol.id], texts.header_size(symbol))

    def most(candidate: Candidate) -> Detail:
        is_seen = candidate.is_target or candidate.parts or candidate.whole_only
        return Detail.BODY if is_seen or candidate.symbol.kind is Kind.CONSTANT else Detail.SKELETON

    return Focused(replace(view, candidates=candidates), replace(texts, body_of=body_of), most)


def _cut_to_calls(candidate: Candidate, callers: Callable[[str], Sequence[Edge]]) -> Candidate:
    """A caller, cut down to the lines where it calls what it is a caller of."""
    symbol = candidate.symbol
    if candidate.is_target or candidate.parts or not candidate.of or symbol.kind not in CALLABLE_KINDS:
        return candidate
    sites = (site for edge in callers(candidate.of) if edge.caller == symbol.id for site in edge.sites)
    lines = sorted({site.line for site in sites if site.path == symbol.path})
    near = [(max(symbol.start_line, at - AROUND_LINES), min(symbol.end_line, at + AROUND_LINES)) for at in lines]
    return replace(candidate, parts=merged(near)) if near else candidate
