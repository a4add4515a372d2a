"""A graph that takes over what is loaded from the revision before answers like one that was made
anew.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.engine import Engine
from tersely.code.symbols import Edge

FILES = ("a.py", "m.py", "z.py", "lib/__init__.py")
TEXTS = (
    None,  # the file is not there
    "def run(f):\n    return f()\n\ndef go():\n    return run(help)\n\ndef help():\n    return [run]\n",
    "from m import run\n\nclass Base:\n    def step(self):\n        return run(self.step)\n\nthing = Base()\n",
    "from z import Base, thing\nfrom lib import go\n\nclass Own(Base):\n    def step(self):\n        return go()\n",
    "from m import *\n\ndef use():\n    thing.step()\n    Own().step()\n    table = {'k': go}\n    table['k']()\n",
    "from a import *\nfrom .other import nothing\n\ndef go():\n    for made in [Own(), thing]:\n        made.step()\n",
)
EDITS = st.lists(st.tuples(st.sampled_from(FILES), st.sampled_from(TEXTS)), min_size=1, max_size=4)


@settings(deadline=None, max_examples=examples())
@given(st.tuples(*(st.sampled_from(TEXTS) for _ in FILES)), EDITS)
def test_answers_do_not_depend_on_earlier_revisions(
    first: tuple[str | None, ...], edits: list[tuple[str, str | None]]
) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for name, text in zip(FILES, first, strict=True):
            _write(root / name, text)
        with Engine.open(root) as engine:
            engine.refresh()
            _every_edge(engine)
            for name, text in edits:
                _write(root / name, text)
                engine.refresh()
                told = _every_edge(engine)
                with Engine.open(root) as fresh:
                    assert told == _every_edge(fresh)


def _write(path: Path, text: str | None) -> None:
    path.parent.mkdir(exist_ok=True)
    if text is None:
        path.unlink(missing_ok=True)
    else:
        path.write_text(text, encoding="utf-8")


def _every_edge(engine: Engine) -> list[tuple[str, list[Edge], list[Edge]]]:
    graph = engine.graph
    ids = [symbol.id for symbol in engine.store.symbols()]
    return [(one, graph.callers(one), graph.callees(one)) for one in ids]
