"""How calls of tools are asked for and read.

way = way_of(model.abilities)
constraint = constraint_for(tools, model.abilities, paths)
call = read_call(answer, tools, paths, way)  # a Call, a Malformed, or None for an answer without one
"""

from tersely.agent.calling.asking import call_format, constraint_for, read_call, way_of
from tersely.agent.calling.call import Call, Malformed
from tersely.agent.calling.form import written
from tersely.agent.calling.paths import Paths
from tersely.agent.calling.prose import ProseReader, prose_reader
from tersely.agent.calling.repetition import Repetition
from tersely.agent.calling.way import Way

__all__ = [
    "Call", "Malformed", "Paths", "ProseReader", "Repetition", "Way",
    "call_format", "constraint_for", "prose_reader", "read_call", "way_of", "written",
]  # fmt: skip
