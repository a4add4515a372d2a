"""The code capabilities over HTTP: the answers of the command line, kept as artifacts, with what
they stand for.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.capabilities.test_invoke import CALLS, PATCH, REPORT, SOURCE, WORDS
from tests.cli.asking import as_repository
from tests.doors.http.conftest import Web

from tersely.capabilities import catalogue
from tersely.cli.main import main
from tersely.foundation.text.tokens import Tokenizer


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("kitchen").resolve()
    (root / "kitchen.py").write_text(SOURCE, "utf-8")
    (root / "lcov.info").write_text(REPORT, "utf-8")
    (root / "large.py").write_text(
        "\n\n".join(f"def cook_{n}(water):\n    return water + {n}" for n in range(200))
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TERSELY_DAEMON", "off")
        yield root


def invoke(
    web: Web, root: Path, name: str, arguments: dict[str, Any], thread: str = ""
) -> dict[str, Any]:
    call = {
        "capability": name,
        "thread_id": thread or web.thread(),
        "args": {"root": str(root), **arguments},
    }
    answer = web.ask("POST", "/cap/invoke", call)
    told: dict[str, Any] = answer.json
    return {**told, "status": answer.status}


def content(web: Web, thread: str, ref: str) -> str:
    return web.ask("GET", f"/threads/{thread}/artifacts/{ref}/content").content.decode()


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d+ s\b", "", text)


@pytest.mark.parametrize("name", CALLS)
def test_http_and_the_command_line_give_the_same_text(
    code_web: Web,
    kitchen: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    if name in {"code.breaks", "code.conflicts"}:
        as_repository(kitchen)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PATCH.encode())))
    words = ["--root", str(kitchen), *WORDS.get(name, [name.removeprefix("code.")])]
    assert main(["--root", str(kitchen), "--quiet", "index"]) == 0
    capsys.readouterr()
    assert main(words) == 0
    printed = capsys.readouterr().out
    thread = code_web.thread()
    told = invoke(code_web, kitchen, name, CALLS[name], thread)
    answered = content(code_web, thread, told["artifact_ref"])
    assert without_times(answered) == without_times(printed)
    assert told["text"] == answered


def test_an_answer_is_remembered_until_a_file_changes(
    code_web: Web, tmp_path: Path, kitchen: Path
) -> None:
    root = tmp_path.resolve()
    (root / "shop.py").write_text("def sell():\n    return 1\n")
    thread = code_web.thread()
    ask = {"symbol": "sell"}
    hits = [invoke(code_web, root, "code.symbol.get", ask, thread)["cache_hit"] for _ in range(2)]
    assert hits == [False, True]
    (root / "shop.py").write_text("def sell():\n    return 2\n")
    changed = invoke(code_web, root, "code.symbol.get", ask, thread)
    assert (changed["cache_hit"], "return 2" in changed["text"]) == (False, True)


@pytest.mark.parametrize(
    ("name", "arguments", "path"),
    [
        ("code.context", {"symbols": ["sell"], "include": ["notes.text"]}, "notes.text"),
        ("code.context", {"include": ["node_modules/x.js"]}, "node_modules/x.js"),
        ("code.structure", {"path": "notes.md"}, "notes.md"),
    ],
)
def test_a_file_outside_the_index_is_shown_as_it_is_now(
    code_web: Web, tmp_path: Path, name: str, arguments: dict[str, Any], path: str
) -> None:
    root = tmp_path.resolve()
    (root / "shop.py").write_text("def sell():\n    return 1\n")
    (root / path).parent.mkdir(exist_ok=True)
    thread = code_web.thread()
    for word in ("Apples", "Bread"):
        (root / path).write_text(f"# {word}\n")
        assert word in invoke(code_web, root, name, arguments, thread)["text"]


def test_what_depends_on_more_than_the_files_is_not_remembered(
    code_web: Web, kitchen: Path
) -> None:
    thread = code_web.thread()
    for name, arguments in [
        ("code.context", {"symbols": ["heat"], "session": "s"}),
        ("code.packet", {"task": "boil"}),
    ]:
        answers = [invoke(code_web, kitchen, name, arguments, thread) for _ in range(2)]
        assert [answer["cache_hit"] for answer in answers] == [False, False]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("code.context", {"symbols": ["cook_7"], "budget": 150}),
        ("code.symbol.get", {"symbol": "cook_7"}),
        ("code.slice", {"place": "large.py:2", "with_code": True}),
        ("code.extract", {"path": "large.py"}),
        ("code.symbol.slice", {"symbols": ["cook_7"], "budget": 150}),
    ],
)
def test_an_answer_stands_for_the_files_that_it_shows_parts_of(
    code_web: Web, kitchen: Path, name: str, arguments: dict[str, Any]
) -> None:
    thread = code_web.thread()
    told = invoke(code_web, kitchen, name, arguments, thread)
    figures = code_web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]
    assert figures["naive_tokens"] == Tokenizer().count((kitchen / "large.py").read_text())
    assert figures["actual_tokens"] == Tokenizer().count(told["text"])
    assert figures["estimate"]["naive_tokens"] == (kitchen / "large.py").stat().st_size // 4


def test_what_an_answer_was_made_from_is_told_with_it(code_web: Web, kitchen: Path) -> None:
    note = code_web.ask("POST", "/cassettes", {"content": "boil it twice", "name": "note"}).json[
        "ref"
    ]
    thread = code_web.thread()
    told = invoke(
        code_web,
        kitchen,
        "code.context",
        {"symbols": ["heat"], "include": [f"cass://{note[:12]}"]},
        thread,
    )
    assert "boil it twice" in told["text"]
    last = code_web.ask("GET", f"/threads/{thread}/events").json["events"][-1]
    assert (last["type"], last["payload"]["source_refs"]) == ("capability.invoked", [note])


def test_an_answer_without_code_stands_for_itself(code_web: Web, kitchen: Path) -> None:
    thread = code_web.thread()
    told = invoke(code_web, kitchen, "code.calls", {"symbol": "heat"}, thread)
    figures = code_web.ask("GET", f"/stats/thread/{thread}").json["token_savings"]
    assert figures["naive_tokens"] == Tokenizer().count(told["text"])


def test_nobody_has_a_program_run_or_a_file_read_from_elsewhere(
    code_web: Web, kitchen: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    for arguments in (
        {"run": f"touch {mark}"},
        {"coverage_file": "/etc/passwd"},
        {"coverage_file": "../x"},
    ):
        told = invoke(code_web, kitchen, "code.coverage.context", arguments)
        assert (told["status"], told["code"]) == (403, "not_permitted")
    assert not mark.exists()


def test_what_may_not_be_asked_is_not_offered(code_web: Web) -> None:
    offered = {one["name"]: one for one in code_web.ask("GET", "/cap/list").json["capabilities"]}
    assert set(catalogue.CODE_NAMES) <= set(offered)
    assert "run" not in offered["code.coverage.context"]["args_schema"]["properties"]
    assert "root" in offered["code.context"]["args_schema"]["properties"]


@pytest.mark.parametrize("root", ["", 5, "/nowhere/at/all", "kitchen.py", "\0"])
def test_a_repository_has_to_be_named(code_web: Web, root: object) -> None:
    call = {"capability": "code.tree", "thread_id": code_web.thread(), "args": {"root": root}}
    answer = code_web.ask("POST", "/cap/invoke", json.dumps(call).encode())
    assert answer.json["code"] in {"invalid_argument", "root_not_found"}
    assert answer.status < 500
