"""Rust: crates and modules, impls and traits, patterns, macros."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.graph.pointsto.fixpoint import MAX_VALUES

FILES = {
    "Cargo.toml": '[workspace]\nmembers = ["app", "util"]\n',
    "app/Cargo.toml": '[package]\nname = "app"\n',
    "util/Cargo.toml": '[package]\nname = "my-util"\n',
    "util/src/lib.rs": """\
pub mod shapes;
mod hidden;
pub use crate::hidden::secret as open;
pub use shapes::{Shape, Circle};
pub fn helper() -> i32 { hidden::secret() }
#[macro_export]
macro_rules! shout { ($x:expr) => { of_macro($x) }; }
pub fn of_macro(x: i32) {}
""",
    "util/src/hidden.rs": "pub fn secret() -> i32 { super::of_macro(1); 3 }\n",
    "util/src/shapes.rs": """\
pub trait Shape {
    fn area(&self) -> f64;
    fn describe(&self) -> String { format!("{}", self.area()) }
}
/// Round.
#[derive(Debug)]
pub struct Circle { pub r: f64, inner: Option<Box<Square>> }
pub struct Square(pub f64);
impl Circle {
    pub const PI: f64 = 3.0;
    pub fn new(r: f64) -> Self { Circle { r, inner: None } }
    pub fn with(mut self, s: Square) -> Self { self.inner = Some(Box::new(s)); self }
    pub fn inside(&self) -> f64 { self.inner.as_ref().unwrap().area() }
    pub fn try_new(r: f64) -> Result<Self, String> { Ok(Self::new(r)) }
}
impl Shape for Circle { fn area(&self) -> f64 { self.r } }
impl Shape for Square { fn area(&self) -> f64 { self.0 } }
#[cfg(test)]
mod tests {
    use super::*;
    fn make() -> Circle { Circle::new(1.0) }
    #[test]
    fn t() { let c = make(); assert_eq!(c.area(), 1.0); super::super::helper(); }
}
""",
    "app/src/main.rs": """\
mod net;
use my_util::{Circle, Shape, shapes};
use net::client::{Client, Op};
use std::collections::HashMap;
fn total(xs: &[Box<dyn Shape>]) -> f64 { xs.iter().map(|x| x.area()).sum() }
fn generic<T: Shape>(x: &T) { x.describe(); }
fn run() -> Result<(), String> {
    let c = Circle::new(1.0).with(shapes::Square(2.0));
    c.inside();
    let d = Circle::try_new(2.0)?;
    d.describe();
    my_util::open();
    my_util::shout!(1);
    let client = Client::connect("x").unwrap();
    client.send(Op::Get(Circle::new(3.0)));
    Ok(())
}
fn maps(m: HashMap<String, Client>) {
    for (k, v) in m.iter() { v.ping(); }
    if let Some(one) = m.get("a") { one.pick(); }
}
fn main() { run().unwrap(); }
""",
    "app/src/net/mod.rs": "pub mod client;\n",
    "app/src/net/client.rs": """\
use my_util::Circle;
pub enum Op { Get(Circle), Put { c: Circle }, Nop }
pub struct Client { peers: Vec<Client> }
impl Client {
    pub fn connect(a: &str) -> Result<Client, String> { Ok(Client { peers: vec![] }) }
    pub fn send(&self, op: Op) {
        match op { Op::Get(c) => { c.inside(); } Op::Put { c } => { c.inside(); } Op::Nop => self.quiet() }
    }
    pub fn ping(&self) -> i32 { for p in &self.peers { p.quiet(); } crate::run(); 0 }
    fn quiet(&self) { self.peers.iter().filter(|p| p.ok()).for_each(|p| { p.ping(); }); }
    fn ok(&self) -> bool { true }
    pub fn pick(&self) -> Option<&Client> { self.peers.first() }
}
""",
}


def test_definitions_say_what_they_are(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=[
            "util/src/lib.rs:shout macro 7",
            "util/src/shapes.rs:Shape trait 1",
            "util/src/shapes.rs:Shape.area method 2",
            "util/src/shapes.rs:Circle struct 7",
            "util/src/shapes.rs:Circle.inner field 7",
            "util/src/shapes.rs:Circle.PI constant 10",
            "util/src/shapes.rs:Circle.new method 11",
            "util/src/shapes.rs:tests namespace 19",
            "util/src/shapes.rs:tests.make function 21",
            "app/src/net/client.rs:Op enum 2",
            "app/src/net/client.rs:Op.Put field 2",
        ],
        docs={"util/src/shapes.rs:Circle": "/// Round.\n"},
        signatures={"util/src/shapes.rs:Circle.new": "pub fn new(r: f64) -> Self"},
    )


def test_paths_lead_through_modules_and_crates(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "util/src/lib.rs:helper -> util/src/hidden.rs:secret exact",
            "util/src/hidden.rs:secret -> util/src/lib.rs:of_macro exact",
            "app/src/main.rs:run -> util/src/hidden.rs:secret exact",
            "app/src/main.rs:run -> util/src/lib.rs:shout exact",
            "util/src/lib.rs:shout -> util/src/lib.rs:of_macro exact",
            "app/src/net/client.rs:Client.ping -> app/src/main.rs:run exact",
            "util/src/shapes.rs:tests.t -> util/src/lib.rs:helper exact",
            "util/src/shapes.rs:tests.make -> util/src/shapes.rs:Circle.new exact",
        ],
    )


def test_values_have_the_types_of_builders_results_and_patterns(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "app/src/main.rs:run -> util/src/shapes.rs:Circle.with inferred",
            "app/src/main.rs:run -> util/src/shapes.rs:Circle.inside inferred",
            "app/src/main.rs:run -> util/src/shapes.rs:Shape.describe inferred",
            "app/src/main.rs:run -> app/src/net/client.rs:Client.send inferred",
            "app/src/main.rs:maps -> app/src/net/client.rs:Client.ping inferred",
            "app/src/main.rs:maps -> app/src/net/client.rs:Client.pick inferred",
            "app/src/net/client.rs:Client.send -> util/src/shapes.rs:Circle.inside inferred",
            "util/src/shapes.rs:Circle.inside -> util/src/shapes.rs:Square.area inferred",
            "app/src/net/client.rs:Client.quiet -> app/src/net/client.rs:Client.ok inferred",
            "app/src/net/client.rs:Client.ping -> app/src/net/client.rs:Client.quiet inferred",
            "util/src/shapes.rs:tests.t -> util/src/shapes.rs:Circle.area inferred",
        ],
    )


def test_traits_reach_their_impls(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "app/src/main.rs:total -> util/src/shapes.rs:Circle.area inferred",
            "app/src/main.rs:total -> util/src/shapes.rs:Square.area inferred",
            "app/src/main.rs:generic -> util/src/shapes.rs:Shape.describe inferred",
        ],
    )


TRAITS = {
    "Cargo.toml": '[package]\nname = "a"\n',
    "src/lib.rs": """\
pub mod outer {
    pub mod inner;
    pub mod bounds { pub trait First { fn m(&self); fn only(&self); } }
    pub trait Second { fn m(&self); fn only(&self); fn made() -> u8 { 1 } }
}
use outer::bounds::First as Renamed;
fn anything(d: &dyn Renamed, v: &[Box<dyn outer::Second>]) { d.m(); for x in v { x.m(); } }
fn by_trait<T: Renamed>(t: T, s: outer::inner::S) { T::m(&t); outer::Second::m(&s); }
fn at_first(s: outer::inner::S) { s.m(); }
fn as_second(s: outer::inner::S) { <outer::inner::S as outer::Second>::m(&s); outer::inner::S::made(); }
""",
    "src/outer/inner.rs": """\
use crate::outer::bounds::First;
use crate::outer::Second;
pub struct S;
impl S { pub fn m(&self) {} }
impl First for S { fn m(&self) {} fn only(&self) {} }
impl Second for S { fn m(&self) {} fn only(&self) {} }
""",
    "src/seen.rs": """\
use crate::outer::inner::S;
use crate::outer::Second;
fn sees_one(s: S) { s.only(); }
""",
}


def test_a_call_means_the_methods_of_one_trait(tmp_path: Path) -> None:
    own, first, second = (f"src/outer/inner.rs:S.m{number}" for number in ("", "#2", "#3"))
    check(
        tmp_path,
        TRAITS,
        edges=[
            f"src/lib.rs:anything -> {first} inferred",
            f"src/lib.rs:anything -> {second} inferred",
            f"src/lib.rs:by_trait -> {first} exact",
            f"src/lib.rs:by_trait -> {second} exact",
            f"src/lib.rs:at_first -> {own} inferred",
            f"src/lib.rs:as_second -> {second} exact",
            "src/lib.rs:as_second -> src/lib.rs:outer.Second.made exact",
            "src/seen.rs:sees_one -> src/outer/inner.rs:S.only#2 inferred",
        ],
        absent=[
            f"src/lib.rs:anything -> {own} ",
            f"src/lib.rs:at_first -> {first} ",
            f"src/lib.rs:at_first -> {second} ",
            f"src/lib.rs:as_second -> {first} ",
            f"src/lib.rs:as_second -> {own} ",
            "src/seen.rs:sees_one -> src/outer/inner.rs:S.only ",
        ],
    )


MACROS = {
    "a/src/lib.rs": "#[macro_use] mod macros;\nmod tests;\n",
    "a/src/macros.rs": "macro_rules! same { ($x:expr) => { assert!($x) }; }\n",
    "a/src/tests.rs": """\
macro_rules! case { ($name:ident, $body:expr) => { fn $name() { $body(1) } }; }
macro_rules! write { ($x:expr) => { std::write!($x) }; }
fn helper() -> bool { true }
case!(first, |x| { same!(helper()); });
fn second() { same!(helper()); write!(1); writeln!(2); }
""",
    "b/src/macros.rs": "macro_rules! same { () => {}; }\n",
}


def test_variants_are_in_sight_by_their_own_names(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "src/lib.rs": """\
use other::Both;
enum Kind { Both(Left), Right(Half) }
struct Left;
struct Half;
impl Left { fn left(&self) {} }
impl Half { fn right(&self) {} }
fn take(kind: Kind) {
    use self::Kind::*;
    match kind { Both(ref one) => one.left(), Right(one) => one.right() }
}
"""
        },
        edges=[
            "src/lib.rs:take -> src/lib.rs:Left.left inferred",
            "src/lib.rs:take -> src/lib.rs:Half.right inferred",
        ],
    )


def test_macros_are_in_sight_without_imports_and_inside_of_macros(tmp_path: Path) -> None:
    check(
        tmp_path,
        MACROS,
        edges=[
            "a/src/tests.rs -> a/src/tests.rs:case exact",
            "a/src/tests.rs -> a/src/macros.rs:same exact",
            "a/src/tests.rs -> a/src/tests.rs:helper exact",
            "a/src/tests.rs:second -> a/src/macros.rs:same exact",
            "a/src/tests.rs:second -> a/src/tests.rs:helper exact",
            "a/src/tests.rs:second -> a/src/tests.rs:write exact",
        ],
        absent=["a/src/tests.rs:second -> b/src/macros.rs:same"],
    )


def test_more_impls_than_a_set_of_values_holds_share_the_callers_of_their_trait(
    tmp_path: Path,
) -> None:
    impls = "".join(
        f"pub struct S{number};\nimpl Act for S{number} {{ fn act(&self) {{}} }}\n"
        for number in range(MAX_VALUES + 1)
    )
    calling = "pub trait Act { fn act(&self); }\nfn run(all: &[&dyn Act]) { for one in all { one.act(); } }\n"
    (tmp_path / "lib.rs").write_text(calling + impls)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [edge.callee for edge in engine.graph.callees("lib.rs:run")] == ["lib.rs:Act.act"]
        assert [edge.caller for edge in engine.graph.callers("lib.rs:S7.act")] == ["lib.rs:run"]


@given(
    st.sampled_from([path for path in sorted(FILES) if path.endswith(".rs")]), st.integers(0, 2**32)
)
def test_broken_source_is_read(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "rust")


SHOP = {
    "Cargo.toml": """\
[package]
name = "m"
""",
    "src/lib.rs": """\
use std::collections::HashMap;

pub struct Item;

impl Item {
    fn run(&self) {}
    fn tag(&self) -> Tag {
        Tag
    }
    fn tags(&self) -> Vec<Tag> {
        vec![]
    }
    fn ok(&self) -> bool {
        true
    }
}

pub struct Tag;

impl Tag {
    fn mark(&self) {}
    fn ok(&self) -> bool {
        true
    }
}

pub struct Key;

impl Key {
    fn run(&self) {}
    fn ok(&self) -> bool {
        true
    }
}

pub enum Found {
    One(Item),
    Two { tag: Tag },
}

pub struct Pair(Item, Key);

struct Command {
    run: fn(),
}

static TABLE: &[(&str, fn())] = &[("a", first)];
static COMMANDS: &[Command] = &[Command { run: second }];

pub struct Shop {
    items: Vec<Item>,
    map: HashMap<Key, Item>,
    pair: (Key, Item),
    maybe: Option<(Key, Item)>,
}

impl Shop {
    fn entries(&self) {
        self.map.iter().for_each(|(k, v)| {
            k.run();
            v.run();
        });
    }
    fn second_of_entries(&self) -> usize {
        self.map.iter().filter(|(_, v)| v.ok()).count()
    }
    fn loops(&self) {
        for (k, v) in &self.map {
            k.run();
            v.run();
        }
    }
    fn numbered(&self) {
        self.items.iter().enumerate().map(|(_, x)| x.tag()).for_each(|t| t.mark());
    }
    fn flat(&self) {
        self.items.iter().flat_map(|x| x.tags()).for_each(|t| t.mark());
    }
    fn matched(&self) -> bool {
        matches!(self.items.first(), Some(x) if x.ok())
    }
    fn matched_variant(&self, found: &Found) -> bool {
        matches!(found, Found::One(_) | Found::Two { tag, .. } if tag.ok())
    }
    fn places(&self, pair: Pair) {
        self.pair.0.run();
        pair.0.tag();
    }
    fn patterns(&self) {
        if let Some((k, _)) = &self.maybe {
            k.run();
        }
    }
    fn tables(&self) {
        for (_, f) in TABLE {
            f();
        }
        for command in COMMANDS {
            (command.run)();
        }
    }
    fn zipped(&self) {
        self.items.iter().zip(self.map.values()).for_each(|(i, v)| {
            i.tag();
            v.run();
        });
    }
}

fn first() {}
fn second() {}
""",
}


def test_shop(tmp_path: Path) -> None:
    """Parts of tuples, entries of maps and tables of functions, in closures, patterns and macros."""
    check(
        tmp_path,
        SHOP,
        edges=[
            "src/lib.rs:Shop.entries -> src/lib.rs:Item.run inferred",
            "src/lib.rs:Shop.entries -> src/lib.rs:Key.run inferred",
            "src/lib.rs:Shop.flat -> src/lib.rs:Item.tags inferred",
            "src/lib.rs:Shop.flat -> src/lib.rs:Tag.mark inferred",
            "src/lib.rs:Shop.loops -> src/lib.rs:Item.run inferred",
            "src/lib.rs:Shop.loops -> src/lib.rs:Key.run inferred",
            "src/lib.rs:Shop.matched -> src/lib.rs:Item.ok inferred",
            "src/lib.rs:Shop.matched_variant -> src/lib.rs:Tag.ok inferred",
            "src/lib.rs:Shop.numbered -> src/lib.rs:Item.tag inferred",
            "src/lib.rs:Shop.numbered -> src/lib.rs:Tag.mark inferred",
            "src/lib.rs:Shop.patterns -> src/lib.rs:Key.run inferred",
            "src/lib.rs:Shop.places -> src/lib.rs:Item.tag inferred",
            "src/lib.rs:Shop.places -> src/lib.rs:Key.run inferred",
            "src/lib.rs:Shop.second_of_entries -> src/lib.rs:Item.ok inferred",
            "src/lib.rs:Shop.tables -> src/lib.rs:first inferred",
            "src/lib.rs:Shop.tables -> src/lib.rs:second inferred",
            "src/lib.rs:Shop.zipped -> src/lib.rs:Item.run inferred",
            "src/lib.rs:Shop.zipped -> src/lib.rs:Item.tag inferred",
        ],
        absent=[
            "src/lib.rs:Shop.second_of_entries -> src/lib.rs:Key.ok",
            "src/lib.rs:Shop.numbered -> src/lib.rs:Item.run",
            "src/lib.rs:Shop.matched_variant -> src/lib.rs:Item.ok",
            "src/lib.rs:Shop.places -> src/lib.rs:Item.run",
        ],
    )


FILES_BY_ATTRIBUTE = {
    "src/lib.rs": """\
#[cfg(unix)]
#[path = "sys/unix.rs"]
mod imp;
// the other system
#[cfg(windows)]
#[path = "sys/windows.rs"] /* here */
mod imp;
#[cfg_attr(unix, path = "other/u.rs")]
#[cfg_attr(windows, path = "other/w.rs")]
pub(crate) mod other;
#[path = "one.rs"]
mod single;
mod inline {
    #[path = "deep.rs"]
    pub mod d;
    pub fn x() { d::deep() }
}
pub mod plain;
pub use crate::imp::Thing;
pub fn go() { imp::run(); single::one(); inline::d::deep() }
pub fn by_path() { self::imp::run(); other::of() }
pub fn method(t: Thing) { t.m() }
""",
    "src/plain.rs": "use crate::imp::run;\npub fn p() { run(); super::imp::run() }\n",
    "src/one.rs": "pub fn one() {}\n",
    "src/inline/deep.rs": "pub fn deep() {}\n",
    "src/other/u.rs": "pub fn of() {}\n",
    "src/other/w.rs": "pub fn of() {}\n",
    "src/sys/unix.rs": "pub struct Thing;\nimpl Thing { pub fn m(&self) { super::go() } }\npub fn run() {}\n",
    "src/sys/windows.rs": "pub struct Thing;\nimpl Thing { pub fn m(&self) {} }\npub fn run() {}\n",
}


def test_files_that_attributes_give_a_module(tmp_path: Path) -> None:
    both = [
        f"src/{caller} -> src/{folder}/{file}.rs:{callee} inferred"
        for caller, folder, files, callee in (
            ("lib.rs:go", "sys", ("unix", "windows"), "run"),
            ("lib.rs:by_path", "sys", ("unix", "windows"), "run"),
            ("lib.rs:by_path", "other", ("u", "w"), "of"),
            ("lib.rs:method", "sys", ("unix", "windows"), "Thing.m"),
            ("plain.rs:p", "sys", ("unix", "windows"), "run"),
        )
        for file in files
    ]
    check(
        tmp_path,
        FILES_BY_ATTRIBUTE,
        edges=[
            *both,
            "src/lib.rs:go -> src/one.rs:one exact",
            "src/lib.rs:go -> src/inline/deep.rs:deep exact",
            "src/lib.rs:inline.x -> src/inline/deep.rs:deep exact",
            "src/sys/unix.rs:Thing.m -> src/lib.rs:go exact",
        ],
    )


def test_names_that_modules_pass_on(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "Cargo.toml": '[package]\nname = "mine"\n',
            "src/lib.rs": """\
mod a;
mod outer { pub mod inner { pub fn f() {} pub struct S; impl S { pub fn m(&self) {} } } }
pub use self::outer::inner as short;
pub use crate::a::deep::T as Renamed;
pub use a::*;
pub mod prelude { pub use crate::a::deep::*; pub use super::a::helper as h; }
pub fn here(r: Renamed) { short::f(); crate::short::f(); r.t(); crate::prelude::h() }
""",
            "src/a.rs": """\
pub mod deep { pub struct T; impl T { pub fn t(&self) {} pub fn new() -> Self { T } } }
pub fn helper() {}
pub use deep::T as Again;
pub enum Set { One(u8) }
impl std::fmt::Debug for Set { fn fmt(&self) { use self::Set::*; other(One(1)) } }
fn other(s: Set) {}
""",
            "src/b.rs": """\
use crate::prelude::*;
use crate::{Again, short::S};
pub fn there(s: S, a: Again) { T::new(); h(); s.m(); a.t() }
""",
            "tests/t.rs": """\
use mine::short::f;
use mine::{prelude::T, Renamed as R};
fn t() { f(); T::new(); R::new(); mine::prelude::h() }
""",
        },
        edges=[
            "src/lib.rs:here -> src/lib.rs:outer.inner.f exact",
            "src/lib.rs:here -> src/a.rs:deep.T.t inferred",
            "src/lib.rs:here -> src/a.rs:helper exact",
            "src/b.rs:there -> src/a.rs:deep.T.new exact",
            "src/b.rs:there -> src/a.rs:helper exact",
            "src/b.rs:there -> src/lib.rs:outer.inner.S.m inferred",
            "src/b.rs:there -> src/a.rs:deep.T.t inferred",
            "tests/t.rs:t -> src/lib.rs:outer.inner.f exact",
            "tests/t.rs:t -> src/a.rs:deep.T.new exact",
            "tests/t.rs:t -> src/a.rs:helper exact",
            # importing all names of an enum brings in none of the traits that it implements
            "src/a.rs:Set.fmt -> src/a.rs:other exact",
        ],
    )


@pytest.mark.parametrize(
    "body",
    [
        "if let Some(t) = self.parts.head { t.m() }",
        "while let Some(t) = self.parts.head.take() { t.m() }",
        "match self.parts.head { Some(ref t) => t.m(), None => {} }",
        "let Some(t) = &self.parts.head else { return }; t.m()",
        "if let Some(W(t)) = &self.parts.nested { t.m() }",
        "let W(t) = &self.parts.own; t.m()",
        "self.parts.twice.0.0.m()",
        "if let (Some(t), _) = &self.parts.pair { t.m() }",
        "match self.parts.result { Ok(ref t) => t.m(), Err(_) => {} }",
        "let flags = Flags(self.read()?); flags.m()",
    ],
)
def test_the_fields_of_tuple_structs_and_options_are_followed(tmp_path: Path, body: str) -> None:
    files = {
        "src/lib.rs": f"mod types;\nuse types::*;\npub struct S {{ parts: Parts }}\n"
        f"impl S {{ fn go(&mut self) {{ {body} }} fn read(&self) -> Result<u8, ()> {{ Ok(1) }} }}\n",
        "src/types.rs": """\
pub struct T;
impl T { pub fn m(&self) {} }
pub struct W(pub T);
pub struct Flags(pub u8);
impl Flags { pub fn m(&self) {} }
pub struct Parts {
    pub head: Option<T>, pub nested: Option<W>, pub own: W, pub twice: (W, u8),
    pub pair: (Option<T>, u8), pub result: Result<T, ()>,
}
""",
    }
    callee = "Flags.m" if "Flags" in body else "T.m"
    check(tmp_path, files, edges=[f"src/lib.rs:S.go -> src/types.rs:{callee} inferred"])
