"""Ruby: open classes, mixins, both sides of a class, blocks."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "lib/shop/base.rb": """\
require_relative "util"
module Shop
  class Base
    attr_accessor :name
    def self.create(*args) = new(*args)
    def initialize(name)
      @name = name
      setup
    end
    def setup; end
    def run
      validate!
      Util.log(name)
      items.each { |i| i.price }
      helper_from_mixin
    end
    def items
      @items ||= [Item.new(1)]
    end
    private
    def validate!; end
  end
  class Item
    attr_reader :price
    def initialize(price); @price = price; end
    def self.price_of(x) = x.price
  end
end
""",
    "lib/shop/order.rb": """\
module Shop
  class Order < Base
    include Mixin
    extend Ext
    STATES = [:a]
    before_save :check
    def setup
      super
      Util.fmt(1)
    end
    def check; self.class.ext_method; end
    def host_method; end
    alias go run
    def each_item
      items.each { |i| yield i }
    end
    def with(&blk) = blk.call(self)
  end
end
""",
    "lib/shop/order_more.rb": """\
class Shop::Order
  def more; run; other; end
end
module Shop
  class Order
    def other; end
  end
end
""",
    "lib/shop/util.rb": """\
module Shop
  module Util
    def self.log(msg) ; write(msg) ; end
    def self.write(m); end
    module_function
    def fmt(x) = x
  end
  module Mixin
    def helper_from_mixin; host_method; end
    module ClassMethods
      def find(id); new(id); end
    end
  end
  module Ext
    def ext_method; end
  end
end
""",
    "main.rb": """\
require "shop/order"
o = Shop::Order.create("x")
o.run
o.go
o.more
Shop::Order.find(1).check
Shop::Order.ext_method
o.each_item { |it| it.price }
o.with { |ord| ord.other }
def top(x) = x
top(3)
p = Shop::Item.price_of(Shop::Item.new(2))
o.send(:host_method)
o.name = "y"
[o].map(&:more)
""",
}


def test_definitions(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=[
            "lib/shop/base.rb:Shop namespace 2",
            "lib/shop/base.rb:Shop.Base class 3",
            "lib/shop/base.rb:Shop.Base.name property 4",
            "lib/shop/base.rb:Shop.Base.name= property 4",
            "lib/shop/base.rb:Shop.Base.create method 5",
            "lib/shop/order.rb:Shop.Order.STATES constant 5",
            "lib/shop/order_more.rb:Shop.Order class 1",
            "lib/shop/util.rb:Shop.Mixin.ClassMethods.find method 11",
            "main.rb:top function 10",
        ],
        signatures={
            "lib/shop/base.rb:Shop.Base.initialize": "def initialize(name)",
            "lib/shop/order.rb:Shop.Order": "class Order < Base",
        },
    )


def test_imports(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=["lib/shop/base.rb: ./util", "main.rb: shop/order"])


def test_constants_are_global_and_classes_open(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lib/shop/order_more.rb:Shop.Order.more -> lib/shop/base.rb:Shop.Base.run exact",
            "lib/shop/order_more.rb:Shop.Order.more -> lib/shop/order_more.rb:Shop.Order.other exact",
            "main.rb -> lib/shop/order_more.rb:Shop.Order.more inferred",
        ],
    )


def test_both_sides_of_a_class(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "main.rb -> lib/shop/base.rb:Shop.Base.create exact",
            "main.rb -> lib/shop/util.rb:Shop.Ext.ext_method exact",
            "main.rb -> lib/shop/util.rb:Shop.Mixin.ClassMethods.find exact",
            "lib/shop/base.rb:Shop.Base.create -> lib/shop/base.rb:Shop.Base.initialize exact",
            "lib/shop/order.rb:Shop.Order.check -> lib/shop/util.rb:Shop.Ext.ext_method exact",
            "lib/shop/order.rb:Shop.Order.setup -> lib/shop/util.rb:Shop.Util.fmt exact",
        ],
    )


def test_receivers_mixins_and_super(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lib/shop/base.rb:Shop.Base.run -> lib/shop/base.rb:Shop.Base.validate! exact",
            "lib/shop/base.rb:Shop.Base.run -> lib/shop/base.rb:Shop.Base.items exact",
            "lib/shop/base.rb:Shop.Base.run -> lib/shop/util.rb:Shop.Util.log exact",
            "lib/shop/order.rb:Shop.Order.setup -> lib/shop/base.rb:Shop.Base.setup exact",
            "lib/shop/util.rb:Shop.Mixin.helper_from_mixin -> lib/shop/order.rb:Shop.Order.host_method exact",
            "lib/shop/order.rb:Shop.Order -> lib/shop/order.rb:Shop.Order.check inferred",
        ],
    )


def test_blocks_receive_and_are_called(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        edges=[
            "lib/shop/base.rb:Shop.Base.run -> lib/shop/base.rb:Shop.Item.price inferred",
            "main.rb -> lib/shop/base.rb:Shop.Item.price inferred",
            "main.rb -> lib/shop/order_more.rb:Shop.Order.other inferred",
            "lib/shop/order.rb:Shop.Order.with -> main.rb:<lambda2> inferred",
        ],
    )


def test_classes_that_calls_make(tmp_path: Path) -> None:
    files = {
        "a.rb": """\
Point = Struct.new(:x, :y) do
  # How far.
  def far = x + y
end
Failure = Class.new(StandardError)
class Tool
  class << self
    def build = new.use
    private
    def hidden; end
  end
  define_method(:use) { Point.new(1, 2).far }
  alias_method :employ, :use
  def fail! = raise(Failure, "no")
end
Tool.new.employ
""",
    }
    check(
        tmp_path,
        files,
        definitions=[
            "a.rb:Point class 1",
            "a.rb:Point.x property 1",
            "a.rb:Failure class 5",
            "a.rb:Tool.build method 8",
            "a.rb:Tool.use method 12",
        ],
        edges=[
            "a.rb:Tool.build -> a.rb:Tool.use inferred",
            "a.rb -> a.rb:Tool.employ inferred",
            "a.rb:Tool.employ -> a.rb:Tool.use exact",
            "a.rb:Tool.use -> a.rb:Point.far inferred",
            "a.rb:Point.far -> a.rb:Point.x exact",
            "a.rb:Tool.fail! -> a.rb:Failure exact",
        ],
        docs={"a.rb:Point.far": "# How far."},
    )


def test_what_never_returns_gives_no_value(tmp_path: Path) -> None:
    files = {
        "a.rb": "def read(data)\n  read(read(data).strip)\nrescue TypeError\n  raise ArgumentError, data\nend\n"
    }
    check(tmp_path, files, edges=["a.rb:read -> a.rb:read exact"])
    with Engine.open(tmp_path) as engine:
        called = {edge.callee for edge in engine.graph.callees("a.rb:read")}
    assert called == {"a.rb:read", "external:ruby.raise", "external:ruby.ArgumentError.new"}


def test_some_methods_of_every_object_give_the_object_back(tmp_path: Path) -> None:
    files = {
        "a.rb": "class Page\n  def draw; end\n  def show\n    Page.new.tap { |page| page.draw }.draw\n"
        "    Other.new.freeze.dup.draw\n  end\nend\nclass Other\n  def draw; end\nend\n"
    }
    check(
        tmp_path,
        files,
        edges=[
            "a.rb:Page.show -> a.rb:Page.draw inferred",
            "a.rb:Page.show -> a.rb:Other.draw inferred",
        ],
    )
    with Engine.open(tmp_path) as engine:
        lines = {
            edge.callee: [site.line for site in edge.sites]
            for edge in engine.graph.callees("a.rb:Page.show")
        }
    assert (lines["a.rb:Page.draw"], lines["a.rb:Other.draw"]) == ([4], [5])


def test_instance_variables_come_from_no_base_outside(tmp_path: Path) -> None:
    files = {
        "a.rb": "class Drop < Liquid::Drop\n  def name; @obj.basename_of_it; end\nend\n"
        "class Page\n  def basename_of_it; end\nend\n"
    }
    check(tmp_path, files, edges=["a.rb:Drop.name -> a.rb:Page.basename_of_it by_name"])


@given(st.sampled_from(sorted(FILES.values())), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(text: str, seed: int) -> None:
    read(splinter(text.encode(), seed), "ruby")


def test_an_alias_is_a_method_that_calls_what_had_the_name_by_then(tmp_path: Path) -> None:
    text = (
        "class A\n  def run = 1\n  alias_method :old_run, :run\n  def run = old_run\n  alias :'==' run\nend\n"
        "class B < A\n  alias go run\nend\nalias $new $old\nB.new.go\n"
    )
    edges = [
        "A.run#2 -> a.rb:A.old_run exact",
        "A.old_run -> a.rb:A.run exact",
        "A.== -> a.rb:A.run#2 exact",
    ]
    definitions = ["a.rb:A.old_run method 3", "a.rb:A.== method 5", "a.rb:B.go method 8"]
    known = [f"a.rb:{edge}" for edge in edges]
    check(
        tmp_path,
        {"a.rb": text},
        definitions=definitions,
        edges=[*known, "a.rb -> a.rb:B.go inferred"],
    )
