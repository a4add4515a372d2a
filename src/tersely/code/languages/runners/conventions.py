"""The definitions that are tests in each language, and the program that runs them in a repository:
the table `conventions.json` beside this.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tersely.code.languages.runners import runner
from tersely.code.languages.runners.runner import Runner
from tersely.foundation.types import JsonMapping


class Conventions(NamedTuple):
    """The test conventions of one language. Where no function is a test by `name` or `header`, a
    file of tests is one.

    The runners are tried in order; the last is the default for a project without a marker.
    """

    runners: tuple[Runner, ...]
    name: str = ""  # pattern of the own name of a test function
    header: str = ""  # pattern of the text before or in its signature: an annotation, an attribute
    anywhere: bool = False  # tests may stand in files that hold other code too
    # pattern of the own name of a function that runs around each test of its class
    around: str = ""
    around_header: str = ""  # likewise, of the text before or in its signature
    file: str = ""  # further pattern of the path of a file of tests, "" for any
    setup: str = ""  # the name of files that run before all tests of their directory and below


def _runner(written: JsonMapping) -> Runner:
    """A runner as the table has it: `by` is a function of `runner.py` that gives the command, or that
    makes one of the `program`, which is that for everything where none is named.
    """
    command, everything = getattr(runner, written["by"]), written.get("everything", "")
    if command in (runner.files, runner.dotted):
        command = command(written.get("program", everything))
    marker, says = written.get("marker", ""), written.get("says", "")
    return Runner(marker, says, command, everything, written.get("is_project", True))


def _conventions(written: JsonMapping) -> Conventions:
    runners = tuple(map(_runner, written["runners"]))
    return Conventions(**{**written, "runners": runners})


_TABLE = Path(__file__).with_name("conventions.json")
CONVENTIONS: Mapping[str, Conventions] = {
    language: _conventions(written)
    for languages, written in json.loads(_TABLE.read_text("utf-8")).items()
    for language in languages.split()
}
