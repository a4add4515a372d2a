"""How answers are printed: colours, quiet, roots, freshness, pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.asking import Ask, run


def test_colours_only_on_demand_when_there_is_no_terminal(ask: Ask) -> None:
    plain = ask("calls", "format_cents")
    painted = ask("calls", "format_cents", "--color", "always")
    assert "\x1b[" in painted.out
    assert ask("calls", "format_cents", "--color", "auto").out == plain.out
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", painted.out) == plain.out


def test_a_terminal_gets_colours_unless_it_asks_not_to(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[" in ask("stats").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in ask("stats").out
    assert "\x1b[" in ask("stats", "--color", "always").out


def test_a_person_is_told_once_that_what_is_indexed_is_no_repository(
    ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert f"note: {shop} is no repository" in ask("stats").err
    assert "note:" not in ask("stats").err


def test_a_pack_has_colours_on_a_terminal_and_the_same_words(ask: Ask, shop: Path) -> None:
    patch = shop / "a.patch"
    patch.write_text(
        "--- a/src/shop/money.py\n+++ b/src/shop/money.py\n@@ -29,2 +29,2 @@\n"
        " def forgotten(x):\n-    return x + 1\n+    return x\n"
    )
    for words in (["diff-context", str(patch)], ["context", "checkout"]):
        plain, colored = ask(*words).out, ask(*words, "--color", "always").out
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
        assert "\x1b[1m=== src/shop/" in colored
        assert "\x1b" not in plain
    assert (
        "\x1b[32m+    return x\x1b[0m" in ask("diff-context", str(patch), "--color", "always").out
    )
    assert "\x1b" not in ask("context", "checkout", "--json", "--color", "always").out


def test_impact_is_a_tree_on_a_terminal_and_a_list_in_a_pipe(ask: Ask) -> None:
    words = ["impact", "format_cents", "--depth", "5"]
    listed = json.loads(ask(*words, "--json").out)["result"]["callers"]["items"]
    printed = re.sub(r"\x1b\[[0-9;]*m", "", ask(*words, "--color", "always").out)
    branches = re.findall(r"^( *)└─ (\S+) +(\S+)", printed, re.MULTILINE)
    way: list[str] = []
    ways = {}
    for indent, name, path in branches:
        way[len(indent) // 3 :] = [f"{path}:{name}"]
        ways[way[-1]] = way[-2::-1]
    assert ways == {one["caller"]: one["via"] for one in listed}
    assert max(len(via) for via in ways.values()) > 1
    assert "via " in ask(*words).out
    assert "└─" not in ask(*words).out


def test_options_may_stand_before_the_command(ask: Ask, shop: Path) -> None:
    assert (
        ask("--json", "--root", str(shop), "stats").out
        == ask("stats", "--json", "--root", str(shop)).out
    )


def test_the_root_is_the_nearest_repository(
    ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("index")
    monkeypatch.chdir(shop / "src" / "shop")
    assert "tests/" in ask("tree").out
    assert ask("--root", ".", "stats", "--json").result["root"].endswith("src/shop")


def test_paths_are_written_from_where_one_is(
    ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("index")
    whole = ask("extract", "src/shop/money.py").out
    monkeypatch.chdir(shop / "src")
    for path in (
        "shop/money.py",
        "./shop/money.py",
        "src/shop/money.py",
        str(shop / "src/shop/money.py"),
        "money.py",
    ):
        assert ask("extract", path).out == whole
    assert ask("symbol", "get", "shop/money.py:format_cents").out.startswith(
        "src/shop/money.py:format_cents"
    )
    assert "money.py:23" in ask("definition", "shop/orders.py:16:16").out


def test_answers_are_fresh_unless_that_is_not_wanted(ask: Ask, shop: Path) -> None:
    before = ask("symbol", "find", "checkout", "--json").json
    (shop / "src/shop/extra.py").write_text("def checkout(): pass\n", "utf-8")
    stale = ask("symbol", "find", "checkout", "--json", "--no-refresh").json
    fresh = ask("symbol", "find", "checkout", "--json").json
    assert stale == before
    assert fresh["revision"] != before["revision"]
    assert fresh["result"]["symbols"]["total"] == 2


def test_without_an_index_even_a_stale_answer_needs_one(ask: Ask) -> None:
    assert ask("symbol", "find", "checkout", "--no-refresh").status == 0


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["structure"], "entries"),
        (["extract", "src/shop/orders.py"], "entries"),
        (["imports", "src/shop/orders.py"], "imports"),
        (["importers", "shop.money"], "imports"),
        (["symbol", "find", "*"], "symbols"),
        (["calls"], "edges"),
        (["calls", "format_cents", "--callers"], "callers"),
        (["impact", "format_cents"], "callers"),
        (["dead"], "symbols"),
    ],
)
def test_a_page_says_what_it_leaves_out_and_pages_make_the_whole(
    ask: Ask, words: list[str], key: str
) -> None:
    whole = ask(*words, "--json").result[key]
    assert whole["more"] == 0
    assert len(whole["items"]) == whole["total"] > 1
    first = ask(*words, "--limit", "1")
    assert f"… {whole['total'] - 1} more " in first.out
    assert f"--offset 1 continues, --limit {whole['total']} shows all" in first.out
    pages = [
        ask(*words, "--limit", "1", "--offset", str(offset), "--json").result[key]["items"]
        for offset in range(whole["total"])
    ]
    assert [item for page in pages for item in page] == whole["items"]
    assert "nothing from 1000 on" in ask(*words, "--offset", "1000").out


@pytest.mark.parametrize(
    ("source", "lines"), [("", "1 line"), ("a = 1", "1 line"), ("a = 1\n\n", "2 lines")]
)
def test_lines_are_counted_as_everybody_counts_them(
    ask: Ask, shop: Path, source: str, lines: str
) -> None:
    (shop / "few.py").write_text(source)
    assert ask("extract", "few.py").out.startswith(f"few.py  python, {lines}\n")


def test_a_long_name_does_not_widen_other_lines(ask: Ask, shop: Path) -> None:
    (shop / "long.py").write_text(f"def {'x' * 100_000}(): return 1\n")
    answer = ask("symbol", "find", "*")
    assert len(answer.out) < 120_000
    assert "x" * 100_000 in answer.out


def test_a_long_symbol_is_shown_in_parts(ask: Ask) -> None:
    whole = ask("symbol", "get", "Price").out
    first = ask("symbol", "get", "Price", "--limit", "5").out
    assert "… 8 more lines: --offset 5 continues" in first
    second = ask("symbol", "get", "Price", "--offset", "5").out
    assert ask("symbol", "get", "Price", "--offset", "500").out.endswith("\nno lines from 500 on\n")
    assert first.split("\n")[1:6] + second.split("\n")[1:] == whole.split("\n")[1:]


def test_only_newlines_end_the_lines_of_a_symbol(shop: Path, ask: Ask) -> None:
    (shop / "odd.py").write_bytes(
        b"def first():\n    return 1\n\x0c\n# \xe2\x80\xa8 \r \ndef second():\r\n    return 2\r\n"
    )
    shown = ask("symbol", "get", "second").out
    assert shown == "odd.py:second  function, 5-6, etag b24949196e37\ndef second():\n    return 2\n"


def test_a_closed_directory_is_said(ask: Ask) -> None:
    tree = ask("tree", "--limit", "3").out
    assert "src/shop/ …" in tree
    assert "2 directories are closed: --limit N or tree PATH opens them" in tree


def test_source_cannot_speak_to_the_terminal(
    ask: Ask, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop / "evil.py").write_text('def evil():\n    return "\x1b]0;owned\x07\x1b[2J"\n', "utf-8")
    printed = ask("symbol", "get", "evil").out
    assert "owned" in printed
    assert "\x1b" not in printed
    assert "\x07" not in printed
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", ask("symbol", "get", "evil").out) == printed


HOSTILE = [
    ["tree"], ["structure"], ["extract", "{}"], ["symbol", "get", "bad"], ["symbol", "find", "b*"], ["calls", "bad"],
    ["calls"], ["impact", "used"], ["impact", "target"], ["dead"], ["imports", "{}"], ["importers", "shop"], ["index"],
    ["index", "--report"], ["definition", "{}:5"], ["context", "bad"], ["context", "used", "--format", "markdown"],
    ["symbol", "get", "ba{}d"], ["symbol", "get", "target"], ["cycles", "--of", "calls"],
]  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE, ids=" ".join)
def test_no_name_steers_the_terminal_hides_or_forges_a_line(
    ask: Ask, shop: Path, words: list[str]
) -> None:
    hidden = "\x1b[31m\u202e\u200e\x9b"
    name = f"e{hidden}\nforged.py"
    source = (
        f'import shop.{hidden}\n# {hidden}\ndef bad(x="{hidden}"):\n    """{hidden}"""\n'
        f"    return used(), target()\n\n\n"
        f'def used():\n    return "{hidden}", bad()\n\n\nclass B{hidden}:\n    pass\n\n\ndef target():\n    pass\n'
    )
    (shop / name).write_text(source, "utf-8")
    (shop / "other.py").write_text("def target():\n    pass\n", "utf-8")
    (shop / "pyproject.toml").write_text('[tool.tersely]\n"\\u001b[31m\\nforged" = 1\n', "utf-8")
    words = [word.replace("{}", name) for word in words]
    for answer in (ask(*words), ask(*words, "--json")):
        assert answer.status in {0, 1}
        for printed in (answer.out, answer.err):
            assert not re.search("[\x1b\u202e\u200e\x9b]", printed)
            assert "\nforged" not in printed


def test_a_budget_report_stands_beside_the_answer(ask: Ask) -> None:
    plain = ask("context", "checkout", "--budget", "300")
    reported = ask("context", "checkout", "--budget", "300", "--explain")
    assert reported.out == plain.out
    assert "of 300 tokens" in reported.err
    assert ask("context", "checkout", "--explain", "--quiet").err == ""
    result = ask("context", "checkout", "--budget", "300", "--explain", "--json").result
    assert sum(result["report"]["by_part"].values()) == result["used"] <= 300
    assert result["text"] == plain.out


def test_any_file_of_the_repository_may_be_included_but_none_outside(ask: Ask, shop: Path) -> None:
    (shop.parent / "secret").write_text("hidden\n", "utf-8")
    (shop / "way_out").symlink_to(shop.parent / "secret")
    assert "# Shop" in ask("context", "checkout", "--include", "README.md").out
    assert (
        "class Price"
        in ask("context", "checkout", "--include", "src/shop/money.py:8-9", "--depth", "0").out
    )
    refused = ask("context", "checkout", "--include", "way_out")
    assert refused.err.startswith("path_not_found: ")


def test_odd_names_are_printed_somehow(shop: Path) -> None:
    (shop / "ünïcode.py").write_text("def grüße(): pass\n", "utf-8")
    answer = run(["symbol", "find", "grüße"], shop, PYTHONIOENCODING="ascii")
    assert answer.status == 0
    assert "gr\\xfc\\xdfe" in answer.out
    assert json.loads(run(["symbol", "find", "grüße", "--json"], shop).out)["ok"]


def test_the_explained_plan_says_of_each_symbol_why_it_is_likely(ask: Ask) -> None:
    lines = ask("plan", "make checkout() round prices", "--explain").err.splitlines()
    assert any("checkout: named in the task" in line for line in lines)
