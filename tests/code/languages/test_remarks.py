"""Comments and continued lines mean nothing, wherever they stand: facts and flow stay as they are.

Between every two tokens of a sample of each language a comment is put, or in Python a continued
line. A place counts where a blank in place of the comment changes nothing and the grammar reads the
comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from tests.depth import mostly_slow
from tree_sitter import Node

from tersely.code.expressions import CALL, NEW, Scope
from tersely.code.languages.model import Language
from tersely.code.languages.registry import LANGUAGES
from tersely.code.syntax.cfg.read import read_routines
from tersely.code.syntax.extract import extract, parse

SAMPLES = {
    "python": '''import os.path as p
def use(a, *b: int, c=None, **d):
    x = (a if c else b)
    y = [a, b][1](c)[0:2]
    for i, j in zip(a, b): y += i * -j
    with open(x) as f, g() as h: f.write({k: v for k, v in h.items() if v})
    try: return a.b(c, k=d) or not (y, x)[0]
    except (E, F) as e: raise G(e) from e
@p.wraps(use)
class K(Base, metaclass=M):
    field: int = 1
    def m(self): self.x, self.y = yield self.m().n; del self.x[1]; return lambda q: q(self)
''',
    "javascript": '''import d, {e as f} from "m";
const {a, b: c = 1} = f(d);
class K extends L { x = 1; constructor(p) { super(p); this.y = p; } get z() { return this.y ?? a; } }
function use(p, ...q) { let x = p ? a(q) : new K(p)[0]; for (const i of q) { x += i(c); } return [x, p][1](); }
const g = async (h) => await h.then((r) => r.b);
try { if (a && !b) { throw g; } else { c(); } } catch (e) { e.f(); } finally { a(); }
export default use;
''',
    "typescript": '''import type { A } from "a";
interface I<T> extends A { m(x: T): string; f?: number }
class K<T> implements I<T> { constructor(private a: T, public b = 1) {} m(x: T): string {
 return (x as A).n(this.a); } }
function use(p: K<A>, q: [A, A]): A | null { const x = p.m(q[0]!); return x ? q[1] : null; }
enum E { A = 1, B }
''',
    "tsx": '''const C = (p: P) => <Outer a={p.f(1)} {...p}><Inner>{p.g ? p.h() : null}</Inner></Outer>;
''',
    "go": '''package p
import ( m "a/b" )
type T struct { m.X; f, g int }
type I interface { M(x int) (int, error) }
func (t *T) M(x int) (int, error) { if y, ok := t.f[x]; ok { return y, nil }; return m.New(x)[1:2], t.g() }
func use(a ...I) { for i, v := range a { go v.M(i); defer func() { a[0].M(1) }() }; x := &T{f: 1, g: 2}; x.f += 1 }
func sel(c chan int) { switch v := any(c).(type) { case int, string: use(v); default: c <- 1 } }
''',
    "java": '''package a.b; import c.D;
@X class K<T extends D> extends B implements I { private T f = new T(1), g; K(T a, int... b) { super(a); this.f = a; }
 int m(D d) throws E { for (D x : d.all()) { if (x instanceof T t && t.ok()) return x.n()[0]; }
 int y = d == null ? 1 : (int) d.q();
 try (R r = d.open()) { y += r.read(); } catch (E | F e) { throw e; } finally { d.close(); }
 Runnable s = () -> d.run(y); return switch (y) { case 1, 2 -> d.a(); default -> d.b(); }; } }
''',
    "kotlin": '''package a
import b.C
class K(val f: C, g: Int = 1) : B(f), I by f { val h: C get() = f.x(); fun m(a: List<C>): C? {
 for ((i, v) in a.zip(a)) { v.n(i) }
 val r = a[0] ?: f; return if (r is C && r.ok()) r.let { it.go(g) } else when (g) { 1, 2 -> r.a(); else -> null } } }
fun C.ext(vararg x: Int) = try { this.a(*x) } catch (e: E) { e.b } finally { x.c() }
''',
    "php": '''<?php namespace A; use B\\C; class K extends C implements I { private ?C $f = null;
 public function m(C $a, ...$b): ?C { foreach ($b as $k => $v) { $this->f = $v->n($k)[0]; }
 [$x, $y] = [$a, new C($b)];
 return $x ? $a->f?->g(...$b) : self::h($y) ?? static::$z; } }
function use_it($a) { try { return array_map(fn($q) => $q->r(), $a); } catch (E | F $e) { throw $e; } finally {
 $a->c(); } }
''',
    "ruby": '''require "a"
class K < B
  attr_reader :f
  def initialize(a, *b, c: 1, &d) = (@f, @g = a, b)
  def m(x)
    y = x ? f.n(x, k: 1) : [x, f][1].go { |i, j| i.t(j) }
    x.each do |v| y += v[0] unless v.nil? && !y end
    y ||= case x when 1, 2 then x.a else x.b end
    return y, x
  rescue E, F => e
    raise e
  ensure
    f.c
  end
end
''',
    "rust": '''use a::{b::C, d as e};
struct K<T> { f: T, g: C }
impl<T: Tr> K<T> { fn new(f: T) -> Self { K { f, g: C::n() } } fn m(&mut self, x: Option<C>) -> Result<C, E> {
 for (i, v) in self.g.iter().enumerate() { v.t(i)?; } let y = if let Some(z) = x { z.a() } else { e(1)[0] };
 self.f += y;
 match y { C { p, .. } | C(p) if p.ok() => Ok(p), _ => { return Err(E::new(y)); } } } }
fn use_it(k: &K<C>) -> impl Fn(C) -> C + '_ { move |c| k.g.h(c as D, (c, c).1) }
''',
    "cpp": '''#include "a.h"
namespace n { template <typename T> class K : public B<T>, C { public: K(T a, int b = 1) : f(a), g{b} {}
 T m(const T& x) const; T f; int g; }; }
template <typename T> T n::K<T>::m(const T& x) const { for (auto& v : x.all()) { if (v->ok() && !g) return v[0]; }
 auto l = [this, &x](int i) { return f.go(i, x); }; int y = g ? l(1) : (int) x.q(); y += *new T(y); delete x.p;
 try { switch (y) { case 1: return x.a(); default: break; } } catch (const E& e) { throw e; } return n::K<T>(x).f; }
''',
    "c": '''#include "a.h"
typedef struct k { int f, *g; } K;
static int use(K *k, int (*fn)(K *)) { int x = k->f ? fn(k) : (int) sizeof(K), y[2] = { 1, x }; for (int i = 0;
 i < x; i++) y[i] += run(&y[i], k);
 do { if (!x && y[0]) goto out; else x--; } while (x); switch (x) { case 1: return y[1]; default: break; }
 out: return (x, *k->g); }
K all[] = { { .f = 1 }, { 2, 0 } };
''',
    "csharp": '''using A = B.C; namespace N { class K<T> : D, I where T : D
 { public T F { get; set; } = new T(1); public K(T a, params int[] b) : base(a) { F = a; }
 public int M(T x) { foreach (var v in x.All()) { if (v is T t && t.Ok()) return v.N()[0]; }
 var y = x?.Q(1) ?? (int) F.R();
 try { using var r = x.Open(); y += r.Read(); } catch (E e) when (e.A()) { throw; } finally { x.Close(); }
 Func<T, int> g = q => q.S(y); return y switch { 1 => g(x), _ => x.U() }; } } }
''',
    "scala": '''package a
import b.{C, D => E}
class K[T <: C](val f: T, g: Int = 1) extends B(f) with I { val h = new C(g); def m(x: List[T]): Option[C] = {
 for { v <- x; w = v.n(g) if w.ok } yield w.go(h)
 val y = if (g > 1) x.head else f; y match { case C(p, _) if p.t => Some(p.a()); case _ => try { y.b() }
 catch { case e: E => throw e } finally { f.c() } } } }
''',
    "swift": '''import A
class K<T: C>: B, I { let f: T; var g: Int { return f.x() }; init(_ a: T, b c: Int = 1) { self.f = a; super.init(c) }
 func m(x: [T]) throws -> C? { for (i, v) in x.enumerated() { v.n(i) }; guard let y = x.first, y.ok() else {
 return nil }
 let z = g > 1 ? try y.a(k: x[0]) : f; switch z { case let p as C where p.t(): return p; default: break };
 return x.map { q in q.go(z) }[0] } }
''',
    "lua": '''local a, b = require("a"), 1
local K = {f = 1, [b] = a.g, 2}
function K.new(x, ...) local self = setmetatable({}, K) self.h = x or a.n(...)[1] return self end
function K:m(y) for i, v in ipairs(y) do if not v.ok and i > #y then v:t(i) else self.h = self.h .. v() end end
 while y do y = y.next; if y == b then break end end return function(q) return q(self), y end end
''',
    "elixir": '''defmodule A.B do
  use C, d: 1
  alias E.{F, G}
  def m(x, y \\\\ 1) when is_list(x) do
    z = x |> F.a(y) |> Enum.map(fn q -> G.b(q, k: y) end)
    case z do
      {:ok, [h | t]} when h > 1 -> %{h: h, t: t}.h
      _ -> if y, do: g(&F.c(&1, y)), else: [x, y]
    end
  end
  defp g(f), do: f.(1) <> "a"
end
''',
}  # fmt: skip
LINE_COMMENTS = frozenset({"python", "ruby", "elixir"})
TEXTS = (
    "string",
    "comment",
    "preproc",
    "regex",
    "jsx_text",
    "char",
    "quoted",
    "symbol",
    "sigil",
    "attribute_item",
)
UNNAMED = re.compile(r"<\d+")
LEAST_PLACES = 0.6  # of all between two tokens


class Remark(NamedTuple):
    """What is put between two tokens, and what would mean nothing in any case."""

    plain: bytes
    text: bytes


def remarks(language: str) -> list[Remark]:
    if language == "python":
        return [Remark(b"\n", b" # c\n"), Remark(b" ", b" \\\n")]
    if language in LINE_COMMENTS:
        return [Remark(b"\n", b" # c\n")]
    return [Remark(b" ", b" --[[c]] " if language == "lua" else b" /*c*/ ")]


def without_places(value: Any) -> Any:
    """Lists for tuples, no lines of calls, and no bytes in the names of what has none."""
    if isinstance(value, str):
        return UNNAMED.sub("<", value)
    if not isinstance(value, tuple | list):
        return value
    is_call = len(value) == 5 and value[0] in (CALL, NEW)
    return [without_places(part) for part in (value[:4] if is_call else value)]


def known(source: bytes, language: Language) -> Any:
    """Facts and flow without their places."""
    facts = extract(source, language)
    definitions = [
        (one.kind, one.name, one.qualname, one.parent, one.number) for one in facts.definitions
    ]
    scopes = [
        Scope(*scope)._replace(reads=scope_reads(scope)) if scope else None
        for scope in facts.scopes
    ]
    imports = [(one.module, one.name, one.alias) for one in facts.imports]
    routines = [
        (
            one.name, one.parent, one.edges, one.shares, one.free, one.outward, one.parameters, one.complexity,
            [(statement.kind, statement.owner) for statement in one.statements],
            [(point.statement, *point[3:]) for point in one.points],
            [call._replace(line=0) for call in one.calls],
        )
        for one in read_routines(source, language).routines
    ]  # fmt: skip
    return without_places((definitions, scopes, imports, facts.mentions, facts.namespace, routines))


def scope_reads(scope: Any) -> tuple[Any, ...]:
    return tuple(name for name, _ in Scope(*scope).reads)


def leaves(node: Node) -> Iterator[Node]:
    if not node.child_count or any(kind in node.type for kind in TEXTS):
        yield node
        return
    for child in node.children:
        yield from leaves(child)


def places(source: bytes, language: Language) -> list[int]:
    """Where a token ends and another one follows."""
    tokens = [
        leaf
        for leaf in leaves(parse(source, language).root_node)
        if leaf.end_byte > leaf.start_byte
    ]
    return [one.end_byte for one, other in pairwise(tokens) if one.end_byte <= other.start_byte]


def is_read(source: bytes, language: Language) -> bool:
    return not parse(source, language).root_node.has_error


def test_every_language_that_is_read_by_rules_has_a_sample() -> None:
    # what has a walk of its own is read by queries, or its parts by the rules of another
    by_rules = {name for name in LANGUAGES if LANGUAGES[name].walk is None}
    assert by_rules <= SAMPLES.keys()


@pytest.mark.parametrize("name", mostly_slow(SAMPLES, "python", "typescript"))
def test_a_remark_changes_nothing_wherever_it_stands(name: str) -> None:
    language, source = LANGUAGES[name], SAMPLES[name].encode()
    assert is_read(source, language)
    expected, wrong, tried = known(source, language), [], set()
    for place in places(source, language):
        for remark in remarks(name):
            plain, text = (source[:place] + added + source[place:] for added in remark)
            if not is_read(text, language):
                continue
            if known(text, language) == expected:
                tried.add(place)
            elif is_read(plain, language) and known(plain, language) == expected:
                wrong.append(
                    source[max(0, place - 30) : place] + remark.text + source[place : place + 30]
                )
    assert wrong == []
    assert len(tried) > LEAST_PLACES * len(places(source, language))
