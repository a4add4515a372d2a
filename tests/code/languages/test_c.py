"""C and C++: prototypes, function pointers, namespaces, methods outside their class."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import Definition
from tersely.code.syntax.extract import extract

C = {
    "include/db.h": """\
#ifndef DB_H
#define DB_H
typedef struct db db;
struct ops { int (*open)(db *); void (*close)(db *); };
struct db { struct ops *ops; int n; };
typedef int (*cmd_fn)(db *d);
struct cmd { const char *name; cmd_fn fn; int arity; };
db *db_new(int n);
void db_free(db *d);
#define DB_CALL(d) db_run(d, 1)
int db_run(db *d, int x);
#endif
""",
    "src/db.c": """\
#include "../include/db.h"
#include <stdlib.h>
static int helper(db *d) { return d->n; }
static int my_open(db *d) { return helper(d); }
static void my_close(db *d) { }
static struct ops default_ops = { .open = my_open, .close = my_close };
db *db_new(int n) { db *d = malloc(sizeof(*d)); d->ops = &default_ops; d->ops->open(d); return d; }
void db_free(db *d) { d->ops->close(d); free(d); }
int db_run(db *d, int x) { return helper(d); }
""",
    "src/main.c": """\
#include "db.h"
static int helper(db *d) { return 0; }
static int get_cmd(db *d) { return helper(d); }
static int set_cmd(db *d) { return DB_CALL(d); }
static struct cmd table[] = { {"get", get_cmd, 1}, {"set", set_cmd, 2} };
static int apply(cmd_fn f, db *d) { return f(d); }
int main(void) {
  db *d = db_new(1);
  for (int i = 0; i < 2; i++) table[i].fn(d);
  apply(get_cmd, d);
  db_free(d);
  return 0;
}
""",
}

CPP = {
    "db/shape.h": """\
#pragma once
#include <memory>
#include <vector>
namespace geo {
class Shape {
 public:
  virtual ~Shape() = default;
  virtual double Area() const = 0;
  virtual void Draw() { Prepare(); }
 protected:
  void Prepare();
};
class Circle : public Shape {
 public:
  explicit Circle(double r);
  double Area() const override;
  static Circle* Make(double r);
  Circle& Scale(double k);
 private:
  double Helper() const;
  double r_;
  std::unique_ptr<Shape> inner_;
};
double Total(const std::vector<Shape*>& xs);
}
""",
    "db/shape.cc": """\
#include "db/shape.h"
#include "util/log.h"
namespace geo {
namespace { int counter() { return 1; } }
void Shape::Prepare() { Log("x"); counter(); }
Circle::Circle(double r) : r_(r) { Prepare(); }
double Circle::Area() const { return Helper() * this->Helper(); }
double Circle::Helper() const { if (inner_) inner_->Draw(); return r_; }
Circle* Circle::Make(double r) { return new Circle(r); }
Circle& Circle::Scale(double k) { return *this; }
double Total(const std::vector<Shape*>& xs) { double t = 0; for (const auto* s : xs) t += s->Area(); return t; }
}
""",
    "util/log.h": """\
namespace geo { void Log(const char* m);
template <typename T> T Max(T a, T b) { return a > b ? a : b; } }
""",
    "util/log.cc": """\
#include "util/log.h"
void geo::Log(const char* m) {}
""",
    "main.cpp": """\
#include "db/shape.h"
using namespace geo;
int main() {
  Circle c(1.0);
  c.Scale(2).Scale(3).Area();
  auto p = std::make_unique<Circle>(2.0);
  p->Area();
  geo::Circle* q = geo::Circle::Make(3);
  q->Draw();
  std::vector<Shape*> v; v.push_back(q);
  geo::Total(v);
  auto f = [&](Circle& x) { return x.Area(); };
  f(c);
  Max(1, 2);
  v[0]->Draw();
}
""",
}

HIDDEN = {
    "a.c": """\
#if 0
int never(void) { return 1; }
#elif defined(X)
int chosen(void) { return 2; }
#endif
int (*pick(char c))(void *) { return 0; }
typedef unsigned int size_t;
main() { chosen(); }
Test(suite, name) { pick('c'); }
static int split(void) {
#ifdef X
  if (chosen()) {
#else
  if (pick('d')) {
#endif
    return 1;
  }
  return 0;
}
int after(void) { return split(); }
typedef struct only { int a; };
""",
    "digraphs.c": "%:define SIZE 3\nint sizes<:SIZE:> = <% 1, 2, 3 %>;\n",
}
WRITTEN = {
    "a.cpp": """\
export module shop;
import std;
export namespace a::b::c { int deep() { return 1; }; }
struct __builtin_thing__ BIG_API(4) Box {
  operator const char *() const { return 0; }
  operator bool() const;
  void nothing() {};
};
Box::operator bool() const { return true; }
struct Safe { Safe(int n) try : m(n) { deep(); } catch (...) { } int m; };
PyAPI_FUNC(int) wrapped(int n);
typeof(1) guessed = 2;
typedef int (WINAPI *callback)(int);
int main() { foreach (int x, xs) { wrapped(x); } }
""",
}


def test_definitions_that_the_preprocessor_chooses_and_hides(tmp_path: Path) -> None:
    check(
        tmp_path,
        HIDDEN,
        definitions=[
            "a.c:chosen function 4",
            "a.c:pick function 6",
            "a.c:size_t type 7",
            "a.c:only struct 21",
            "a.c:main function 8",
            "a.c:Test function 9",
            "a.c:split function 10",
            "a.c:after function 20",
            "digraphs.c:SIZE macro 1",
            "digraphs.c:sizes variable 2",
        ],
        edges=[
            "a.c:main -> a.c:chosen exact",
            "a.c:Test -> a.c:pick exact",
            "a.c:split -> a.c:chosen exact",
            "a.c:after -> a.c:split exact",
        ],
    )
    assert not {"never", ""} & {row.name for row in _definitions("c", HIDDEN["a.c"])[1:]}


def test_definitions_under_macros_and_module_words(tmp_path: Path) -> None:
    check(
        tmp_path,
        WRITTEN,
        definitions=[
            "a.cpp:a.b.c namespace 3",
            "a.cpp:a.b.c.deep function 3",
            "a.cpp:Box struct 4",
            "a.cpp:Box.operator const char * method 5",
            "a.cpp:Box.operator bool method 6",
            "a.cpp:Box.operator bool#2 method 9",
            "a.cpp:Box.nothing method 7",
            "a.cpp:Safe.Safe method 10",
            "a.cpp:wrapped function 11",
            "a.cpp:guessed variable 12",
            "a.cpp:callback type 13",
            "a.cpp:main function 14",
        ],
        signatures={"a.cpp:Box.nothing": "void nothing()"},
    )
    names = {row.name for row in _definitions("cpp", WRITTEN["a.cpp"])}
    assert not {"foreach", "module", "import", "std", "shop"} & names


HEADER = """\
// A library.
#ifndef B_H
#define B_H
LIB_PRAGMA(push)
LIB_PRAGMA(warning(push))
LIB_BEGIN_NAMESPACE

template <typename T> using id = T;

namespace detail {
int size(int n) { return n; }
}
LIB_END_NAMESPACE

enum class color : unsigned { red };
LIB_BEGIN_EXPORT
class store {
 public:
  LIB_CONSTEXPR friend auto twice(store l, int n) -> int { return detail::size(n); }
  friend class other;
  friend int later(store l);
  LIB_CONSTEXPR LIB_INLINE auto get() const -> int { return detail::size(1); }
};
LIB_END_EXPORT
int last() { return detail::size(2); }
#endif  // B_H
"""


def test_a_header_is_read_around_its_macros(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"b.hpp": HEADER},
        definitions=[
            "b.hpp:id type 8",
            "b.hpp:detail namespace 10",
            "b.hpp:detail.size function 11",
            "b.hpp:color enum 15",
            "b.hpp:store class 17",
            "b.hpp:store.twice method 19",
            "b.hpp:store.get method 22",
            "b.hpp:last function 25",
        ],
        edges=[
            "b.hpp:store.twice -> b.hpp:detail.size exact",
            "b.hpp:store.get -> b.hpp:detail.size exact",
            "b.hpp:last -> b.hpp:detail.size exact",
        ],
    )
    facts = extract(HEADER.encode(), LANGUAGES["cpp"])
    assert facts.problems == ()
    assert not {"warning", "later", "other"} & {row.name for row in facts.definitions}


def _definitions(language: str, text: str) -> tuple[Definition, ...]:
    return extract(text.encode(), LANGUAGES[language]).definitions


def test_c_definitions(tmp_path: Path) -> None:
    check(
        tmp_path,
        C,
        definitions=[
            "include/db.h:db struct 5",
            "include/db.h:ops.open field 4",
            "include/db.h:cmd_fn type 6",
            "include/db.h:DB_CALL macro 10",
            "include/db.h:db_new function 8",
            "src/db.c:db_new function 7",
            "src/main.c:table variable 5",
        ],
        imports=["src/db.c: ../include/db.h *", "src/db.c: stdlib.h *", "src/main.c: db.h *"],
    )


def test_calls_reach_definitions_not_prototypes(tmp_path: Path) -> None:
    check(
        tmp_path,
        C,
        edges=[
            "src/main.c:main -> src/db.c:db_new exact",
            "src/main.c:set_cmd -> include/db.h:DB_CALL exact",
            "include/db.h:DB_CALL -> src/db.c:db_run exact",
            "src/main.c:get_cmd -> src/main.c:helper exact",
            "src/db.c:db_run -> src/db.c:helper exact",
        ],
        absent=["src/main.c:main -> include/db.h:db_new", "src/main.c:get_cmd -> src/db.c:helper"],
    )


def test_functions_are_called_through_fields_and_parameters(tmp_path: Path) -> None:
    check(
        tmp_path,
        C,
        edges=[
            "src/db.c:db_new -> src/db.c:my_open inferred",
            "src/db.c:db_free -> src/db.c:my_close inferred",
            "src/main.c:apply -> src/main.c:get_cmd inferred",
        ],
    )


def test_cpp_definitions(tmp_path: Path) -> None:
    check(
        tmp_path,
        CPP,
        definitions=[
            "db/shape.h:geo namespace 4",
            "db/shape.h:geo.Shape class 5",
            "db/shape.h:geo.Shape.Area method 8",
            "db/shape.h:geo.Circle.r_ field 21",
            "db/shape.cc:geo.Circle.Area method 7",
            "util/log.cc:geo.Log method 2",
        ],
    )


def test_methods_written_outside_belong_to_their_class(tmp_path: Path) -> None:
    check(
        tmp_path,
        CPP,
        edges=[
            "db/shape.cc:geo.Circle.Area -> db/shape.cc:geo.Circle.Helper exact",
            "db/shape.cc:geo.Circle.Circle -> db/shape.cc:geo.Shape.Prepare exact",
            "db/shape.cc:geo.Circle.Make -> db/shape.cc:geo.Circle.Circle exact",
            "db/shape.cc:geo.Shape.Prepare -> util/log.cc:geo.Log exact",
            "db/shape.h:geo.Shape.Draw -> db/shape.cc:geo.Shape.Prepare exact",
            "db/shape.cc:geo.Circle.Helper -> db/shape.h:geo.Shape.Draw inferred",
            "db/shape.cc:geo.Total -> db/shape.cc:geo.Circle.Area inferred",
            "main.cpp:main -> db/shape.cc:geo.Circle.Area inferred",
            "main.cpp:main -> db/shape.cc:geo.Circle.Circle exact",
            "main.cpp:main -> db/shape.cc:geo.Circle.Scale inferred",
            "main.cpp:main -> db/shape.cc:geo.Circle.Make exact",
            "main.cpp:main -> db/shape.cc:geo.Total exact",
            "main.cpp:main -> util/log.h:geo.Max exact",
        ],
    )


@given(st.sampled_from(sorted(C)), st.integers(0, 2**32))
def test_broken_c_is_read(path: str, seed: int) -> None:
    read(splinter(C[path].encode(), seed), "c")


@given(st.sampled_from(sorted(CPP)), st.integers(0, 2**32))
def test_broken_cpp_is_read(path: str, seed: int) -> None:
    read(splinter(CPP[path].encode(), seed), "cpp")


def test_a_name_means_the_function_rather_than_its_prototype(tmp_path: Path) -> None:
    files = {
        "a.h": "int far(int x);\n",
        "a.c": '#include "a.h"\nint far(int x) { return x; }\n',
        "b.c": (
            '#include "a.h"\nstatic int near(int x);\nint both(void) { return near(far(1)); }\n'
            'static int near(int x) { return x; }\nint xs[] = {\n#include "a.h"\n  1,\n#define Y 2\n  Y,\n};\n'
            "#define HEAD int made(void)\nHEAD\n{ return far(2); }\n"
        ),
    }
    check(
        tmp_path,
        files,
        definitions=["b.c:near function 4", "b.c:xs variable 5", "b.c:HEAD#2 function 12"],
        edges=[
            "b.c:both -> b.c:near exact",
            "b.c:both -> a.c:far exact",
            "b.c:HEAD#2 -> a.c:far exact",
        ],
    )
    with Engine.open(tmp_path) as engine:
        assert [(place.path, place.line) for place in engine.definition("b.c", 3, 29)] == [
            ("a.c", 2)
        ]
        assert [(place.path, place.line) for place in engine.definition("b.c", 3, 24)] == [
            ("b.c", 4)
        ]


def test_conditionals_inside_of_statements(tmp_path: Path) -> None:
    files = {
        "a.c": (
            "int use(int);\nint f(int x) {\n#ifdef A\n  if (use(x))\n#else\n  if (use(x + 1))\n#endif\n    return 1;\n"
            "#ifdef B\n  if (x) {\n    use(2);\n  } else {\n#endif\n  use(3);\n#ifdef B\n  }\n#endif\n  return 0;\n}\n"
            "int g(void) { return f(1); }\n"
        ),
        "b.cc": (
            "class L {\n public:\n  L(int m)\n      :\n#ifndef N\n        a_(m),\n#endif\n        b_(m) {}\n"
            "  int a_, b_;\n};\nclass M { int c() { return 1; } };\n"
        ),
    }
    check(
        tmp_path,
        files,
        definitions=[
            "a.c:g function 20",
            "b.cc:L.L method 3",
            "b.cc:L.b_ field 9",
            "b.cc:M.c method 11",
        ],
        edges=["a.c:g -> a.c:f exact", "a.c:f -> a.c:use exact"],
    )


ANNOUNCED = {
    "lib.h": """\
int declared(int x);
static inline int helper(int x) { return x + 1; }
template <typename T> T maximum(T a, T b) { return a > b ? a : b; }
template <typename T> class Stack {
 public:
  void push(T t);
};
template <typename T> void Stack<T>::push(T t) { helper(1); }
class Foo {
 public:
  static Foo make();
};
""",
    "lib.cpp": """\
#include "lib.h"
int declared(int x) { return maximum(x, helper(x)); }
Foo Foo::make() { return Foo(); }
""",
}


def test_a_name_means_where_its_function_is_written(tmp_path: Path) -> None:
    """Of a function that a header announces the body is meant; an id means what it names all the
    same.
    """
    for path, text in ANNOUNCED.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        names = ("declared", "helper", "maximum", "push", "Stack::push", "Foo::make")
        assert [engine.symbol(name).id for name in names] == [
            "lib.cpp:declared",
            "lib.h:helper",
            "lib.h:maximum",
            "lib.h:Stack.push#2",
            "lib.h:Stack.push#2",
            "lib.cpp:Foo.make",
        ]
        assert engine.symbol("lib.h:declared").start_line == 1


AROUND = {
    "a.h": """\
namespace n {
int hl(int x);
struct Other { int m() const; static int sm(); };
extern Other other;
class K {
 public:
  K(int x);
  ~K();
  int go() const;
  int set(Other o);
  K& operator+=(const K& k);
  int made();
  template <class T> int tm(T t);
  class In { int deep(); };
};
int free_one(int x);
}
namespace a::b { class D { int go(); }; int f(); int hl2(int x); }
namespace a { int hl3(int x); }
""",
    "a.cc": """\
#include "a.h"
n::K::K(int x) { hl(x); }
n::K::~K() { hl(0); }
int n::K::go() const { return hl(1); }
int n::K::set(Other o) { return o.m() + other.m(); }
n::K& n::K::operator+=(const K& k) { hl(3); return *this; }
int n::K::made() { Other o; return o.m() + Other::sm(); }
template <class T> int n::K::tm(T t) { return hl(9); }
int n::K::In::deep() { return hl(4); }
int n::free_one(int x) { return hl(x); }
int a::b::D::go() { return hl2(1) + hl3(2); }
int a::b::f() { return hl2(1) + hl3(2); }
""",
}


@pytest.mark.parametrize(
    "edge",
    [
        *(
            f"n.{name} -> a.h:n.hl exact"
            for name in ("K.K", "K.~K", "K.go", "K.operator+=", "K.tm", "K.In.deep", "free_one")
        ),
        "n.K.set -> a.h:n.Other.m inferred",
        "n.K.made -> a.h:n.Other.m inferred",
        "n.K.made -> a.h:n.Other.sm exact",
        "a.b.D.go -> a.h:a.b.hl2 exact",
        "a.b.D.go -> a.h:a.hl3 exact",
        "a.b.f -> a.h:a.hl3 exact",
    ],
)
def test_a_method_written_outside_sees_what_is_around_its_class(tmp_path: Path, edge: str) -> None:
    check(tmp_path, AROUND, edges=[f"a.cc:{edge}"])
