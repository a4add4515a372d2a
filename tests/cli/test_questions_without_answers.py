"""What is said when there is no answer: on standard error, with a stable code, a hint and an exit
status.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.asking import Ask, run
from tests.depth import examples

from tersely.capabilities.declaration.declaration import Capability
from tersely.cli.commands import COMMANDS
from tersely.foundation.errors import EXIT_NEGATIVE, EXIT_OF_CODE

REFUSALS = [
    (["impact", "format_cent"], "symbol_not_found", "format_cents"),
    (["calls", "validate"], "ambiguous_symbol", "src/shop/orders.py:Order.validate"),
    (["calls", "shop::validate()"], "symbol_not_found", "validate"),
    (["calls", "*#validate"], "ambiguous_symbol", "src/shop/money.py:Price.validate"),
    (["context", "validate", "checkout"], "ambiguous_symbol", "src/shop/money.py:Price.validate"),
    (
        ["context", "node_modules/dep/index.py"],
        "symbol_not_found",
        "node_modules/dep/index.py is a file that is not indexed",
    ),
    (["calls", "src/shop"], "symbol_not_found", "src/shop is a directory: `structure src/shop`"),
    (["symbol", "get", "./src"], "symbol_not_found", "src is a directory"),
    (["definition", "src/shop:1"], "invalid_argument", "a file in it"),
    (["imports", "src"], "invalid_argument", "a file in it"),
    (["importers", ""], "invalid_argument", "import"),
    (["conflicts", "src"], "invalid_argument", "another checkout"),
    (["calls", "checkout", "--callers", "--callees"], "usage", ""),
    (["slice", "src/shop/orders.py:16", "--forward", "--backward"], "usage", "depends"),
    (["symbol", "find", "nothing_like_it"], "symbol_not_found", "symbol find"),
    (["structure", "nowhere"], "path_not_found", "tree"),
    (["search", "money", "--in", "nowhere"], "path_not_found", "tree"),
    (["search", "money", "--in", "nowhere/*.py"], "path_not_found", "tree"),
    (["extract", "node_modules/dep/index.py"], "not_indexed", "--report"),
    (["tree", "node_modules"], "not_indexed", "--report"),
    (["extract", "../outside.py"], "path_not_found", "root"),
    (["extract", "mone"], "path_not_found", "tree"),
    (["importers", "nowhere"], "module_not_found", "imports"),
    (["definition", "src/shop/orders.py"], "invalid_argument", "FILE:LINE"),
    (["definition", "src/shop/orders.py:900"], "invalid_argument", ""),
    (["definition", "src/shop/audit.py:8"], "invalid_argument", ""),
    (["definition", "src/shop/orders.py:16:1"], "invalid_argument", "fmt at 16"),
    (["definition", "src/shop/audit.py:2"], "symbol_not_found", "external"),
    (["context", "checkout", "--budget", "1"], "budget_too_small", "budget"),
    (["context", "checkout", "--budget", "0"], "invalid_argument", "tokens"),
    (["context", "checkout", "--format", "xml"], "invalid_argument", "print"),
    (["context", "checkout", "--include", "/etc/passwd"], "path_not_found", ""),
    (["context", "checkout", "--include", "../secret"], "path_not_found", ""),
    (["context", "checkout", "--include", "README.md:50"], "invalid_argument", ""),
    (["context"], "usage", "SYMBOL"),
    (["calls", "x", "y"], "usage", ""),
    (["calls", "x", "--depht", "2"], "invalid_argument", "--depth"),
    (["calls", "--depth", "2"], "usage", "name a symbol"),
    (["calls", "--callees"], "usage", "name a symbol"),
    (["context", "checkout", "--budget", "abc"], "invalid_argument", "tokens"),
    (["frobnicate"], "unknown_command", "help"),
    (["contxt"], "unknown_command", "context"),
    (["calers", "x"], "unknown_command", "callers"),
    (["help", "frobnicate"], "unknown_command", "help"),
    (["board", "frob"], "unknown_command", "board ready, board add"),
    (["board", "redy", "--thread", "x"], "unknown_command", "board ready"),
    (["completion", "tcsh"], "invalid_argument", ""),
    (["--root", "/does/not/exist", "tree"], "root_not_found", "--root"),
]


@pytest.mark.parametrize(
    "words",
    [
        ["context", "checkout"],
        ["map"],
        ["search", "price"],
        ["change-impact", "src/shop/money.py"],
        ["packet", "format_cents rounds wrongly", "--min-confidence", "0"],
    ],
    ids=lambda words: words[0],
)
def test_a_budget_that_is_too_small_says_what_would_do(ask: Ask, words: list[str]) -> None:
    option = "--max-tokens" if words[0] == "packet" else "--budget"
    refused = ask(*words, option, "1")
    assert refused.err.startswith("budget_too_small: ")
    said = re.search(r"takes (\d+)", refused.err)
    assert said
    needed = int(said[1])
    assert ask(*words, option, str(needed - 1)).err.startswith("budget_too_small: ")
    assert ask(*words, option, str(needed)).status == 0


@pytest.mark.parametrize(
    ("words", "code", "hint"), REFUSALS, ids=[" ".join(words) for words, _, _ in REFUSALS]
)
def test_a_refusal_has_a_code_a_hint_and_a_status(
    ask: Ask, words: list[str], code: str, hint: str
) -> None:
    answer = ask(*words)
    assert answer.out == ""
    assert answer.err.startswith(f"{code}: ")
    assert answer.status == EXIT_OF_CODE[code] != 0
    assert hint in answer.err.partition("hint: ")[2]
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "code", "hint"), REFUSALS, ids=[" ".join(words) for words, _, _ in REFUSALS]
)
def test_programs_get_the_same_refusal_as_json(
    ask: Ask, words: list[str], code: str, hint: str
) -> None:
    answer = ask(*words, "--json")
    assert answer.json["ok"] is False
    assert answer.json["error"]["code"] == code
    assert hint in answer.json["error"]["hint"]
    assert answer.status == EXIT_OF_CODE[code]
    assert answer.err == ask(*words).err


def test_a_file_that_is_not_indexed_has_one_reason(ask: Ask, shop: Path) -> None:
    (shop / "main.cue").write_text("x", "utf-8")
    (shop / "LICENCE").write_text("x", "utf-8")
    (shop / "secret.py").write_text("x = 1\n", "utf-8")
    (shop / ".gitignore").write_text("secret.py\n", "utf-8")
    ignored = shop / "node_modules" / "a.py"
    ignored.parent.mkdir(exist_ok=True)
    ignored.write_text("x = 1\n", "utf-8")
    for path, reason in (
        ("main.cue", "unsupported file type `.cue`"),
        ("LICENCE", "unsupported file type without a suffix"),
        ("secret.py", "an ignore file excludes it"),
        ("node_modules/a.py", "node_modules is left out (skipped directory)"),
    ):
        assert ask("extract", path).err.startswith(
            f"not_indexed: {path} is not indexed: {reason}\n"
        )


NAMES = [command.name for command in COMMANDS]
WORDS = [
    *("checkout", "validate", "src/shop/money.py", "src", "*", "", "x:1", "3", "-1"),
    *("--depth", "--limit", "--offset", "--kind"),
]


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(NAMES), words=st.lists(st.sampled_from(WORDS), max_size=4))
def test_whatever_is_asked_programs_get_one_json_object(
    ask: Ask, name: str, words: list[str]
) -> None:
    answer = ask(*name.split(), *words, "--json")
    assert answer.status in {0, 1, 2, 3}
    nothing_found = answer.json["ok"] and answer.status == EXIT_NEGATIVE
    assert nothing_found or answer.json["ok"] is (answer.status == 0)
    assert answer.out.count("\n") == 1


def test_a_defect_is_an_answer_too(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("lost")

    broken = Capability("code.stats", fail, fail)
    monkeypatch.setattr("tersely.cli.commands.catalogue.load", lambda name: broken)
    answer = ask("stats")
    assert answer.status == 70
    assert answer.err.startswith("internal_error: KeyError: 'lost' (")
    assert "Traceback" not in answer.err
    monkeypatch.setenv("TERSELY_DEBUG", "1")
    assert "Traceback" in ask("stats").err


def test_a_reader_that_leaves_is_no_error(shop: Path) -> None:
    command = f"{sys.executable} -m tersely structure --all | true"
    done = subprocess.run(
        ["bash", "-c", f"{command}; echo ${{PIPESTATUS[0]}}"],
        cwd=shop,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() in {"0", "141"}
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said(shop: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tersely", "stats"],
            cwd=shop,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr.startswith(b"unwritable_output: ")
    assert done.stderr.count(b"\n") == 1


def test_an_interruption_ends_with_130_and_nothing_else(
    shop: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tersely.workspace.Workspace.refresh", interrupt)
    answer = ask("stats")
    assert (answer.status, answer.out, answer.err) == (130, "", "")


def test_a_setting_that_is_not_known_is_said_and_the_answer_given(shop: Path) -> None:
    (shop / "pyproject.toml").write_text("[tool.tersely]\nbudget_token = 5\n", "utf-8")
    answer = run(["stats"], shop)
    assert answer.status == 0
    assert "budget_token" in answer.err
    assert run(["stats", "--json"], shop).json["notes"]
    assert run(["stats", "--quiet"], shop).err == ""
