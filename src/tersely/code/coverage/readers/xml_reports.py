"""Reports of coverage in XML: Cobertura, JaCoCo.

Cobertura: https://raw.githubusercontent.com/cobertura/web/master/htdocs/xml/coverage-04.dtd
JaCoCo: https://www.jacoco.org/jacoco/trunk/coverage/report.dtd
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tersely.code.coverage.model import (
    Coverage,
    FileCoverage,
    invalid,
    line_number,
    slashed,
    whole_number,
)
from tersely.code.coverage.readers.xml_events import UnreadableXmlError, read_xml

COBERTURA, JACOCO = "Cobertura", "JaCoCo"

Attributes = Mapping[str, str]
Files = dict[str, dict[int, int]]
Take = Callable[[str, Attributes], None]


def read_cobertura(text: bytes) -> Coverage:
    """Cobertura: `class` elements name a file and have its lines; methods may list some of them
    again.
    """
    files: Files = {}
    sources: list[str] = []
    current: list[dict[int, int]] = []

    def start(name: str, attributes: Attributes) -> None:
        if name == "class":
            path = attributes.get("filename")
            if not path:
                raise invalid("a class names no file", COBERTURA)
            current[:] = [files.setdefault(slashed(path), {})]
        elif name == "line" and current:
            _add(current[0], attributes.get("number"), attributes.get("hits"), COBERTURA)

    def end(name: str, inside: str) -> None:
        if name == "source" and inside.strip():
            sources.append(slashed(inside.strip()))

    _read(text, start, end, COBERTURA)
    return _coverage(COBERTURA, {_source_path(sources, path): hits for path, hits in files.items()})


def read_jacoco(text: bytes) -> Coverage:
    """JaCoCo: a `sourcefile` of a `package` has lines with the numbers of instructions that ran and
    that did not.
    """
    files: Files = {}
    package = ""
    current: dict[int, int] | None = None

    def start(name: str, attributes: Attributes) -> None:
        nonlocal package, current
        if name == "package":
            package = attributes.get("name", "")
        elif name == "sourcefile":
            path = slashed(f"{package}/{attributes.get('name', '')}").lstrip("/")
            current = files.setdefault(path, {})
        elif name == "line" and current is not None:
            _add(current, attributes.get("nr"), attributes.get("ci"), JACOCO)

    def end(name: str, inside: str) -> None:
        nonlocal current
        if name == "sourcefile":
            current = None

    _read(text, start, end, JACOCO)
    return _coverage(JACOCO, files, counts_times=False)


def _read(text: bytes, start: Take, end: Callable[[str, str], None], format_name: str) -> None:
    try:
        read_xml(text, start, end)
    except UnreadableXmlError as error:
        raise invalid(str(error), format_name) from error


def _add(hits: dict[int, int], line: str | None, times: str | None, format_name: str) -> None:
    """Add a line with its number of runs; of a line that is listed several times, the highest
    counts.
    """
    number = line_number(line, format_name)
    hits[number] = max(hits.get(number, 0), whole_number(times, format_name))


def _source_path(sources: list[str], path: str) -> str:
    """The path of a file with that of the one directory that files are below."""
    is_whole = path.startswith("/") or path[1:2] == ":"
    if len(sources) != 1 or is_whole or not (sources[0].startswith("/") or sources[0][1:2] == ":"):
        return path
    return f"{sources[0].rstrip('/')}/{path}"


def _coverage(format_name: str, files: Files, *, counts_times: bool = True) -> Coverage:
    return Coverage(
        format_name,
        tuple(FileCoverage(path, hits) for path, hits in sorted(files.items())),
        counts_times=counts_times,
    )
