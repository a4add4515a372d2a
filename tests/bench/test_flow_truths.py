from __future__ import annotations

from pathlib import Path

import pytest
from bench.groundtruth.flow import coverage_arcs, program_analysis, python_graphs, radon_numbers


def test_arcs_are_read_a_character_a_line() -> None:
    assert coverage_arcs.read_arcs(".1 12 2A -33 3-3 A.") == {
        (0, 1),
        (1, 2),
        (2, 10),
        (0, 3),
        (3, 0),
        (10, 0),
    }


@pytest.mark.parametrize(
    ("code", "arcs"),
    [
        ("", ".1 1."),
        ("a = 1\nreturn\nb = 2\n", ".1 12 2."),
        ("f(\n    lambda: 1,\n)\n", ".1 1."),
        ("x = (a for a in b)\ny = 1\n", ".1 1. 12 2."),
        ("class A:\n    b = 1\n", ".1 12 2. 1."),
        ("def f():\n    global a\n    a = 1\n", ".1 1. .3 3."),
    ],
)
def test_our_arcs_are_put_as_coverage_puts_them(code: str, arcs: str) -> None:
    assert coverage_arcs.arcs_of(code) == coverage_arcs.read_arcs(arcs)


ANALYSIS = """
describe('detects control dependencies', () => {
  it('to a loop', () => {
    let deps = analyze('for a in b:', '    c');
    expect(deps).to.deep.equal([[2, 1], [9, 1]]);
    expect(deps).to.not.deep.include([1, 1]);
  });
});
describe('getDefs', () => {
  it('of a call', () => {
    let defs = getDefsFromStatement(['f(a)'].join('\\n'));
    expect(defs.length).to.equal(2);
    expect(defs[0].name).to.equal('a');
  });
  it('with a table', () => {
    let defs = getDefsFromStatement('f(a)', { __builtins__: { functions: ['f'] } });
    expect(defs).to.deep.equal([]);
  });
});
"""


def test_assertions_of_typescript_are_facts(tmp_path: Path) -> None:
    (tmp_path / "analysis.test.ts").write_text(ANALYSIS, encoding="utf-8")
    (tmp_path / "slice.test.ts").write_text("", encoding="utf-8")
    control, definitions = program_analysis.run(tmp_path)
    assert (control.agreed, control.missing, control.extra) == (2, ("9 on 1",), ())
    assert (definitions.agreed, definitions.missing) == (1, ("2 definitions",))


SAMPLE = "def sample():\n  while a:\n    b\n    break\n  c\n"
CONTROL = """
class Test:
  def test_ways(self):
    graph = control_flow.get_control_flow_graph(tc.sample)
    body = 'b'
    self.assertExitsTo(graph, 'a', body)
    self.assertExitsTo(graph, body, 'c')
    self.assertSameBlock(graph, 'a', 'c')
    self.assertNotExitsTo(graph, 'c', 'a')
"""
DATA = """
class Test:
  def test_writes(self):
    def fn():
      a = 1
      a += 2
    node = graph.get_control_flow_node_by_source('a += 2')
    before = node.get_label('last_access_in')
    after = node.get_label('last_access_out')
    self.assertLen(before['write-a'], 1)
    self.assertLen(after['write-a'], 2)
    self.assertLen(after['read-a'], 7)
"""


def test_assertions_on_blocks_and_writes_are_facts(tmp_path: Path) -> None:
    for name, text in (
        (python_graphs.SAMPLES, SAMPLE),
        (python_graphs.CONTROL, CONTROL),
        (python_graphs.DATA, DATA),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ways, writes = python_graphs.run(tmp_path)
    assert (ways.agreed, ways.missing) == (3, ("assertSameBlock 'a' 'c'",))
    assert (writes.agreed, writes.missing) == (1, ("2 writes of a, last_access_out 'a += 2'",))


def test_rows_of_tables_are_numbers(tmp_path: Path) -> None:
    (tmp_path / radon_numbers.TABLE).write_text(
        "SIMPLE_BLOCKS = [('if a: pass', 2, {}), ('assert a', 1, {'no_assert': True})]\n"
        "CLOSURES_CASES = [('def f():\\n  def g(): a or b', ('g',), (2, 7))]\n",
        encoding="utf-8",
    )
    simple, closures = radon_numbers.run(tmp_path)
    assert (simple.agreed, simple.missing) == (1, ())
    assert (closures.agreed, closures.missing, closures.extra) == (1, ("2: 7",), ("2: 1",))
