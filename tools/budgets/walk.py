"""What the walk of a source file costs: Python calls, and CPU seconds beside those of the bare parse."""

from __future__ import annotations

import cProfile
import gc
import time
from collections.abc import Sequence
from pathlib import Path

from tersely.code.languages.model import Language
from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.extract import extract, parse, tools_for
from tools.budgets.inputs import files_of, languages

BYTES_OF_KB = 1024


def figures() -> dict[str, float]:
    """Python calls per KB of source, by language: function calls, and each time a generator goes
    on.
    """
    return {f"walk.{name}": _calls_per_kb(LANGUAGES[name], files_of(name)) for name in languages()}


def cpu_by_parse() -> dict[str, float]:
    """CPU time of the walk, the parse within it, divided by that of the parse alone, by language."""
    return {name: _cpu_by_parse(LANGUAGES[name], files_of(name)) for name in languages()}


def calls(source: bytes, language: Language) -> int:
    """Python calls of the walk of one source; the rules of the language are compiled before, and
    nothing is collected meanwhile, as whoever is told of that may be Python too.
    """
    tools_for(language)
    profile = cProfile.Profile(builtins=False)
    gc.disable()
    profile.enable()
    extract(source, language)
    profile.disable()
    gc.enable()
    return sum(entry.callcount for entry in profile.getstats())


def _calls_per_kb(language: Language, files: Sequence[Path]) -> float:
    sources = [file.read_bytes() for file in files]
    counted = sum(calls(source, language) for source in sources)
    return round(counted * BYTES_OF_KB / sum(map(len, sources)), 1)


def _cpu_by_parse(language: Language, files: Sequence[Path]) -> float:
    sources = [file.read_bytes() for file in files]
    tools_for(language)
    start = time.process_time()
    for source in sources:
        parse(source, language)
    parsed = time.process_time()
    for source in sources:
        extract(source, language)
    return (time.process_time() - parsed) / (parsed - start)
