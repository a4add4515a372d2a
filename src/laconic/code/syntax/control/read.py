"""The routines of a file: a pure function of its text and language that never raises on source text."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from laconic.code.languages.control.roles import Control
from laconic.code.routines import Routines
from laconic.code.syntax.control.accesses import VISITORS
from laconic.code.syntax.control.blocks import body
from laconic.code.syntax.control.definitions import read_called
from laconic.code.syntax.control.draft import StatementDraft, begin
from laconic.code.syntax.control.statements import STATEMENTS
from laconic.code.syntax.control.walk import Walk
from laconic.code.syntax.extract import parse
from laconic.foundation.recursion import allow_deep_nesting

if TYPE_CHECKING:
    from laconic.code.languages.model import Language


def read_routines(source: bytes, language: Language, lines: range | None = None) -> Routines:
    """All routines of a file, outermost first. What is nested too deeply to be read is left out.

    With `lines`, those of them that functions on these lines need: the functions, with what is in them, what of the
    module they call by name, and the classes and the module around, of which only the place is to be relied on.
    """
    table = language.control() if language.control else Control({}, level="none")
    root = parse(source, language).root_node
    walk = Walk(source, language, table, VISITORS, STATEMENTS, body, lines)
    allow_deep_nesting()
    begin(walk.draft)
    walk.draft.statements.append(StatementDraft("entry", 0, 0, 1, 0, walk.draft.end_line, -1))
    walk.draft.statement = 0
    walk.routines.append(None)
    with suppress(RecursionError):
        walk.body(root)
        read_called(walk)
    walk.routines[0] = walk.draft.freeze()
    return Routines(language.name, table.level, tuple(one for one in walk.routines if one is not None))
