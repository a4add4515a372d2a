"""Definitions of names by position, in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tersely.code.engine import Engine

# Files, and of questions `line: text that begins with the name` the lines of definitions
# (`path:line` in another file).
Case = tuple[dict[str, str], dict[str, str]]

CASES: dict[str, Case] = {
    "python: every form of binding": (
        {
            "a.py": "import os.path\n"
            "limit = 1\n"
            "def f(x, *rest, key=2, **more):\n"
            "    total = x\n"
            "    for i, (j, k) in rest: total += i + j\n"
            "    with open(key) as handle: handle\n"
            "    try: more\n"
            "    except OSError as error: print(error, limit)\n"
            "    return [limit for limit in rest], os.path\n"
            "def g():\n"
            "    global limit\n"
            "    limit = 2\n"
            "def h(command):\n"
            "    match command:\n"
            "        case ['go', (1 | 2) as way, *others]: return way, others\n"
        },
        {
            "5: i + j": "5",
            "5: j\n": "5",
            "6: handle\n": "6",
            "7: more": "3",
            "8: error, ": "8",
            "8: limit": "2 12",
            "9: limit for": "9",
            "9: os.path": "1",
            "9: path": "1",
            "15: way, others": "15",
            "15: others\n": "15",
        },
    ),
    "python: the last of straight bindings": (
        {
            "a.py": "def f():\n    x = 1\n    print(x)\n    x = 2\n    print(x)\n    if x: x = 3\n    return x\n"
        },
        {"3: x": "2", "5: x": "4", "7: x": "4 6"},
    ),
    "python: imports are followed and named": (
        {
            "a.py": "from b import C as D, f\nD().m(f)\n",
            "b.py": "class C:\n    def m(self): ...\nf = 1\n",
        },
        {"2: D": "b.py:1 1", "2: m": "b.py:2", "2: f": "b.py:3 1", "1: f\n": "b.py:3"},
    ),
    "java: of overloads the one that is called": (
        {
            "A.java": "class A {\n  void f(int a) {}\n  void f(int a, int b) {}\n  void g() {\n    f(1);\n"
            "    f(1, 2);\n    this.f(3, 4);\n  }\n}\n"
        },
        {"5: f(": "2", "6: f(": "3", "7: f(": "3"},
    ),
    "javascript: blocks, hoisting and var": (
        {
            "a.js": "let x = 1;\n"
            "{ let x = 2; print(x); }\n"
            "print(x, later, kept, gone);\n"
            "if (x) { var kept = 3; let gone = 4; }\n"
            "function later() {}\n"
            "for (const x of xs) print(x);\n"
            "try {} catch (error) { print(error); }\n"
            "const { a, b: [c], ...d } = x;\n"
            "print(a, c, d);\n"
            "outer: for (;;) { break outer; }\n"
            "const o = { key: 1, other() {} };\n"
            "o.key; o['other'];\n"
        },
        {
            "2: x);": "2",
            "3: x,": "1",
            "3: later": "5",
            "3: kept": "4",
            "3: gone": "",
            "6: x);": "6",
            "7: error);": "7",
            "9: a": "8",
            "9: c": "8",
            "9: d": "8",
            "10: outer; ": "10",
            "12: key": "11",
            "12: 'other'": "11",
        },
    ),
    "javascript: classes and modules": (
        {
            "a.js": "export class A {\n  size = 1;\n  get() { return this.size; }\n}\n"
            "const hidden = 1;\nexport { hidden as shown };\nshown;\n",
            "b.js": "import { A, shown } from './a.js';\nnew A().get();\nshown;\n",
        },
        {
            "b.js 2: A": "a.js:1 1",
            "b.js 2: get": "a.js:3",
            "b.js 3: shown": "a.js:5 a.js:6 1",
            "a.js 3: size": "2",
            "a.js 6: shown": "5 6",
            "a.js 7: shown": "6",
        },
    ),
    "tsx: elements are members of the type that the runtime of the file declares": (
        {
            "jsx/base.ts": "export interface Attributes { class?: string; 'aria-label'?: string }\n"
            "interface Defined { div: Attributes;\n  'my-element': Attributes }\n"
            "export namespace JSX {\n"
            "  export interface IntrinsicElements extends Defined { span: Attributes }\n}\n",
            "jsx/jsx-runtime.ts": "export type { JSX } from './base'\n",
            "a.tsx": "/** @jsxImportSource ./jsx */\n"
            "const value = '';\n"
            "const page = <div class={value}>\n"
            "  <span aria-label='x'/>\n"
            "  <my-element class=''></my-element>\n"
            "</div>;\n",
            "below/tsconfig.json": '{"compilerOptions": {"jsxImportSource": "../jsx"}}',
            "below/b.tsx": "const page = <div class=''/>;\n",
            "none.tsx": "const page = <div class=''/>;\n",
        },
        {
            "a.tsx 3: div": "jsx/base.ts:2",
            "a.tsx 3: class": "jsx/base.ts:1",
            "a.tsx 3: value": "2",
            "a.tsx 4: span": "jsx/base.ts:5",
            "a.tsx 4: aria-label": "jsx/base.ts:1",
            "a.tsx 5: my-element class": "jsx/base.ts:3",
            "a.tsx 5: my-element>": "jsx/base.ts:3",
            "a.tsx 6: div": "jsx/base.ts:2",
            "below/b.tsx 1: div": "jsx/base.ts:2",
            "below/b.tsx 1: class": "jsx/base.ts:1",
            "none.tsx 1: div": "",
            "none.tsx 1: class": "",
        },
    ),
    "typescript: types and their parameters": (
        {
            "a.ts": "type Name = string;\n"
            "interface Box<T> { value: T; take(x: T): Name }\n"
            "enum Color { Red, Green }\n"
            "function f<U extends Name>(box: Box<U>, color = Color.Red): U {\n"
            "  const g: <V>(v: V) => U = v => box.value;\n"
            "  return g(color);\n"
            "}\n"
            "switch (1) { case 1: type Inner = Name; let i: Inner; }\n"
        },
        {
            "2: T;": "2",
            "2: Name }": "1",
            "4: Name>": "1",
            "4: U>,": "4",
            "4: Red": "3",
            "5: V)": "5",
            "5: U =": "4",
            "5: value": "2",
            "6: g(": "5",
            "8: Name": "1",
            "8: Inner; }": "8",
        },
    ),
    "java: locals, fields and labels": (
        {
            "A.java": "class A<T> extends B {\n"
            "  int n; T t;\n"
            "  void f(int p) {\n"
            "    for (int i = 0; i < p; i++) { int n = i; g(n); }\n"
            "    try (R r = new R()) { use(r); } catch (E e) { use(e); }\n"
            "    if (t instanceof String s) use(s);\n"
            "    n = inherited;\n"
            "    out: while (true) break out;\n"
            "    use(late); int late = 1;\n"
            "  }\n"
            "  void g(int q) { int q2 = this.n; }\n"
            "}\n"
            "class B { int inherited; }\n"
        },
        {
            "1: B": "13",
            "2: T": "1",
            "4: i < p": "4",
            "4: p;": "3",
            "4: n);": "4",
            "4: g(": "11",
            "5: r);": "5",
            "5: e);": "5",
            "6: s);": "6",
            "7: n": "2",
            "7: inherited": "13",
            "8: out;": "8",
            "9: late)": "",
            "11: n;": "2",
        },
    ),
    "go: blocks and shadowing": (
        {
            "a.go": "package a\n"
            "type T struct { n int }\n"
            "func (t *T) M(x int) (err error) {\n"
            "\tif x := x + 1; x > t.n { return err }\n"
            "\tfor i, v := range list { use(i, v) }\n"
            "\tx := x\n"
            "\tswitch y := x.(type) { case int: use(y) }\n"
            "\treturn t.M(x)\n"
            "}\n"
            "var list = []int{limit}\n"
            "const limit = 1\n"
        },
        {
            "4: x + 1": "3",
            "4: x >": "4",
            "4: n {": "2",
            "4: err }": "3",
            "5: list": "10",
            "5: v) }": "5",
            "6: x\n": "3",
            "8: M": "3",
            "8: x)": "6",
            "10: limit": "11",
        },
    ),
    "rust: shadowing and patterns": (
        {
            "a.rs": "struct S { n: u32 }\n"
            "fn f(x: u32, s: S) -> u32 {\n"
            "    let x = x + 1;\n"
            "    let y = { let x = 2; x };\n"
            "    match s { S { n } => n, other => other.n };\n"
            "    if let Some(x) = g(x) { return x; }\n"
            "    for i in 0..y { h(i, |z| z + x); }\n"
            "    x\n"
            "}\n"
        },
        {
            "2: S)": "1",
            "3: x + 1": "2",
            "4: x };": "4",
            "5: n,": "5",
            "5: other.n": "5",
            "6: x) {": "3",
            "6: x; }": "6",
            "7: y {": "4",
            "7: i, ": "7",
            "7: z +": "7",
            "7: x);": "3",
            "8: x": "3",
        },
    ),
    "c#: locals, members and loops": (
        {
            "A.cs": "class A {\n"
            "  int n;\n"
            "  int P { get; set; }\n"
            "  void F(int p) {\n"
            "    foreach (var i in list) { int n = i; Use(n, p); }\n"
            "    n = P;\n"
            "    try { } catch (E e) { Use(e); }\n"
            "    this.F(n);\n"
            "  }\n"
            "}\n"
        },
        {
            "5: i;": "5",
            "5: n, ": "5",
            "5: p);": "4",
            "6: n": "2",
            "6: P": "3",
            "7: e);": "7",
            "8: F": "4",
            "8: n": "2",
        },
    ),
    "ruby: methods, blocks and instance variables": (
        {
            "a.rb": "LIMIT = 1\n"
            "class A\n"
            "  def initialize(n)\n"
            "    @n = n\n"
            "  end\n"
            "  def m(x, key: 1)\n"
            "    y = x\n"
            "    list.each { |item| y += item }\n"
            "    helper(y, key, LIMIT)\n"
            "    @n\n"
            "  end\n"
            "  def helper(*rest) = rest\n"
            "end\n"
        },
        {
            "7: x": "6",
            "8: item }": "8",
            "9: helper": "12",
            "9: key": "6",
            "9: LIMIT": "1",
            "10: @n": "4",
        },
    ),
    "kotlin: parameters and locals": (
        {
            "a.kt": "class A(val n: Int) {\n  fun f(x: Int): Int {\n    for (i in list) { val x = i; use(x) }\n"
            "    val y = listOf(x).map { z -> z + n }\n    return x + y\n  }\n}\n",
        },
        {
            "a.kt 3: x) }": "3",
            "a.kt 4: x)": "2",
            "a.kt 4: z +": "4",
            "a.kt 4: n }": "1",
            "a.kt 5: y": "4",
        },
    ),
    "typescript: keys and patterns are members of the types that are expected of them": (
        {
            "a.ts": "import type {Init} from './b';\n"
            "const go = (init: Init) => init.url;\n"
            "const url = 'x';\n"
            "go({url, page: {size: 1}});\n"
            "go({url: 'y', page: {show({items}) { items }}});\n"
            "const {page} = null as Init, own = {url: 1, head: 2};\n"
            "own.head; page.size;\n"
            "const first: Init = {url: '', page: {size: 2}};\n"
            "first.page.size;\n",
            "b.ts": "const copy = () => ({page: {}});\n"
            "export class Options {\n"
            "  get url(): string { return ''; }\n"
            "  get page(): Page { return this.#page; }\n"
            "  #page: Page;\n"
            "  secret: string;\n"
            "  #init: Init = copy();\n"
            "  get more(): Page { return this.#init.page; }\n"
            "}\n"
            "export interface Page { size?: number; show?: (page: {items: string[]}) => void; }\n"
            "type Except<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;\n"
            "export type Init = Except<Partial<Options>, 'secret'> & {more?: number};\n",
        },
        {
            "2: url;": "b.ts:3",
            "4: url": "3 b.ts:3",
            "4: page": "b.ts:4",
            "4: size": "b.ts:10",
            "5: url": "b.ts:3",
            "5: show": "b.ts:10",
            "5: items}": "5 b.ts:10",
            "6: page}": "6 b.ts:4",
            "6: head": "6",
            "7: head": "6",
            "7: size": "b.ts:10",
            "8: size": "b.ts:10",
            "9: size": "b.ts:10",
            "b.ts 8: page": "4",
        },
    ),
    "typescript: names that types bring": (
        {
            "a.ts": "type Given<T> = T extends Promise<infer P> ? P : never;\n"
            "type Same<T> = {[K in keyof T]: T[K]};\n"
            "interface Env { size: number }\n"
            "type Size<E extends Env> = E['size'];\n"
        },
        {"1: P>": "1", "1: P :": "1", "2: K in": "2", "2: K]}": "2", "4: size": "3"},
    ),
    "typescript: attributes of elements are members of what the component takes": (
        {
            "a.tsx": "type Props = {title: string; onOpen?: () => void};\n"
            "const Card = (props: Props) => <b>{props.title}</b>;\n"
            "const title = 'x';\n"
            "const page = <Card title={title} onOpen={() => {}} />;\n"
        },
        {"2: title": "1", "4: title=": "1", "4: title}": "3", "4: onOpen": "1"},
    ),
    "javascript: the path of a module": (
        {
            "a.js": "const b = require('./b');\nexport * from './b';\nimport('./b').then(b);\n",
            "b.js": "exports.f = 1;\n",
        },
        {"1: ./b": "b.js:1", "2: ./b": "b.js:1", "3: ./b": "b.js:1"},
    ),
    "c: blocks and types": (
        {
            "a.c": "typedef struct node { int n; } node;\n"
            "int f(node *p, int x) {\n"
            "  for (int i = 0; i < x; i++) { int x = i; use(x); }\n"
            "  return p->n + x;\n"
            "}\n"
        },
        {
            "2: node *": "1",
            "3: i < x": "3",
            "3: x; i++": "2",
            "3: x);": "3",
            "4: n +": "1",
            "4: x": "2",
        },
    ),
}


def asked(files: dict[str, str], question: str) -> tuple[str, int, int]:
    """Path, line and column that a question means."""
    where, _, text = question.partition(": ")
    path, _, line = where.rpartition(" ")
    path = path or next(iter(files))
    row = files[path].split("\n")[int(line) - 1] + "\n"
    assert row.count(text) == 1 or len(text) == 1, f"{text!r} is not told apart in {row!r}"
    return path, int(line), row.index(text)


@pytest.mark.parametrize("name", CASES)
def test_names_mean_the_bindings_in_sight(name: str, tmp_path: Path) -> None:
    """Every question of a case is answered with exactly the lines expected."""
    files, questions = CASES[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    found = {}
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        for question in questions:
            path, line, column = asked(files, question)
            places = engine.definition(path, line, column)
            shown = {
                f"{place.line}" if place.path == path else f"{place.path}:{place.line}"
                for place in places
            }
            found[question] = " ".join(sorted(shown))
    assert found == {
        question: " ".join(sorted(lines.split())) for question, lines in questions.items()
    }
