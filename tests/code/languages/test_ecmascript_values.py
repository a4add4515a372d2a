"""Values that go through promises, iterators, maps and receivers reach the methods that are called on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.code.languages.checks import check

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
        ("a.js", "function make(){return Promise.resolve(new A())}\nfunction f(){make().then(a=>a.m())}", "f", "A.m"),
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
        ("a.js", "async function* g(){yield new A()}\nasync function f(){for await(const a of g()) a.m()}", "f", "A.m"),
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
        ("a.ts", "const x=new Map<string,A>()\nfunction f(){for(const [k,a] of x) a.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<string,A>){for(const [k,a] of x.entries()) a.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<A,string>){for(const [k,a] of x) k.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<string,A>){for(const a of x.values()) a.m()}", "f", "A.m"),
        ("a.ts", "function f(x:Map<string,A>){x.forEach((a)=>a.m())}", "f", "A.m"),
        ("a.ts", "function f(x:Map<A,string>){for(const k of x.keys()) k.m()}", "f", "A.m"),
        ("a.ts", "function f(x:unknown){if(x instanceof A) x.m()}", "f", "A.m"),
    ],
)
def test_a_value_arrives(tmp_path: Path, path: str, program: str, caller: str, callee: str) -> None:
    grade = "exact" if "this" in program else "inferred"
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
    check(tmp_path, {"a.js": source}, edges=["a.js:f -> a.js:A.go by_name", "a.js:f -> a.js:B.go by_name"])
