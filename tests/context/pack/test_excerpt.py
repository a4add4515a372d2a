"""The text of symbols at each level of detail."""

from __future__ import annotations

import pytest
from tests.context.planted import symbols_in

from tersely.code.index.storage.schema import symbols_of_facts
from tersely.code.languages.registry import LANGUAGES
from tersely.code.symbols import Kind, Symbol
from tersely.code.syntax.extract import extract
from tersely.context.lenses.diff.changed_symbols import side_of
from tersely.context.pack.excerpt import Line, body, dedented, signature


def symbol(source: str, name: str) -> Symbol:
    return next(symbol for symbol in symbols_in("a.py", source.encode()) if symbol.qualname == name)


def code(source: str, name: str, *, with_docs: bool = False) -> str:
    symbols = symbols_in("a.py", source.encode())
    docs = [(symbol.doc_start_byte, symbol.doc_end_byte) for symbol in symbols]
    return dedented(body(symbol(source, name), source.encode(), docs, with_docs=with_docs))


@pytest.mark.parametrize(
    ("source", "name", "plain"),
    [
        ("def f(a, b=1):\n    pass\n", "f", "def f(a, b=1)"),
        ("async  def f(\n    a: int,\n    *,\n    b: str = 'x',\n) -> None:\n    pass\n", "f",
         "async def f(a: int, *, b: str = 'x') -> None"),
        ("def f(\n    a,  # why\n    # alone\n    b,\n):\n    pass\n", "f", "def f(a, b)"),
        ("class A(Base, metaclass=Meta):\n    pass\n", "A", "class A(Base, metaclass=Meta)"),
        ("@cache\n@app.route('/')\ndef f():\n    pass\n", "f", "@cache @app.route('/') def f()"),
        ("LIMIT = 3\n", "LIMIT", "LIMIT = 3"),
        ("def é(ключ: str) -> str:\n    return ключ\n", "é", "def é(ключ: str) -> str"),
        ("def f(a):\r\n    pass\r\n", "f", "def f(a)"),
    ],
)  # fmt: skip
def test_a_signature_is_the_header_on_one_line(source: str, name: str, plain: str) -> None:
    assert signature(symbol(source, name), source.encode(), "#").plain == plain


def test_a_signature_is_whole_however_long() -> None:
    parameters = ", ".join(f"parameter_{number}: int = {number}" for number in range(300))
    source = f"def f({parameters}) -> None:\n    pass\n"
    assert signature(symbol(source, "f"), source.encode()).plain == f"def f({parameters}) -> None"


def test_long_decoration_and_long_values_are_cut() -> None:
    rows = "".join(f"    ({number}, {number}),\n" for number in range(100))
    decorated = f"@parametrize([\n{rows}])\ndef test_it(a, b):\n    pass\n"
    assert signature(symbol(decorated, "test_it"), decorated.encode()).plain.endswith(
        "… def test_it(a, b)"
    )
    table = f"TABLE = [\n{rows}]\n"
    assert signature(symbol(table, "TABLE"), table.encode()).plain.startswith(
        "TABLE = [(0, 0), (1, 1)"
    )
    assert len(signature(symbol(table, "TABLE"), table.encode()).plain) <= 120


def test_the_qualified_name_stands_in_the_place_of_the_name() -> None:
    source = (
        "class Session:\n    @property\n    def session(self) -> 'Session':\n        return self\n"
    )
    assert signature(symbol(source, "Session.session"), source.encode()).qualified == (
        "@property def Session.session(self) -> 'Session'"
    )


def test_a_name_that_the_header_does_not_say_comes_before_it() -> None:
    odd = symbol("def f():\n    pass\n", "f")._replace(name="<lambda>", qualname="g.<lambda>")
    assert signature(odd, b"def f():\n    pass\n").qualified == "g.<lambda>: def f()"


def test_a_body_loses_only_the_indentation_that_all_lines_share() -> None:
    source = "class A:\n    def f(self):\n        if x:\n\n            return 1\n        return 2\n"
    assert code(source, "A.f") == "def f(self):\n    if x:\n\n        return 1\n    return 2\n"


def test_a_string_that_is_less_indented_keeps_the_rest_verbatim() -> None:
    source = 'class A:\n    def f(self):\n        return """\nend\n"""\n'
    assert code(source, "A.f") == 'def f(self):\n        return """\nend\n"""\n'


def test_documentation_is_left_out_with_its_lines_and_the_blank_ones_after_it() -> None:
    source = 'def f():\n    """Say.\n\n    More.\n    """\n\n    return 1\n'
    assert code(source, "f") == "def f():\n    return 1\n"
    assert code(source, "f", with_docs=True) == source


def test_documentation_inside_of_a_class_goes_too() -> None:
    source = 'class A:\n    """A."""\n\n    def f(self):\n        """F."""\n        return 1\n'
    assert code(source, "A") == "class A:\n    def f(self):\n        return 1\n"


def test_documentation_that_shares_its_line_with_code_stays() -> None:
    source = 'def f(): """Say."""; return 1\n'
    assert code(source, "f") == source


def test_documentation_before_a_definition_comes_on_demand() -> None:
    source = b"/** Says. */\nfunction f() {\n  return 1\n}\n"
    start = source.index(b"function")
    end = len(source) - 1
    found = Symbol(
        "a.js:f",
        "a.js",
        "javascript",
        Kind.FUNCTION,
        "f",
        "f",
        "a.js",
        2,
        4,
        2,
        start,
        end,
        start + 13,
        0,
        12,
    )
    assert dedented(body(found, source)) == "function f() {\n  return 1\n}\n"
    assert dedented(body(found, source, with_docs=True)) == source.decode()


def test_what_closes_the_last_line_belongs_to_it() -> None:
    source = (
        b"const a = {\n  f(x) {\n    return x\n  },\n  g: 1, h: 2,\n}\non(f(() => {\n  go()\n}));\n"
    )
    symbols = {one.qualname: one for one in side_of("a.js", source).symbols}
    assert dedented(body(symbols["a.f"], source)) == "f(x) {\n  return x\n},\n"
    assert dedented(body(symbols["a.g"], source)) == "g: 1\n"
    assert dedented(body(symbols["<lambda1>"], source)) == "() => {\n  go()\n}));\n"


def test_line_ends_and_byte_order_marks_are_no_text() -> None:
    assert code("def f():\r\n    return 1\r\n", "f") == "def f():\n    return 1\n"
    assert code("\ufeffx = 1\n", "") == "x = 1\n"


def test_lines_keep_their_numbers() -> None:
    source = b'\n\ndef f():\n    """Say."""\n    return 1\n'
    assert body(symbols_in("a.py", source)[1], source) == [
        Line(3, "def f():"),
        Line(5, "    return 1"),
    ]


def test_offsets_out_of_range_give_less_text() -> None:
    stale = symbol("def f():\n    return 1\n", "f")
    assert dedented(body(stale, b"def")) == "def\n"
    assert signature(stale, b"").plain == ""


def test_an_owner_that_is_written_is_not_said_twice() -> None:
    source = b"const app = {};\napp.init = function init() {\n  return 1;\n};\n"
    rows = symbols_of_facts(
        "a.js", "javascript", extract(source, LANGUAGES["javascript"]).definitions
    )
    (init,) = (one for one in rows if one.qualname == "app.init")
    assert signature(init, source).qualified == "app.init = function init()"
    other = init._replace(qualname="shop.till.init")
    assert signature(other, source).qualified == "app.shop.till.init = function init()"
    longer = init._replace(qualname="shop.app.init")
    assert signature(longer, source).qualified == "shop.app.init = function init()"


@pytest.mark.parametrize(
    ("path", "source", "qualified"),
    [
        (
            "a.go",
            "package a\n\ntype T struct{}\n\nfunc (t *T) Close() error {\n\treturn nil\n}\n",
            "func (t *T) Close() error",
        ),
        (
            "a.js",
            "const app = {};\napp.init = function init() {\n  return 1;\n};\n",
            "app.init = function init()",
        ),
        ("a.rb", "class Shop\n  def self.open(at)\n    at\n  end\nend\n", "def Shop.open(at)"),
        ("a.py", "class Shop:\n    def open(self):\n        return 1\n", "def Shop.open(self)"),
    ],
)
def test_a_signature_names_its_class_once(path: str, source: str, qualified: str) -> None:
    side = side_of(path, source.encode())
    found = [signature(one, side.text).qualified for one in side.symbols]
    assert qualified in found, found
