"""JavaScript, TypeScript and TSX: modules, objects, prototypes, classes, types, callbacks,
elements.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.languages.parts.ecmascript_modules import matched, module_keys, relaxed_json

SCRIPT = """\
import base, { helper as help } from './base.js';
export * from './more';

/** Adds. */
export const add = (a, b) => help(a, b);

export default class Account extends base {
  #balance = 0;
  static open() { return new Account(); }
  get balance() { return this.compute(); }
  compute() { return super.compute(); }
  close = () => this.compute();
}

const api = {
  fetch() { return this.parse(); },
  parse: function () { return add(1, 2); },
};
api.fetch();
Account.open().compute();
[1, 2].map(add);
"""
BASE = """\
export function helper() {}
export default class Base { compute() {} }
"""
LEGACY = """\
function Shape(name) { this.name = name; }
Shape.prototype.area = function () { return this.size(); };
Shape.prototype.size = function size() {};
function Square() { Shape.call(this); }
Square.prototype = Object.create(Shape.prototype);
Square.prototype.size = function () {};
new Square().area();
exports.make = function () { return new Shape(); };
"""
TYPED = """\
export interface Store<T> { get(key: string): T }
export class Memory implements Store<string> {
  constructor(private readonly log: Log, size = 3) {}
  get(key: string): string { this.log.write(key); return key; }
}
export class Log { write(line: string): void {} }
export enum Level { Low, High = 2 }
export type Named = { name: string };
export type Either = Log | Memory;
export namespace Deep { export function dive(): void {} }
export abstract class Job {
  abstract run(): void;
  start(): void { this.run(); }
}
export function use(store: Store<string>, logs: Log[], one: Either): Log {
  store.get('a');
  for (const log of logs) log.write('b');
  one.write('c');
  Deep.dive();
  return logs[0]!;
}
export function over(a: string): void;
export function over(a: number): void;
export function over(a: unknown): void {}
use(null as any, [], new Log()).write('d');
"""


def test_scripts(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "lib/account.js": SCRIPT,
            "lib/base.js": BASE,
            "lib/more/index.js": "export const more = 1;\n",
        },
        definitions=[
            "lib/account.js:add function 5",
            "lib/account.js:Account class 7",
            "lib/account.js:Account.#balance field 8",
            "lib/account.js:Account.open method 9",
            "lib/account.js:Account.balance property 10",
            "lib/account.js:Account.close method 12",
            "lib/account.js:api variable 15",
            "lib/account.js:api.fetch method 16",
            "lib/account.js:api.parse method 17",
        ],
        imports=[
            "lib/account.js: ./base.js default base",
            "lib/account.js: ./base.js helper help",
            "lib/account.js: ./more *",
        ],
        edges=[
            "lib/account.js:add -> lib/base.js:helper exact",
            "lib/account.js:Account.compute -> lib/base.js:Base.compute exact",
            "lib/account.js:Account.balance -> lib/account.js:Account.compute exact",
            "lib/account.js:Account.close -> lib/account.js:Account.compute exact",
            "lib/account.js:api.fetch -> lib/account.js:api.parse exact",
            "lib/account.js:api.parse -> lib/account.js:add exact",
            "lib/account.js -> lib/account.js:api.fetch inferred",
            "lib/account.js -> lib/account.js:Account.compute inferred",
            "lib/account.js -> lib/account.js:add inferred",
        ],
        docs={"lib/account.js:add": "/** Adds. */"},
        signatures={"lib/account.js:add": "export const add = (a, b) =>"},
    )


def test_functions_that_make_objects(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "shape.js": LEGACY,
            "main.js": "const { make: build } = require('./shape');\nbuild().area();\n",
            "whole.js": "module.exports = function create() {};\n",
            "index.js": "module.exports = require('./whole');\n",
            "use.js": "const create = require('.');\ncreate();\n",
        },
        definitions=[
            "shape.js:Shape.area method 2",
            "shape.js:make function 8",
            "whole.js:create function 1",
        ],
        edges=[
            "shape.js -> shape.js:Shape.area inferred",
            "shape.js:Shape.area -> shape.js:Shape.size exact",
            "shape.js:Square -> shape.js:Shape inferred",
            "main.js -> shape.js:make inferred",
            "main.js -> shape.js:Shape.area inferred",
            "use.js -> whole.js:create exact",
        ],
    )


def test_types(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"store.ts": TYPED},
        definitions=[
            "store.ts:Store interface 1",
            "store.ts:Store.get method 1",
            "store.ts:Memory.log field 3",
            "store.ts:Level enum 7",
            "store.ts:Level.Low constant 7",
            "store.ts:Named type 8",
            "store.ts:Named.name field 8",
            "store.ts:Either type 9",
            "store.ts:Deep namespace 10",
            "store.ts:Deep.dive function 10",
            "store.ts:Job.run method 12",
            "store.ts:over function 24",
        ],
        edges=[
            "store.ts:Memory.get -> store.ts:Log.write inferred",
            "store.ts:use -> store.ts:Memory.get inferred",
            "store.ts:use -> store.ts:Log.write inferred",
            "store.ts:use -> store.ts:Deep.dive exact",
            "store.ts:Job.start -> store.ts:Job.run exact",
            "store.ts -> store.ts:use exact",
            "store.ts -> store.ts:Log.write inferred",
        ],
    )


OBJECTS = """\
export interface Log { warn(text: string): void; done: (text: string) => void }
export interface Plugin { start(): void }
export interface Named extends Readonly<Pick<Plugin, 'start'> & { log: Log }> {}
export class Quiet implements Log { warn() {} done() {} }
export function make(): Log {
  const made = { warn() {}, done: (text: string) => {} };
  return made;
}
export const plugins: Plugin[] = [{ start() {} }];
class Host {
  log: Log;
  constructor() { this.log = { warn() {}, done() {} }; }
  own() { this.log.warn('own'); }
}
const other = { warn() {}, start() {} };
"""


def test_objects_implement_the_types_that_they_are_declared_with(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "log.ts": OBJECTS,
            "use.ts": "import type { Log, Named, Plugin as Part } from './log';\n"
            "export function use(log: Log, part: Part, named: Named) {\n"
            "  log.warn('a'); log.done('b'); part.start(); named.log.warn('c'); }\n"
            "export function through(named: Named) { named.log.warn('c'); named.start(); }\n",
        },
        edges=[
            "use.ts:use -> log.ts:Quiet.warn inferred",
            "use.ts:use -> log.ts:make.made.warn inferred",
            "use.ts:use -> log.ts:make.made.done inferred",
            "use.ts:use -> log.ts:Host.constructor.log.warn inferred",
            "use.ts:use -> log.ts:start inferred",
            "use.ts:through -> log.ts:make.made.warn inferred",
            "use.ts:through -> log.ts:Plugin.start inferred",
            "log.ts:Host.own -> log.ts:Host.constructor.log.warn inferred",
        ],
        absent=["use.ts:use -> log.ts:other", "log.ts:Host.own -> log.ts:make"],
    )


SIGNATURES = """\
export class Tool { run(): void {} }
export class Kit { use(): void {} }
export interface Maker { (name: string): Tool; new (name: string): Kit }
export interface Shop { make: (name: string) => Tool; parts: Record<'a' | 'b', Kit> }
type Build = new () => Kit;
type Loop = () => Loop;
const kits = new Map<string, Kit>();
export function use(shop: Shop, maker: Maker, build: Build, plain: { make(): Tool }) {
  shop.make('x').run();
  shop.parts.a.use();
  return plain.make();
}
export function construct(build: Build) { new build().use(); }
export function look() { kits.get('a')!.use(); }
export function call(maker: Maker) { maker('a').run(); }
export function again(loop: Loop) { loop()()().run(); }
"""


def test_types_of_functions_say_what_calls_give(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "kit.ts": SIGNATURES,
            "use.ts": "import { use, Shop, Maker } from './kit';\nuse(null!, null!, null!, null!).run();\n",
        },
        edges=[
            "kit.ts:use -> kit.ts:Tool.run inferred",
            "kit.ts:use -> kit.ts:Kit.use inferred",
            "kit.ts:construct -> kit.ts:Kit.use inferred",
            "kit.ts:look -> kit.ts:Kit.use inferred",
            "kit.ts:call -> kit.ts:Tool.run inferred",
            "use.ts -> kit.ts:Tool.run inferred",
        ],
        absent=["kit.ts:again ->", "kit.ts:look -> kit.ts:Tool"],
    )


def test_a_module_may_be_what_a_function_gives(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "shape.js": "define(function () {\n  function area() {}\n  return { area };\n});\n",
            "main.js": "define(['./shape', 'other'], function (shape, other) {\n"
            "  return function main() { shape.area(); other.run(); };\n});\n",
            "use.js": "const main = require('./main');\nmain();\n",
        },
        imports=["main.js: ./shape", "main.js: other", "use.js: ./main"],
        edges=[
            "main.js:<lambda1>.main -> shape.js:<lambda1>.area inferred",
            "use.js -> main.js:<lambda1>.main exact",
        ],
    )


def test_members_may_be_described(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "main.js": "const app = { on() {} };\n"
            "Object.defineProperty(app, 'run', { value: function run() { this.on(); } });\n"
            "Object.defineProperty(app, 'made', { get() { return new Made(); } });\n"
            "class Made { start() {} }\n"
            "app.run();\napp.made.start();\n",
        },
        edges=[
            "main.js:value -> main.js:app.on exact",
            "main.js -> main.js:value inferred",
            "main.js -> main.js:Made.start inferred",
        ],
    )


def test_functions_under_computed_names_are_members(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "main.js": "const app = { route() {} };\n"
            "for (const verb of verbs()) app[verb] = function (path) { this.route(path); };\n",
        },
        edges=["main.js -> main.js:app.route exact"],
    )


def test_all_that_a_function_is_given_has_a_name(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "main.js": "function pass() { return arguments[0]; }\nclass A { run() {} }\npass(new A()).run();\n"
        },
        edges=["main.js -> main.js:A.run inferred"],
    )


def test_roots_count_as_one_directory_and_packages_have_sources(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "tsconfig.json": '{"compilerOptions": {"rootDirs": ["src/core", "src/util"]}}',
            "src/core/deep/main.ts": "import { help } from '../help';\nimport { tool } from '@org/kit/tool';\n"
            "help(tool());\n",
            "src/util/help.ts": "export function help(value: unknown) {}\n",
            "kit/package.json": '{"name": "@org/kit"}',
            "kit/src/tool.ts": "export function tool() {}\n",
        },
        edges=[
            "src/core/deep/main.ts -> src/util/help.ts:help exact",
            "src/core/deep/main.ts -> kit/src/tool.ts:tool exact",
        ],
    )


def test_items_that_are_stored_in_a_row_are_those_that_are_read(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "main.js": "function a() {}\nfunction b() {}\nfunction c() {}\n"
            "const one = { x: a };\none['x'] = b;\none['x']();\n"
            "const two = { y: a };\nObject.assign(two, { y: c });\ntwo['y']();\n",
        },
        edges=["main.js -> main.js:b inferred", "main.js -> main.js:c inferred"],
        absent=["main.js -> main.js:a"],
    )


def test_what_is_added_to_a_list_is_no_member_of_it(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "list.js": "const all = [];\nmodule.exports = all;\nall.push({ name: 'a', greet() {} });\n",
            "main.js": "const all = require('./list');\nall.map(function (one) { one.greet(); });\n",
        },
        edges=["main.js -> main.js:<lambda1> inferred", "main.js -> list.js:greet inferred"],
    )


def test_who_hands_a_function_to_what_calls_it_is_a_caller(tmp_path: Path) -> None:
    (tmp_path / "main.js").write_text(
        "export function f() {}\nexport function g() {}\n"
        "function one() { [1].map(f); }\nfunction two() { setTimeout(f, 1); }\nfunction three() { f.call(null); }\n"
        "function four() { keep(f); return [f].length; }\n"
        "function five() { [{ go() { g(); } }].forEach((x) => x.go()); }"
    )
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        callers = [edge.caller.rpartition(":")[2] for edge in engine.graph.callers("main.js:f")]
        assert callers == ["one", "three", "two"]
        assert [edge.caller for edge in engine.graph.callers("main.js:five.go")] == ["main.js:five"]


def test_elements_call_components(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "app.tsx": "import { Card } from './card';\nexport const App = () => <div><Card onOpen={open} /></div>;\n"
            "function open() {}\n",
            "card.tsx": "export function Card(props: any) { props.onOpen(); return <b/>; }\n",
        },
        edges=[
            "app.tsx:App -> card.tsx:Card exact",
            "card.tsx:Card -> app.tsx:open inferred",
        ],
    )


def test_modules_are_found_as_the_configuration_says(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "tsconfig.json": '{ // paths\n "compilerOptions": {"baseUrl": ".", "paths": {"@app/*": ["src/*"]},}\n}',
            "src/tool.ts": "export function tool() {}\n",
            "packages/core/package.json": '{"name": "@org/core", "exports": {".": {"import": "./dist/index.js"}}}',
            "packages/core/src/index.ts": "export { deep as core } from './deep.js';\n",
            "packages/core/src/deep.ts": "export function deep() {}\n",
            "src/main.ts": "import { tool } from '@app/tool';\nimport { core } from '@org/core';\ntool();\ncore();\n"
            "import('./tool').then((m) => m.tool());\n",
        },
        edges=[
            "src/main.ts -> src/tool.ts:tool exact",
            "src/main.ts -> packages/core/src/deep.ts:deep exact",
        ],
    )


def test_assignments_reach_the_scope_that_declares(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"late.js": "let run;\nfunction one() {}\nfunction set() { run = one; }\nset();\nrun();\n"},
        edges=["late.js -> late.js:one inferred"],
    )


@pytest.mark.parametrize(
    ("pattern", "module", "rest"),
    [
        ("@a/*", "@a/b", "b"),
        ("x", "x", ""),
        ("x", "y", None),
        ("*.js", "m.js", "m"),
        ("ab*ba", "aba", None),
    ],
)
def test_patterns_of_configurations(pattern: str, module: str, rest: str | None) -> None:
    assert matched(pattern, module) == rest


def test_configurations_may_have_comments() -> None:
    assert relaxed_json('{"a": "// no", /* x */ "b": [1,],}') == {"a": "// no", "b": [1]}
    assert relaxed_json("{") == {}


def test_a_file_is_found_by_the_words_that_import_it() -> None:
    assert module_keys("../lib/view.js") == module_keys("lib/view.ts") == ("./view",)
    assert "./lib" in module_keys("src/lib/index.ts")


@given(st.sampled_from([(SCRIPT, "javascript"), (LEGACY, "javascript"), (TYPED, "typescript"), (TYPED, "tsx")]),
       st.integers(0, 2**32))  # fmt: skip
def test_broken_source_is_read_as_far_as_it_goes(case: tuple[str, str], seed: int) -> None:
    text, language = case
    read(splinter(text.encode(), seed), language)


def test_documentation_belongs_to_what_follows_even_behind_an_empty_line(tmp_path: Path) -> None:
    source = """\
/** Sets the code. */

res.status = function status(code) {};

// Of nothing.

res.end = function () {};

/** Of the next comment's function? */

// Sends it.
res.send = function () {};

/**/

res.flush = function () {};
"""
    docs = {
        "r.js:res.status": "/** Sets the code. */",
        "r.js:res.end": "",
        "r.js:res.send": "// Sends it.",
        "r.js:res.flush": "",
    }
    check(
        tmp_path,
        {"r.js": source},
        definitions=[
            f"{name} function {line}" for name, line in zip(docs, (3, 7, 12, 16), strict=True)
        ],
        docs=docs,
    )


def test_every_name_of_a_chain_of_assignments_means_the_same_definition(tmp_path: Path) -> None:
    source = """\
var res = {};
res.set =
res.header = function (field) { return field; };
exports.run = exports.start = function () { return res.set(1); };
function List() {}
List.prototype.each = List.prototype.forEach = function () { return this.each(); };
var one = two = function () {};
res.send = function () {};
"""
    check(
        tmp_path,
        {"r.js": source, "user.js": "require('./r').run();"},
        definitions=[
            "r.js:res.header function 3",
            "r.js:res.set field 2",
            "r.js:start function 4",
            "r.js:run variable 4",
            "r.js:List.forEach method 6",
            "r.js:List.each field 6",
            "r.js:two function 7",
            "r.js:one variable 7",
        ],
        edges=["user.js -> r.js:start exact"],
    )
    with Engine.open(tmp_path) as engine:
        for name, other in [("res.header", "res.set"), ("List.forEach", "List.each")]:
            callers = [edge.caller for edge in engine.graph.callers(f"r.js:{name}")]
            assert callers, name
            assert [edge.caller for edge in engine.graph.callers(f"r.js:{other}")] == callers
        assert not engine.lookup("res.send.res")
        assert [found.kind.value for found in engine.lookup("res.send")] == ["function"]


ACCESSORS = """\
module.exports = {
  get header() { return this.req.headers; },
  set header(value) { this.req.headers = value; },
  get status() { return 1; },
  show() { return this.header; },
  change() { this.header = 1; },
};
class Shape {
  get side() { return 1; }
  set side(value) {}
  read() { return this.side; }
  write() { this.side = 2; }
  take() { const { side } = this; return side; }
}
"""
ACCESSOR_USER = """\
const a = require('./a');
function use() { a.header = 2; return a.status; }
function take() { const { header: found, status = 2 } = a; }
function bare() { const { header } = a; }
"""


def test_reading_and_assigning_a_member_call_its_accessors(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.js": ACCESSORS, "b.js": ACCESSOR_USER},
        edges=[
            "a.js:show -> a.js:header inferred",
            "a.js:change -> a.js:header#2 inferred",
            "a.js:Shape.read -> a.js:Shape.side inferred",
            "a.js:Shape.write -> a.js:Shape.side#2 inferred",
            "a.js:Shape.take -> a.js:Shape.side inferred",
            "b.js:use -> a.js:header#2 inferred",
            "b.js:use -> a.js:status inferred",
            "b.js:take -> a.js:header inferred",
            "b.js:take -> a.js:status inferred",
        ],
        absent=[
            "a.js:show -> a.js:header#2",
            "a.js:change -> a.js:header inferred",
            "a.js:Shape.read -> a.js:Shape.side#2",
            "a.js:Shape.write -> a.js:Shape.side inferred",
        ],
    )
    with Engine.open(tmp_path) as engine:
        readers = [edge.caller for edge in engine.graph.callers("a.js:header")]
        writers = [edge.caller for edge in engine.graph.callers("a.js:header#2")]
    assert readers == ["a.js:show", "b.js:bare", "b.js:take"]
    assert writers == ["a.js:change", "b.js:use"]


def test_the_directory_of_a_package_stands_for_its_entry(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "package.json": '{"name": "server", "main": "lib/application.js"}',
            "lib/application.js": "module.exports = class Application { use() {} };\n",
            "test/deep/use.test.js": "const App = require('../..');\nnew App().use();\n",
            "test/named.test.js": "const App = require('server');\nnew App().use();\n",
            "other/package.json": '{"name": "@scope/other", "main": "./built.js"}',
            "other/built.js": "module.exports = function () {};\n",
            "other/user.js": "const built = require('../other');\nfunction run() { built(); }\n",
        },
        edges=[
            "test/deep/use.test.js -> lib/application.js:Application.use inferred",
            "test/named.test.js -> lib/application.js:Application.use inferred",
            "other/user.js:run -> other/built.js:module.exports exact",
        ],
    )


def test_a_rare_name_is_guessed_on_what_nothing_is_known_of(tmp_path: Path) -> None:
    library = """\
var api = {};
api.fetchAll = function () {};
exports.compute = function () {};
function Shape() {}
Shape.shrink = () => {};
function lonely() {}
module.exports.api = api;
"""
    use = """\
module.exports = function use(x) { x.fetchAll(); x.compute(); x.shrink(); x.lonely(); };
"""
    check(
        tmp_path,
        {"lib.js": library, "use.js": use},
        edges=[
            "use.js:use -> lib.js:api.fetchAll by_name",
            "use.js:use -> lib.js:compute by_name",
            "use.js:use -> lib.js:Shape.shrink by_name",
        ],
        absent=["use.js:use -> lib.js:lonely"],
    )
