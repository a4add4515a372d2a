"""How calls of tools are asked for and read.

way = way_of(model.abilities)
constraint = constraint_for(tools, model.abilities, paths)
call = read_call(answer, tools, paths, way)  # a Call, a Malformed, or None for an answer without one
"""

from laconic.agent.calling.asking import call_format, constraint_for, read_call, way_of
from laconic.agent.calling.call import Call, Malformed
from laconic.agent.calling.form import written
from laconic.agent.calling.paths import Paths
from laconic.agent.calling.prose import ProseReader, prose_reader
from laconic.agent.calling.repetition import Repetition
from laconic.agent.calling.way import Way

__all__ = [
    "Call", "Malformed", "Paths", "ProseReader", "Repetition", "Way",
    "call_format", "constraint_for", "prose_reader", "read_call", "way_of", "written",
]  # fmt: skip
