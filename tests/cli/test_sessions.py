"""Packs and symbols for a reader who was shown something before."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.asking import Ask
from tests.context.pack.test_delta import applied
from tests.depth import examples, mostly_slow

import tersely
from tersely.capabilities.invoke import ask as ask_python
from tersely.foundation.storage.private import index_places
from tersely.foundation.text.tokens import count
from tersely.workspace import Workspace

PACKAGE = Path(tersely.__file__).parent
BUDGETS = [150, 400, 1_000, 4_000]


class Reader:
    """Keeps what packs in JSON give, as somebody who asks within one session would."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], str] = {}
        self.unchanged = self.diffs = 0

    def take(self, text: str) -> None:
        """Read a pack; an item that refers to what was never given is a failure."""
        pack = json.loads(text)
        for one in [*pack["slices"], *pack.get("files", ())]:
            if "of" in one or (one.get("code", "") is None and "delta" not in one):
                continue  # not all of a body, or only a signature
            detail = one.get("detail", "body")
            key = one.get("id") or one["path"], detail
            if one.get("delta") == "unchanged":
                self.unchanged += 1
            elif one.get("delta") == "diff":
                self.texts[key] = applied(self.had(*key), one["diff"])
                self.diffs += 1
            elif "code" in one and one.get("delta") != "changed":
                self.texts[key] = one["code"]

    def had(self, key: str, detail: str) -> str:
        """A text that was given, by itself or as a function of the file."""
        if (key, detail) in self.texts:
            return self.texts[key, detail]
        path, _, name = key.partition(":")
        return function_of(self.texts[path, "body"], name)

    def check(self, text: str, workspace: Workspace) -> None:
        """What was said to be unchanged, or was put together from diffs, is what stands in the
        files.
        """
        texts = workspace.texts()
        pack = json.loads(text)
        named = [
            {"id": one, "delta": "unchanged"}
            for one in pack.get("unchanged", ())
            if (one, "body") in self.texts
        ]
        self.unchanged += len(pack.get("unchanged", ()))
        for one in [*pack["slices"], *named]:
            if one.get("delta") in {"unchanged", "diff"} and not {"detail", "of"} & set(one):
                symbol = workspace.engine.symbol(one["id"])
                around = self.texts.get((symbol.path, "body")) == texts.extract(symbol.path).text
                parent = workspace.engine.store.symbol(symbol.parent)
                around |= (
                    parent is not None
                    and self.texts.get((parent.id, "body")) == texts.code(parent)[0]
                )
                assert around or self.had(symbol.id, "body") == texts.code(symbol)[0]


def function_of(source: str, name: str) -> str:
    """The lines of a function, without the indentation that they share."""
    found = next(
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    return textwrap.dedent(
        "".join(source.splitlines(keepends=True)[found.lineno - 1 : found.end_lineno])
    )


def turn(workspace: Workspace, reader: Reader, symbol: str, budget: int, **more: Any) -> Any:
    """One question within a session, read and checked."""
    arguments = {"budget": budget, "format": "json", "session": "s", **more}
    answer = ask_python(workspace, "code.context", symbols=(symbol,), **arguments)
    assert count(answer.text) == answer.used <= budget
    reader.take(answer.text)
    reader.check(answer.text, workspace)
    return answer


FUNCTION = """def f{n}(a):
    x = {value}
    y = f{other}(a, x)
    return [x, y, a, 'some text that is long enough', {value}]
"""
EDITS = st.tuples(
    st.integers(0, 5),
    st.sampled_from(["value", "indent", "above", "nothing", "gone"]),
    st.integers(0, 99),
)


def written(functions: Sequence[tuple[int, int]], indented: set[int], above: int) -> str:
    parts = [f"# {above}\n" * (above % 4)]
    for n, value in functions:
        code = FUNCTION.format(n=n, value=value, other=(n + 1) % 6)
        parts.append(
            "if True:\n" + "".join(f"    {line}\n" for line in code.splitlines())
            if n in indented
            else code
        )
    return "\n\n".join(parts)


@settings(max_examples=examples(), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(EDITS, st.integers(0, 5), st.sampled_from([120, 300, 2_000]), st.booleans()),
        max_size=6,
    )
)
def test_unchanged_never_hides_a_change_and_diffs_lead_to_the_source(turns: list[Any]) -> None:
    values = {n: n for n in range(6)}
    indented: set[int] = set()
    above = 0
    reader = Reader()
    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / ".git").mkdir()
        (Path(directory) / ".git" / "HEAD").touch()
        for (n, edit, value), asked, budget, fill in [((0, "nothing", 0), 0, 2_000, True), *turns]:
            if edit == "value":
                values[n] = value
            elif edit == "gone" and n != asked:
                values.pop(n, None)
            indented ^= {n} if edit == "indent" else set()
            above = value if edit == "above" else above
            (Path(directory) / "a.py").write_text(written(list(values.items()), indented, above))
            with Workspace.open(directory) as workspace:
                if asked in values:
                    turn(workspace, reader, f"a.py:f{asked}", budget, fill=fill)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of this program, as a repository to ask about."""
    root = tmp_path / "program"
    for part in ("context/pack", "context/render"):
        shutil.copytree(
            PACKAGE / part, root / part, ignore=shutil.ignore_patterns("__pycache__", "*.bin")
        )
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").touch()
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize("fill", [True, False])
@pytest.mark.parametrize("budget", mostly_slow(BUDGETS, 1000))
def test_a_session_over_real_code_saves_tokens_and_says_the_truth(
    copied: Path, budget: int, fill: bool
) -> None:
    reader = Reader()
    file = copied / "context/pack/fitting/fit.py"
    asked = ["fit.py:fit", "_Question.answer", "fit.py:fit", "PackDraft.pack", "fit.py:fit"]
    with Workspace.open(copied) as workspace:
        for number, symbol in enumerate(asked):
            answer = turn(workspace, reader, symbol, budget, fill=fill)
            if number == 2:
                file.write_text(
                    file.read_text().replace(
                        "fitted = question.answer(extracts)",
                        "fitted = question.answer(extracts[:])",
                        1,
                    )
                )
        # in less room only the beginning of a body was shown
        assert budget < 1_000 or answer.session.saved > 0
        plain = ask_python(
            workspace, "code.context", symbols=("fit.py:fit",), budget=budget, format="json"
        )
    assert budget < 1_000 or (reader.unchanged > 0 and reader.diffs > 0)
    assert fill or answer.used <= plain.used


@pytest.mark.parametrize(
    "form", mostly_slow(["text", "compact", "ultracompact", "markdown"], "text")
)
def test_every_format_says_what_is_unchanged(ask: Ask, copied: Path, form: str) -> None:
    words = ("context", "fit.py:fit", "--session", "me", "--format", form, "--budget", "1200")
    first, second = ask(*words), ask(*words)
    assert "unchanged" not in first.out
    assert "unchanged" in second.out
    assert count(second.out) <= 1200
    assert "def fit(" in first.out
    assert "def fit(" not in second.out
    assert "tokens saved" in second.err
    assert ask(*words, "--reset").out == first.out


def test_a_session_is_forgotten_on_demand(ask: Ask, copied: Path) -> None:
    words = ("context", "Filling.climb", "--session", "me", "--budget", "1500")
    whole = ask(*words).out
    again = ask(*words).out
    assert count(again) * 3 < count(whole)
    assert "[unchanged " in again
    assert "beyond = tried" not in again
    tag = again.partition("[unchanged ")[2][:12]
    assert f"etag {tag}" in ask("symbol", "get", "Filling.climb").out
    assert ask(*words, "--reset").out == whole
    assert ask("context", "fit", "--reset").status == 2


def test_of_a_file_that_was_shown_whole_only_what_changed_is_sent(ask: Ask, copied: Path) -> None:
    words = ("--session", "me", "--budget", "2000")
    file = next(copied.rglob("token_meter.py"))
    ask("context", "TokenMeter.settle", "--include", file.relative_to(copied).as_posix(), *words)
    file.write_text(
        file.read_text("utf-8").replace("range(SETTLE_ROUNDS):", "range(SETTLE_ROUNDS):  # a few")
    )
    changed = ask("context", "TokenMeter.settle", *words, "--depth", "0").out
    assert "[diff from " in changed
    assert "+    for _ in range(SETTLE_ROUNDS):  # a few" in changed
    assert "[unchanged " in ask("context", "TokenMeter.by_path", *words, "--depth", "0").out


def test_what_is_part_of_something_known_is_known(ask: Ask, copied: Path) -> None:
    ask("context", "TokenMeter", "--session", "me", "--budget", "4000")
    assert (
        "[unchanged "
        in ask("context", "TokenMeter.settle", "--session", "me", "--budget", "800").out
    )


@pytest.mark.slow
def test_processes_may_share_a_session(copied: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "tersely",
        "context",
        "fit.py:fit",
        "--session",
        "all",
        "--budget",
        "900",
    ]
    running = [
        subprocess.Popen(command, cwd=copied, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0, 0]
    assert any("def fit(" in answer for answer in answers)
    last = subprocess.run(command, cwd=copied, capture_output=True, text=True, check=True).stdout
    assert "[unchanged " in last


def test_included_files_are_sent_as_diffs(ask: Ask, shop: Path) -> None:
    words = (
        "context",
        "checkout",
        "--session",
        "me",
        "--include",
        "src/shop/money.py",
        "--format",
        "json",
    )
    reader = Reader()
    reader.take(ask(*words).out)
    path = shop / "src/shop/money.py"
    path.write_text(path.read_text().replace("RATE = 2", "RATE = 3"))
    answer = ask(*words).out
    reader.take(answer)
    assert reader.diffs == 1
    assert path.read_text() in reader.texts.values()
    assert '"delta":"unchanged"' in ask(*words).out


Edit = Callable[[str], str]


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "import os\n\n" + text,
        lambda text: text.replace("def forgotten", "def remembered"),
        lambda text: text.replace("\n", "\r\n"),
    ],
)
def test_edits_elsewhere_leave_a_symbol_unchanged(ask: Ask, shop: Path, edit: Edit) -> None:
    path = shop / "src/shop/money.py"
    first = ask("symbol", "get", "format_cents", "--json").result
    assert set(first) >= {"etag", "content", "lines"}
    path.write_bytes(edit(path.read_text()).encode())
    assert ask("symbol", "get", "format_cents", "--etag", first["etag"]).out == "UNCHANGED\n"
    assert (
        ask("symbol", "get", "format_cents", "--etag", first["etag"], "--json").result
        == "UNCHANGED"
    )


def test_a_changed_symbol_comes_with_the_difference(ask: Ask, shop: Path) -> None:
    path = shop / "src/shop/money.py"
    first = ask("symbol", "get", "Price", "--json").result
    path.write_text(path.read_text().replace("self.cents >= 0", "self.cents > 0"))
    second = ask("symbol", "get", "Price", "--etag", first["etag"], "--json").result
    assert second["etag"] != first["etag"]
    assert applied(first["content"], second["diff"]) == second["content"]
    said = ask("symbol", "get", "Price", "--etag", first["etag"]).out
    assert "+        return self.cents > 0" in said
    assert "class Price" not in said
    (Path(index_places(str(shop)).in_repository) / "sessions.db").unlink()
    assert ask("symbol", "get", "Price", "--etag", first["etag"], "--json").result["diff"] is None
    assert ask("symbol", "get", "Price", "--etag", "--json").result["content"] == second["content"]


def test_lines_that_were_passed_over_are_not_called_unchanged(ask: Ask) -> None:
    tag = ask("symbol", "get", "Price", "--limit", "3", "--json").result["etag"]
    assert "def validate" in ask("symbol", "get", "Price", "--offset", "3", "--etag", tag).out
