"""Which tests reach a change, asked of real git repositories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from bench.history_tasks.test_commands import test_command as command_of
from tests import repositories
from tests.cli.asking import Answer, Ask
from tests.repositories import commit, git, write

from tersely.context.lenses.test_impact.command import MAX_COMMAND_TESTS
from tersely.foundation.limits import MAX_FILE_BYTES
from tersely.foundation.text.tokens import count

Repository = Callable[[Mapping[str, str]], Path]

SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\n[tool.pytest.ini_options]\n',
    "shop/__init__.py": "",
    "shop/money.py": (
        "RATE = 2\n\n\ndef cents(value):\n    return value * RATE\n\n\ndef shown(value):\n    return f'{value}'\n"
    ),
    "shop/orders.py": (
        "from shop.money import cents\n\n\ndef total(prices):\n    return sum(cents(one) for one in prices)\n"
    ),
    "tests/conftest.py": (
        "import pytest\nfrom shop.orders import total\n\n\n@pytest.fixture\ndef bill():\n    return total([1])\n"
    ),
    "tests/test_orders.py": (
        "from shop.orders import total\n\n\ndef test_total():\n    assert total([2]) == 4\n\n\n"
        "def test_bill(bill):\n    assert bill == 2\n\n\ndef test_nothing():\n    assert True\n"
    ),
    "tests/test_money.py": (
        "from shop.money import shown\n\n\nclass TestShown:\n    def test_shown(self):\n        shown(1)\n"
    ),
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Makes a repository with one commit of some files the current directory."""

    def made(files: Mapping[str, str]) -> Path:
        root = repositories.repository(tmp_path / "changing", files)
        monkeypatch.chdir(root)
        return root

    return made


def replace(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text("utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), "utf-8")


def names(answer: Answer) -> list[str]:
    return reaching(answer.result)


def reaching(result: Any) -> list[str]:
    return [test for route in result["routes"]["items"] for test in route["tests"]]


def asked(ask: Ask, *words: str) -> Any:
    return ask("change-impact", *words, "--json").result


def test_only_tests_that_reach_the_changed_function_are_named(
    ask: Ask, repository: Repository
) -> None:
    replace(repository(SHOP), "shop/money.py", "value * RATE", "value * RATE * 1")
    result = asked(ask)
    assert result["changed"] == ["shop/money.py:cents"]
    assert [
        (
            route["certainty"],
            [step["id"] for step in route["way"]],
            route["through"],
            route["tests"],
        )
        for route in result["routes"]["items"]
    ] == [
        (
            1.0,
            ["shop/orders.py:total", "shop/money.py:cents"],
            ["tests/conftest.py:bill"],
            ["tests/test_orders.py:test_bill", "tests/test_orders.py:test_total"],
        )
    ]
    assert (
        result["command"]
        == "pytest tests/test_orders.py::test_bill tests/test_orders.py::test_total"
    )


def test_staged_untracked_and_deleted_files_are_changes(ask: Ask, repository: Repository) -> None:
    root = repository(SHOP)
    replace(root, "shop/money.py", "def shown(value):\n    return f'{value}'\n", "")
    git(root, "add", "-A")
    write(root, {"shop/new.py": "def fresh():\n    return 1\n"})
    result = asked(ask)
    assert result["changed"] == ["shop/money.py", "shop/new.py", "shop/new.py:fresh"]
    assert result["gone"] == ["shop/money.py:shown"]
    assert reaching(result) == [
        "tests/test_money.py",  # its import fails, and with it all its tests
        "tests/test_money.py:TestShown.test_shown",
    ]


def test_who_imports_a_module_that_is_gone_is_found(ask: Ask, repository: Repository) -> None:
    root = repository(SHOP)
    (root / "shop/money.py").unlink()
    result = asked(ask)
    assert result["gone"][0] == "shop/money.py"
    assert "tests/test_orders.py:test_total" in reaching(result)
    assert result["base"]


def test_a_moved_file_changes_who_imports_it(ask: Ask, repository: Repository) -> None:
    root = repository(SHOP)
    git(root, "mv", "shop/money.py", "shop/coins.py")
    replace(root, "tests/test_money.py", "shop.money", "shop.coins")
    result = asked(ask)
    assert "shop/money.py" in result["gone"]
    assert reaching(result) == ["tests/test_money.py"]  # it has changed itself
    assert [one["file"] for one in result["imports"]["items"]] == ["tests/test_orders.py"]


def test_a_change_since_a_branch_counts_from_where_they_part(
    ask: Ask, repository: Repository
) -> None:
    root = repository(SHOP)
    git(root, "checkout", "-q", "-b", "feature")
    replace(root, "shop/money.py", "f'{value}'", "str(value)")
    commit(root)
    git(root, "checkout", "-q", "main")
    replace(root, "shop/orders.py", "sum(", "0 + sum(")
    commit(root)
    git(root, "checkout", "-q", "feature")
    assert asked(ask)["changed"] == []
    assert asked(ask, "--base", "main")["changed"] == ["shop/money.py:shown"]


def test_a_constant_reaches_the_tests_of_its_readers(ask: Ask, repository: Repository) -> None:
    replace(repository(SHOP), "shop/money.py", "RATE = 2", "RATE = 3")
    assert "tests/test_orders.py:test_total" in names(ask("change-impact", "--json"))


def test_files_and_symbols_may_be_named_instead(ask: Ask, repository: Repository) -> None:
    repository(SHOP)
    assert "tests/test_money.py:TestShown.test_shown" in names(
        ask("change-impact", "shop/money.py", "--json")
    )
    assert names(ask("change-impact", "shop/money.py:shown", "--json")) == [
        "tests/test_money.py:TestShown.test_shown"
    ]
    assert ask("change-impact", "shop/money.py", "--base", "HEAD").status == 2
    assert ask("change-impact", "nowhere.py").status == 1
    assert ask("change-impact", "--base", "-x").status == 2


def test_what_is_not_indexed_takes_nothing_from_the_rest(ask: Ask, repository: Repository) -> None:
    large = "cents = 1\n" * (MAX_FILE_BYTES // 9)
    repository({**SHOP, "shop/big.py": large, "README.md": "# cents\n", "tools/a.sql": ""})
    alone = ask("change-impact", "shop/money.py:cents")
    for named in ("shop/big.py", "README.md"):
        both = ask("change-impact", named, "shop/money.py:cents")
        assert both.status == 0
        assert both.out == alone.out
        assert both.err.count(named) == 1
        assert ask("change-impact", named).err.startswith(f"not_indexed: {named} ")
    assert "big.py (too large)" in ask("change-impact", "shop").err
    assert ask("change-impact", "gone.py", "shop/money.py").err.startswith("path_not_found")


def test_a_template_reaches_the_tests_of_who_shows_it(ask: Ask, repository: Repository) -> None:
    """And what it links to is named: whoever shows it does not call that."""
    root = repository(
        {
            "shop.py": "from flask import Flask, render_template\napp = Flask(__name__)\n"
            '@app.get("/")\ndef home():\n    return render_template("home.html")\n'
            '@app.get("/cart")\ndef cart():\n    return "1"\n',
            "templates/home.html": "{% extends 'site.html' %}\n",
            "templates/site.html": "<a href=\"{{ url_for('cart') }}\">cart</a>\n",
            "test_shop.py": "from shop import app\n\n\ndef test_home():\n    app.test_client().get('/')\n"
            "\n\ndef test_cart():\n    app.test_client().get('/cart')\n",
        }
    )
    replace(root, "templates/site.html", "cart</a>", "basket</a>")
    for words in ((), ("templates/site.html",)):
        answer = ask("change-impact", *words, "--json")
        assert names(answer) == ["test_shop.py:test_home"]
        assert answer.result["links"] == ["shop.py:cart"]
        assert "1 template\nlinks to cart\n" in ask("change-impact", *words).out
    assert reaching(asked(ask, "shop.py:cart")) == ["test_shop.py:test_cart"]


def test_a_file_of_tests_that_only_imports_is_named_after_the_others(
    ask: Ask, repository: Repository
) -> None:
    replace(repository(SHOP), "shop/money.py", "value * RATE", "RATE * value")
    result = asked(ask)
    assert [one["file"] for one in result["imports"]["items"]] == [
        "tests/test_money.py",
        "tests/test_orders.py",
    ]
    assert result["imports_command"] == "pytest"  # no file of tests is left out


def test_files_that_only_import_are_named_in_a_command(ask: Ask, repository: Repository) -> None:
    files = {
        f"tests/test_{at}.py": f"import {'app' if at < 3 else 'os'}\n\n\ndef test_it():\n    pass\n"
        for at in range(9)
    }
    files["tests/test_calls.py"] = "import app\n\n\ndef test_call():\n    app.run()\n"
    repository({"app.py": "def run():\n    return 1\n", "pytest.ini": "[pytest]\n", **files})
    answer = ask("change-impact", "app.py:run", "--json").result
    named = "pytest tests/test_0.py tests/test_1.py tests/test_2.py"
    assert (answer["imports_command"], answer["imports"]["total"]) == (named, 3)
    shown = ask("change-impact", "app.py:run").out
    assert shown.endswith(f"and by imports  {answer['imports_command']}\n")


def test_a_file_whose_path_has_words_of_the_change_comes_before_its_like(
    ask: Ask, repository: Repository
) -> None:
    """All reach it by the same calls and write the same names."""
    test = "from web import answer\n\n\ndef test_it():\n    answer(1)\n"
    paths = ("body", "cookies", "redirect_back", "status", "zone")
    files = {f"tests/test_{name}.py": test for name in paths}
    web = "def redirect_back(to):\n    return to + 1\n\n\ndef answer(to):\n    return redirect_back(to)\n"
    replace(repository({"web.py": web, **files}), "web.py", "to + 1", "to + 2")
    assert files_of(asked(ask))[0] == "tests/test_redirect_back.py"


def test_a_name_that_looks_like_an_option_is_printed_as_a_path(
    ask: Ask, repository: Repository
) -> None:
    repository(
        {
            "app.py": "def run():\n    return 1\n",
            "-p_test.py": "import app\n\n\ndef test_run():\n    app.run()\n",
        }
    )
    assert asked(ask, "app.py")["command"] == "pytest ./-p_test.py::test_run"


def test_what_calls_back_from_outside_reaches_tests(ask: Ask, repository: Repository) -> None:
    repository(
        {
            "app.py": (
                "from flask import Flask\nimport threading\n\n\ndef work():\n    return 1\n\n\n"
                "def start():\n    threading.Thread(target=work).start()\n\n\n"
                "class Box:\n    def __eq__(self, other):\n        return deep(other)\n\n\ndef deep(x):\n    return x\n"
            ),
            "test_app.py": (
                "from app import start, Box\n\n\ndef test_start():\n    start()\n\n\n"
                "def test_box():\n    assert Box() == 1\n"
            ),
        }
    )
    assert names(ask("change-impact", "app.py:work", "--json")) == ["test_app.py:test_start"]
    assert names(ask("change-impact", "app.py:deep", "--json")) == ["test_app.py:test_box"]


FRAMEWORK = {
    "app.py": (
        "class Box:\n    def __eq__(self, other):\n        return deep(other)\n\n\n"
        "class Shelf:\n    def __len__(self):\n        Box()\n        return 1\n\n\ndef deep(x):\n    return x\n"
    ),
    "test_app.py": (
        "from app import Box, Shelf, deep\n\n\ndef test_deep():\n    deep(1)\n\n\n"
        "def test_box():\n    assert Box()\n\n\ndef test_shelf():\n    assert Shelf()\n"
    ),
}


def test_tests_of_who_calls_what_it_is_given_are_likely(ask: Ask, repository: Repository) -> None:
    coins = "".join(
        f"class Coin{number}:\n    def cents(self):\n        return {number}\n\n\n"
        for number in range(20)
    )
    repository({
        "pyproject.toml": SHOP["pyproject.toml"],
        "shop.py": f"{coins}def cents(coin):\n    return coin.cents()\n\n\ndef bill():\n    return cents(Coin7())\n",
        "tests/test_shop.py": "import shop\n\n\ndef test_bill():\n    assert shop.bill() == 7\n",
    })  # fmt: skip
    (route,) = asked(ask, "shop.py:Coin7.cents")["routes"]["items"]
    assert (route["grade"], route["tests"]) == ("inferred", ["tests/test_shop.py:test_bill"])


def test_the_sure_tests_come_first_and_weak_steps_do_not_chain(
    ask: Ask, repository: Repository
) -> None:
    repository(FRAMEWORK)
    result = asked(ask, "app.py:deep")
    assert [(route["certainty"], route["tests"]) for route in result["routes"]["items"]] == [
        (1.0, ["test_app.py:test_deep"]),
        # who makes a Box may compare it; who makes a Shelf is one guess further
        (0.3, ["test_app.py:test_box"]),
    ]
    assert (result["tests"], result["likely"]) == (2, 1)
    assert result["likely_command"] == "pytest test_app.py::test_deep"
    assert result["command"] == "pytest test_app.py::test_box test_app.py::test_deep"
    shown = ask("change-impact", "app.py:deep").out
    lines = "run first  pytest test_app.py::test_deep\nthen  pytest test_app.py::test_box\n"
    assert lines in shown


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_before_the_first_commit_all_is_new_since_the_beginning(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    git(tmp_path, "init", "-q", f"--object-format={kind}")
    write(tmp_path, {"app.py": "def deep():\n    return 1\n"})
    monkeypatch.chdir(tmp_path)
    assert "symbols changed since the beginning\n" in ask("change-impact").out


def test_the_answer_keeps_to_its_budget_and_says_what_it_leaves_out(
    ask: Ask, repository: Repository
) -> None:
    call = "import app\n\n\ndef test_end():\n    app.end()\n"
    repository(
        {"app.py": "def end():\n    return 1\n", **{f"test_{at}.py": call for at in range(25)}}
    )
    whole = ask("change-impact", "app.py:end", "--limit", "25")
    assert whole.out.count(".py  test_end") == 25
    assert ask("change-impact", "app.py:end").out.count(".py  test_end") == 20
    short = ask("change-impact", "app.py:end", "--budget", "300")
    assert "25 tests reach it by calls, 25 of them likely" in short.out
    assert "more files: --offset" in short.out
    assert count(short.out) <= 300
    assert ask("change-impact", "app.py:end", "--budget", "10").status == 2


def files_of(result: Any) -> list[str]:
    return [one["file"] for one in result["files"]["items"]]


def test_the_likeliest_files_come_first_and_are_run_first(ask: Ask, repository: Repository) -> None:
    """Of forty that reach it by calls, those that write a name of the changed line, or are near."""
    files = {
        f"tests/test_{at}.py": "from shop import bill\n\n\ndef test_bill():\n    bill(1)\n"
        for at in range(40)
    }
    shop = "def cents(value):\n    return round(value)\n\n\ndef bill(value):\n    return cents(value)\n"
    named = "import shop\n\n\ndef test_it():\n    shop.bill(round(1))\n"
    near = "import shop\n\n\ndef test_it():\n    shop.cents(1)\n"
    own = {"shop.py": shop, "pytest.ini": "[pytest]\n"}
    others = {"tests/test_zebra.py": named, "tests/test_yak.py": near}
    replace(repository({**files, **own, **others}), "shop.py", "round(value)", "int(value)")
    result = asked(ask)
    assert set(files_of(result)[:2]) == {"tests/test_zebra.py", "tests/test_yak.py"}
    assert result["files"]["total"] == 42
    assert result["likely"] == 42
    first = result["likely_command"].split()[1:]
    assert len(first) == 4  # a tenth of the suite
    assert {"tests/test_zebra.py::test_it", "tests/test_yak.py::test_it"} <= set(first)
    assert len(result["other_command"].split()) == 1 + 38


@pytest.mark.parametrize(
    ("source", "test"),
    [
        (
            ("lib/fare.ex", "defmodule Fare do\n  def price(km), do: km * 2\nend\n"),
            (
                "test/fare_test.exs",
                'defmodule FareTest do\n  use ExUnit.Case\n  test "it" do\n    assert true\n  end\nend\n',
            ),
        ),
        (
            ("bin/fare.sh", "price() {\n  echo 2\n}\n"),
            ("test/fare_test.sh", "test_fare() {\n  true\n}\n"),
        ),
    ],
    ids=["elixir", "bash"],
)
def test_where_no_call_is_known_a_file_called_after_the_changed_one_is_named(
    ask: Ask, repository: Repository, source: tuple[str, str], test: tuple[str, str]
) -> None:
    replace(repository(dict([source, test])), source[0], "2", "3")
    result = asked(ask)
    assert files_of(result) == [test[0]]
    assert result["tests"] == 0
    assert f"named  {test[0]}" in ask("change-impact").out


def test_a_command_for_all_tests_says_all(ask: Ask, repository: Repository) -> None:
    many = "".join(f"def test_{at}():\n    end()\n\n\n" for at in range(MAX_COMMAND_TESTS))
    files = {f"tests/test_{name}.py": f"from app import end\n\n\n{many}" for name in "abc"}
    repository({"app.py": "def end():\n    return 1\n", "pytest.ini": "", **files})
    assert asked(ask, "app.py")["command"] == "pytest"


def test_who_makes_an_object_runs_no_method_that_the_repository_itself_calls(
    ask: Ask, repository: Repository
) -> None:
    repository(
        {
            "client.py": (
                "from outside import Client\n\n\nclass Mine(Client):\n    def session(self):\n        return 1\n\n"
                "    def open(self):\n        return 2\n\n\ndef make() -> Mine:\n    return Mine()\n"
            ),
            "test_client.py": (
                "from client import make\n\n\ndef test_get():\n    make().get('/')\n\n\n"
                "def test_session():\n    make().session()\n"
            ),
        }
    )
    assert names(ask("change-impact", "client.py:Mine.session", "--json")) == [
        "test_client.py:test_session"
    ]
    assert "test_client.py:test_get" in names(ask("change-impact", "client.py:Mine.open", "--json"))


def test_what_runs_around_tests_reaches_them(ask: Ask, repository: Repository) -> None:
    repository(
        {
            "app.py": "def prepare():\n    return 1\n",
            "tests/test_app.py": (
                "import unittest\nfrom app import prepare\n\n\nclass AppTest(unittest.TestCase):\n"
                "    def setUp(self):\n        prepare()\n\n    def test_one(self):\n        pass\n\n"
                "class OtherTest(unittest.TestCase):\n    def test_two(self):\n        pass\n"
            ),
        }
    )
    assert names(ask("change-impact", "app.py", "--json")) == ["tests/test_app.py:AppTest.test_one"]


MANY_RUST_TESTS = "".join(
    f"#[test]\nfn adds{at}() {{ add(1); }}\n" for at in range(MAX_COMMAND_TESTS + 1)
)
COMMANDS = {
    "go test ./calc -run '^(TestAdd)$'": {
        "go.mod": "module example.org/calc\n",
        "calc/add.go": "package calc\n\nfunc Add(a int) int { return a }\n",
        "calc/add_test.go": (
            'package calc\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) { Add(1) }\n\n'
            "func TestOther(t *testing.T) {}\n"
        ),
    },
    "cargo test -- tests::adds": {
        "Cargo.toml": '[package]\nname = "calc"\n',
        "src/lib.rs": (
            "pub fn add(a: i32) -> i32 { a }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
            "    fn adds() { add(1); }\n\n    #[test]\n    fn other() {}\n}\n"
        ),
    },
    "cargo test -- sums::": {
        "Cargo.toml": '[package]\nname = "calc"\n',
        "src/lib.rs": "mod sums;\n",
        "src/sums/mod.rs": f"pub fn add(a: i32) -> i32 {{ a }}\n\n{MANY_RUST_TESTS}",
    },
    "cargo test --test=adding": {
        "Cargo.toml": '[package]\nname = "calc"\n',
        "src/lib.rs": "pub fn add(a: i32) -> i32 { a }\n",
        "tests/adding.rs": f"use calc::add;\n\n{MANY_RUST_TESTS}",
    },
    "cargo test '--test=*'": {
        "Cargo.toml": '[package]\nname = "calc"\n\n[[test]]\nname = "all"\npath = "tests/adding.rs"\n',
        "src/lib.rs": "pub fn add(a: i32) -> i32 { a }\n",
        "tests/adding.rs": f"use calc::add;\n\n{MANY_RUST_TESTS}",
    },
    "cargo test": {
        "Cargo.toml": '[package]\nname = "calc"\n',
        "src/lib.rs": f"pub fn add(a: i32) -> i32 {{ a }}\n\n{MANY_RUST_TESTS}",
    },
    "npx vitest run src/add.test.ts": {
        "package.json": '{"devDependencies": {"vitest": "1"}}',
        "src/add.ts": "export function add(a: number) { return a; }\n",
        "src/add.test.ts": "import { add } from './add';\n\ntest('adds', () => { add(1); });\n",
    },
    "npx jest src/add.test.js": {
        "package.json": '{"devDependencies": {"jest": "29"}}',
        "src/add.js": "export function add(a) { return a; }\n",
        "src/add.test.js": "import { add } from './add';\n\ntest('adds', () => { add(1); });\n",
    },
    "mvn test -Dtest='AddTest#adds'": {
        "pom.xml": "<project/>",
        "src/main/java/p/Add.java": "package p;\npublic class Add { public static int add(int a) { return a; } }\n",
        "src/test/java/p/AddTest.java": (
            "package p;\nimport org.junit.Test;\npublic class AddTest {\n  @Test public void adds() { Add.add(1); }\n"
            "  @Test public void other() { }\n}\n"
        ),
    },
    "mvn test -Dtest='AddTest$Twice#adds'": {
        "pom.xml": "<project/>",
        "src/main/java/p/Add.java": "package p;\npublic class Add { public static int add(int a) { return a; } }\n",
        "src/test/java/p/AddTest.java": (
            "package p;\nimport org.junit.jupiter.api.*;\nclass AddTest {\n"
            "  @Nested class Twice {\n    @Test void adds() { Add.add(Add.add(1)); }\n  }\n}\n"
        ),
    },
    "(cd 'a b' && ./gradlew test --tests '*AddTest.adds')": {
        "a b/build.gradle.kts": "",
        "a b/src/main/java/p/Add.java": "package p;\npublic class Add { public static int add(int a) { return a; } }\n",
        "a b/src/test/java/p/AddTest.java": (
            "package p;\nimport org.junit.Test;\npublic class AddTest {\n"
            "  @Test public void adds() { Add.add(1); }\n}\n"
        ),
    },
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_is_that_of_the_repository(
    ask: Ask, repository: Repository, command: str
) -> None:
    root = repository(COMMANDS[command])
    for path in (path for path in COMMANDS[command] if path.endswith(SOURCES)):
        text = (root / path).read_text("utf-8")
        (root / path).write_text(
            text.replace("return a", "return 1 + a").replace("{ a }", "{ a + 0 }"), "utf-8"
        )
    assert asked(ask)["command"] == command


LISTED = '{"scripts": {"test": "npm run lint && npm run unit"}}'
RUNNERS: list[tuple[dict[str, str], str, str]] = [
    ({"package.json": LISTED}, "a.test.js", "node --test a.test.js"),
    ({"package.json": '{"scripts": {"test": "tape"}}'}, "a.test.js", "npm test -- a.test.js"),
    ({"package.json": '{"devDependencies": {"borp": "1"}}'}, "a.test.js", "npx borp a.test.js"),
    ({"CMakeLists.txt": ""}, "test/add_test.c", "ctest --test-dir build -R add_test"),
    ({}, "test/add_test.c", ""),
]


@pytest.mark.parametrize(("marker", "path", "expected"), RUNNERS)
def test_what_runs_tests_is_told_by_files_beside_them(
    tmp_path: Path, marker: dict[str, str], path: str, expected: str
) -> None:
    write(tmp_path, marker)
    assert command_of(tmp_path, [path]) == expected


SOURCES = (".go", ".ts", ".js", ".java", ".rs")


def test_without_git_or_a_change_the_answer_says_so(
    ask: Ask, shop: Path, repository: Repository
) -> None:
    assert ask("change-impact").status == 3
    repository(SHOP)
    assert "no affected tests found" in ask("change-impact").out


def test_what_is_only_a_name_of_types_may_change(repository: Repository, ask: Ask) -> None:
    root = repository({
        "kinds.ts": "export type Kind = 'a' | 'b'\n",
        "kinds.test.ts": "import { Kind } from './kinds'\n\ntest('kind', () => {})\n",
    })  # fmt: skip
    replace(root, "kinds.ts", "'b'", "'c'")
    answer = ask("change-impact", "--json")
    assert answer.status == 0, answer.err
    assert answer.result["changed"] == ["kinds.ts:Kind"]
