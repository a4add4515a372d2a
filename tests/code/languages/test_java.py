"""Java: packages, overloads, virtual calls, lambdas behind interfaces."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.code.languages.checks import check, read, splinter

from tersely.code.engine import Engine

FILES = {
    "shop/Base.java": """\
package shop;

abstract class Base {
    private Object name;

    Base(String name) {
        this.name = name;
    }

    void hook() {}

    static void close() {}
}

interface Seller {
    void sell(shop.impl.Item item);
}
""",
    "shop/Shop.java": """\
package shop;

import static shop.impl.Prices.round;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import shop.impl.*;

/** Sells things. */
public class Shop extends Base implements Seller {
    private final List<Item> items = new ArrayList<>();
    private Item first;
    static final int LIMIT = 3, OTHER = 4;

    public Shop(int size) {
        this(size, "shop");
    }

    Shop(int size, String name) {
        super(name);
        first = new Item();
    }

    @Override
    public void sell(Item item) {
        hook();
        item.price();
        first.price();
        items.forEach(i -> i.price());
        for (Item each : items) {
            each.price();
        }
        round(1);
    }

    void over(int a) {}

    void over(String a) {}

    void over(int a, int b) {}

    void overloads() {
        over(1);
        over("x");
        over(1, 2);
    }

    void lambdas() {
        Function<Item, Integer> f = Item::price;
        f.apply(first);
        Task t = () -> round(2);
        t.run();
        t.twice();
        new Thread(this::overloads);
        Task anonymous = new Task() {
            public void run() {
                hook();
            }
        };
        anonymous.run();
    }

    void anySeller(Seller seller) {
        seller.sell(first);
    }

    void open(Base base) {
        base.hook();
        base.close();
    }

    enum Size {
        SMALL(1),
        LARGE(2) {
            int weight() {
                return 9;
            }
        };

        Size(int n) {}

        int weight() {
            return 1;
        }
    }

    record Pair(Item left, int right) {
        int sum() {
            return left.price() + right;
        }
    }
}

interface Task {
    void run();

    default void twice() {
        run();
    }
}

class Market extends Shop {
    Market() {
        super(2);
    }

    @Override
    void hook() {
        super.hook();
    }
}
""",
    "shop/impl/Item.java": """\
package shop.impl;

public class Item {
    public int price() {
        return Prices.round(1);
    }
}
""",
    "shop/impl/Prices.java": """\
package shop.impl;

public final class Prices {
    public static int round(int n) {
        return n;
    }
}
""",
}

DEFINITIONS = [
    "shop/Base.java:Base class 3",
    "shop/Base.java:Base.name field 4",
    "shop/Base.java:Base.Base method 6",
    "shop/Base.java:Base.hook method 10",
    "shop/Base.java:Base.close method 12",
    "shop/Base.java:Seller interface 15",
    "shop/Base.java:Seller.sell method 16",
    "shop/Shop.java:Shop class 11",
    "shop/Shop.java:Shop.items field 12",
    "shop/Shop.java:Shop.first field 13",
    "shop/Shop.java:Shop.LIMIT field 14",
    "shop/Shop.java:Shop.OTHER field 14",
    "shop/Shop.java:Shop.Shop method 16",
    "shop/Shop.java:Shop.Shop#2 method 20",
    "shop/Shop.java:Shop.sell method 26",
    "shop/Shop.java:Shop.over method 37",
    "shop/Shop.java:Shop.over#2 method 39",
    "shop/Shop.java:Shop.over#3 method 41",
    "shop/Shop.java:Shop.overloads method 43",
    "shop/Shop.java:Shop.lambdas method 49",
    "shop/Shop.java:Shop.anySeller method 64",
    "shop/Shop.java:Shop.open method 68",
    "shop/Shop.java:Shop.Size enum 73",
    "shop/Shop.java:Shop.Size.SMALL constant 74",
    "shop/Shop.java:Shop.Size.LARGE constant 75",
    "shop/Shop.java:Shop.Size.Size method 81",
    "shop/Shop.java:Shop.Size.weight method 83",
    "shop/Shop.java:Shop.Pair class 88",
    "shop/Shop.java:Shop.Pair.left field 88",
    "shop/Shop.java:Shop.Pair.right field 88",
    "shop/Shop.java:Shop.Pair.sum method 89",
    "shop/Shop.java:Task interface 95",
    "shop/Shop.java:Task.run method 96",
    "shop/Shop.java:Task.twice method 98",
    "shop/Shop.java:Market class 103",
    "shop/Shop.java:Market.Market method 104",
    "shop/Shop.java:Market.hook method 109",
    "shop/impl/Item.java:Item class 3",
    "shop/impl/Item.java:Item.price method 4",
    "shop/impl/Prices.java:Prices class 3",
    "shop/impl/Prices.java:Prices.round method 4",
]

IMPORTS = [
    "shop/Shop.java: shop.impl.Prices round round",
    "shop/Shop.java: java.util ArrayList ArrayList",
    "shop/Shop.java: java.util List List",
    "shop/Shop.java: java.util.function Function Function",
    "shop/Shop.java: shop.impl *",
]

EDGES = [
    "shop/Shop.java:Market.Market -> shop/Shop.java:Shop.Shop exact",
    "shop/Shop.java:Market.hook -> shop/Base.java:Base.hook exact",
    "shop/Shop.java:Shop -> external:java.util.ArrayList inferred",
    "shop/Shop.java:Shop.Pair.sum -> shop/impl/Item.java:Item.price inferred",
    "shop/Shop.java:Shop.Shop -> shop/Shop.java:Shop.Shop#2 exact",
    "shop/Shop.java:Shop.Shop#2 -> shop/Base.java:Base.Base exact",
    "shop/Shop.java:Shop.Shop#2 -> shop/impl/Item.java:Item exact",
    "shop/Shop.java:Shop.Size -> shop/Shop.java:Shop.Size.Size exact",
    "shop/Shop.java:Shop.anySeller -> shop/Shop.java:Shop.sell inferred",
    "shop/Shop.java:Shop.lambdas -> external:java.lang.Thread exact",
    "shop/Shop.java:Shop.lambdas -> external:java.util.function.Function.apply inferred",
    "shop/Shop.java:Shop.lambdas -> shop/Shop.java:Shop.lambdas.<class2>.run inferred",
    "shop/Shop.java:Shop.lambdas -> shop/Shop.java:Shop.overloads exact",
    "shop/Shop.java:Shop.lambdas -> shop/Shop.java:Task exact",
    "shop/Shop.java:Shop.lambdas -> shop/Shop.java:Task.twice inferred",
    "shop/Shop.java:Shop.lambdas -> shop/impl/Item.java:Item.price inferred",
    "shop/Shop.java:Shop.lambdas -> shop/impl/Prices.java:Prices.round exact",
    "shop/Shop.java:Shop.lambdas.<class2>.run -> shop/Base.java:Base.hook inferred",
    "shop/Shop.java:Shop.lambdas.<class2>.run -> shop/Shop.java:Market.hook inferred",
    "shop/Shop.java:Shop.open -> shop/Base.java:Base.close inferred",
    "shop/Shop.java:Shop.open -> shop/Base.java:Base.hook inferred",
    "shop/Shop.java:Shop.open -> shop/Shop.java:Market.hook inferred",
    "shop/Shop.java:Shop.overloads -> shop/Shop.java:Shop.over exact",
    "shop/Shop.java:Shop.overloads -> shop/Shop.java:Shop.over#2 exact",
    "shop/Shop.java:Shop.overloads -> shop/Shop.java:Shop.over#3 exact",
    "shop/Shop.java:Shop.sell -> shop/Base.java:Base.hook inferred",
    "shop/Shop.java:Shop.sell -> shop/Shop.java:Market.hook inferred",
    "shop/Shop.java:Shop.sell -> shop/impl/Item.java:Item.price inferred",
    "shop/Shop.java:Shop.sell -> shop/impl/Prices.java:Prices.round exact",
    "shop/Shop.java:Task.twice -> shop/Shop.java:Shop.lambdas.<class2>.run exact",
    "shop/impl/Item.java:Item.price -> shop/impl/Prices.java:Prices.round exact",
]

ABSENT = [
    "shop/Shop.java:Shop.open -> shop/Shop.java:Shop",
    "shop/Shop.java:Shop.anySeller -> shop/Base.java:Seller.sell",
]


def test_what_is_defined(tmp_path: Path) -> None:
    check(
        tmp_path,
        FILES,
        definitions=DEFINITIONS,
        docs={"shop/Shop.java:Shop": "/** Sells things. */"},
        signatures={"shop/Shop.java:Shop.sell": "@Override\n    public void sell(Item item)"},
    )


def test_what_is_imported(tmp_path: Path) -> None:
    check(tmp_path, FILES, imports=IMPORTS)


def test_who_calls_whom(tmp_path: Path) -> None:
    check(tmp_path, FILES, edges=EDGES, absent=ABSENT)


TESTED = {
    "p/Main.java": """\
package p;

import java.util.Objects;
import java.util.function.Function;

class Main {
    void named(Sub sub) {
        Function<Base, String> named = Base::both;
        named.apply(sub);
    }

    void tested(Object a, Object b) {
        if (a instanceof Sub) {
            a.toString();
        }
        if (b.getClass() == Other.class) b.toString();
    }

    void passes() {
        tested(new Sub(), new Other());
        tested(new Other(), new Sub());
        keep(x -> new Sub());
    }

    void keep(Function<Base, Base> given) {
        Function<Base, Base> kept = Objects.requireNonNull(given);
    }

    void number(Number n) {}

    void number(String s) {}

    void numbers() {
        Number mine = new Mine();
        number(mine);
    }
}

class Mine extends Number {}

interface Base {
    void run();

    String both();

    void over(int a);

    void over(byte a);
}

class Sub implements Base {
    public void run() {}

    public String both() { return ""; }

    public void over(int a) {}

    public void over(byte a) {}

    public String toString() { return "s"; }
}

class Other implements Base {
    public void run() {}

    public String both() { return ""; }

    public void over(int a) {}

    public void over(byte a) {}

    public String toString() { return "o"; }
}
""",
}


def test_method_references_and_types_that_conditions_test(tmp_path: Path) -> None:
    at = "p/Main.java:"
    check(
        tmp_path,
        TESTED,
        edges=[
            f"{at}Main.named -> {at}Base.both inferred",
            f"{at}Main.tested -> {at}Sub.toString inferred",
            f"{at}Main.tested -> {at}Other.toString inferred",
            f"{at}Main.numbers -> {at}Main.number exact",
        ],
        absent=[
            f"{at}Main.keep -> {at}Main.passes.<lambda1>",
            f"{at}Main.numbers -> {at}Main.number#2",
        ],
    )


OVERLOADS = {
    "p/Reads.java": """\
package p;

class Reads {
    void read(String text, Class<?> type) {}

    void read(String text, java.lang.reflect.Type type) {}

    void read(java.io.Reader from, Class<?> type) {}

    void fail(String message) {}

    void fail(Throwable cause) {}

    void put(boolean value) {}

    void put(long value) {}

    void all(String given, int count) {
        read(given, Reads.class);
        read("a\\n", Integer.class);
        try {
            fail("a" + count);
        } catch (IllegalStateException problem) {
            problem(problem);
        }
        put(count);
    }

    void problem(IllegalStateException problem) {
        fail(problem);
    }
}
""",
}


def test_overloads_are_told_apart_by_classes_texts_and_numbers(tmp_path: Path) -> None:
    at = "p/Reads.java:Reads"
    check(
        tmp_path,
        OVERLOADS,
        edges=[
            f"{at}.all -> {at}.read exact",
            f"{at}.all -> {at}.fail exact",
            f"{at}.all -> {at}.put#2 exact",
            f"{at}.problem -> {at}.fail#2 exact",
        ],
        absent=[f"{at}.all -> {at}.{other} " for other in ("read#2", "read#3", "fail#2", "put")]
        + [f"{at}.problem -> {at}.fail "],
    )


REFLECTION = {
    "p/Reflects.java": """\
package p;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

class Reflects {
    static String named() { return ""; }

    String handled(int number) { return ""; }

    String other() { return ""; }

    void byReflection(String name) throws Exception {
        Reflects.class.getDeclaredMethod("named").invoke(null);
        Reflects.class.getMethod(name).invoke(this);
    }

    void byHandle() throws Throwable {
        MethodType type = MethodType.methodType(String.class, int.class);
        MethodHandle handle = MethodHandles.lookup().findVirtual(Reflects.class, "handled", type);
        handle.invokeExact(new Reflects(), 4);
    }
}
""",
}


def test_methods_that_constants_name_are_called_by_reflection_and_handles(tmp_path: Path) -> None:
    at = "p/Reflects.java:Reflects"
    check(
        tmp_path,
        REFLECTION,
        edges=[
            f"{at}.byReflection -> {at}.named inferred",
            f"{at}.byHandle -> {at}.handled inferred",
        ],
        absent=[f"{at}.byReflection -> {at}.other", f"{at}.byReflection -> {at}.handled"],
    )


def test_a_branch_knows_what_its_condition_tests(tmp_path: Path) -> None:
    source = TESTED["p/Main.java"]
    (tmp_path / "p").mkdir()
    (tmp_path / "p/Main.java").write_text(source)
    with Engine.open(tmp_path) as engine:
        engine.refresh()
        found = {
            edge.callee: edge.sites for edge in engine.graph.callees("p/Main.java:Main.tested")
        }
        lines = {
            name: [site.line for site in found[f"p/Main.java:{name}.toString"]]
            for name in ("Sub", "Other")
        }
        written = [
            number for number, line in enumerate(source.splitlines(), 1) if ".toString();" in line
        ][-2:]
        assert lines == {"Sub": written[:1], "Other": written[1:]}


@given(st.sampled_from(sorted(FILES)), st.integers(0, 2**32))
def test_broken_source_is_read_as_far_as_it_goes(path: str, seed: int) -> None:
    read(splinter(FILES[path].encode(), seed), "java")


STOCK = {
    "shop/Item.java": """\
package shop;

public class Item {
    void price() {}

    boolean only() {
        return true;
    }

    Tag tag() {
        return null;
    }
}
""",
    "shop/Tag.java": """\
package shop;

public class Tag {
    void mark() {}

    void price() {}
}
""",
    "shop/Key.java": """\
package shop;

public class Key {
    void mark() {}

    void price() {}
}
""",
    "shop/Pair.java": """\
package shop;

public record Pair(Key key, Item item) {
    void both() {
        key.mark();
        item().price();
    }
}
""",
    "shop/Stock.java": """\
package shop;

import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class Stock {
    List<Item> items;
    Map<Key, Item> byKey;
    Optional<Item> maybe;

    void each() {
        items.forEach(i -> i.price());
    }

    void chain() {
        items.stream().filter(i -> i.only()).map(i -> i.tag()).forEach(t -> t.mark());
    }

    void longer() {
        Stream<Pair> pairs = items.stream().map(Item::tag).filter(t -> true).map(t -> new Pair(null, null));
        pairs.map(p -> p.key()).forEach(k -> k.mark());
    }

    void flat() {
        items.stream().flatMap(i -> Stream.of(i.tag())).forEach(t -> t.price());
    }

    void optional() {
        maybe.ifPresent(i -> i.price());
        maybe.map(i -> i.tag()).get().mark();
    }

    void found() {
        items.stream().filter(x -> true).findFirst().get().only();
    }

    void entries() {
        for (Map.Entry<Key, Item> e : byKey.entrySet()) {
            e.getKey().mark();
            e.getValue().price();
        }
    }

    void pairs() {
        byKey.forEach((k, v) -> {
            k.mark();
            v.price();
        });
    }

    void values() {
        byKey.entrySet().stream().map(e -> e.getValue()).forEach(v -> v.price());
    }

    void keys() {
        for (var k : byKey.keySet()) k.mark();
    }

    void records(Pair p) {
        p.key().mark();
        p.item().price();
    }

    void sorted() {
        items.sort((x, y) -> {
            x.price();
            y.only();
            return 0;
        });
    }

    void inside() {
        items.forEach(i -> byKey.forEach((k, v) -> v.price()));
    }
}
""",
}


def test_stock(tmp_path: Path) -> None:
    """What functions outside the repository hand to lambdas is known by what their receivers hold."""
    check(
        tmp_path,
        STOCK,
        edges=[
            "shop/Pair.java:Pair.both -> shop/Item.java:Item.price inferred",
            "shop/Pair.java:Pair.both -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.chain -> shop/Item.java:Item.only inferred",
            "shop/Stock.java:Stock.chain -> shop/Item.java:Item.tag inferred",
            "shop/Stock.java:Stock.chain -> shop/Tag.java:Tag.mark inferred",
            "shop/Stock.java:Stock.each -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.entries -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.entries -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.flat -> shop/Item.java:Item.tag inferred",
            "shop/Stock.java:Stock.flat -> shop/Tag.java:Tag.price inferred",
            "shop/Stock.java:Stock.found -> shop/Item.java:Item.only inferred",
            "shop/Stock.java:Stock.inside -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.keys -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.longer -> shop/Item.java:Item.tag inferred",
            "shop/Stock.java:Stock.longer -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.longer -> shop/Pair.java:Pair exact",
            "shop/Stock.java:Stock.optional -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.optional -> shop/Item.java:Item.tag inferred",
            "shop/Stock.java:Stock.optional -> shop/Tag.java:Tag.mark inferred",
            "shop/Stock.java:Stock.pairs -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.pairs -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.records -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.records -> shop/Key.java:Key.mark inferred",
            "shop/Stock.java:Stock.sorted -> shop/Item.java:Item.only inferred",
            "shop/Stock.java:Stock.sorted -> shop/Item.java:Item.price inferred",
            "shop/Stock.java:Stock.values -> shop/Item.java:Item.price inferred",
        ],
        absent=[
            "shop/Stock.java:Stock.entries -> shop/Key.java:Key.price",
            "shop/Stock.java:Stock.keys -> shop/Tag.java:Tag.mark",
            "shop/Stock.java:Stock.pairs -> shop/Key.java:Key.price",
            "shop/Stock.java:Stock.each -> shop/Tag.java:Tag.price",
        ],
    )


def test_static_imports_bring_in_what_a_class_itself_has(tmp_path: Path) -> None:
    """What it may have from a library's interface is not meant by the names of the package."""
    check(
        tmp_path,
        {
            "p/Dup.java": """\
package p;
import com.lib.Serializer;
public class Dup extends Base implements Serializer<String> {
  public static final Other O = new Other();
  public static void hi() {}
  public static class In { void m() {} }
  public enum Color { RED; void c() {} }
}
class Base { public static void inherited() {} }
""",
            "p/Other.java": "package p;\npublic class Other { public void m() {} }\n",
            "q/User.java": """\
package q;
import static p.Dup.*;
public class User {
  void go() {
    hi();
    inherited();
    Friend f = new Friend();
    f.m();
    new In().m();
    O.m();
    Color.RED.c();
  }
}
""",
            "q/Friend.java": "package q;\npublic class Friend { public void m() {} }\n",
        },
        edges=[
            "q/User.java:User.go -> p/Dup.java:Dup.hi exact",
            "q/User.java:User.go -> p/Dup.java:Base.inherited exact",
            "q/User.java:User.go -> q/Friend.java:Friend exact",
            "q/User.java:User.go -> q/Friend.java:Friend.m inferred",
            "q/User.java:User.go -> p/Dup.java:Dup.In.m inferred",
            "q/User.java:User.go -> p/Other.java:Other.m inferred",
            "q/User.java:User.go -> p/Dup.java:Dup.Color.c inferred",
        ],
        absent=["q/User.java:User.go -> external:com"],
    )
