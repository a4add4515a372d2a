"""How calls of tools are asked for and read.

way = way_of(model.abilities)
constraint = constraint_for(tools, way, paths)
reading = read_calls(answer, tools, paths, way)  # its `calls` are each a Call or a Malformed
"""

from tersely.agent.calling.asking import AUTO, Reading, call_format, constraint_for, read_calls, read_raw_call, way_of
from tersely.agent.calling.call import Call, Malformed
from tersely.agent.calling.form import written
from tersely.agent.calling.paths import Paths
from tersely.agent.calling.prose import ProseReader, prose_reader
from tersely.agent.calling.repetition import Repetition
from tersely.agent.calling.thoughts import ThoughtReader
from tersely.agent.calling.way import Way

__all__ = [
    "AUTO", "Call", "Malformed", "Paths", "ProseReader", "Reading", "Repetition", "ThoughtReader", "Way",
    "call_format", "constraint_for", "prose_reader", "read_calls", "read_raw_call", "way_of", "written",
]  # fmt: skip
