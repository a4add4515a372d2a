"""PHP: namespaces, traits, promoted parameters, callables in arrays."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "src/Core/Bar.php": """\
<?php
namespace Slim\\Core;
require __DIR__ . '/../inc.php';
class Bar { function run(): self { return $this; } }
interface Iface { function impl(); }
function helper() { inc_fn(); }
""",
    "src/Http/a.php": """\
<?php
namespace Slim\\Http;
use Slim\\Core\\{Bar as Baz, Iface};
/** doc */
abstract class Foo extends Base implements Iface {
  use T1;
  const K = 1;
  private ?Baz $x = null;
  public function __construct(private Baz $a, $u) { parent::__construct($a); $this->x = $a; static::m(); }
  public function go() { $this->x->run(); $this->a->run(); $this->tr();
    self::m(); Foo::m(); array_map([$this, 'cb'], []); (new Baz)->run();
    \\Slim\\Core\\helper(); helper2(); $f = fn(Baz $q) => $q->run(); $f(1);
    $o = new class extends Foo { function z() { $this->go(); } }; $o->z(); }
  public static function m() {}
  function cb() {}
}
class Base { function __construct() {} }
trait T1 { public function tr() {} }
enum E: string { case A = 'a'; }
function helper2(Iface $i) { $i->impl();
  foreach ([new Foo2] as $x) { $x->impl(); } }
class Foo2 implements Iface { function impl() {} }
$obj = new Foo2; $obj->impl(); define('QQ', 1);
""",
    "src/inc.php": """\
<?php function inc_fn() {}
""",
}

DEFINITIONS = [
    "src/Core/Bar.php:Slim\\Core namespace 2",
    "src/Core/Bar.php:Bar class 4",
    "src/Core/Bar.php:Bar.run method 4",
    "src/Core/Bar.php:Iface interface 5",
    "src/Core/Bar.php:Iface.impl method 5",
    "src/Core/Bar.php:helper function 6",
    "src/Http/a.php:Slim\\Http namespace 2",
    "src/Http/a.php:Foo class 5",
    "src/Http/a.php:Foo.K constant 7",
    "src/Http/a.php:Foo.x field 8",
    "src/Http/a.php:Foo.__construct method 9",
    "src/Http/a.php:Foo.a field 9",
    "src/Http/a.php:Foo.go method 10",
    "src/Http/a.php:Foo.go.f function 12",
    "src/Http/a.php:Foo.m method 14",
    "src/Http/a.php:Foo.cb method 15",
    "src/Http/a.php:Base class 17",
    "src/Http/a.php:Base.__construct method 17",
    "src/Http/a.php:T1 trait 18",
    "src/Http/a.php:T1.tr method 18",
    "src/Http/a.php:E enum 19",
    "src/Http/a.php:E.A constant 19",
    "src/Http/a.php:helper2 function 20",
    "src/Http/a.php:Foo2 class 22",
    "src/Http/a.php:Foo2.impl method 22",
    "src/Http/a.php:obj variable 23",
    "src/Http/a.php:QQ constant 23",
    "src/inc.php:inc_fn function 1",
]

IMPORTS = [
    "src/Core/Bar.php: /../inc.php *",
    "src/Http/a.php: Slim\\Core Bar Baz",
    "src/Http/a.php: Slim\\Core Iface Iface",
]

EDGES = [
    "src/Core/Bar.php:helper -> src/inc.php:inc_fn exact",
    "src/Http/a.php -> external:php.define exact",
    "src/Http/a.php -> src/Http/a.php:Foo2 exact",
    "src/Http/a.php -> src/Http/a.php:Foo2.impl inferred",
    "src/Http/a.php:Foo.__construct -> src/Http/a.php:Base.__construct exact",
    "src/Http/a.php:Foo.__construct -> src/Http/a.php:Foo.m exact",
    "src/Http/a.php:Foo.go -> external:php.array_map exact",
    "src/Http/a.php:Foo.go -> src/Core/Bar.php:Bar exact",
    "src/Http/a.php:Foo.go -> src/Core/Bar.php:Bar.run inferred",
    "src/Http/a.php:Foo.go -> src/Core/Bar.php:helper exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:Foo.__construct exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:Foo.cb exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:Foo.go.<class1>.z inferred",
    "src/Http/a.php:Foo.go -> src/Http/a.php:Foo.go.f exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:Foo.m exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:T1.tr exact",
    "src/Http/a.php:Foo.go -> src/Http/a.php:helper2 exact",
    "src/Http/a.php:Foo.go.<class1>.z -> src/Http/a.php:Foo.go exact",
    "src/Http/a.php:Foo.go.f -> src/Core/Bar.php:Bar.run inferred",
    "src/Http/a.php:helper2 -> src/Http/a.php:Foo2 exact",
    "src/Http/a.php:helper2 -> src/Http/a.php:Foo2.impl inferred",
]

ABSENT = [
    "src/Http/a.php:helper2 -> src/Core/Bar.php:Iface.impl",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=DEFINITIONS,
        docs={"src/Http/a.php:Foo": "/** doc */"},
        signatures={},
    )


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "php")


def test_variables_are_asked_for_with_and_without_their_sign(tmp_path: Path) -> None:
    check(
        tmp_path,
        {"a.php": "<?php\nfunction f($a) {\n    $output = g($a);\n    return $output;\n}\n"},
    )
    with Engine.open(tmp_path) as engine:
        for column in (11, 12, 15):
            assert [place.line for place in engine.definition("a.php", 4, column)] == [3]


def test_methods_of_traits_by_further_names(tmp_path: Path) -> None:
    check(
        tmp_path,
        {
            "a.php": """<?php
namespace App;
trait Logs { public function log($x) {} protected function other() {} public static function make() {} }
trait Files { public function log($x) {} }
class A {
    use Logs { log as protected writeLog; other as public; make as create; }
    function go() { $this->writeLog(1); $this->other(); static::create(); }
}
class B { use Logs { log as w; } function go() { $this->w(1); } }
class C { use Logs, Files { Logs::log insteadof Files; Files::log as two; }
    function first() { $this->log(1); }
    function second() { $this->two(2); }
}
class D { use Logs, Files { Files::log insteadof Logs; \\App\\Logs::log as protected three; }
    function first() { $this->log(1); }
    function second() { $this->three(2); }
}
class Below extends A { function far() { $this->writeLog(3); } }
"""
        },
        edges=[
            *(
                f"a.php:{one} -> a.php:Logs.log exact"
                for one in ("A.go", "B.go", "C.first", "D.second", "Below.far")
            ),
            "a.php:A.go -> a.php:Logs.other exact",
            "a.php:A.go -> a.php:Logs.make exact",
            "a.php:C.second -> a.php:Files.log exact",
            "a.php:D.first -> a.php:Files.log exact",
        ],
        absent=["a.php:D.first -> a.php:Logs.log", "a.php:C.second -> a.php:Logs.log"],
    )


CALLABLES = {
    "usort($l, 'cmp');": "cmp",
    "array_map('\\\\App\\\\cmp', $l);": "cmp",
    'call_user_func_array("cmp", [1]);': "cmp",
    "array_map(array: $l, callback: 'cmp');": "cmp",
    "call_user_func('App\\M::up', 1);": "M.up",
    "register_shutdown_function('App\\M::up');": "M.up",
    "preg_replace_callback('/cmp/', 'cmp', 'up');": "cmp",
    "strlen('cmp');": "",
    "array_map('no such', $l);": "",
    "array_map($l, 'cmp');": "",
}


@pytest.mark.parametrize("call", CALLABLES)
def test_a_text_that_names_a_function_is_a_call_and_a_reference(tmp_path: Path, call: str) -> None:
    (tmp_path / "a.php").write_text(
        "<?php\nnamespace App;\nfunction cmp($a, $b) { return 1; }\n"
        "class M { public static function up($x) { return $x; } }\n"
    )
    (tmp_path / "b.php").write_text(f"<?php\nnamespace App;\nfunction main($l) {{\n  {call}\n}}\n")
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        for name in ("cmp", "M.up"):
            callers = [edge.caller for edge in engine.graph.callers(f"a.php:{name}")]
            assert callers == (["b.php:main"] if name == CALLABLES[call] else [])
