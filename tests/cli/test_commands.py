"""Every command, as people and programs see it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from tests.cli.asking import Ask, as_repository

from tersely.cli.builtin.builtin_commands import own_parameters
from tersely.cli.commands import ALIASES, COMMANDS
from tersely.cli.help.overview import OWN_COMMANDS, TALK

# One question for each command, and what its text must say.
PATCH = """diff --git a/src/shop/money.py b/src/shop/money.py
--- a/src/shop/money.py
+++ b/src/shop/money.py
@@ -26 +26 @@
-    return str(cents * RATE)
+    return str(cents)
"""
QUESTIONS: dict[str, tuple[list[str], list[str]]] = {
    "tree": ([], ["./", "src/shop/", "money.py", "6 files"]),
    "structure": (
        ["src"],
        ["src/shop/money.py", "class Price", "method validate", "function format_cents"],
    ),
    "extract": (
        ["src/shop/money.py"],
        ["python", "def format_cents(cents: int) -> str", "__future__: annotations"],
    ),
    "imports": (
        ["src/shop/orders.py"],
        [".money", "Price, format_cents as fmt", "src/shop/money.py"],
    ),
    "importers": (
        ["shop.money"],
        ["imported by 2 files", "src/shop/orders.py:2", "src/shop/__init__.py:1"],
    ),
    "search": (
        ["show a price to people"],
        ["src/shop/money.py", "def shown(self) -> str", "%)", "documentation:"],
    ),
    "symbol find": (
        ["validate"],
        ["src/shop/money.py:Price.validate", "src/shop/orders.py:Order.validate", "method"],
    ),
    "symbol get": (
        ["format_cents"],
        ["src/shop/money.py:format_cents", "def format_cents(\n    cents: int,\n"],
    ),
    "symbol slice": (
        ["Order.place"],
        ["=== src/shop/orders.py whole", "=== src/shop/audit.py whole", "return str(cents * RATE)"],
    ),
    "symbol deps": (["Order.place"], ["needs", "Order.validate  ", "format_cents", "callee"]),
    "symbol references": (["format_cents"], ["references: ", "call", "import", "Order.place"]),
    "definition": (
        ["src/shop/orders.py:16"],
        ["fmt", "src/shop/money.py:23", "src/shop/money.py:format_cents"],
    ),
    "calls": (
        ["format_cents"],
        ["called by 2", "Price.shown", "line 17", "Order.place", "external", "builtins.str"],
    ),
    "symbol callers": (["format_cents"], ["called by 2", "Order.place"]),
    "symbol callees": (
        ["checkout"],
        ["calls 3", "Order.__init__", "Order.place", "Price.__init__"],
    ),
    "impact": (
        ["format_cents"],
        ["called by 4 within 3 calls, 1 in tests", "via checkout → Order.place"],
    ),
    "diff-context": (
        [PATCH],
        ["@23-26 changed\n@@ ", "\n-    return str(cents * RATE)\n+", "calls format_cents"],
    ),
    "plan": (["format", "a", "price", "--budget", "200"], ["format_cents", "src/shop/money.py"]),
    "map": (["--budget", "300"], ["src/shop/", "class Price", "def checkout(cents: int) -> str"]),
    "duplicates": (
        ["--threshold", "30", "--least", "1"],
        ["Price.validate", "that repeat others, of 13 compared"],
    ),
    "change-impact": (
        ["src/shop/money.py:format_cents"],
        [
            "1 test reaches it by calls",
            "test_checkout",
            "run  pytest tests/test_orders.py::test_checkout",
        ],
    ),
    "breaks": ([], ["no use was found"]),
    "conflicts": ([], ["there is no other working tree"]),
    "enclosing": (
        ["src/shop/money.py:24", "src/shop/orders.py:16"],
        ["money.py:format_cents 23-26 <- src/shop/money.py:17 Price.shown"],
    ),
    "dead": ([], ["4 unreferenced symbols", "forgotten", "29-30"]),
    "cycles": (
        [],
        ["1 cycle of imports", "src/shop/audit.py → src/shop/orders.py → src/shop/audit.py"],
    ),
    "slice": (
        ["src/shop/orders.py:16"],
        ["backward slice", "src/shop/orders.py:Order.place", "5 of 5 lines"],
    ),
    "cfg": (
        ["Order.place"],
        ["5 blocks, 5 edges, complexity 2", "false → 3, true → 4", "raise → 1"],
    ),
    "dfg": (["Order.place"], ["self  line 12  parameter  → 13, 15, 16"]),
    "complexity": ([], ["13 functions, 1.15 on average", "2  src/shop/orders.py:Order.place"]),
    "context": (
        ["format_cents", "--budget", "400"],
        ["=== src/shop/money.py", "return str(cents * RATE)"],
    ),
    "index": ([], ["6 files", "built", "left out 1: skipped directory 1"]),
    "stats": ([], ["python", "function", "method", "revision"]),
}


# What needs a report or a history beside the code is asked in tests of its own.
ASKED_ELSEWHERE = {"packet", "coverage-context", "coverage-slice", "rank-files"}


@pytest.fixture(autouse=True)
def git_where_it_is_asked(shop: Path, request: pytest.FixtureRequest) -> None:
    """`breaks` and `conflicts` are about a repository of git."""
    call = getattr(request.node, "callspec", None)
    if call is not None and call.params["name"] in {"breaks", "conflicts"}:
        as_repository(shop)


def test_every_command_has_a_question() -> None:
    assert set(QUESTIONS) | ASKED_ELSEWHERE == {command.name for command in COMMANDS}
    assert {command.capability_name for command in ALIASES} <= {
        command.capability_name for command in COMMANDS
    }


@pytest.mark.parametrize("name", ["callers", "callees", "references", "get", "deps"])
def test_a_command_of_symbols_needs_no_first_word(ask: Ask, name: str) -> None:
    assert ask(name, "format_cents") == ask("symbol", name, "format_cents")
    assert ask("help", name).out.startswith(f"tersely {name} SYMBOL")


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_command_answers_people(ask: Ask, name: str) -> None:
    words, expected = QUESTIONS[name]
    answer = ask(*name.split(), *words)
    assert answer.status == 0, answer.err
    assert answer.err == ""
    assert [said for said in expected if said not in answer.out] == [], answer.out
    assert "\x1b" not in answer.out
    assert answer.out.endswith("\n")
    assert not answer.out.endswith("\n\n")


def test_the_whole_name_of_a_capability_is_a_command(ask: Ask) -> None:
    assert ask("code.symbol.find", "Order").out == ask("symbol", "find", "Order").out
    assert ask("code.no_such").status != 0


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_command_answers_programs(ask: Ask, name: str) -> None:
    words, _ = QUESTIONS[name]
    answer = ask(*name.split(), *words, "--json")
    assert answer.status == 0
    assert answer.err == ""
    assert set(answer.json) == {"ok", "revision", "result"}
    assert len(answer.json["revision"]) == 16
    assert answer.out.count("\n") == 1


def test_duplicates_of_one_function(ask: Ask) -> None:
    words = ("duplicates", "--of", "format_cents", "--threshold", "30")
    out = ask(*words).out
    assert "src/shop/money.py:format_cents @" in out
    assert "33%  src/shop/orders.py:checkout" in out
    assert "- * RATE" in out
    assert ask(*words, "src/shop/money.py").out.endswith("compared, no near-copies found\n")
    refused = ask("duplicates", "--of", "Price")
    assert refused.status != 0
    assert "only functions with a body are compared" in refused.err


@pytest.mark.parametrize("name", QUESTIONS)
def test_help_shows_every_option_and_example(ask: Ask, name: str) -> None:
    page = ask("help", *name.split())
    assert page.status == 0
    assert page.out == ask(*name.split(), "--help").out
    command = next(command for command in COMMANDS if command.name == name)
    assert page.out.count("  --output OUTPUT ") == 1
    for parameter in command.parameters():
        if parameter.positional:
            assert f"  {parameter.metavar}  " in page.out
        elif parameter.shorthand:
            assert all(f"--{choice}" in page.out for choice in parameter.choices)
        else:
            assert f"--{parameter.name.replace('_', '-')}" in page.out.replace("--no-", "--")


def test_examples_are_commands_that_parse(ask: Ask) -> None:
    for command in COMMANDS:
        for example in command.capability().examples:
            answer = ask(*shlex.split(example), "--json")
            assert answer.status in {0, 1, 3}, (example, answer.err)  # 3: there is no git to ask


def test_all_commands_agree_on_the_revision(ask: Ask, shop: Path) -> None:
    as_repository(shop)
    revisions = {
        ask(*name.split(), *words, "--json").json["revision"]
        for name, (words, _) in QUESTIONS.items()
    }
    assert len(revisions) == 1


def test_the_overview_lists_every_command(ask: Ask) -> None:
    overview = ask()
    assert overview.status == 0
    assert overview.out == ask("help").out
    assert all(f"  {command.name} " in overview.out for command in COMMANDS)


@pytest.mark.parametrize("name", sorted({*OWN_COMMANDS} - {TALK}))
def test_help_of_the_program_itself_shows_what_it_takes(ask: Ask, name: str) -> None:
    page = ask("help", name)
    declared = own_parameters(name)
    assert declared is not None
    assert page.out == ask(name, "--help").out
    arguments, _ = OWN_COMMANDS[name]
    assert page.out.startswith(f"tersely {name} {arguments}".rstrip() + "\n")
    for parameter in declared:
        spelled = parameter.metavar if parameter.positional else parameter.flag.removeprefix("--")
        assert (spelled in page.out) is not parameter.hidden


def test_help_of_a_group_lists_its_commands(ask: Ask) -> None:
    group = ask("help", "symbol").out
    assert [line.split()[1] for line in group.splitlines() if line.startswith("  symbol")] == [
        "find",
        "get",
        "slice",
        "deps",
        "references",
        "callers",
        "callees",
    ]


def test_a_command_that_needs_a_symbol_does_not_say_what_happens_without_one(ask: Ask) -> None:
    assert "without it" in ask("help", "calls").out
    assert "without it" not in ask("help", "callers").out
    assert "hint: SYMBOL: the symbol\n" in ask("callers").err


def test_a_word_that_is_like_no_command_suggests_none(ask: Ask) -> None:
    assert "hint: tersely help lists the commands" in ask("implementations", "X").err
    assert "did you mean context?" in ask("contxt").err


def test_a_symbol_command_without_a_verb_finds(ask: Ask) -> None:
    assert ask("symbol", "validate").out == ask("symbol", "find", "validate").out


def test_what_only_text_names_is_counted_apart(ask: Ask, shop: Path) -> None:
    (shop / "notes.py").write_text("# forgotten is kept for old orders\n", "utf-8")
    assert "forgotten" not in ask("dead").out
    assert "1 more are named in strings or comments: --all lists them" in ask("dead").out
    assert "forgotten    named in text" in ask("dead", "--all").out


def test_what_is_called_without_being_named_is_not_dead(ask: Ask, shop: Path) -> None:
    (shop / "held.py").write_text(
        "import http.server\n__all__ = ['offered']\n\n"
        "class Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self): pass\n\n"
        "class Inner(Handler):\n    def do_PUT(self): pass\n\n"
        "class Plain:\n    def __len__(self): return 0\n    def unused(self): pass\n\n"
        "def offered(): pass\n\n@Plain\ndef registered(): pass\n\ndef main(): Inner()\n",
        "utf-8",
    )
    assert [
        symbol["id"] for symbol in ask("dead", "held.py", "--json").result["symbols"]["items"]
    ] == ["held.py:Plain.unused"]


def test_index_says_what_has_changed(ask: Ask, shop: Path) -> None:
    ask("index")
    assert "nothing has changed" in ask("index").out
    (shop / "broken.py").unlink()
    (shop / "new.py").write_text("NEW = 1\n", "utf-8")
    (shop / "src/shop/audit.py").write_text("def record(order): pass\n", "utf-8")
    assert "1 added, 1 changed, 1 removed" in ask("index").out


def test_the_report_names_what_is_left_out_and_what_was_not_understood(ask: Ask) -> None:
    report = ask("index", "--report").out
    assert "node_modules  skipped directory" in report
    assert "parse errors\n  broken.py:1" in report


def test_the_context_of_a_file_is_its_definitions(ask: Ask) -> None:
    """Those that are known elsewhere first, and not the lines that it begins with."""
    found = ask("context", "src/shop/money.py", "--budget", "110", "--json").result
    assert found["targets"] == ["src/shop/money.py"]
    ids = [item["id"] for item in found["items"]]
    assert {"src/shop/money.py:Price", "src/shop/money.py:format_cents"} <= set(ids)
    assert "from __future__" not in found["text"]
    assert "return str(cents * RATE)" in found["text"]
    whole = ask("context", "src/shop/money.py", "--budget", "4000").out
    assert "class Price:" in whole
    assert whole.endswith("def forgotten(x):\n    return x\n")


def test_what_is_included_needs_no_symbol(ask: Ask) -> None:
    assert (
        ask("context", "--include", "src/shop/audit.py:1-1").out
        == "=== src/shop/audit.py @1-1\nimport logging\n"
    )
