"""PHP: namespaces, traits, promoted parameters, callables in arrays."""

from __future__ import annotations

from pathlib import Path

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
