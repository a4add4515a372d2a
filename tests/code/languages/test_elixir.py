"""Elixir: modules by their whole names, clauses, pipes, protocols, captures."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

FILES = {
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
    x
    |> Util.clean()
    |> step(opts)
    |> Store.put(@limit)
    helped(x)
    Enum.map([1], &Util.clean/1)
    Enum.each([1], fn v -> Util.log(v) end)
    f = &step/2
    f.(1, 2)
    apply(Util, :log, [x])
    Size.size(x)
    __MODULE__.step(1, 2)
    %App.Repo.Store{a: 1}
    with {:ok, a} <- Store.get(x), do: a
  end
  def step(a, b), do: a
  def step(a), do: step(a, 1)
  defp unused, do: (1 || step(2))
end
""",
    "lib/app/util.ex": """\
defmodule App.Util do
  def clean(x), do: x
  def log(x), do: IO.puts(x)
  defdelegate get(x), to: App.Repo.Store
end
defmodule App.Repo do
  defmodule Store do
    defstruct [:a]
    def put(x, n), do: x
    def get(x) do
      case x do
        nil -> fallback()
        v -> v
      end
    end
    defp fallback, do: nil
  end
end
defmodule App.Helpers do
  defmacro __using__(_) do
    quote do
      import App.Helpers.Inner
    end
  end
  def helped(x), do: x
end
defmodule App.Helpers.Inner do
  def deep(x), do: x
end
defprotocol Size do
  @doc "size"
  def size(x)
end
defimpl Size, for: Map do
  def size(x), do: map_size(x)
end
defmodule App.User do
  use App.Helpers
  @behaviour App.Behave
  def go(x), do: deep(x)
  def init(o), do: o
end
""",
}


def test_clauses_are_one_definition_and_arities_are_several(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=[
            "lib/app/core.ex:App.Core namespace 1",
            "lib/app/core.ex:App.Core.run function 8",
            "lib/app/core.ex:App.Core.step function 26",
            "lib/app/core.ex:App.Core.step#2 function 27",
            "lib/app/core.ex:App.Core.@limit constant 5",
            "lib/app/util.ex:App.Repo.Store namespace 7",
            "lib/app/util.ex:App.Repo.Store.a field 8",
            "lib/app/util.ex:App.Helpers.__using__ macro 20",
            "lib/app/util.ex:Size interface 30",
            "lib/app/util.ex:Size#2 extension 34",
        ],
        docs={"lib/app/core.ex:App.Core.run": '"Runs it."', "lib/app/core.ex:App.Core": '"Core"'},
        signatures={"lib/app/core.ex:App.Core.run": "def run(x, opts \\\\ [])"},
        absent=["lib/app/core.ex:App.Core.run#2"],
    )


def test_imports(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        imports=[
            "lib/app/core.ex: App.Util  Util",
            "lib/app/core.ex: App.Repo.Store  Store",
            "lib/app/core.ex: App.Helpers *",
            "lib/app/util.ex: App.Helpers *",
            "lib/app/util.ex: App.Helpers.Inner *",
        ],
    )


def test_aliases_imports_and_use(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Helpers.helped exact",
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Repo.Store.get exact",
            "lib/app/util.ex:App.User -> lib/app/util.ex:App.Helpers.__using__ exact",
            "lib/app/util.ex:App.User.go -> lib/app/util.ex:App.Helpers.Inner.deep exact",
            "lib/app/util.ex:App.Util.get -> lib/app/util.ex:App.Repo.Store.get exact",
        ],
    )


def test_pipes_captures_and_arities(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Util.clean exact",
            "lib/app/core.ex:App.Core.run -> lib/app/core.ex:App.Core.step exact",
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Repo.Store.put exact",
            "lib/app/core.ex:App.Core.run -> lib/app/util.ex:App.Util.log exact",
            "lib/app/core.ex:App.Core.step#2 -> lib/app/core.ex:App.Core.step exact",
            "lib/app/core.ex:App.Core.unused -> lib/app/core.ex:App.Core.step#2 exact",
        ],
        absent=["lib/app/core.ex:App.Core.unused -> lib/app/core.ex:App.Core.step exact"],
    )


def test_protocols_reach_their_implementations(tmp_path: Path) -> None:
    check(
        tmp_path, FILES, edges=["lib/app/core.ex:App.Core.run -> lib/app/util.ex:Size.size#2 exact"]
    )


@given(st.sampled_from(sorted(FILES.values())), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(text: str, seed: int) -> None:
    read(splinter(text.encode(), seed), "elixir")
