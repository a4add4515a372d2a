"""Lua: tables as modules and classes, metatables, closures."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "lua/app/animal.lua": """\
local Animal = {}
Animal.__index = Animal

--- Makes one.
function Animal.new(name)
  local self = setmetatable({}, Animal)
  self.name = name
  return self
end

function Animal:speak()
  return self:sound()
end

function Animal:sound() return "..." end

return Animal
""",
    "lua/app/dog.lua": """\
local Animal = require("app.animal")
local Dog = setmetatable({}, { __index = Animal })
Dog.__index = Dog
function Dog.new(name)
  local self = setmetatable(Animal.new(name), Dog)
  return self
end
function Dog:sound()
  return "woof"
end
return Dog
""",
    "lua/app/util.lua": """\
local M = {}
local function inner() end
function M.each(list, f)
  for i, x in ipairs(list) do f(x) end
  inner()
end
M.log = function(x) shared() end
return M
""",
    "main.lua": """\
local Dog = require "app.dog"
local util = require("app.util")
local d = Dog.new("x")
d:speak()
d:sound()
util.each({1, 2}, function(x) util.log(x) end)
local handlers = { open = util.log, close = function() d:sound() end }
handlers.open(1)
handlers.close()
function shared() end
""",
}


def test_tables_with_functions_are_definitions(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=[
            "lua/app/animal.lua:Animal class 1",
            "lua/app/animal.lua:Animal.new function 5",
            "lua/app/animal.lua:Animal.speak method 11",
            "lua/app/util.lua:M namespace 1",
            "lua/app/util.lua:M.log function 7",
            "lua/app/util.lua:inner function 2",
            "main.lua:handlers.close function 7",
            "main.lua:shared function 10",
        ],
        docs={"lua/app/animal.lua:Animal.new": "--- Makes one."},
        signatures={
            "lua/app/animal.lua:Animal.new": "function Animal.new(name)",
            "lua/app/util.lua:M.log": "M.log = function(x)",
        },
    )


def test_require_names_a_file_and_gives_what_it_returns(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        imports=[
            "lua/app/dog.lua: app.animal  Animal",
            "main.lua: app.dog  Dog",
            "main.lua: app.util  util",
        ],
        edges=[
            "main.lua -> lua/app/dog.lua:Dog.new exact",
            "main.lua -> lua/app/util.lua:M.each exact",
        ],
    )


def test_metatables_make_instances_and_subclasses(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lua/app/animal.lua:Animal.speak -> lua/app/animal.lua:Animal.sound exact",
            "lua/app/dog.lua:Dog.new -> lua/app/animal.lua:Animal.new exact",
            "main.lua -> lua/app/animal.lua:Animal.speak inferred",
            "main.lua -> lua/app/dog.lua:Dog.sound inferred",
        ],
    )


def test_functions_travel_through_parameters_and_tables(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "main.lua -> lua/app/util.lua:M.log exact",
            "main.lua -> main.lua:handlers.close inferred",
            "main.lua:handlers.close -> lua/app/dog.lua:Dog.sound inferred",
        ],
    )


def test_globals_are_seen_everywhere_and_locals_in_their_file(tmp_path: Path) -> None:
    files = {
        "a.lua": "function open_to_all() end\nlocal function own() end\nown()\n",
        "b.lua": "open_to_all()\nown()\n",
    }
    check(
        tmp_path,
        files,
        edges=["a.lua -> a.lua:own exact", "b.lua -> a.lua:open_to_all exact"],
        absent=["b.lua -> a.lua:own"],
    )


def test_classes_made_by_a_library_call_their_initializer(tmp_path: Path) -> None:
    files = {
        "shape.lua": """\
local class = require("middleclass")
local Shape = class("Shape")
function Shape:initialize(size) self.size = size end
function Shape:area() return self:square() end
function Shape:square() end
local Box = class("Box", Shape)
function Box:square() end
local box = Box:new(1)
box:area()
box:square()
""",
    }
    check(
        tmp_path,
        files,
        edges=[
            "shape.lua -> shape.lua:Shape.initialize exact",
            "shape.lua -> shape.lua:Shape.area inferred",
            "shape.lua -> shape.lua:Box.square inferred",
            "shape.lua:Shape.area -> shape.lua:Shape.square exact",
        ],
    )


def test_functions_that_are_only_looked_at_are_not_called(tmp_path: Path) -> None:
    files = {
        "a.lua": "local function f() end\nlocal function kind() return type(f) end\n"
        "local function keep(all) table.insert(all, f) end\nlocal function later() vim.schedule(f) end\n"
    }
    check(
        tmp_path,
        files,
        edges=["a.lua:later -> a.lua:f exact"],
        absent=["a.lua:kind -> a.lua:f", "a.lua:keep -> a.lua:f"],
    )


@given(st.sampled_from(sorted(FILES.values())), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(text: str, seed: int) -> None:
    read(splinter(text.encode(), seed), "lua")


def test_calling_a_table_calls_what_its_metatable_says(tmp_path: Path) -> None:
    text = (
        "local function make(class, x) return x end\n"
        "local Border = setmetatable({}, { __call = make })\nfunction Border:title() end\n"
        "local Window = {}\nfunction Window:open() end\n"
        "setmetatable(Window, { __call = function(cls) return make(cls) end })\n"
        "local function run() Border(1) end\nlocal function show() Window() end\n"
    )
    check(tmp_path, {"a.lua": text}, edges=["a.lua:run -> a.lua:make exact"])
    with Engine.open(tmp_path) as engine:
        assert {edge.caller for edge in engine.graph.callers("a.lua:make")} >= {"a.lua:run"}
        assert "a.lua:Window" not in {edge.callee for edge in engine.graph.callees("a.lua:show")}
