"""The graph nearby knows what stands in a body, not what its parameters are given."""

from __future__ import annotations

from pathlib import Path

from tersely.code.engine import Engine

SOURCE = """\
class Job:
    def start(self): self.note()
    def note(self): ...
def run(job): job.start()
def main(): run(Job())
"""


def test_parameters_hold_nothing_nearby(tmp_path: Path) -> None:
    (tmp_path / "jobs.py").write_text(SOURCE, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        near = engine.graph.nearby

        def callees(symbol: str) -> list[str]:
            return [edge.callee for edge in near.callees(f"jobs.py:{symbol}", guesses=False)]

        assert callees("run") == []
        assert callees("Job.start") == ["jobs.py:Job.note"]
        assert [one.callee for one in engine.graph.callees("jobs.py:run")] == ["jobs.py:Job.start"]
