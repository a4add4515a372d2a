"""Members of generic classes and their bases have the types that type arguments say, in every
language alike.
"""

from __future__ import annotations

from pathlib import Path

from tests.code.languages.checks import check


def test_a_generic_base_of_a_class_is_seen_through_what_it_is_given(tmp_path: Path) -> None:
    typescript = """\
class A { m() {} }
class B { m() {} }
class Repo<T> { last: T; find(): T { return null as any } all(): T[] { return [] } each(f: (x: T) => void) {} }
class Middle<X> extends Repo<X> {}
class ARepo extends Middle<A> {}
interface Base<T> { item: T; of(key: string): T }
interface D extends Base<B> {}
function found(r: ARepo) { r.find().m() }
function field(r: ARepo) { r.last.m() }
function element(r: ARepo) { r.all()[0].m() }
function handed(r: ARepo) { r.each((x) => x.m()) }
function item(d: D) { d.item.m(); }
function called(d: D) { d.of("k").m(); }
function argument(r: Repo<B>) { r.find().m() }
function made() { new Repo<B>().find().m() }
"""
    of_a = [f"a.ts:{name} -> a.ts:A.m inferred" for name in ("found", "field", "element")]
    of_b = [f"a.ts:{name} -> a.ts:B.m inferred" for name in ("item", "called", "argument", "made")]
    check(
        tmp_path,
        {"a.ts": typescript},
        edges=[*of_a, *of_b, "a.ts:handed -> a.ts:A.m inferred"],
        absent=[edge.replace("A.m", "B.m") for edge in of_a]
        + [edge.replace("B.m", "A.m") for edge in of_b],
    )


def test_a_type_that_maps_all_members_of_its_argument_has_them(tmp_path: Path) -> None:
    source = """\
class A { m() {} }
class B { m() {} }
type Both = { a: A; b: B }
type Maybe<T> = { [K in keyof T]?: T[K] }
function first(both: Maybe<Both>) { both.a!.m() }
function second(both: Maybe<Both>) { both.b!.m() }
"""
    check(
        tmp_path,
        {"a.ts": source},
        edges=["a.ts:first -> a.ts:A.m inferred", "a.ts:second -> a.ts:B.m inferred"],
        absent=["a.ts:first -> a.ts:B.m", "a.ts:second -> a.ts:A.m"],
    )


def test_a_parameter_of_a_method_hides_that_of_its_class(tmp_path: Path) -> None:
    source = """\
class A { m() {} }
class Box<T> { keep<T>(x: T): T { return x } }
function f(b: Box<A>) { b.keep(1).m() }
"""
    check(
        tmp_path,
        {"a.ts": source},
        absent=["a.ts:f -> a.ts:A.m inferred", "a.ts:f -> a.ts:A.m exact"],
    )


def test_types_that_contain_themselves_end(tmp_path: Path) -> None:
    source = """\
class A { m() {} }
class Node<T> { next(): Node<Node<T>> { return null as any } value(): T { return null as any } }
class Loop<T> extends Loop<Node<T>> {}
function f(n: Node<A>) { n.value().m(); n.next().next().next().value() }
function g(n: Loop<A>) { n.value().m() }
"""
    check(tmp_path, {"a.ts": source}, edges=["a.ts:f -> a.ts:A.m inferred"])


def test_java_kotlin_and_csharp_have_the_same_mechanism(tmp_path: Path) -> None:
    java = """\
class A { void m() {} }
class B { void m() {} }
abstract class Repo<T> { abstract T find(); java.util.List<T> all() { return null; } T last; }
class ARepo extends Repo<A> {}
interface Base<K, V> { V get(K key); }
interface D extends Base<A, B> {}
class Use {
    void found(Repo<B> r) { r.find().m(); }
    void field(ARepo r) { r.last.m(); }
    void element(ARepo r) { for (var a : r.all()) a.m(); }
    void called(D d) { d.get(null).m(); }
}
"""
    kotlin = """\
package k
class KA { fun m() {} }
open class KRepo<T> { fun find(): T = error("none") }
class KARepo : KRepo<KA>()
fun found(r: KARepo) { r.find().m() }
"""
    csharp = """\
class CA { public void M() {} }
class CRepo<T> { public T Find() { return default; } public T Last; }
class CARepo : CRepo<CA> {}
class CUse {
    void Found(CARepo r) { r.Find().M(); }
    void Field(CRepo<CA> r) { r.Last.M(); }
}
"""
    check(
        tmp_path,
        {"Use.java": java, "k.kt": kotlin, "c.cs": csharp},
        edges=[
            "Use.java:Use.found -> Use.java:B.m inferred",
            "Use.java:Use.field -> Use.java:A.m inferred",
            "Use.java:Use.element -> Use.java:A.m inferred",
            "Use.java:Use.called -> Use.java:B.m inferred",
            "k.kt:found -> k.kt:KA.m inferred",
            "c.cs:CUse.Found -> c.cs:CA.M inferred",
            "c.cs:CUse.Field -> c.cs:CA.M inferred",
        ],
        absent=["Use.java:Use.called -> Use.java:A.m", "Use.java:Use.field -> Use.java:B.m"],
    )


def test_a_base_outside_gives_what_its_table_says(tmp_path: Path) -> None:
    java = """\
import org.springframework.data.jpa.repository.JpaRepository;
class Owner { void greet() {} }
interface Base<T> extends JpaRepository<T, Integer> {}
interface Owners extends Base<Owner> {}
class Bag<T> implements Iterable<T> { }
class Controller {
    Owners owners;
    void one() { owners.findById(1).orElseThrow().greet(); }
    void all() { owners.findAll().forEach(owner -> owner.greet()); }
    void saved(Owner owner) { owners.save(owner).greet(); }
    void bag(Bag<Owner> bag) { for (Owner o : bag) o.greet(); for (var o : bag) o.greet(); }
}
"""
    check(
        tmp_path,
        {"Controller.java": java},
        edges=[
            "Controller.java:Controller.one -> Controller.java:Owner.greet inferred",
            "Controller.java:Controller.all -> Controller.java:Owner.greet inferred",
            "Controller.java:Controller.saved -> Controller.java:Owner.greet inferred",
            "Controller.java:Controller.bag -> Controller.java:Owner.greet inferred",
        ],
    )
