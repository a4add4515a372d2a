"""Codes and exit statuses are one table, and the source keeps to it."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tersely.foundation import errors
from tersely.foundation.errors import EXIT_OF_CODE, TerselyError

PACKAGE = Path(errors.__file__).parents[1]
EXITS = {
    name: value
    for name, value in vars(errors).items()
    if name.startswith("EXIT_") and isinstance(value, int)
}


def raised_codes() -> Iterator[tuple[str, str]]:
    """Where each error is made, and with which literal code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for made in re.finditer(r'\bTerselyError\(\s*"([^"]*)"', path.read_text("utf-8")):
            yield str(path.relative_to(PACKAGE)), made[1]


def test_an_error_reads_as_code_and_message() -> None:
    error = TerselyError("symbol_not_found", "no symbol validat", "Did you mean validate?")
    assert str(error) == "symbol_not_found: no symbol validat"
    assert (error.code, error.message, error.hint) == error.args
    assert error.exit_status == errors.EXIT_NEGATIVE


def test_an_error_survives_the_way_between_processes() -> None:
    error = pickle.loads(pickle.dumps(TerselyError("usage", "no", "yes")))
    assert (error.code, error.message, error.hint, error.exit_status) == ("usage", "no", "yes", 2)


def test_an_unlisted_code_cannot_be_used() -> None:
    with pytest.raises(KeyError):
        TerselyError("made_up", "this code is in no list")


def test_every_code_that_the_source_uses_is_listed() -> None:
    assert len(list(raised_codes())) > len(EXIT_OF_CODE)
    assert [(where, code) for where, code in raised_codes() if code not in EXIT_OF_CODE] == []


def test_exit_statuses_differ_and_are_documented() -> None:
    assert len(set(EXITS.values())) == len(EXITS)
    assert set(EXIT_OF_CODE.values()) <= set(EXITS.values())
    documented = {
        int(line.split()[0])
        for line in (errors.__doc__ or "").splitlines()
        if line.strip()[:1].isdigit()
    }
    assert documented == set(EXITS.values())
