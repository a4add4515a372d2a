"""What the symbol lens sees, and how it ranks it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.context.planted import Planted, plant
from tests.depth import examples

from tersely.code.symbols import Grade, Symbol
from tersely.context.lenses.candidate import Candidate, View
from tersely.context.lenses.mentions import Used
from tersely.context.lenses.symbol import MAX_NEIGHBOURS_SYMBOLS, around
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_CANDIDATES_SYMBOLS


def functions(*names: str, lines: int = 1) -> str:
    return "".join(f"def {name}():\n" + "    pass\n" * lines + "\n" for name in names)


FILES = {
    "shop/pay.py": "class Gateway:\n    def send(self): pass\n\n"
    + functions("pay", "charge", "log"),
    "shop/cart.py": functions("checkout", "page"),
    "other/far.py": functions("far", "farther", "farthest"),
    "tests/test_pay.py": functions("test_pay", "test_page"),
}
PAY = "shop/pay.py:pay"


@pytest.fixture
def shop() -> Planted:
    return plant(FILES)


def look(planted: Planted, *targets: str, depth: int = 2) -> View:
    return around(
        [planted[target] for target in targets], planted, depth=depth, popularity=lambda symbol: 1
    )


def scores(view: View) -> dict[str, float]:
    return {candidate.symbol.qualname: candidate.score for candidate in view.candidates}


def reasons(view: View) -> dict[str, str]:
    return {candidate.symbol.qualname: candidate.reason for candidate in view.candidates}


def test_targets_come_first_and_alone_have_the_full_score(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge")
    view = look(shop, PAY)
    assert view.candidates[0] == Candidate(shop[PAY], 1.0, "target")
    assert all(candidate.score < 1 for candidate in view.candidates[1:])


def test_every_candidate_says_its_relation_and_to_whom(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge")
    shop.calls("shop/pay.py:charge", "other/far.py:far")
    shop.calls("shop/cart.py:checkout", PAY)
    shop.calls("tests/test_pay.py:test_pay", PAY, grade=Grade.BY_NAME)
    found = {
        candidate.symbol.qualname: (candidate.reason, candidate.of)
        for candidate in look(shop, PAY).candidates
    }
    assert found == {
        "pay": ("target", ""),
        "charge": ("callee", PAY),
        "far": ("callee", "shop/pay.py:charge"),
        "checkout": ("caller", PAY),
        "test_pay": ("test by name", PAY),
    }


def test_depth_limits_the_hops(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge")
    shop.calls("shop/pay.py:charge", "other/far.py:far")
    shop.calls("other/far.py:far", "other/far.py:farther")
    assert set(scores(look(shop, PAY, depth=0))) == {"pay"}
    assert set(scores(look(shop, PAY, depth=1))) == {"pay", "charge"}
    assert set(scores(look(shop, PAY, depth=3))) == {"pay", "charge", "far", "farther"}


@pytest.mark.parametrize("depth", [-1, 9])
def test_a_depth_out_of_bounds_is_refused(shop: Planted, depth: int) -> None:
    with pytest.raises(TerselyError, match="it can be 0 to 8"):
        look(shop, PAY, depth=depth)


def test_what_is_further_away_is_worth_less(shop: Planted) -> None:
    shop.calls(PAY, "other/far.py:far")
    shop.calls("other/far.py:far", "other/far.py:farther")
    found = scores(look(shop, PAY))
    assert found["far"] > found["farther"]


def test_a_less_certain_edge_is_worth_less(shop: Planted) -> None:
    shop.calls(PAY, "other/far.py:far")
    shop.calls(PAY, "other/far.py:farther", grade=Grade.INFERRED)
    shop.calls(PAY, "other/far.py:farthest", grade=Grade.BY_NAME)
    found = scores(look(shop, PAY))
    assert found["far"] > found["farther"] > found["farthest"]


def test_the_same_file_and_folder_are_worth_more(shop: Planted) -> None:
    shop.calls(PAY, "other/far.py:far", "shop/cart.py:page", "shop/pay.py:charge")
    found = scores(look(shop, PAY))
    assert found["charge"] > found["page"] > found["far"]


def test_a_callee_that_everything_uses_is_worth_little(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge", "shop/pay.py:log")
    used = {"log": 400, "charge": 2}
    view = around([shop[PAY]], shop, popularity=lambda symbol: used[symbol.name])
    assert scores(view)["charge"] > 2 * scores(view)["log"]


def test_without_popularity_callers_are_counted(shop: Planted) -> None:
    shop.calls(PAY, "other/far.py:far", "other/far.py:farther")
    shop.calls("shop/cart.py:checkout", "other/far.py:far")
    shop.calls("shop/cart.py:page", "other/far.py:far")
    found = scores(around([shop[PAY]], shop))
    assert found["farther"] > found["far"]


def test_a_caller_that_does_everything_is_worth_little() -> None:
    planted = plant(
        {"a.py": functions("target"), "b.py": functions("short") + functions("long", lines=400)}
    )
    planted.calls("b.py:short", "a.py:target")
    planted.calls("b.py:long", "a.py:target")
    found = scores(look(planted, "a.py:target"))
    assert found["short"] > 2 * found["long"]


def test_tests_are_worth_less_than_other_callers_and_lead_nowhere(shop: Planted) -> None:
    shop.calls("shop/cart.py:checkout", PAY)
    shop.calls("tests/test_pay.py:test_pay", PAY)
    shop.calls("tests/test_pay.py:test_page", "tests/test_pay.py:test_pay")
    found = scores(look(shop, PAY))
    assert found["checkout"] > found["test_pay"]
    assert "test_page" not in found


def test_guesses_lead_nowhere(shop: Planted) -> None:
    shop.calls(PAY, "other/far.py:far", grade=Grade.BY_NAME)
    shop.calls("other/far.py:far", "other/far.py:farther")
    assert set(scores(look(shop, PAY))) == {"pay", "far"}


def test_the_class_around_a_method_and_the_members_of_a_class_belong_to_it(shop: Planted) -> None:
    assert reasons(look(shop, "shop/pay.py:Gateway.send"))["Gateway"] == "class"
    gateway = shop["shop/pay.py:Gateway"]
    view = around([gateway], shop, members=lambda target: [shop["shop/pay.py:Gateway.send"]])
    assert reasons(view) == {"Gateway": "target", "Gateway.send": "member"}


def test_what_methods_call_is_further_from_the_class_than_from_them(shop: Planted) -> None:
    shop.calls("shop/pay.py:Gateway", "other/far.py:far")
    shop.calls("shop/pay.py:Gateway.send", "other/far.py:far")
    assert (
        scores(look(shop, "shop/pay.py:Gateway"))["far"]
        < scores(look(shop, "shop/pay.py:Gateway.send"))["far"]
    )


def test_compile_time_dependencies_are_candidates(shop: Planted) -> None:
    def uses(symbol: Symbol) -> list[Used]:
        return [Used(shop["shop/pay.py:Gateway"], "type")]

    assert reasons(around([shop[PAY]], shop, uses=uses))["Gateway"] == "type"


def test_recursion_and_what_is_outside_the_repository_are_no_candidates(shop: Planted) -> None:
    shop.calls(PAY, PAY, "external:requests.post")
    assert set(scores(look(shop, PAY))) == {"pay"}


def test_cycles_end(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge")
    shop.calls("shop/pay.py:charge", PAY, "shop/pay.py:charge")
    assert reasons(look(shop, PAY, depth=8)) == {"pay": "target", "charge": "callee"}


def test_a_hub_is_bounded_and_the_rest_is_counted() -> None:
    names = [f"caller_{number}" for number in range(MAX_NEIGHBOURS_SYMBOLS + 50)]
    planted = plant({"hub.py": functions("hub"), "callers.py": functions(*names)})
    for name in names:
        planted.calls(f"callers.py:{name}", "hub.py:hub")
    view = look(planted, "hub.py:hub")
    assert len(view.candidates) == 1 + MAX_NEIGHBOURS_SYMBOLS
    assert view.beyond == {"caller": 50}


def test_what_is_outside_takes_no_place_of_what_is_inside(shop: Planted) -> None:
    shop.calls(
        PAY,
        *(f"external:package.name_{number}" for number in range(MAX_NEIGHBOURS_SYMBOLS)),
        "other/far.py:far",
    )
    view = look(shop, PAY)
    assert set(scores(view)) == {"pay", "far"}
    assert view.beyond == {}


NUMBERS = st.integers(0, 11)


@settings(max_examples=examples(50))
@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(Grade)), max_size=40),
    st.integers(0, 3),
    NUMBERS,
)
def test_it_is_deterministic_whatever_order_edges_come_in(
    edges: list[tuple[int, int, Grade]], depth: int, target: int
) -> None:
    planted = plant(
        {f"{path}.py": functions("f", "g", "h") for path in ("a", "b/c", "b/d", "tests/test_e")}
    )
    ids = sorted(symbol.id for symbol in planted.by_id.values() if symbol.qualname)
    drawn = [(ids[caller], ids[callee], grade) for caller, callee, grade in edges]
    views = []
    for order in (drawn, drawn[::-1]):
        planted.edges = order
        views.append(around([planted[ids[target]]], planted, depth=depth))
    assert views[0] == views[1]
    assert len(views[0].candidates) <= MAX_CANDIDATES_SYMBOLS
    assert all(0 < candidate.score <= 1 for candidate in views[0].candidates)
    assert [candidate.score for candidate in views[0].candidates] == sorted(
        (candidate.score for candidate in views[0].candidates), reverse=True
    )


def test_what_stands_in_the_same_file_comes_after_what_is_related(shop: Planted) -> None:
    shop.calls(PAY, "shop/pay.py:charge")
    beside = [shop["shop/pay.py:charge"], shop["shop/pay.py:log"], shop["shop/pay.py:Gateway"]]
    view = around([shop[PAY]], shop, beside=lambda symbol: beside, popularity=lambda symbol: 1)
    assert [(one.symbol.qualname, one.reason) for one in view.candidates] == [
        ("pay", "target"),
        ("charge", "callee"),
        ("log", "sibling"),
        ("Gateway", "sibling"),
    ]
    assert len(around([shop[PAY]], shop, depth=0, beside=lambda symbol: beside).candidates) == 1
