"""What fits first, what gives way, and what is said about the rest."""

from __future__ import annotations

from zlib import crc32

import pytest
from tests.context.planted import Planted, plant, view

from tersely.code.symbols import Symbol
from tersely.context.lenses.candidate import Candidate
from tersely.context.pack.excerpt import Line
from tersely.context.pack.fitting.fit import Fitted, fit
from tersely.context.pack.include import Include
from tersely.context.pack.model import Detail
from tersely.context.pack.report import budget_report
from tersely.context.pack.texts import Texts
from tersely.context.render.formats import FORMATS
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS
from tersely.foundation.text import tokens


def function(name: str, lines: int, doc: str = "") -> str:
    """A function like no other: near-copies would be folded."""
    steps = (crc32(f"{name}{number}".encode()) % 900 + 100 for number in range(lines))
    rows = "".join(f"    total += compute_step({step}, factor)\n" for step in steps)
    return f"def {name}(factor: int) -> int:\n{doc}    total = 0\n{rows}    return total\n\n\n"


FILLING = "".join(function(f"unrelated_{number}", 20) for number in range(5))
SHOP = {
    "shop/pay.py": function("pay", 6) + function("charge", 6) + function("refund", 200) + FILLING,
    "shop/cart.py": function("checkout", 6) + FILLING,
    "tests/test_pay.py": "".join(function(f"test_pay_{number}", 8) for number in range(30)),
}


@pytest.fixture
def shop() -> Planted:
    return plant(SHOP)


def around_pay(shop: Planted) -> list[Candidate]:
    target = "shop/pay.py:pay"
    return [
        shop.candidate(target),
        shop.candidate("shop/pay.py:charge", 0.8, "callee", target),
        shop.candidate("shop/cart.py:checkout", 0.6, "caller", target),
        *(
            shop.candidate(f"tests/test_pay.py:test_pay_{number}", 0.1, "test", target)
            for number in range(30)
        ),
    ]


def fitted(
    planted: Planted, candidates: list[Candidate], budget: int, format_name: str = "text"
) -> Fitted:
    return fit(view(candidates), planted.texts(), FORMATS[format_name], budget)


def details(pack: Fitted) -> dict[str, str]:
    return {item.symbol.qualname: item.detail.word for item in pack.pack.items}


def test_the_most_relevant_is_shown_whole_the_rest_less(shop: Planted) -> None:
    shown = details(fitted(shop, around_pay(shop), 330))
    assert [shown["pay"], shown["charge"], shown["checkout"]] == ["body", "body", "body"]
    assert sorted({shown[name] for name in shown if name.startswith("test")}) == [
        "name",
        "signature",
    ]
    shown = details(fitted(shop, around_pay(shop), 250))
    assert [shown["pay"], shown["charge"], shown["checkout"]] == ["body", "body", "signature"]


def test_what_has_no_room_is_counted(shop: Planted) -> None:
    pack, text = fitted(shop, around_pay(shop), 150)
    tests = sum(item.reason == "test" for item in pack.items)
    assert pack.omitted == (("test", 30 - tests),)
    assert text.endswith(f"=== +{30 - tests} more tests, whole: symbol get NAME\n")


def test_what_a_lens_left_out_is_counted_too(shop: Planted) -> None:
    target = shop.candidate("shop/pay.py:pay")
    assert fit(view([target], caller=12), shop.texts(), FORMATS["text"]).text.endswith(
        "=== +12 more callers\n"
    )


def test_a_target_too_large_is_shown_in_part_and_leaves_room_for_others(shop: Planted) -> None:
    target = "shop/pay.py:refund"
    callee = shop.candidate("shop/pay.py:charge", 0.8, "callee", target)
    pack, text = fitted(shop, [shop.candidate(target), callee], 500)
    item = pack.items[0]
    assert item.symbol.id == target
    assert item.is_cut
    assert (
        f"@{item.symbol.start_line}-{item.last_line} of {item.symbol.start_line}-{item.symbol.end_line} target"
        in text
    )
    assert details(Fitted(pack, text))["charge"] == "body"
    assert pack.used > 450


def test_a_body_that_is_begun_shows_more_than_its_signature(shop: Planted) -> None:
    for budget in range(100, 220, 5):
        for item in fitted(shop, around_pay(shop), budget).pack.items:
            assert item.detail is not Detail.BODY or item.last_line > item.symbol.start_line


def test_several_targets_share_what_there_is(shop: Planted) -> None:
    pack, _ = fitted(
        shop, [shop.candidate("shop/pay.py:refund"), shop.candidate("shop/pay.py:pay")], 400
    )
    assert {item.symbol.name: item.is_cut for item in pack.items} == {"pay": False, "refund": True}


def test_what_stands_inside_something_shown_is_not_shown_again() -> None:
    planted = plant({"a.py": "class A:\n    def f(self):\n        return 1\n" + FILLING})
    pack, text = fitted(
        planted,
        [planted.candidate("a.py:A"), planted.candidate("a.py:A.f", 0.9, "callee", "a.py:A")],
        500,
    )
    assert [item.symbol.qualname for item in pack.items] == ["A"]
    assert [candidate.symbol.qualname for candidate in pack.within] == ["A.f"]
    assert text.count("def f") == 1


def test_a_skeleton_leaves_out_members_that_are_shown_by_themselves() -> None:
    methods = "".join(
        "    " + line
        for name in "fgh"
        for line in function(name, 30).splitlines(keepends=True)
        if line.strip()
    )
    planted = plant({"a.py": f"class A:\n{methods}"})
    target = planted.candidate("a.py:A.f")
    pack, text = fitted(
        planted, [target, planted.candidate("a.py:A", 0.6, "class", "a.py:A.f")], 600
    )
    assert {item.symbol.qualname: item.detail for item in pack.items} == {
        "A.f": Detail.BODY,
        "A": Detail.SKELETON,
    }
    assert text.count("def f(") == text.count("def g(") == text.count("def h(") == 1


def test_a_class_that_does_not_fit_whole_keeps_the_signatures_of_what_is_cut() -> None:
    methods = "".join(
        "    " + line
        for name in "fgh"
        for line in function(name, 40).splitlines(keepends=True)
        if line.strip()
    )
    planted = plant({"a.py": f"class A:\n{methods}"})
    pack, text = fitted(planted, [planted.candidate("a.py:A")], 300)
    assert pack.items[0].is_cut
    assert "def h(factor: int) -> int\n" in text
    assert "        total += compute_step(" in text


def test_the_order_is_targets_then_their_files_then_others_by_relevance(shop: Planted) -> None:
    pack, _ = fitted(shop, around_pay(shop), 2_000)
    paths = list(dict.fromkeys(item.symbol.path for item in pack.items))
    assert paths == ["shop/pay.py", "shop/cart.py", "tests/test_pay.py"]
    assert pack.items[0].symbol.name == "pay"


@pytest.mark.parametrize("format_name", FORMATS)
def test_on_small_files_the_pack_is_the_file(format_name: str) -> None:
    planted = plant({"a.py": "def f():\n    return g()\n\n\ndef g():\n    return 1\n"})
    candidates = [planted.candidate("a.py:f"), planted.candidate("a.py:g", 0.8, "callee", "a.py:f")]
    pack, text = fitted(planted, candidates, 500, format_name)
    assert [extract.whole for extract in pack.extracts] == [True]
    assert pack.items == ()
    if format_name == "text":
        assert text == "=== a.py whole\n" + planted.sources["a.py"].decode()


def test_includes_come_first_and_are_not_repeated(shop: Planted) -> None:
    includes = [Include("shop/cart.py", 1, 11), Include("shop/pay.py", 1, 3)]
    pack, text = fit(view(around_pay(shop)), shop.texts(), FORMATS["text"], 600, includes=includes)
    assert text.startswith("=== shop/cart.py @1-11\ndef checkout")
    assert "shop/cart.py:checkout" not in {item.symbol.id for item in pack.items}
    assert text.count("def checkout") == 1


def test_a_whole_file_takes_the_place_of_its_parts() -> None:
    planted = plant({"a.py": function("f", 1) + function("g", 1)})
    candidates = [planted.candidate("a.py:f"), planted.candidate("a.py:g", 0.8, "callee", "a.py:f")]
    pack, text = fit(
        view(candidates), planted.texts(), FORMATS["text"], 500, includes=[Include("a.py", 1, 3)]
    )
    assert [extract.whole for extract in pack.extracts] == [True]
    assert text.count("def f(") == 1


def test_an_include_that_does_not_fit_is_refused(shop: Planted) -> None:
    with pytest.raises(TerselyError) as refusal:
        fit(
            view(around_pay(shop)),
            shop.texts(),
            FORMATS["text"],
            600,
            includes=[Include("shop/pay.py")],
        )
    assert refusal.value.code == "budget_too_small"


@pytest.mark.parametrize("budget", [-1, 0, 1, 20])
def test_a_budget_that_names_do_not_fit_is_refused(shop: Planted, budget: int) -> None:
    with pytest.raises(TerselyError, match=r"the least answer takes \d+ tokens") as refusal:
        fitted(shop, around_pay(shop), budget)
    assert refusal.value.code == "budget_too_small"


def test_a_budget_beyond_the_bound_is_refused(shop: Planted) -> None:
    with pytest.raises(TerselyError) as refusal:
        fitted(shop, around_pay(shop), MAX_BUDGET_TOKENS + 1)
    assert refusal.value.code == "invalid_argument"


def test_nothing_to_show_costs_nothing(shop: Planted) -> None:
    assert fit(view([]), shop.texts(), FORMATS["text"], 0).text == ""


def test_documentation_only_on_demand() -> None:
    planted = plant({"a.py": function("f", 3, '    """Say what f does."""\n') + FILLING})
    candidates = view([planted.candidate("a.py:f")])
    assert "Say what" not in fit(candidates, planted.texts(), FORMATS["text"]).text
    assert "Say what" in fit(candidates, planted.texts(with_docs=True), FORMATS["text"]).text


def test_bodies_may_come_from_elsewhere(shop: Planted) -> None:
    def slice_of(symbol: Symbol) -> list[Line] | None:
        return (
            [Line(1, "def pay(factor):"), Line(9, "    return total")]
            if symbol.name == "pay"
            else None
        )

    texts = Texts(shop.sources.__getitem__, shop.by_path.__getitem__, body_of=slice_of)
    _, text = fit(view(around_pay(shop)), texts, FORMATS["text"], 300)
    assert "def pay(factor):\n    return total\n" in text
    assert "def charge(factor: int) -> int:\n    total = 0\n" in text


def test_the_report_accounts_for_every_token(shop: Planted) -> None:
    texts = shop.texts()
    pack, _ = fit(view(around_pay(shop)), texts, FORMATS["text"], 700)
    report = budget_report(pack, texts, FORMATS["text"], tokens.count)
    assert sum(report.by_part.values()) == sum(report.by_file.values()) == pack.used
    assert sum(report.items.values()) == len(pack.items)
    assert report.omitted == sum(times for _, times in pack.omitted)
    assert report.whole_files > 4_000
    assert report.saved_part == pytest.approx(1 - pack.used / report.whole_files, abs=1e-4)


@pytest.mark.parametrize("vocabulary", ["o200k", "cl100k", "deepseek"])
@pytest.mark.parametrize("format_name", FORMATS)
def test_budgets_of_other_vocabularies_are_filled_too(
    shop: Planted, vocabulary: str, format_name: str
) -> None:
    count = tokens.Tokenizer(vocabulary).count
    pack, text = fit(view(around_pay(shop)), shop.texts(), FORMATS[format_name], 1_000, count=count)
    assert 900 <= pack.used == count(text) <= 1_000


def test_counting_is_the_readers_business(shop: Planted) -> None:
    def characters(text: str) -> int:
        return len(text)

    pack, text = fit(view(around_pay(shop)), shop.texts(), FORMATS["text"], 900, count=characters)
    assert pack.used == len(text) <= 900
