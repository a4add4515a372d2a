"""Values that go through promises, iterators, maps and receivers reach the methods that are called
on them.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

from tersely.code.engine import Engine

START = "class A { m() {} }\nclass B { n() {} }\n"


@pytest.mark.parametrize(
    ("path", "program", "caller", "callee"),
    [
        (
            "a.js",
            (
                "function make(){return new Promise((resolve)=>{resolve(new A())})}\n"
                "async function f(){const a=await make(); a.m()}"
            ),
            "f",
            "A.m",
        ),
        (
            "a.js",
            (
                "function make(){return new Promise((resolve)=>{setTimeout(()=>resolve(new A()),1)})}\n"
                "async function f(){(await make()).m()}"
            ),
            "f",
            "A.m",
        ),
        (
            "a.js",
            "function make(){return Promise.resolve(new A())}\nfunction f(){make().then(a=>a.m())}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "function make(){return Promise.resolve(new A())}\nfunction f(){make().then(a=>new B()).then(b=>b.n())}",
            "f",
            "B.n",
        ),
        (
            "a.js",
            (
                "function make(){return new Promise((resolve,reject)=>{resolve(new A())})}\n"
                "function f(){make().then(a=>a.m())}"
            ),
            "f",
            "A.m",
        ),
        (
            "a.js",
            "async function make(){return new A()}\nasync function f(){const [a]=await Promise.all([make()]); a.m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "async function* g(){yield new A()}\nasync function f(){for await(const a of g()) a.m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            (
                "class L{async *[Symbol.asyncIterator](){yield new A()}}\n"
                "async function f(){for await(const a of new L()) a.m()}"
            ),
            "f",
            "A.m",
        ),
        ("a.js", "function g(){this.m()}\nfunction f(){g.call(new A())}", "g", "A.m"),
        ("a.js", "function g(){this.m()}\nfunction f(){g.apply(new A(),[])}", "g", "A.m"),
        ("a.js", "function g(){this.m()}\nfunction f(){const h=g.bind(new A()); h()}", "g", "A.m"),
        (
            "a.ts",
            "const x=new Map<string,A>()\nfunction f(){for(const [k,a] of x) a.m()}",
            "f",
            "A.m",
        ),
        ("a.ts", "function f(x:Map<string,A>){for(const [k,a] of x.entries()) a.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<A,string>){for(const [k,a] of x) k.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<string,A>){for(const a of x.values()) a.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<string,A>){x.forEach((a)=>a.m())}", "f", "A.m"),
        ("a.ts", "function f(x:Map<A,string>){for(const k of x.keys()) k.m()}", "f", "A.m"),
        ("a.ts", "function f(x:unknown){if(x instanceof A) x.m()}", "f", "A.m"),
        ("a.js", "function* g(){yield new A()}\nfunction f(){g().next().value.m()}", "f", "A.m"),
        (
            "a.js",
            "function* g(){yield new A()}\nfunction f(){const it=g(); const {value,done}=it.next(); value.m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "function* h(){yield new A()}\nfunction* g(){yield* h()}\nfunction f(){for(const a of g()) a.m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "const l={*[Symbol.iterator](){yield new A()}}\nfunction f(){for(const a of l) a.m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            (
                "class L{constructor(){this.x=[new A()]} [Symbol.iterator](){return this.x[Symbol.iterator]()}}\n"
                "function f(){for(const a of new L()) a.m()}"
            ),
            "f",
            "A.m",
        ),
        ("a.js", "function f(){[].concat([new B()], new A()).forEach(a=>a.m())}", "f", "A.m"),
        (
            "a.js",
            "const xs=[]; xs.splice(0,0,new A())\nfunction f(){xs.splice(0,1)[0].m()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "function f(){Array.of(new A())[0].m(); new Array(3).fill(new B())[0].n()}",
            "f",
            "A.m",
        ),
        (
            "a.js",
            "const m=new Map(); m.set('x',new A())\nfunction f(){m.get('x').m(); for(const [k,a] of m) a.m()}",
            "f",
            "A.m",
        ),
        ("a.js", "const m=new Map([['x',new A()]])\nfunction f(k){m.get(k).m()}", "f", "A.m"),
        (
            "a.js",
            "const s=new Set(); s.add(new A())\nfunction f(){for(const a of s) a.m()}",
            "f",
            "A.m",
        ),
        ("a.js", "const o={x:new A()}\nfunction f(){for(const k in o) o[k].m()}", "f", "A.m"),
        (
            "a.ts",
            "function is(x:any):x is A{return true}\nfunction f(x:unknown){if(is(x)) x.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function is(x:any):x is A{return true}\nfunction f(x:unknown){if(!is(x)) return; x.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function is(x:any):x is A{return true}\nfunction f(x:unknown){return is(x) && x.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function is(x:any):x is A{return true}\nfunction f(x:unknown){return is(x) ? x.m() : 0}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "class G{is(x:any):x is A{return true}}\nfunction f(g:G,x:unknown){if(g.is(x)) x.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function is(x:any):x is A{return true}\nfunction f(xs:unknown[]){xs.filter(is).forEach(x=>x.m())}",
            "f",
            "A.m",
        ),
        ("a.ts", "function f(x:unknown){if(!(x instanceof A)) throw 1; x.m()}", "f", "A.m"),
        ("a.ts", "type M={[K in 'a'|'b']:A}\nfunction f(x:M){x.a.m()}", "f", "A.m"),
        ("a.ts", "interface Q{[k:string]:A}\nfunction f(x:Q,k:string){x[k].m()}", "f", "A.m"),
        ("a.ts", "function f(x:{[k:string]:A}){Object.values(x).forEach(a=>a.m())}", "f", "A.m"),
        ("a.ts", "interface Q{z:A}\nfunction f(x:Q['z']){x.m()}", "f", "A.m"),
        ("a.ts", "type L=A[]\nfunction f(x:L[number]){x.m()}", "f", "A.m"),
        (
            "a.ts",
            "function make(){return new A()}\nfunction f(x:ReturnType<typeof make>){x.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "declare function g():Generator<A,void,B>\nfunction f(){for(const a of g()) a.m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function first<T>(x:T[]):T{return x[0]}\nfunction f(xs:A[]){first(xs).m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function make<T>():T{return null as any}\nfunction f(){make<A>().m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function run<T>(x:T,g:(t:T)=>void){}\nfunction f(){run(new A(),(a)=>a.m())}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function all<T>(x:Promise<T>[],g:(t:T)=>void){}\nfunction f(p:Promise<A>){all([p],(a)=>a.m())}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "interface Box<T>{held:T}\nfunction open<T>(b:Box<T>):T{return b.held}\nfunction f(b:Box<A>){open(b).m()}",
            "f",
            "A.m",
        ),
        (
            "a.ts",
            "function call<T>(g:()=>T):T{return g()}\nfunction f(){call(()=>new A()).m()}",
            "f",
            "A.m",
        ),
    ],
)
def test_a_value_arrives(tmp_path: Path, path: str, program: str, caller: str, callee: str) -> None:
    grade = "exact" if "this.m" in program else "inferred"
    check(tmp_path, {path: START + program}, edges=[f"{path}:{caller} -> {path}:{callee} {grade}"])


def test_a_name_in_brackets_is_the_key_that_it_holds(tmp_path: Path) -> None:
    source = """\
const SET = "set";
const table = { [SET](x) {}, ["other"]() {} };
function f() { table.set(); table[SET](); table.other(); }
"""
    check(
        tmp_path,
        {"a.js": source},
        edges=["a.js:f -> a.js:table.[SET] inferred", 'a.js:f -> a.js:table.["other"] inferred'],
    )


def test_a_tested_variable_is_of_its_class_in_the_branch_alone(tmp_path: Path) -> None:
    source = (
        START
        + """\
function f(x) { if (x instanceof A && x) { x.m(); } else { x.n(); } }
function g(x) { if (x instanceof A) { x = new B(); x.m(); } }
"""
    )
    check(
        tmp_path,
        {"a.js": source},
        edges=["a.js:f -> a.js:A.m inferred"],
        absent=["a.js:g -> a.js:A.m inferred"],
    )


def test_what_few_classes_have_is_named_where_nothing_is_known(tmp_path: Path) -> None:
    source = "class A { go() {} }\nclass B { go() {} }\nfunction f(x) { x.go() }\n"
    check(
        tmp_path,
        {"a.js": source},
        edges=["a.js:f -> a.js:A.go by_name", "a.js:f -> a.js:B.go by_name"],
    )


def test_a_guard_leaves_out_what_it_says_no_to(tmp_path: Path) -> None:
    program = (
        "class C { m() {} }\nfunction is(x: any): x is A { return true }\n"
        "function f(x: A | C) { if (is(x)) x.m() }\nfunction g(x: A | C) { if (is(x)) { x = new C(); x.m() } }"
    )
    check(
        tmp_path,
        {"a.ts": START + program},
        edges=["a.ts:f -> a.ts:A.m inferred", "a.ts:g -> a.ts:C.m inferred"],
        absent=["a.ts:f -> a.ts:C.m"],
    )


def test_keys_are_what_members_of_constants_hold(tmp_path: Path) -> None:
    files = {
        "types.js": "export const T = {SET: 'set', DROP: 'drop'}",
        "store.js": "import {T} from './types'\nexport const changes = {[T.SET](s) {}, [T.DROP](s) {}}",
        "app.js": "import {T} from './types'\nimport {changes} from './store'\nfunction f() { changes[T.SET]() }",
    }
    check(
        tmp_path,
        files,
        edges=["app.js:f -> store.js:changes.[T.SET] inferred"],
        absent=["app.js:f -> store.js:changes.[T.DROP]"],
    )


def test_a_class_of_that_name_is_no_mapping(tmp_path: Path) -> None:
    files = {
        "map.js": "export class Map { set(k, v) { this.v = v } get(k) { return this.v } }",
        "app.js": "import {Map} from './map'\nfunction f() { const m = new Map(); m.get('x') }",
    }
    check(tmp_path, files, edges=["app.js:f -> map.js:Map.get inferred"])


@pytest.mark.parametrize("ending", ["js", "ts"])
def test_a_method_has_the_name_that_a_constant_in_brackets_holds(
    tmp_path: Path, ending: str
) -> None:
    files = {
        f"names.{ending}": "export const SAVE = 'save';\nexport const LOAD = 'load';\n",
        f"store.{ending}": (
            "import { SAVE, LOAD } from './names';\n"
            "export class Store { [SAVE]() {} [LOAD]() {} }\n"
        ),
        f"use.{ending}": (
            "import { Store } from './store';\nimport { SAVE } from './names';\n"
            "export function byName() { new Store().save(); }\n"
            "export function byKey() { new Store()[SAVE](); }\n"
        ),
    }
    calls = [f"use.{ending}:{name} -> store.{ending}:Store" for name in ("byName", "byKey")]
    check(
        tmp_path,
        files,
        edges=[f"{call}.[SAVE] inferred" for call in calls],
        absent=[f"{call}.[LOAD]" for call in calls],
    )
    with Engine.open(tmp_path) as engine:
        callers = {edge.caller for edge in engine.graph.callers(f"store.{ending}:Store.[SAVE]")}
        assert callers == {f"use.{ending}:byName", f"use.{ending}:byKey"}


NARROWED = """\
class A { m() {} }
class B { m() {} }
class Holder {
  x: A | B;
  #y: A | B;
  error?: unknown;
  run() { if (this.x instanceof A) this.x.m(); }
  early() { if (!(this.#y instanceof B)) return; this.#y.m(); }
  both() { return this.error instanceof A && this.error.m(); }
  changed(next: B) { if (this.x instanceof A) { this.x = next; this.x.m(); } }
  otherwise() { this.x.m(); }
  inside() { if (this.x instanceof A) return function (this: Holder) { this.error.m(); }; }
}
function deep(c: { inner: { error: unknown } }) { if (c.inner.error instanceof A) c.inner.error.m(); }
function replaced(c: { inner: { error: unknown } }, other: any) {
  if (c.inner.error instanceof A) { c.inner = other; c.inner.error.m(); }
}
"""


@pytest.mark.parametrize(
    ("caller", "callees"),
    [
        ("Holder.run", {"A.m"}),
        ("Holder.early", {"B.m"}),
        ("Holder.both", {"A.m"}),
        ("Holder.changed", {"B.m"}),
        ("Holder.otherwise", {"B.m"}),
        ("Holder.inside", set()),
        ("deep", {"A.m"}),
        ("replaced", set()),
    ],
)
def test_a_condition_tells_what_a_member_is(tmp_path: Path, caller: str, callees: set[str]) -> None:
    every = {"A.m", "B.m"}
    check(
        tmp_path,
        {"a.ts": NARROWED},
        edges=[f"a.ts:{caller} -> a.ts:{callee} inferred" for callee in callees],
        absent=[f"a.ts:{caller} -> a.ts:{callee} inferred" for callee in every - callees],
    )


DECLARED_FOR_ALL = {
    "globals.d.ts": """\
declare namespace Deno {
  interface FsFile { close(): void; }
  function open(path: string): Promise<FsFile>;
}
declare class Widget { draw(): void }
declare const tool: Widget;
""",
    "module.d.ts": """\
export {};
declare global {
  interface Promise<T> { later(): void }
  function make(): App;
  class App { start(): void }
  var shared: App;
}
""",
    "user.ts": """\
export async function files() { const file = await Deno.open("a"); file.close(); }
export function widgets() { tool.draw(); }
export function apps() { make().start(); shared.start(); }
export function hidden(make: () => Widget) { make().draw(); }
export function runtime() { Promise.resolve(make).then((each) => each()); }
""",
}


def test_what_declarations_declare_for_all_files_is_known_in_all(tmp_path: Path) -> None:
    check(
        tmp_path,
        DECLARED_FOR_ALL,
        definitions=[
            "globals.d.ts:Deno.open function 3",
            "module.d.ts:global namespace 2",
            "module.d.ts:global.App.start method 5",
        ],
        edges=[
            "user.ts:files -> globals.d.ts:Deno.open inferred",
            "user.ts:files -> globals.d.ts:Deno.FsFile.close inferred",
            "user.ts:widgets -> globals.d.ts:Widget.draw inferred",
            "user.ts:apps -> module.d.ts:global.make inferred",
            "user.ts:apps -> module.d.ts:global.App.start inferred",
            "user.ts:hidden -> globals.d.ts:Widget.draw inferred",
            "user.ts:runtime -> module.d.ts:global.make inferred",
        ],
        absent=["user.ts:hidden -> module.d.ts:global.make"],
    )


KEPT_BY_SYMBOLS = {
    "symbols.js": """\
const keys = { kHooks: Symbol('hooks'), kOther: Symbol('other') };
module.exports = keys;
""",
    "a.js": """\
const keys = require('./symbols');
const { kHooks, kOther } = keys;
const kState = Symbol();
class Hooks { add() {} }
class Other { add() {} }
class State { add() {} }
function build() {
  const app = { [kHooks]: new Hooks(), [kOther]: new Other(), addHook, child() { this[kOther].add(); } };
  app.later = later;
  return app;
  function addHook() { this[kHooks].add(); }
}
function later() { this.addHook(); }
function never() { this[kHooks].add(); }
class Box {
  constructor() { this[kState] = new State(); }
  put() { this[kState].add(); }
}
function use() { build()[keys.kHooks].add(); }
""",
}


@pytest.mark.parametrize(
    ("caller", "callees"),
    [
        ("build.app.child", {"Other.add inferred"}),
        ("build.addHook", {"Hooks.add inferred"}),
        ("later", {"build.addHook exact"}),
        ("never", set()),
        ("Box.put", {"State.add inferred"}),
        ("use", {"Hooks.add inferred"}),
    ],
)
def test_what_objects_keep_under_symbols_is_told_apart(
    tmp_path: Path, caller: str, callees: set[str]
) -> None:
    known = {callee.partition(" ")[0] for callee in callees}
    every = {"Hooks.add", "Other.add", "State.add", "build.addHook"}
    check(
        tmp_path,
        KEPT_BY_SYMBOLS,
        edges=[f"a.js:{caller} -> a.js:{callee}" for callee in callees],
        absent=[f"a.js:{caller} -> a.js:{callee} " for callee in every - known],
    )


def test_a_method_under_a_symbol_of_a_package_is_called(tmp_path: Path) -> None:
    files = {
        "a.js": "const util = require('util');\nclass A {\n"
        "  toJSON() {}\n  [util.inspect.custom]() { this.toJSON() }\n"
        "  show() { this[util.inspect.custom]() }\n}\nmodule.exports = A;\n",
        "b.js": "const { inspect } = require('util');\nconst A = require('./a');\n"
        "function f() { new A()[inspect.custom]() }\n",
    }
    method = "a.js:A.[util.inspect.custom]"
    check(
        tmp_path,
        files,
        edges=[
            f"a.js:A.show -> {method} inferred",
            f"{method} -> a.js:A.toJSON exact",
            f"b.js:f -> {method} inferred",
        ],
    )


TABLE = """\
interface A { run(): void }
interface B { run(): void }
interface Table { a: A; b: B }
declare const table: Table;
class Registry {
  get<K extends keyof Table>(key: K): Table[K] { return table[key] }
  pick<T, K extends keyof T>(all: T, key: K): T[K] { return all[key] }
}
"""


@pytest.mark.parametrize(
    ("function", "reached"),
    [
        ("f() { new Registry().get('b').run() }", "B"),
        ("f() { new Registry().pick(table, 'a').run() }", "A"),
        ("f(key: keyof Table) { new Registry().get(key).run() }", "AB"),
        ("f(key: keyof Table) { table[key].run() }", "AB"),
        ("f(one: Table[keyof Table]) { one.run() }", "AB"),
        ("f(one: Table['a' | 'b']) { one.run() }", "AB"),
        ("f(one: Table['b']) { one.run() }", "B"),
        ("f(all: Record<keyof Table, B>, key: keyof Table) { all[key].run() }", "B"),
        ("f(all: {[K in keyof Table]: Table[K]}) { all.a.run() }", "A"),
        ("f() { for (const key in table) table[key as keyof Table].run() }", "AB"),
    ],
)
def test_a_type_is_looked_up_by_the_keys_that_a_parameter_may_be(
    tmp_path: Path, function: str, reached: str
) -> None:
    check(
        tmp_path,
        {"a.ts": f"{TABLE}function {function}"},
        edges=[f"a.ts:f -> a.ts:{name}.run inferred" for name in reached],
        absent=[f"a.ts:f -> a.ts:{name}.run" for name in "AB" if name not in reached],
    )


def test_declarations_say_what_is_in_a_module(tmp_path: Path) -> None:
    files = {
        "types.d.ts": "declare module 'ext' {\n"
        "  export default function make(): Thing\n"
        "  export interface Thing { go(): void }\n}\n"
        'declare module "whole" { class K { m(): void } function k(): K; export = k }\n',
        "lib.ts": "export interface Context { own(): void }\n"
        "export function context(): Context { return null as any }\n",
        "more.ts": "import './lib'\n"
        "declare module './lib' { interface Context { added(): void } }\n",
        "a.ts": "import make, { Thing } from 'ext'\nimport * as ext from 'ext'\n"
        "import k from 'whole'\nimport { context } from './lib'\n"
        "export function f() { make().go() }\n"
        "export function g(one: ext.Thing, other: Thing) { one.go() }\n"
        "export function h() { k().m() }\n"
        "export function i() { context().added(); context().own() }\n",
    }
    check(
        tmp_path,
        files,
        edges=[
            "a.ts:f -> types.d.ts:'ext'.make exact",
            "a.ts:f -> types.d.ts:'ext'.Thing.go inferred",
            "a.ts:g -> types.d.ts:'ext'.Thing.go inferred",
            'a.ts:h -> types.d.ts:"whole".k exact',
            'a.ts:h -> types.d.ts:"whole".K.m inferred',
            "a.ts:i -> more.ts:'./lib'.Context.added inferred",
            "a.ts:i -> lib.ts:Context.own inferred",
        ],
    )


def test_a_key_of_a_package_is_no_name(tmp_path: Path) -> None:
    source = """\
const util = require('util');
const proto = module.exports = { inspect() {} };
proto[util.inspect.custom] = proto.inspect;
delegate(proto, 'request').method('accepts');
function run() { proto.accepts(); }
function show() { proto[util.inspect.custom](); }
"""
    check(
        tmp_path,
        {"a.js": source},
        edges=["a.js:show -> a.js:inspect inferred"],
        absent=["a.js:run -> a.js:inspect"],
    )


@pytest.mark.parametrize(
    "prototype",
    [
        "E.prototype.go = function () { this.list.forEach(function (each) { each() }) }",
        "E.prototype.go = function () { for (const each of this.list) each() }",
        "E.prototype = { go() { this.list.forEach((each) => each()) } }",
        "E.prototype = { go: function () { this.list[0]() } }",
        "Object.assign(E.prototype, { go() { this.list.forEach((each) => each()) } })",
    ],
)
def test_what_a_constructor_keeps_is_called_by_methods_of_its_prototype(
    tmp_path: Path, prototype: str
) -> None:
    text = f"function one() {{}}\nfunction E() {{ this.list = []; this.list.push(one) }}\n{prototype}\n"
    with Engine.open(tmp_path) as engine:
        (tmp_path / "a.js").write_text(text)
        engine.refresh()
        assert {edge.callee for edge in engine.graph.edges()} >= {"a.js:one"}
        [caller] = {edge.caller for edge in engine.graph.callers("a.js:one")}
    assert caller.rpartition(":")[2] in ("E.go", "go")


def test_why_promises_are_not_kept_comes_to_those_who_catch_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.js": """
function kept() {}
function near() {}
function inner() {}
function second() {}
function far() {}
function caught() { new Promise((yes, no) => no(near)).catch((why) => why()) }
function nested() {
  new Promise((yes, no) => { function later() { no(inner) } setTimeout(later) }).catch((why) => why())
}
function both() {
  new Promise((yes, no) => { yes(kept); no(second) }).then((got) => got(), (why) => why())
}
function only() { new Promise((yes, no) => { yes(kept); no(second) }).then((got) => got()) }
function made() { return new Promise(function (yes, no) { no(far) }) }
function behind() { made().then((got) => got()).catch((why) => why()) }
async function waited() { const got = await new Promise((yes) => yes(kept)); got() }
"""
        },
        edges=[
            f"a.js:{caller} -> a.js:{callee} inferred"
            for caller, callee in (
                ("caught", "near"),
                ("nested", "inner"),
                ("both", "kept"),
                ("both", "second"),
                ("only", "kept"),
                ("behind", "far"),
                ("waited", "kept"),
            )
        ],
        absent=["a.js:only -> a.js:second", "a.js:behind -> a.js:kept"],
    )
