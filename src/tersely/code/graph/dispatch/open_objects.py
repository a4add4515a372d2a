"""Members of things outside the repository to which code gives any: `threading.local()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tersely.code.graph.pointsto.values import NOTHING, Value, Values
from tersely.code.graph.program.file import File

if TYPE_CHECKING:
    from tersely.code.graph.pointsto.evaluate import Evaluator

MAX_GIVING_FILES = 10  # that mention a member, above which its own file alone is searched
GIVING_LIMIT = (
    f"what is given to a member of a thing outside that over {MAX_GIVING_FILES} files"
    " mention was looked for in the file that reads it alone"
)


class OpenObjects:
    """What code assigns to members of such things, over the values of an `Evaluator`."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.program = evaluator.program
        self.solver = evaluator.solver

    def of(self, value: Value, name: str, file: File) -> Values:
        """The values of a member, nothing of a thing that takes none."""
        if value[1] not in file.facts.open_objects:
            return NOTHING
        return self.solver.solve(("open", value, name), self._given, value, name, file)

    def _given(self, value: Value, name: str, file: File) -> Values:
        files = self.program.mentioning(name, file)
        if len(files) > MAX_GIVING_FILES:
            self.solver.bounds.met(GIVING_LIMIT)
            files = (file.id,)
        found: Values = NOTHING
        for other in map(self.program.file, files):
            for store in other.member_stores().get(name, ()):
                if value in self.evaluator.values(other, store.scope, store.base):
                    found |= self.evaluator.values(other, store.scope, store.value)
        return found
