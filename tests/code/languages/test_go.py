"""Go: packages, receivers, embedding, structural interfaces."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "go.mod": "module example.com/proj/v2\n\ngo 1.21\n",
    "util/util.go": """\
package util

// Logger writes.
type Logger struct{ prefix, suffix string }

func NewLogger(p string) (*Logger, error) { return &Logger{prefix: p}, nil }
func (l *Logger) Log(m string)            { l.write(m) }
func (l *Logger) write(m string)          {}

type Shape interface {
	Area() float64
	Name() string
}
type Logs []*Logger
type Alias = Logger

const Max, Min = 2, 1

func Apply[T any](xs []T, f func(T)) { for _, x := range xs { f(x) } }
""",
    "util/more.go": """\
package util

func helper() *Logger { l, _ := NewLogger("x"); l.Log("hi"); return l }
""",
    "cmd/main.go": """\
package main

import (
	"fmt"
	u "example.com/proj/v2/util"
)

type Circle struct{ *u.Logger }

func (c Circle) Area() float64 { return 1 }
func (c Circle) Name() string  { c.Log("name"); return "circle" }

type Square struct{}

func (s *Square) Area() float64 { return 2 }
func (s *Square) Name() string  { return "sq" }

type Half struct{}

func (h Half) Name() string { return "h" }

type App struct {
	start func(string)
	table map[string]func()
}

func begin(s string)    {}
func stop()             {}
func visit(s u.Shape)   { s.Area() }
func any(s u.Shape)     { s.Name() }
func first(l u.Logs)    { l[0].Log("first") }

func main() {
	lg, err := u.NewLogger("a")
	fmt.Println(err)
	app := &App{start: begin, table: map[string]func(){"stop": stop}}
	app.start("x")
	app.table["stop"]()
	u.Apply([]u.Shape{Circle{}}, visit)
	go func() { lg.Log("z") }()
}

func pick(sh u.Shape) {
	switch v := sh.(type) {
	case Circle:
		v.Area()
	case *Square:
		v.Name()
	}
	if sh, ok := sh.(*Square); ok {
		sh.Area()
	}
}

func made() { make([]*Square, 1)[0].Area(); new(Square).Name() }
""",
}


def test_definitions_say_what_they_are(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=[
            "util/util.go:Logger struct 4",
            "util/util.go:Logger.suffix field 4",
            "util/util.go:Logger.Log method 7",
            "util/util.go:Shape interface 10",
            "util/util.go:Shape.Name method 12",
            "util/util.go:Logs type 14",
            "util/util.go:Alias type 15",
            "util/util.go:Min constant 17",
            "util/util.go:Apply function 19",
        ],
        imports=["cmd/main.go: fmt  fmt", "cmd/main.go: example.com/proj/v2/util  u"],
        docs={"util/util.go:Logger": "// Logger writes."},
        signatures={"util/util.go:NewLogger": "func NewLogger(p string) (*Logger, error)"},
    )


def test_calls_cross_files_and_packages(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "util/more.go:helper -> util/util.go:NewLogger exact",
            "util/more.go:helper -> util/util.go:Logger.Log inferred",
            "util/util.go:Logger.Log -> util/util.go:Logger.write exact",
            "cmd/main.go:main -> util/util.go:NewLogger exact",
            "cmd/main.go:main -> cmd/main.go:begin inferred",
            "cmd/main.go:main -> cmd/main.go:stop inferred",
            "cmd/main.go:first -> util/util.go:Logger.Log inferred",
            "util/util.go:Apply -> cmd/main.go:visit inferred",
        ],
    )


def test_interfaces_reach_what_has_their_methods(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "cmd/main.go:any -> cmd/main.go:Circle.Name inferred",
            "cmd/main.go:any -> cmd/main.go:Square.Name inferred",
            "cmd/main.go:pick -> cmd/main.go:Circle.Area inferred",
            "cmd/main.go:pick -> cmd/main.go:Square.Name inferred",
            "cmd/main.go:pick -> cmd/main.go:Square.Area inferred",
            "cmd/main.go:made -> cmd/main.go:Square.Area inferred",
            "cmd/main.go:Circle.Name -> util/util.go:Logger.Log exact",
        ],
        absent=[
            "cmd/main.go:any -> cmd/main.go:Half.Name",
            "cmd/main.go:pick -> cmd/main.go:Circle.Name",
        ],
    )


GENERIC = {
    "go.mod": "module example.com/once\n\ngo 1.22\n",
    "main.go": """\
package main

import "sync"

type Item struct{}

func (i *Item) Price() int { return 1 }

type Part struct{}

func (p *Part) Weight() int { return 1 }

func build() *Item { return &Item{} }

func load() (*Item, error) { return nil, nil }

var item = sync.OnceValue(func() *Item { return build() })
var both = sync.OnceValues(load)

func First[T any](xs []T) T { return xs[0] }

func Map[T, U any](xs []T, f func(T) U) []U { return []U{f(xs[0])} }

type Box[T any] struct{ v T }

func (b Box[T]) Get() T { return b.v }

func NewBox[T any](v T) *Box[T] { return &Box[T]{v: v} }

func once() { item().Price() }

func twice() {
	one, _ := both()
	one.Price()
}

func first(items []*Item) { First(items).Price() }

func mapped(items []*Item) { Map(items, func(i *Item) *Part { return &Part{} })[0].Weight() }

func boxed() { NewBox(&Part{}).Get().Weight() }

var table = []struct {
	name string
	run  func() *Item
}{{"build", build}}

func tabled() {
	for _, entry := range table {
		entry.run()
	}
}
""",
}


def test_functions_that_are_run_once_and_type_arguments_that_are_inferred(tmp_path: Path) -> None:
    check(
        tmp_path,
        GENERIC,
        edges=[
            "main.go:once -> main.go:Item.Price inferred",
            "main.go:twice -> main.go:load inferred",
            "main.go:twice -> main.go:Item.Price inferred",
            "main.go:first -> main.go:Item.Price inferred",
            "main.go:mapped -> main.go:Part.Weight inferred",
            "main.go:boxed -> main.go:Part.Weight inferred",
            "main.go:tabled -> main.go:build inferred",
        ],
    )


RESULTS = """\
package a

type T struct{}

func (t *T) Run() {}

type E struct{}

func (e *E) Fail() {}

func load() (*T, *E) { return &T{}, &E{} }

func must(t *T, e *E) *T { e.Fail(); return t }

func kept[V any](v V, e *E) V { return v }

type Runner interface{ Run() }

func pass(r Runner, e *E) { r.Run() }

func rest(all ...*T) { all[0].Run() }

func one() *T { return &T{} }

func use() { must(load()).Run() }

func generic() { kept(load()).Run() }

func others() { pass(load()); rest(one()) }
"""


def test_the_results_of_one_call_are_the_parameters_of_another(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"go.mod": "module example.com/a\n", "a.go": RESULTS},
        edges=[
            "a.go:must -> a.go:E.Fail inferred",
            "a.go:use -> a.go:T.Run inferred",
            "a.go:generic -> a.go:T.Run inferred",
            "a.go:pass -> a.go:T.Run inferred",
            "a.go:rest -> a.go:T.Run inferred",
        ],
    )


def test_an_interface_is_implemented_by_methods_that_take_what_it_says(tmp_path: Path) -> None:
    files = {
        "go.mod": "module m\n",
        "a.go": """\
package m

type Request struct{}
type Hello struct{}
type Matcher interface{ Match(r *Request) bool }
type Any[T any] interface{ Put(item T) }
type ByPath struct{}
type ByName struct{}

func (ByPath) Match(r *Request) bool { return true }
func (ByName) Match(h *Hello) bool   { return true }
func (ByName) Put(h *Hello)          {}

func check(m Matcher, r *Request) bool { return m.Match(r) }
func keep(a Any[*Hello], h *Hello)     { a.Put(h) }
""",
    }
    check(
        tmp_path,
        files,
        edges=["a.go:check -> a.go:ByPath.Match inferred", "a.go:keep -> a.go:ByName.Put inferred"],
        absent=["a.go:check -> a.go:ByName.Match inferred"],
    )


def test_callers_of_one_of_very_many_implementations_are_those_of_the_interface(
    tmp_path: Path,
) -> None:
    """More types than a set of values holds: the call reaches none of them by value."""
    many = "".join(f"type T{n} struct{{}}\nfunc (T{n}) Start(x int) {{}}\n" for n in range(150))
    files = {
        "a.go": f"package m\ntype Starter interface{{ Start(x int) }}\nfunc run(s Starter) {{ s.Start(1) }}\n{many}"
        "type Odd struct{}\nfunc (Odd) Start(text string) {}\n"
    }
    for path, text in files.items():
        (tmp_path / path).write_text(text)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        assert [edge.caller for edge in engine.graph.callers("a.go:T7.Start")] == ["a.go:run"]
        assert engine.graph.callers("a.go:Odd.Start") == []


@given(
    st.sampled_from([path for path in sorted(FILES) if path.endswith(".go")]), st.integers(0, 2**32)
)
def test_broken_source_is_read(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "go")


LITERALS = {
    "go.mod": """\
module m
""",
    "a.go": """\
package m

type Item struct{}

func (i *Item) Price() {}

type Other struct{}

func (o *Other) Price() {}

type Base struct{}

func (b *Base) Hook() {}

type Key struct{ a int }

func (k Key) Hash() {}

func key() Key { return Key{} }

type Node struct {
	*Base
	parent *Item
	inner  struct {
		item *Item
		deep struct{ other *Other }
	}
}

func (n *Node) fields() {
	n.Hook()
	n.parent.Price()
	n.inner.item.Price()
}

func (n *Node) deep() { n.inner.deep.other.Price() }

func unnamed() {
	var x struct {
		*Base
		parent *Item
	}
	x.Hook()
	x.parent.Price()
}

func cases() {
	tests := []struct {
		name string
		item *Item
		run  func()
	}{{"a", &Item{}, first}, {name: "b", item: &Item{}, run: second}}
	for _, tt := range tests {
		tt.item.Price()
		tt.run()
	}
}

func keys(more map[Key]*Other) {
	held := map[Key]*Item{key(): {}, {a: 1}: nil}
	for k, v := range held {
		k.Hash()
		v.Price()
	}
}

func declared(more map[Key]*Other) {
	for k := range more {
		k.Hash()
	}
}

type Kind int

const (
	A Kind = iota
	B
)

func table() {
	t := map[Kind]func(){A: first, B: second}
	t[A]()
}

func channel(c chan *Item) {
	for i := range c {
		i.Price()
	}
}

func first()  {}
func second() {}
""",
}


def test_literals(tmp_path: Path) -> None:
    """Fields of structs without names, and keys of literals, which are values where no struct has
    fields.
    """
    check(
        tmp_path,
        LITERALS,
        edges=[
            "a.go:Node.deep -> a.go:Other.Price inferred",
            "a.go:Node.fields -> a.go:Base.Hook exact",
            "a.go:Node.fields -> a.go:Item.Price inferred",
            "a.go:cases -> a.go:Item.Price inferred",
            "a.go:cases -> a.go:first inferred",
            "a.go:cases -> a.go:second inferred",
            "a.go:channel -> a.go:Item.Price inferred",
            "a.go:declared -> a.go:Key.Hash inferred",
            "a.go:keys -> a.go:Item.Price inferred",
            "a.go:keys -> a.go:Key.Hash inferred",
            "a.go:keys -> a.go:key exact",
            "a.go:table -> a.go:first inferred",
            "a.go:table -> a.go:second inferred",
            "a.go:unnamed -> a.go:Base.Hook inferred",
            "a.go:unnamed -> a.go:Item.Price inferred",
        ],
        absent=[
            "a.go:Node.fields -> a.go:Other.Price",
            "a.go:Node.deep -> a.go:Item.Price",
            "a.go:keys -> a.go:Other.Price",
            "a.go:cases -> a.go:Other.Price",
        ],
    )


def test_a_member_may_have_the_name_of_its_type(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.go": """\
package a
type Base struct{}
func (b *Base) Other() {}
func (b *Base) Same() {}
type T struct { *Base; parent *Base; next *T }
func (t *T) Same() {}
func (t *T) field() { t.parent.Other() }
func (t *T) promoted() { t.Other() }
func (t *T) embedded() { t.Base.Other() }
func (t *T) hidden() { t.Base.Same() }
func (t *T) far() { t.next.parent.Other() }
type V struct { *T; Base Two }
type Two struct{}
func (t Two) Other() {}
func (v V) named() { v.Base.Other() }
func (v V) deep() { v.T.Base.Other() }
type W struct { Iface }
type Iface interface { Do() }
type Impl struct{}
func (i Impl) Do() {}
func (w W) through() { w.Iface.Do() }
"""
        },
        edges=[
            *(
                f"a.go:{one} -> a.go:Base.Other inferred"
                for one in ("T.field", "T.embedded", "T.far", "V.deep")
            ),
            "a.go:T.promoted -> a.go:Base.Other exact",
            "a.go:T.hidden -> a.go:Base.Same inferred",
            "a.go:V.named -> a.go:Two.Other inferred",
            "a.go:W.through -> a.go:Impl.Do inferred",
        ],
        absent=["a.go:T.hidden -> a.go:T.Same", "a.go:V.named -> a.go:Base.Other"],
    )
