"""The routines of a file: a pure function of its text and language that never raises on source
text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.routines import Routines
from tersely.code.syntax.cfg.accesses import VISITORS
from tersely.code.syntax.cfg.blocks import block
from tersely.code.syntax.cfg.definitions import read_called
from tersely.code.syntax.cfg.draft import StatementDraft, begin
from tersely.code.syntax.cfg.statements import STATEMENTS
from tersely.code.syntax.cfg.walk import Walk
from tersely.code.syntax.extract import parse
from tersely.code.syntax.isolation import Spared, isolated_walk

if TYPE_CHECKING:
    from tersely.code.languages.model import Language


def read_routines(source: bytes, language: Language, lines: range | None = None) -> Routines:
    """All routines of a file, outermost first. Code that is nested too deeply is left out.

    With `lines`, only the routines that functions on these lines need: the functions with all
    functions in them, the functions of the module that they call by name, and the classes and the
    module around. Of classes and modules only the place is then complete.
    """
    root = parse(source, language).root_node

    def read(spared: Spared) -> Walk:
        walk = Walk(source, language, VISITORS, STATEMENTS, lines, spared.nodes)
        begin(walk.draft)
        walk.draft.statements.append(StatementDraft("entry", 0, 0, 1, 0, walk.draft.end_line, -1))
        walk.draft.statement = 0
        walk.routines.append(None)
        block(walk, root, scoped=False)
        read_called(walk)
        return walk

    walk, _ = isolated_walk(root, read)
    walk.routines[0] = walk.draft.freeze()
    return Routines(tuple(one for one in walk.routines if one is not None))
