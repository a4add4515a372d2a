"""Settings come from where the user put them, the stronger source winning, and mistakes are said."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from tersely.foundation import settings
from tersely.foundation.errors import TerselyError
from tersely.foundation.settings import Settings, load


def write(root: Path, path: str, content: str) -> None:
    target = root / path
    target.parent.mkdir(exist_ok=True)
    target.write_text(content, "utf-8")


def test_without_any_source_the_defaults_hold(tmp_path: Path) -> None:
    assert load(tmp_path, {}) == Settings()


def test_no_variable_that_we_use_ourselves_is_complained_of(tmp_path: Path) -> None:
    """An agent under `tersely run` has a name and more in its environment, as every command does
    that it types.
    """
    sources = Path(settings.__file__).parents[1].rglob("*.py")
    used = {
        name
        for source in sources
        for name in re.findall(r'"(TERSELY_[A-Z_]+)"', source.read_text("utf-8"))
    }
    assert {"TERSELY_AGENT", "TERSELY_RUN_SOCKET"} <= used
    known = {f"TERSELY_{one.name.upper()}" for one in fields(Settings)}
    assert load(tmp_path, dict.fromkeys(used - known, "ann")).complaints == ()


def test_the_stronger_source_wins(tmp_path: Path) -> None:
    write(
        tmp_path,
        "pyproject.toml",
        '[tool.tersely]\nbudget_tokens = 1\nanswer_seconds = 1\nvocabulary = "qwen"\n',
    )
    write(tmp_path, ".tersely/config.toml", "budget_tokens = 22\nanswer_seconds = 0\n")
    found = load(tmp_path, {"TERSELY_BUDGET_TOKENS": "333", "TERSELY_DAEMON": "off", "HOME": "x"})
    assert found == Settings(budget_tokens=333, answer_seconds=0, vocabulary="qwen", daemon="off")


def test_unknown_names_are_complained_about_and_the_rest_holds(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[tool.tersely]\nbudget = 7\nanswer_seconds = 5\n")
    found = load(
        tmp_path, {"TERSELY_VOCABULARI": "qwen", "TERSELY_COMPLAINTS": "x", "TERSELY_HOME": "/h"}
    )
    assert found.answer_seconds == 5
    assert found.complaints == (
        "pyproject.toml: there is no setting 'budget' (did you mean budget_tokens?)",
        "TERSELY_COMPLAINTS: there is no setting 'complaints'",
        "TERSELY_VOCABULARI: there is no setting 'vocabulari' (did you mean vocabulary?)",
    )


@pytest.mark.parametrize(
    "line",
    ["budget_tokens = 0", 'budget_tokens = "9"', "budget_tokens = true", "answer_seconds = -1", "vocabulary = 1",
     "answer_seconds = 1.5", "answer_seconds = nan", 'daemon = "on"'],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused(tmp_path: Path, line: str) -> None:
    write(tmp_path, ".tersely/config.toml", line)
    with pytest.raises(TerselyError, match=r"invalid_setting: \.tersely/config\.toml: ") as caught:
        load(tmp_path, {})
    assert caught.value.hint.startswith("It is a ")


def test_an_environment_variable_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        TerselyError, match="TERSELY_ANSWER_SECONDS: answer_seconds cannot be 'two'"
    ):
        load(tmp_path, {"TERSELY_ANSWER_SECONDS": "two"})


@pytest.mark.parametrize("content", ["[tool.tersely", "tersely = \xff".encode("latin-1")])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: str | bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(
        content.encode() if isinstance(content, str) else content
    )
    with pytest.raises(TerselyError, match=r"invalid_setting: .*pyproject.toml is not TOML"):
        load(tmp_path, {})


@pytest.mark.parametrize(
    "content", ["tool = 1 # tersely", "[tool]\ntersely = 1", "[project]\nname = 'tersely'"]
)
def test_a_project_file_without_our_table_gives_nothing(tmp_path: Path, content: str) -> None:
    write(tmp_path, "pyproject.toml", content)
    assert load(tmp_path, {}) == Settings()


def test_the_project_file_of_others_is_not_even_parsed(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[not toml")
    program = (
        "import sys; from pathlib import Path; from tersely.foundation.settings import load;"
        "load(Path(sys.argv[1]), {}); sys.exit('tomllib' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == 0
    )


def test_a_directory_in_place_of_a_file_is_an_error_for_people(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    with pytest.raises(TerselyError, match="unreadable_file"):
        load(tmp_path, {})
