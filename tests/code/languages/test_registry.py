"""The table of languages: what is asked of every file costs no language, and each name leads to its
value.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tersely.code.languages.registry import (
    LANGUAGES,
    family_of,
    language_of_path,
    language_of_script,
)


@pytest.mark.parametrize("name", LANGUAGES)
def test_each_name_leads_to_its_value(name: str) -> None:
    assert LANGUAGES[name].name == name
    assert LANGUAGES[name] is LANGUAGES[name]


def test_an_unknown_name_is_none_of_ours() -> None:
    assert "cobol" not in LANGUAGES
    assert LANGUAGES.get("cobol") is None


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("A.PY", "python"),
        ("types/a.d.ts", "typescript"),
        ("a.test.tsx", "tsx"),
        ("lib/Rakefile", "ruby"),
        (".busted", "lua"),
        (".py", None),
        ("Makefile", "make"),
        ("deploy.sh", "bash"),
        ("CMakeLists.txt", None),
        ("a.txt", None),
    ],
)
def test_files_are_recognised_by_name_and_suffix(path: str, language: str | None) -> None:
    assert language_of_path(path) == language


def test_scripts_are_recognised_by_their_first_line() -> None:
    assert language_of_script("#!/usr/bin/env python3 -u") == "python"
    assert language_of_script("#!/bin/zsh") == "bash"
    assert language_of_script("#!/usr/bin/awk -f") is None
    assert language_of_script("import os") is None


def test_languages_of_a_family_are_kin() -> None:
    assert family_of("tsx") == family_of("javascript")
    assert family_of("python") != family_of("ruby")


def test_recognising_files_imports_no_language() -> None:
    program = (
        "import sys; from tersely.code.languages.registry import language_of_path; language_of_path('a.go');"
        "print(*sorted(name for name in sys.modules if name.startswith('tersely.code.languages.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["tersely.code.languages.registry"]


def test_a_language_whose_grammar_is_not_installed_is_none_of_ours() -> None:
    program = (
        "import sys; sys.modules['tree_sitter_sql'] = None\n"
        "from tersely.code.languages.registry import LANGUAGES, language_of_path\n"
        "print(language_of_path('a.sql'), 'sql' in LANGUAGES, language_of_path('a.sh'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["None", "False", "bash"]
