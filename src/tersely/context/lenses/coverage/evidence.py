"""The runs of each function: whether, how often, and how suspicious that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from tersely.code.coverage.model import FileCoverage
from tersely.code.coverage.spectrum import Spectrum, spectrum
from tersely.code.symbols import CALLABLE_KINDS, Symbol, SymbolsOf
from tersely.context.lenses.coverage.measured import Measured
from tersely.context.lenses.diff.changed_symbols import Side
from tersely.foundation.types import Numbers, frozen

# of the suspicion of the worst line of a function, that other lines have to be told with it
LEAST_SHARE = 0.999


@frozen
class ExecutedFunction:
    """One function of which some lines ran. Lines of functions inside it are theirs."""

    symbol: Symbol
    lines: Numbers  # that ran
    missed: Numbers  # that are known to have not
    times: int  # the most that one line ran; 1 where only that is known
    tests: int  # that ran some of it, 0 where the report knows none
    suspicion: float  # of its most suspicious line, from 0 to 1
    worst: Numbers  # these lines
    failing: int  # tests that failed and ran one of them
    passing: int  # tests that passed and did


HeaderLines = Callable[[Symbol], int]  # those of a symbol before the first of its body


def ran_functions(
    found: Measured, symbols_of: SymbolsOf, header_lines: HeaderLines
) -> Iterator[ExecutedFunction]:
    """All functions that ran, by path and line.

    The header of a function runs when it is defined, which is when its file is loaded: that some
    test happened to be the first to load it says nothing, so headers do not count. Nor does code
    outside of functions.
    """
    for path, file in found.files.items():
        table = spectrum(file, found.failing, found.passing)
        suspicions = table.suspicions().tolist() if found.failing else []
        for symbol, lines in _own_lines(path, file, symbols_of(path), header_lines):
            covered = tuple(line for line in lines if file.hits[line] > 0)
            if covered:
                yield _ran(symbol, covered, lines, file, table, suspicions)


def _ran(
    symbol: Symbol,
    covered: Numbers,
    lines: Collection[int],
    file: FileCoverage,
    table: Spectrum,
    suspicions: Sequence[float],
) -> ExecutedFunction:
    by_line = {line: suspicions[line] for line in covered if line < len(suspicions)}
    most = max(by_line.values(), default=0.0)
    worst = tuple(line for line in covered if most and by_line.get(line, 0) >= LEAST_SHARE * most)
    failing, passing = table.times(worst[:1])
    missed = tuple(line for line in lines if file.hits[line] <= 0)
    tests = sum(table.times(covered))
    return ExecutedFunction(
        symbol,
        covered,
        missed,
        max(file.hits[line] for line in covered),
        tests,
        most,
        worst,
        failing,
        passing,
    )


def _own_lines(
    path: str, file: FileCoverage, symbols: Sequence[Symbol], header_lines: HeaderLines
) -> list[tuple[Symbol, list[int]]]:
    """The lines that a report knows of each function, each at the innermost around it."""
    if not symbols or not file.hits:
        return []
    last = symbols[0].end_line
    owners = Side(path, b"", symbols).owners(last)[1:]
    own: dict[str, list[int]] = defaultdict(list)
    by_id = {}
    headers: dict[str, int] = {}
    for line in sorted(file.hits):
        symbol = owners[line - 1] if 0 < line <= last else symbols[0]
        if symbol.kind not in CALLABLE_KINDS:
            continue
        if symbol.id not in headers:
            headers[symbol.id] = header_lines(symbol)
        # Of a function on one line the header is all there is.
        if symbol.start_line == symbol.end_line or line >= symbol.start_line + headers[symbol.id]:
            by_id[symbol.id] = symbol
            own[symbol.id].append(line)
    return [(by_id[one], lines) for one, lines in own.items()]
