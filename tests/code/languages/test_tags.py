"""Languages that are read by queries: definitions, imports, and calls by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine
from tersely.code.graph.dead import dead
from tersely.code.graph.program.program import NAMESAKES_LIMIT
from tersely.code.languages import tags
from tersely.code.languages.registry import DOCUMENTS, LANGUAGES
from tersely.code.symbols import Grade, Kind
from tersely.code.syntax.nodes.uses import Use

ELIXIR = {
    "lib/app/core.ex": """\
defmodule App.Core do
  @moduledoc "Core"
  alias App.{Util, Repo.Store}
  import App.Helpers
  @limit 3

  @doc "Runs it."
  def run(x, opts \\\\ [])
  def run(nil, _), do: :error
  def run(x, opts) when is_list(opts) do
    x |> Util.clean() |> step(opts) |> Store.put(@limit)
    helped(x)
    Enum.map([1], &Util.log/1)
  end
  def step(a, b), do: a
  defp unused, do: (1 || step(2))
end
""",
    "lib/app/util.ex": """\
defmodule App.Util do
  def clean(x), do: x
  def log(x), do: IO.puts(x)
end
""",
    "lib/app/helpers.ex": """\
defmodule App.Helpers do
  defmacro __using__(_), do: nil
  def helped(x), do: x
end
defmodule App.Both do
  @callback both(integer) :: integer
  def a &&& b, do: a + b
  def a <~ b when is_list(a), do: a ++ b
  @callback bounded(a) :: a when a: integer
  @callback named :: atom
  def (a ~> b) when is_list(a), do: a ++ b
  defmacro +a, do: a
end
defprotocol Size do
  @doc "size"
  def size(x)
end
defimpl Size, for: Map do
  def size(x), do: map_size(x)
end
""",
}
LUA = {
    "lua/app/animal.lua": """\
local Animal = {}
Animal.__index = Animal

--- Makes one.
function Animal.new(name)
  return setmetatable({}, Animal)
end
function Animal:speak()
  return self:sound()
end
function Animal:sound() return "..." end
return Animal
""",
    "lua/app/util.lua": """\
local M = {}
local function inner() end
function M.each(list, f) inner() end
M.log = function(x) shared() end
return M
""",
    "main.lua": """\
local Animal = require "app.animal"
local util = require("app.util")
Animal.new("x"):speak()
util.each({1, 2}, function(x) util.log(x) end)
function shared() end
""",
}
SCALA = {
    "a/b/Foo.scala": """\
package a.b
import a.c.{Helper => H}
/** doc */
abstract class Foo[T <: Bar](val x: Bar) extends Base(y) with I {
  val p: Bar = x.run()
  def m(a: Int): Bar = { hook(); new Helper().help(a) }
  def hook(): Unit
}
object Foo { def apply(x: Bar) = new Impl(x); val K = 1 }
trait I { def m(a: Int): Bar }
enum Col { case Red, Green; case Blue(x: Int) }
""",
    "a/c/Helper.scala": "package a.c\nclass Helper { def help(b: Any): Unit = {} }\n",
}
SWIFT = {
    "Sources/M/a.swift": """\
import Foundation
import Other
/// doc
public class Foo: Base, I {
  let x: Bar = Bar()
  var p: Bar { return x.run() }
  init(a: Int) { hook() }
  func hook() { helped() }
}
protocol I { func go(at a: Int) -> Bar }
struct Bar { func run() -> Bar { self } }
extension Bar { func ext() { run() } }
enum E { case a, b(Bar); func f() {} }
func top(_ i: I) { i.go(at: 1) { y in print(y) }; _ = Foo(a: 3).p }
""",
    "Sources/Other/b.swift": "func helped() {}\n",
    "Sources/Third/c.swift": "func helped() {}\n",
}
# The others have a tree each in `tagged/`: files, and behind them what is read of them.
TREES = {
    path.stem: dict(
        re.findall(r"^==== (.*)\n((?:(?!====).*\n)*)", path.read_text("utf-8"), re.MULTILINE)
    )
    for path in sorted(Path(__file__).with_name("tagged").glob("*.txt"))
}
ANSWERS = ("definitions", "imports", "edges", "documentation", "signatures")
REPOSITORIES: dict[str, dict[str, str]] = {
    "elixir": ELIXIR,
    "lua": LUA,
    "scala": SCALA,
    "swift": SWIFT,
    **{
        name: {path: tree[path] for path in tree if path not in ANSWERS}
        for name, tree in TREES.items()
    },
}
QUERIES = {
    path.stem: path.read_text("utf-8")
    for path in Path(tags.__file__).with_name("tags").glob("*.scm")
}
CAPTURES = {
    "name",
    "qualifier",
    "body",
    "signature",
    "doc",
    "doc.inside",
    "comment",
    "label",
    "string",
    tags.CALL,
    tags.IMPORT,
}


def test_elixir(tmp_path: Path) -> None:
    check(
        tmp_path,
        ELIXIR,
        definitions=[
            "lib/app/core.ex:App.Core namespace 1",
            "lib/app/core.ex:App.Core.limit constant 5",
            "lib/app/core.ex:App.Core.run function 8",
            "lib/app/core.ex:App.Core.step function 15",
            "lib/app/core.ex:App.Core.unused function 16",
            "lib/app/helpers.ex:App.Helpers.__using__ macro 2",
            "lib/app/helpers.ex:App.Both namespace 5",
            "lib/app/helpers.ex:App.Both.both function 6",
            "lib/app/helpers.ex:App.Both.&&& function 7",
            "lib/app/helpers.ex:App.Both.<~ function 8",
            "lib/app/helpers.ex:App.Both.bounded function 9",
            "lib/app/helpers.ex:App.Both.named function 10",
            "lib/app/helpers.ex:App.Both.~> function 11",
            "lib/app/helpers.ex:App.Both.+ macro 12",
            "lib/app/helpers.ex:Size interface 14",
            "lib/app/helpers.ex:Size#2 extension 18",
        ],
        imports=[
            "lib/app/core.ex: App.Helpers *",
            "lib/app/core.ex: Repo.Store *",
            "lib/app/core.ex: Util *",
        ],
        edges=[
            "lib/app/core.ex:App.Core.run -> lib/app/core.ex:App.Core.step by_name",
            "lib/app/core.ex:App.Core.run -> lib/app/helpers.ex:App.Helpers.helped by_name",
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Util.clean by_name",
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Util.log by_name",
            "lib/app/core.ex:App.Core.unused -> lib/app/core.ex:App.Core.step by_name",
        ],
        docs={"lib/app/core.ex:App.Core.run": '"Runs it."', "lib/app/core.ex:App.Core": '"Core"'},
        signatures={"lib/app/core.ex:App.Core.run": "def run(x, opts \\\\ [])"},
        absent=["lib/app/core.ex:App.Core.run -> lib/app/core.ex:App.Core.run"],
    )


def test_lua(tmp_path: Path) -> None:
    check(
        tmp_path,
        LUA,
        definitions=[
            "lua/app/animal.lua:Animal variable 1",
            "lua/app/animal.lua:Animal.new function 5",
            "lua/app/animal.lua:Animal.speak method 8",
            "lua/app/util.lua:M.log function 4",
            "lua/app/util.lua:inner function 2",
            "main.lua:shared function 5",
        ],
        imports=["main.lua: app.animal *", "main.lua: app.util *"],
        edges=[
            "lua/app/animal.lua:Animal.speak -> lua/app/animal.lua:Animal.sound by_name",
            "lua/app/util.lua:M.each -> lua/app/util.lua:inner by_name",
            "lua/app/util.lua:M.log -> main.lua:shared by_name",
            "main.lua -> lua/app/animal.lua:Animal.new by_name",
            "main.lua -> lua/app/util.lua:M.each by_name",
            "main.lua -> lua/app/util.lua:M.log by_name",
        ],
        docs={"lua/app/animal.lua:Animal.new": "--- Makes one."},
        signatures={
            "lua/app/animal.lua:Animal.new": "function Animal.new(name)",
            "lua/app/util.lua:M.log": "M.log = function(x)",
        },
    )


def test_scala(tmp_path: Path) -> None:
    check(
        tmp_path,
        SCALA,
        definitions=[
            "a/b/Foo.scala:Foo class 4",
            "a/b/Foo.scala:Foo.x field 4",
            "a/b/Foo.scala:Foo.p variable 5",
            "a/b/Foo.scala:Foo.m method 6",
            "a/b/Foo.scala:Foo#2 class 9",
            "a/b/Foo.scala:Foo.K variable 9",
            "a/b/Foo.scala:I trait 10",
            "a/b/Foo.scala:Col.Green constant 11",
            "a/b/Foo.scala:Col.Blue class 11",
        ],
        imports=["a/b/Foo.scala: a.c.{Helper => H} *"],
        edges=[
            "a/b/Foo.scala:Foo.m -> a/b/Foo.scala:Foo.hook by_name",
            "a/b/Foo.scala:Foo.m -> a/c/Helper.scala:Helper by_name",
            "a/b/Foo.scala:Foo.m -> a/c/Helper.scala:Helper.help by_name",
        ],
        docs={"a/b/Foo.scala:Foo": "/** doc */"},
    )


def test_swift(tmp_path: Path) -> None:
    check(
        tmp_path,
        SWIFT,
        definitions=[
            "Sources/M/a.swift:Foo class 4",
            "Sources/M/a.swift:Foo.x field 5",
            "Sources/M/a.swift:Foo.p property 6",
            "Sources/M/a.swift:Foo.init method 7",
            "Sources/M/a.swift:I.go method 10",
            "Sources/M/a.swift:Bar struct 11",
            "Sources/M/a.swift:Bar#2 extension 12",
            "Sources/M/a.swift:Bar.ext method 12",
            "Sources/M/a.swift:E.b constant 13",
            "Sources/M/a.swift:top function 14",
        ],
        imports=["Sources/M/a.swift: Foundation *", "Sources/M/a.swift: Other *"],
        edges=[
            "Sources/M/a.swift:Bar.ext -> Sources/M/a.swift:Bar.run by_name",
            "Sources/M/a.swift:Foo.init -> Sources/M/a.swift:Foo.hook by_name",
            "Sources/M/a.swift:Foo.hook -> Sources/Other/b.swift:helped by_name",
            "Sources/M/a.swift:top -> Sources/M/a.swift:Foo by_name",
            "Sources/M/a.swift:top -> Sources/M/a.swift:Foo.p by_name",
            "Sources/M/a.swift:top -> Sources/M/a.swift:I.go by_name",
        ],
        absent=["Sources/M/a.swift:Foo.hook -> Sources/Third/c.swift:helped"],
        docs={"Sources/M/a.swift:Foo": "/// doc"},
    )


def placed(root: Path, files: Mapping[str, str]) -> Engine:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    engine = Engine.open(root)
    engine.refresh()
    return engine


def answers(engine: Engine) -> Iterator[tuple[str, str]]:
    """What is read of a repository, each with the heading it stands under."""
    for file in engine.store.files():
        text = engine.source(file.path)
        for symbol in engine.store.symbols_of(file.path):
            doc = text[symbol.doc_start_byte : symbol.doc_end_byte].decode()
            header = text[symbol.start_byte : symbol.signature_end_byte].decode().strip()
            if symbol.qualname:
                yield "definitions", f"{symbol.id} {symbol.kind} {symbol.name_line}"
            if symbol.qualname and doc:
                yield "documentation", f"{symbol.id} {doc}"
            if symbol.kind in (Kind.FUNCTION, Kind.METHOD, Kind.MACRO) and "\n" not in header:
                yield "signatures", f"{symbol.id} {header}"
        for item in engine.store.imports(file.path):
            yield "imports", f"{file.path}: {item.module}"
    for edge in engine.graph.edges():
        assert edge.grade is Grade.BY_NAME
        yield "edges", f"{edge.caller} -> {edge.callee}"


@pytest.mark.parametrize("language", TREES)
def test_a_tree_is_read_as_it_says(language: str, tmp_path: Path) -> None:
    with placed(tmp_path, REPOSITORIES[language]) as engine:
        assert {file.language for file in engine.store.files()} <= {
            language,
            f"{language}_interface",
        }
        found: dict[str, str] = dict.fromkeys(ANSWERS, "")
        for heading, answer in answers(engine):
            found[heading] += f"{answer}\n"
    assert found == {heading: TREES[language][heading] for heading in ANSWERS}


def test_callers_are_found_by_name_in_the_file_then_what_it_imports_then_anywhere(
    tmp_path: Path,
) -> None:
    files = {
        "own.lua": "local function put() end\nput()\n",
        "two.lua": 'require("own")\nput()\n',
        "three.lua": "function put() end\n",
        "four.lua": "put()\n",
    }
    with placed(tmp_path, files) as engine:
        found = {name: engine.graph.callers(f"{name}.lua:put") for name in ("own", "three")}
        assert [(edge.caller, edge.grade) for edge in found["own"]] == [
            ("four.lua", Grade.BY_NAME),
            ("own.lua", Grade.BY_NAME),
            ("two.lua", Grade.BY_NAME),
        ]
        assert [edge.caller for edge in found["three"]] == ["four.lua"]
        assert engine.graph.callers("own.lua:put", guesses=False) == []


def test_a_name_that_many_have_means_none_of_them_and_that_is_said(tmp_path: Path) -> None:
    files = {f"{name}.lua": "function put() end\n" for name in "abcd"} | {"use.lua": "put()\n"}
    with placed(tmp_path, files) as engine:
        found, notes = engine.graph.program.notes.collect(engine.graph.callers, "a.lua:put")
        assert found == []
        assert notes == {NAMESAKES_LIMIT}


QUALIFIED = {
    "lua": {
        "lua/app/pickers.lua": "local M = {}\nfunction M.new() end\nreturn M\n",
        "lua/app/path.lua": "local Path = {}\nfunction Path:new() end\nfunction Path.of() return Path:new() end\n",
        "lua/app/set.lua": "local Set = {}\nfunction Set:new() end\n",
        "lua/app/map.lua": "local Map = {}\nfunction Map.new() end\n",
        "one.lua": 'local pickers = require("app.pickers")\nlocal function made() pickers.new() end\n',
        "two.lua": 'local other = require("app.pickers")\nlocal function renamed() other.new() end\n',
        "four.lua": "function new() end\nlocal function outside() Job:new() ; vim.api.new() end\n",
        "five.lua": "local function typed() Set:new() end\n",
    },
    "elixir": {
        "lib/session.ex": "defmodule Plug.Session do\n  def call(x), do: x\nend\n",
        **{
            f"lib/{name.lower()}.ex": f"defmodule Plug.{name} do\n  def call(x), do: x\nend\n"
            for name in ("Head", "Static", "Parsers")
        },
        "test/one.exs": "defmodule OneTest do\n  def full(x), do: Plug.Session.call(x)\n"
        "  def piped(x), do: x |> Plug.Head.call()\n  def handed(x), do: Enum.map(x, &Plug.Head.call/1)\nend\n",
        "test/two.exs": "defmodule TwoTest do\n  alias Plug.Session, as: Other\n"
        "  def renamed(x), do: Other.call(x)\n  def outside(x), do: GenServer.call(x)\n"
        "  def native(x), do: :gen.call(x)\nend\n",
    },
}


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "lua",
            {
                "one.lua:made": "lua/app/pickers.lua:M.new",
                "two.lua:renamed": "lua/app/pickers.lua:M.new",
                "five.lua:typed": "lua/app/set.lua:Set.new",
                "lua/app/path.lua:Path.of": "lua/app/path.lua:Path.new",
            },
        ),
        (
            "elixir",
            {
                "test/one.exs:OneTest.full": "lib/session.ex:Plug.Session.call",
                "test/one.exs:OneTest.piped": "lib/head.ex:Plug.Head.call",
                "test/one.exs:OneTest.handed": "lib/head.ex:Plug.Head.call",
                "test/two.exs:TwoTest.renamed": "lib/session.ex:Plug.Session.call",
            },
        ),
    ],
)
def test_what_is_written_before_a_name_says_whose_it_is(
    language: str, expected: dict[str, str], tmp_path: Path
) -> None:
    with placed(tmp_path, QUALIFIED[language]) as engine:
        assert {edge.caller: edge.callee for edge in engine.graph.edges()} == expected
        for caller, callee in expected.items():
            assert caller in {edge.caller for edge in engine.graph.callers(callee)}


def test_definitions_of_uses_and_imports(tmp_path: Path) -> None:
    with placed(tmp_path, LUA) as engine:
        assert [place[:2] for place in engine.definition("main.lua", 3, 8)] == [
            ("lua/app/animal.lua", 5)
        ]
        assert [place.path for place in engine.definition("main.lua", 1, 26)] == [
            "lua/app/animal.lua"
        ]
        assert [place[:2] for place in engine.definition("main.lua", 3, 2)] == [("main.lua", 1)]


def test_references_are_graded_by_name(tmp_path: Path) -> None:
    files = {
        "a.lua": "function put() end\nlocal all = { put }\n-- put\nput()\n",
        "b.lua": "print('put', put)\n",
    }
    with placed(tmp_path, files) as engine:
        found = engine.references.of("a.lua:put")
        assert [(each.path, each.line, each.use, each.grade) for each in found] == [
            ("a.lua", 2, Use.READ, Grade.BY_NAME),
            ("a.lua", 4, Use.CALL, Grade.BY_NAME),
            ("b.lua", 1, Use.READ, Grade.BY_NAME),
        ]


def test_what_somebody_writes_is_mentioned_and_its_own_name_is_not(tmp_path: Path) -> None:
    with placed(
        tmp_path, {"a.lua": "function used() end\nfunction alone() end -- alone\nlocal x = used\n"}
    ) as engine:
        found = dead(engine.store.unmentioned_symbols(), engine.graph, engine.source)
        assert [symbol.name for symbol in found] == ["alone"]


@pytest.mark.parametrize("language", sorted(QUERIES))
def test_each_file_of_queries_is_one_of_a_language_and_keeps_to_the_convention(
    language: str,
) -> None:
    assert LANGUAGES[language].resolution.by_name
    kinds = {f"{tags.DEFINITION}{kind}" for kind in (*Kind, tags.CLAUSE)}
    captures = re.findall(r"(?<!\w)@([a-z][\w.]*)", re.sub(r'"[^"]*"|;.*', "", QUERIES[language]))
    assert set(captures) <= CAPTURES | kinds


@given(st.sampled_from(sorted(REPOSITORIES)), st.data())
def test_broken_source_is_read_as_far_as_it_goes(language: str, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(REPOSITORIES[language].values())))
    read(splinter(text.encode(), data.draw(st.integers(0, 2**32))), language)


def test_each_language_that_is_read_by_queries_has_its_tree_here() -> None:
    assert REPOSITORIES.keys() | {"ocaml_interface", *DOCUMENTS} == QUERIES.keys()
