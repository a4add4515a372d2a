"""Types that whatever has their methods implements: Protocols, interfaces and object types."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

PYTHON = """
from dataclasses import dataclass
from typing import Protocol

class P(Protocol):
    name: str
    def go(self, x: int) -> int: ...

class S:
    def go(self, x, y=0): return x

class Wider:
    def go(self, x, y, z): return x

class Other:
    def stop(self): ...

class Both(P, Protocol):
    def stop(self): ...

@dataclass
class Keep:
    one: P
    many: dict[str, P]
    def kept(self): return self.one.go(1)
    def held(self): return self.many["a"].go(1)

def made() -> P:
    return S()

def via(p: P): return p.go(1)
def maybe(p: "P | None"): return p and p.go(1)
def each(ps: list[P]): return [p.go(1) for p in ps]
def all_of(*ps: P): return [p.go(1) for p in ps]
def of_made(): return made().go(1)
def both(p: Both): return p.go(1)

via(S())
"""


@pytest.mark.parametrize(
    "caller", ["via", "maybe", "each", "all_of", "of_made", "Keep.kept", "Keep.held"]
)
def test_what_has_the_methods_of_a_protocol_is_called_through_it(
    tmp_path: Path, caller: str
) -> None:
    check(
        tmp_path,
        {"a.py": PYTHON},
        edges=[f"a.py:{caller} -> a.py:S.go inferred", f"a.py:{caller} -> a.py:P.go inferred"],
        absent=[f"a.py:{caller} -> a.py:Wider.go", "a.py:both -> a.py:S.go"],
    )


TYPESCRIPT = """
export interface P { go(x: number): void; later?(): void; name?: string }
export interface F { go: (x: number) => void; later?: () => void }
type T = { go(x: number): void }
interface Tagged { tag: 'tagged'; go(x: number): void }
class S { go() {} }
class Wider { go(x: number, y: number) {} }
class Named implements P { go() {} }
export class Keep {
  last?: P
  items: Map<string, F> = new Map()
  constructor(private one: P) {}
  kept() { this.one.go(1) }
  field() { this.last?.go(1) }
  held() { this.items.get('a')!.go(1) }
}
function made(): P { return new S() }
function via(p: P) { p.go(1) }
function field(p: F) { p.go(1) }
function named(p: T) { p.go(1) }
function written(p: {go(x: number): void}) { p.go(1) }
function each(ps: P[]) { for (const p of ps) p.go(1) }
function bound<G extends P>(p: G) { p.go(1) }
function of_made() { made().go(1) }
function object(p: P) { p.go(1) }
function tagged(p: Tagged) { p.go(1) }
object({ go() { S } })
written(new S())
"""


@pytest.mark.parametrize(
    "caller",
    ["via", "field", "named", "written", "each", "of_made", "Keep.kept", "Keep.field", "Keep.held"],
)
def test_what_has_the_methods_of_an_interface_is_called_through_it(
    tmp_path: Path, caller: str
) -> None:
    check(
        tmp_path,
        {"a.ts": TYPESCRIPT},
        edges=[f"a.ts:{caller} -> a.ts:S.go inferred"],
        absent=[f"a.ts:{caller} -> a.ts:Wider.go", f"a.ts:{caller} -> a.ts:Tagged.go"],
    )


def test_an_object_that_is_passed_for_an_interface_is_called_through_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.ts": """
interface P { go(): void }
const one = { go() {} }
function via(p: P) { p.go() }
via(one)
function other(p: P) { p.go() }
class S { go() {} }
"""
        },
        edges=[
            "a.ts:via -> a.ts:one.go inferred",
            # the interface itself is meant where only what does not name it has its methods
            "a.ts:other -> a.ts:P.go inferred",
            "a.ts:other -> a.ts:S.go inferred",
        ],
        absent=["a.ts:via -> a.ts:S.go"],
    )


def test_what_has_the_methods_of_an_interface_of_go_is_called_wherever_it_is_kept(
    tmp_path: Path,
) -> None:
    check(
        tmp_path,
        {
            "a.go": """
package a
type P interface { Go(x int) }
type S struct{}
func (s *S) Go(x int) {}
type Wider struct{}
func (w *Wider) Go(x, y int) {}
type Keep struct { one P; many map[string]P }
func (k *Keep) kept() { k.one.Go(1); k.many["a"].Go(1) }
func made() P { return &S{} }
func ofMade() { made().Go(1) }
func written(p interface{ Go(x int) }) { p.Go(1) }
"""
        },
        edges=[f"a.go:{one} -> a.go:S.Go inferred" for one in ("Keep.kept", "ofMade", "written")],
        absent=["a.go:Keep.kept -> a.go:Wider.Go", "a.go:written -> a.go:Wider.Go"],
    )


def test_what_is_called_through_a_property_of_the_receiver_is_inferred(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.py": """
from typing import Protocol
class P(Protocol):
    def __call__(self): ...
class S:
    def __call__(self): ...
def plain(): ...
class H:
    def __init__(self, kept: P): self.kept = kept
    @property
    def given(self) -> P: return self.kept
    @property
    def made(self): return plain
    def own(self): ...
    def run(self): self.given(); self.made(); self.own()
    def direct(self): self.kept()
H(S()).run()
"""
        },
        edges=[
            "a.py:H.run -> a.py:S.__call__ inferred",
            "a.py:H.run -> a.py:plain inferred",
            "a.py:H.direct -> a.py:S.__call__ inferred",
            "a.py:H.run -> a.py:H.own exact",
        ],
    )
