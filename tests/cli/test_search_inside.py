"""`search … --in FILE…`: rows of definitions with their lines, within limit and budget, at every
door.
"""

from __future__ import annotations

from tests.cli.asking import Ask

from tersely.foundation.text.tokens import Tokenizer

MONEY, ORDERS = "src/shop/money.py", "src/shop/orders.py"


def test_rows_have_what_symbol_get_takes_and_the_lines(ask: Ask) -> None:
    assert ask("search", "fmt", "--in", MONEY, ORDERS).out == (
        f"{ORDERS}:12-16 Order.place  (16: return fmt(self.price.cents))\n"
        f"{ORDERS}  (2: from .money import Price, format_cents as fmt)\n"
    )


def test_words_may_follow_an_option_that_ends_the_files(ask: Ask) -> None:
    rows = ask("search", "--in", MONEY, ORDERS, "--limit", "9", "validate").out
    assert rows == ask("search", "validate", "--in", MONEY, f"--in={ORDERS}", "--limit", "9").out
    assert f"{MONEY}:19-20 Price.validate" in rows
    assert f"{ORDERS}:9-10 Order.validate" in rows


def test_a_file_is_named_by_the_end_of_its_path(ask: Ask) -> None:
    assert ask("search", "fmt", "--in", "orders.py").out == ask("search", "fmt", "--in", ORDERS).out


def test_a_directory_narrows_the_ranking(ask: Ask) -> None:
    assert "%)" in ask("search", "price", "--in", "src").out
    assert "%)" in ask("search", "price", "--in", MONEY, "tests").out


def test_limit_and_budget_bound_the_rows_and_say_so(ask: Ask) -> None:
    whole = ask("search", "cents", "--in", MONEY, ORDERS, "--limit", "50").out
    assert "allows more" not in whole
    limited = ask("search", "cents", "--in", MONEY, ORDERS, "--limit", "2").out.splitlines()
    assert limited[:2] == whole.splitlines()[:2]
    assert limited[2:] == [
        f"… {len(whole.splitlines()) - 2} more symbols: --limit {len(whole.splitlines())} allows more"
    ]
    cut = ask("search", "cents", "--in", MONEY, ORDERS, "--limit", "50", "--budget", "90").out
    assert Tokenizer().count(cut) <= 90
    assert cut.splitlines()[-1].endswith("--budget allows more")


def test_a_budget_for_no_row_is_refused(ask: Ask) -> None:
    refused = ask("search", "cents", "--in", MONEY, "--budget", "3")
    assert refused.err.startswith("budget_too_small: ")


def test_json_has_the_lines(ask: Ask) -> None:
    (hit, _) = ask("search", "fmt", "--in", ORDERS, "--json").result["hits"]
    assert hit["id"] == f"{ORDERS}:Order.place"
    assert (hit["line"], hit["end_line"], hit["lines"]) == (12, 16, 1)
    assert hit["quoted"] == [{"line": 16, "text": "return fmt(self.price.cents)"}]


def test_files_without_words_are_a_usage_error(ask: Ask) -> None:
    assert ask("search", "--in", MONEY).err.startswith("invalid_argument: QUERY is missing")
