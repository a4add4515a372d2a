"""Reports of coverage from the wild: which lines of which file ran and which did not, read a second
way.

The second reading is as plain as can be: whole trees of XML instead of events, and patterns over
lines of text. A fact is a file, a line, and whether it ran. What is no report of coverage is to be
refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from bench.groundtruth.score import CaseResult, compare
from tersely.code.coverage.formats import read_coverage
from tersely.foundation.errors import TerselyError

REFUSED = "refused"
Lines = Iterator[tuple[str, int, bool]]
DRIVE = re.compile(r"^[A-Za-z]:|^/")


def run(folder: Path) -> Iterator[CaseResult]:
    """Every report of the folder."""
    for place in sorted(folder.rglob("*")):
        if place.suffix in {".xml", ".info"}:
            yield compare(place.relative_to(folder).as_posix(), _expected(place), _found(place))


def _found(place: Path) -> set[str]:
    try:
        coverage = read_coverage([place.read_bytes()])
    except TerselyError:
        return {REFUSED}
    return {
        _fact(file.path, line, times > 0)
        for file in coverage.files
        for line, times in file.hits.items()
    }


def _expected(place: Path) -> set[str]:
    text = place.read_text("utf-8-sig")
    ran: dict[tuple[str, int], bool] = {}
    for path, line, did in _of_xml(text) if place.suffix == ".xml" else _of_text(text):
        key = path.replace("\\", "/"), line
        ran[key] = ran.get(key, False) or did
    return {_fact(path, line, did) for (path, line), did in ran.items()} or {REFUSED}


def _fact(path: str, line: int, did: bool) -> str:
    return f"{path}:{line} {'ran' if did else 'did not run'}"


def _of_xml(text: str) -> Lines:
    tree = ET.fromstring(text)
    if tree.find(".//sourcefile") is not None:
        for package in tree.iter("package"):
            for source in package.iter("sourcefile"):
                for line in source.iter("line"):
                    yield (
                        f"{package.get('name')}/{source.get('name')}",
                        int(line.get("nr", "")),
                        line.get("ci") != "0",
                    )
    else:
        yield from _of_cobertura(tree)


def _of_cobertura(tree: ET.Element) -> Lines:
    sources = [source.text or "" for source in tree.iter("source")]
    for one in tree.iter("class"):
        path = one.get("filename", "")
        if len(sources) == 1 and DRIVE.match(sources[0]) and not DRIVE.match(path):
            path = sources[0].rstrip("\\/") + "/" + path
        for line in one.iter("line"):
            yield path, int(line.get("number", "")), line.get("hits") != "0"


def _of_text(text: str) -> Lines:
    path = ""
    for row in text.splitlines():
        if found := re.fullmatch(r"SF:(.+)", row):
            path = found[1]
        elif found := re.match(r"DA:(\d+),(-?\d+)", row):
            yield path, int(found[1]), int(found[2]) > 0
