"""The roadmap of context optimization from its first page to its last: `tldrs` in a git repository,
and its tools.

Its functions have the names that the roadmap gives them. The formats of coverage files are those of
`tests/code/coverage/test_reports.py`, the dictionary of paths is in
`tests/context/render/test_formats.py`, and more of ETags in `tests/cli/test_sessions.py`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from tests.cli.relay_home import Home, home_of
from tests.doors.mcp.conversing import converse, text_of
from tests.repositories import initialized

from tersely.foundation.text.tokens import count

BUDGET = 2_000
AUTHOR = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
# So much that no file is shown whole, and not everything has room.
FILLER = "".join(
    f"\n\ndef filler_{number}(value):\n    return value + {number}\n" for number in range(60)
)
TS_FILLER = "".join(
    f"\nfunction filler{number}(value: number) {{\n  return {number};\n}}\n" for number in range(60)
)
AUTH_PY = '''def decode_jwt(token: str) -> dict:
    """What a token says of its owner and of the time when it ends."""
    return {"token": token}


def validate_token(tok: str) -> bool:
    """Whether a token is still good, which is a sentence that only people need."""
    claims = decode_jwt(tok)
    return bool(claims)
'''
MIDDLEWARE_PY = """from src.auth import validate_token


def check_expiry(request):
    return validate_token(request.token)
"""
ROUTES_PY = """from src.middleware import check_expiry


def login_handler(request):
    return check_expiry(request)
"""
PAYMENTS_PY = """RATE = 2


class PaymentService:
    def refund(self, amount: int) -> int:
        return round_amount(amount * RATE)


def round_amount(amount: int) -> int:
    return checked(amount)


def checked(amount: int) -> int:
    return max(0, amount)


def refund_all(service: PaymentService) -> int:
    return service.refund(3)
"""
AUTH_TS = """export async function validateToken(token: string): Promise<boolean> {
  return token.length > 3;
}
"""
MIDDLEWARE_TS = """import { validateToken } from "./auth";

export function authMiddleware(req: any, res: any, next: any): Promise<boolean> {
  return validateToken(req.token);
}
"""
TEST_PY = """from src.auth import validate_token


def test_validate_token():
    assert validate_token("good token")
"""
FILES = {
    ".gitignore": ".tersely\n",
    "conftest.py": "",
    "src/__init__.py": "",
    "src/auth.py": AUTH_PY + FILLER,
    "src/middleware.py": MIDDLEWARE_PY + FILLER,
    "src/routes.py": ROUTES_PY,
    "src/payments.py": PAYMENTS_PY,
    "src/auth.ts": AUTH_TS + TS_FILLER,
    "src/middleware.ts": MIDDLEWARE_TS + TS_FILLER,
    "tests/test_auth.py": TEST_PY,
    "venv/lib/copied.py": "def validate_token(tok):\n    return False\n",
    "node_modules/dep/index.ts": "export function validateToken() {}\n",
}


def tldrs(words: Sequence[str]) -> int:
    """The program that is installed under that name."""
    (entry,) = entry_points(group="console_scripts", name="tldrs")
    status: int = entry.load()(words)
    return status


class Project(Home):
    """A git repository, asked by `tldrs`."""

    def __call__(self, line: str) -> str:
        """What a line of the roadmap prints."""
        name, *words = shlex.split(line)
        assert name == "tldrs"
        printed = self.run(*words, program=tldrs)
        assert printed.status == 0, printed
        return printed.out

    def json(self, line: str) -> Any:
        return json.loads(self(line))

    def result(self, line: str) -> Any:
        return self.json(f"{line} --json")["result"]

    def git(self, *words: str) -> None:
        subprocess.run(["git", *AUTHOR, *words], cwd=self.root, check=True, capture_output=True)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text("utf-8")
        assert old in text
        (self.root / path).write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository of four commits."""
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    made = Project(tmp_path / "home", root)
    initialized(root)
    for number in range(4):
        (root / "notes.txt").write_text(f"note {number}\n", "utf-8")
        made.git("add", "-A", "-f")
        made.git("commit", "-q", "-m", "m")
    return made


@pytest.fixture
def changed(project: Project) -> Project:
    """The same with a change that is not committed."""
    project.edit("src/auth.py", "return bool(claims)", "return bool(claims) and len(tok) > 3")
    project.edit("src/auth.ts", "token.length > 3", "token.length > 8")
    return project


# Phase 0


def test_names_are_qualified_by_their_files(project: Project) -> None:
    edges = project.result("tldrs calls --no-external")["edges"]["items"]
    told = {(edge["caller"], edge["callee"]) for edge in edges}
    assert ("src/auth.py:validate_token", "src/auth.py:decode_jwt") in told
    assert ("src/middleware.py:check_expiry", "src/auth.py:validate_token") in told
    assert ("src/middleware.ts:authMiddleware", "src/auth.ts:validateToken") in told


def test_directories_of_others_are_skipped(project: Project) -> None:
    found = project.result("tldrs symbol find validate*")["symbols"]["items"]
    assert {one["id"] for one in found} == {
        "src/auth.py:validate_token",
        "src/auth.ts:validateToken",
    }


@pytest.mark.parametrize("budget", [60, 100, 200, 2000])
def test_a_pack_stays_within_its_budget(project: Project, budget: int) -> None:
    pack = project(f"tldrs context validate_token --budget {budget}")
    assert "validate_token" in pack
    assert count(pack) <= budget


def test_ultracompact_costs_no_more_than_compact(project: Project) -> None:
    words = "tldrs context validate_token check_expiry"
    pack, compact = project(f"{words} --ultracompact"), project(f"{words} --format compact")
    assert "  calls: decode_jwt\n" in pack
    assert "@6-9 target" in pack
    assert count(pack) <= count(compact)


def test_docstrings_come_when_they_are_wanted(project: Project) -> None:
    words = "tldrs context validate_token --budget 2000"
    assert "only people need" not in project(words)
    assert "only people need" in project(f"{words} --with-docs")


# Phase 1: DiffLens


@pytest.mark.parametrize(
    "words",
    ["", "--budget 2000", "--format compact", "--format json", "--budget 350 --format json"],
)
def test_the_change_comes_with_its_surroundings(changed: Project, words: str) -> None:
    pack = changed(f"tldrs diff-context --base main {words}")
    for name in ("validate_token", "validateToken", "check_expiry", "decode_jwt"):
        assert name in pack
    assert count(pack) <= (350 if "350" in words else 2000)


def test_a_range_of_commits_is_a_change(changed: Project) -> None:
    changed.git("commit", "-q", "-a", "-m", "m")
    pack = changed.json("tldrs diff-context --base HEAD~3 --head HEAD --format json")
    assert {"src/auth.py:validate_token", "src/auth.ts:validateToken", "notes.txt"} <= {
        one["id"] for one in pack["slices"] if "diff_lines" in one
    }


def test_the_fields_of_a_pack(changed: Project) -> None:
    line = f"tldrs diff-context --base main --format json --budget {BUDGET}"
    printed = changed(line)
    pack = json.loads(printed)
    assert {"base", "head", "budget_used", "slices", "signatures_only"} <= pack.keys()
    assert pack["budget_used"] == count(printed) <= BUDGET
    slices = {one["id"]: one for one in pack["slices"]}
    assert all(
        {"id", "relevance", "signature", "code", "lines"} <= one.keys() for one in slices.values()
    )
    python, typescript = slices["src/auth.py:validate_token"], slices["src/auth.ts:validateToken"]
    assert python["relevance"] == typescript["relevance"] == "contains_diff"
    assert (
        typescript["signature"]
        == "export async function validateToken(token: string): Promise<boolean>"
    )
    assert "return bool(claims) and len(tok) > 3" in python["code"]
    assert (python["lines"], python["diff_lines"]) == ([6, 9], [9])
    assert (typescript["lines"], typescript["diff_lines"]) == ([1, 3], [2])
    assert slices["src/middleware.py:check_expiry"]["relevance"] == "caller of validate_token"
    assert slices["src/auth.py:decode_jwt"]["relevance"] == "callee of validate_token"
    assert slices["tests/test_auth.py:test_validate_token"]["relevance"] == "test of validate_token"


def test_what_has_no_room_is_a_signature_or_a_name(changed: Project) -> None:
    packs = [
        changed.json(f"tldrs diff-context --base main --budget {budget} --format json")
        for budget in range(260, 480, 20)
    ]
    assert any(one["code"] is None for pack in packs for one in pack["slices"])
    names = {name for pack in packs for name in pack["signatures_only"]}
    assert names
    assert all(":" in name for name in names)


# Phase 2: SymbolKite


def test_symbols_are_found_by_name_and_pattern(project: Project) -> None:
    assert "src/payments.py:PaymentService" in project('tldrs symbol find "PaymentService"')
    found = project.result('tldrs symbol find "validate*" --kind function')["symbols"]["items"]
    assert {one["kind"] for one in found} == {"function"}


def test_a_slice_holds_what_a_symbol_needs(project: Project) -> None:
    pack = project("tldrs symbol slice PaymentService --depth 1 --budget 1200")
    assert "round_amount" in pack
    assert "RATE = 2" in pack
    assert count(pack) <= 1200


def test_callers_and_callees(project: Project) -> None:
    (call,) = project.result("tldrs symbol callers PaymentService.refund --limit 10")["callers"][
        "items"
    ]
    assert call["caller"] == "src/payments.py:refund_all"
    printed = project("tldrs symbol callees PaymentService.refund --depth 2")
    assert "round_amount" in printed
    assert "checked  via round_amount" in printed


def test_a_symbol_that_has_not_changed_is_unchanged(project: Project) -> None:
    words = "tldrs symbol get src/auth.ts:validateToken --etag"
    first = project.result(words)
    assert {"etag", "content", "lines"} <= first.keys()
    assert (first["lines"], first["content"]) == ([1, 3], AUTH_TS)
    assert project(f"{words} {first['etag']}") == "UNCHANGED\n"
    project.edit("src/auth.ts", "token.length > 3", "token.length > 8")
    second = project.result(f"{words} {first['etag']}")
    assert second["etag"] != first["etag"]
    assert "+  return token.length > 8;" in second["diff"]
    assert second["content"] == AUTH_TS.replace("> 3", "> 8")


# Phase 3: Cassette


@pytest.fixture
def relayed(changed: Project) -> Iterator[Project]:
    """The same beside a relay that runs."""
    with home_of(changed.home, changed.root) as home:
        home.up()
        yield changed


def test_an_answer_is_stored_and_referred_to(relayed: Project) -> None:
    uri = relayed("tldrs diff-context --base main --output cassette").rstrip("\n")
    assert uri.startswith("cass://")
    short = uri[: len("cass://9f3a2c")]
    pack = relayed(f"tldrs context validateToken --include {short}")
    assert pack.startswith(f"=== {short}")
    assert "function validateToken" in pack
    assert relayed("tldrs symbol slice PaymentService --output cassette").startswith("cass://")


# Phase 4: CoverageLens

COVERAGE = {"files": {"src/auth.py": {"executed_lines": [1, 3, 6, 8, 9], "missing_lines": []}}}


@pytest.fixture
def covered(changed: Project) -> Project:
    """The same with a report, and a test that fails."""
    (changed.root / "coverage.json").write_text(json.dumps(COVERAGE), "utf-8")
    changed.edit("tests/test_auth.py", '"good token"', '"bad"')
    return changed


def test_what_ran_makes_a_pack(covered: Project) -> None:
    pack = covered("tldrs coverage-context --coverage-file coverage.json --budget 2000")
    assert "validate_token" in pack
    assert "filler_1" not in pack
    joined = covered.result("tldrs diff-context --base main --coverage coverage.json")
    assert (joined["coverage"]["lines"], joined["coverage"]["ran"]) == (1, 1)


def test_tests_are_run_and_failures_make_a_pack(covered: Project) -> None:
    pytest.importorskip("coverage")
    program = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
    found = covered.result(f"tldrs coverage-context --run {shlex.quote(program)} --failures-only")
    reasons = {one["id"]: one["reason"] for one in found["items"]}
    assert reasons["tests/test_auth.py:test_validate_token"] == "failed test"
    assert reasons["src/auth.py:validate_token"] == "suspect"


# The tools of the Model Context Protocol


def test_the_tools_have_their_names_and_parameters(
    covered: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, Mapping[str, Any], str]] = [
        ("difflens.context", {"base_ref": "main", "budget": 4000}, "len(tok) > 3"),
        (
            "difflens.slice",
            {"symbol": "PaymentService", "depth": 1, "budget": 1000},
            "round_amount",
        ),
        (
            "difflens.deps",
            {"symbol": "validate_token", "direction": "callers", "depth": 1},
            "check_expiry",
        ),
        (
            "difflens.deps",
            {"symbol": "validate_token", "direction": "callees", "depth": 1},
            "decode_jwt",
        ),
        (
            "symbols.search",
            {"query": "validate*", "kind": "function", "limit": 20},
            "src/auth.ts:validateToken",
        ),
        (
            "symbols.slice",
            {"symbol_id": "src/payments.py:PaymentService", "depth": 1, "budget": 1000},
            "RATE = 2",
        ),
        ("symbols.get", {"symbol_id": "src/auth.ts:validateToken"}, "token.length > 8"),
        (
            "symbols.callers",
            {"symbol_id": "src/auth.ts:validateToken", "limit": 10},
            "authMiddleware",
        ),
        ("symbols.callees", {"symbol_id": "PaymentService.refund", "depth": 1}, "round_amount"),
        ("coverage.context", {"coverage_file": "coverage.json", "budget": 2000}, "validate_token"),
        ("coverage.rank_files", {"coverage_file": "coverage.json", "top_n": 20}, "src/auth.py"),
        (
            "coverage.slice",
            {"coverage_file": "coverage.json", "file": "src/auth.py", "hit_lines_only": True},
            "claims = decode_jwt(tok)",
        ),
    ]
    etag = covered.result("tldrs symbol get src/auth.ts:validateToken --etag")["etag"]
    asked.append(
        ("symbols.get", {"symbol_id": "src/auth.ts:validateToken", "etag": etag}, "UNCHANGED")
    )

    async def work(client: Client) -> None:
        for name, arguments, expected in asked:
            answer = await client.call_tool("call", {"tool": name, "arguments": arguments})
            assert not answer.is_error, (name, text_of(answer))
            assert expected in text_of(answer), name

    for name, value in covered.environment.items():
        monkeypatch.setenv(name, value)
    converse(work, "--root", str(covered.root))


def test_the_tools_store_their_answers(relayed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {
        "difflens.context": {"base_ref": "main"},
        "symbols.slice": {"symbol_id": "PaymentService"},
    }

    async def work(client: Client) -> None:
        for name, arguments in asked.items():
            given = {"tool": name, "arguments": {**arguments, "store_in_cassette": True}}
            answer = await client.call_tool("call", given)
            assert text_of(answer).startswith("cass://"), text_of(answer)

    for name, value in relayed.environment.items():
        monkeypatch.setenv(name, value)
    converse(work, "--root", str(relayed.root))
