"""Reports of coverage, read: every format ends as the same plain values, and no file makes reading
fail otherwise.
"""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import examples

from tersely.code.coverage.formats import read_coverage
from tersely.code.coverage.model import bits_of, lines_of_bits
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_COVERED_LINE

LCOV = b"""TN:adds
SF:src/till.js
FN:1,add
DA:1,3
DA:2,0,bm90aGluZw
DA:2,1
end_of_record
TN:pays
SF:src/till.js
DA:1,2
DA:4,0
end_of_record
"""
COVERPROFILE = b"""mode: count
example.org/shop/till.go:3.20,5.2 2 4
example.org/shop/till.go:5.2,7.1 1 0
example.org/shop/till.go:3.20,5.2 2 1
"""
COBERTURA = b"""<?xml version="1.0"?>
<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">
<coverage><sources><source>/build/src</source></sources><packages><package><classes>
<class name="Till" filename="till.rs"><methods><method name="add"><lines><line number="3" hits="2"/></lines></method>
</methods><lines><line number="3" hits="2"/><line number="4" hits="0"/></lines></class>
</classes></package></packages></coverage>"""
JACOCO = b"""<!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd">
<report name="shop"><package name="org/shop"><class name="org/shop/Till"><method name="add" line="7"/></class>
<sourcefile name="Till.java"><line nr="7" mi="0" ci="3" mb="0" cb="0"/><line nr="8" mi="2" ci="0"/></sourcefile>
</package></report>"""
CLOVER = b"""<coverage generated="1" clover="3.2.0"><project><package name="org.shop">
<file name="Till.ts" path="src/Till.ts">
<line num="2" type="method" count="4"/><line num="3" type="cond" truecount="0" falsecount="2"/>
<line num="4" type="stmt" count="0"/></file></package></project></coverage>"""
JSON = b"""{"meta": {"format": 3}, "files": {"src\\\\till.py": {"executed_lines": [1, 2], "missing_lines": [3],
"contexts": {"1": [""], "2": ["test_till.py::test_add|run", "test_till.py::test_add|setup"]}}}}"""


def data_file(*rows: tuple[str, str, set[int]], arcs: bool = False) -> bytes:
    """What coverage.py would write of these (file, context, lines)."""
    connection = apsw.Connection(":memory:")
    connection.execute("create table file (id integer primary key, path text)")
    connection.execute("create table context (id integer primary key, context text)")
    connection.execute("create table line_bits (file_id integer, context_id integer, numbits blob)")
    connection.execute(
        "create table arc (file_id integer, context_id integer, fromno integer, tono integer)"
    )
    for number, (path, context, lines) in enumerate(rows):
        connection.execute("insert into file values (?, ?)", (number, path))
        connection.execute("insert into context values (?, ?)", (number, context))
        if arcs:
            jumps = zip([-1, *sorted(lines)], [*sorted(lines), -1], strict=True)
            connection.executemany(
                "insert into arc values (?, ?, ?, ?)", [(number, number, *jump) for jump in jumps]
            )
        else:
            connection.execute(
                "insert into line_bits values (?, ?, ?)", (number, number, bits_of(lines))
            )
    return connection.serialize("main")


SAMPLES = {
    "lcov": LCOV,
    "coverprofile": COVERPROFILE,
    "Cobertura": COBERTURA,
    "JaCoCo": JACOCO,
    "coverage.py JSON": JSON,
    "coverage.py data": data_file(
        ("/app/till.py", "test_add|run", {1, 9}), ("/app/till.py", "", {3})
    ),
}
HITS = {
    "lcov": ("src/till.js", {1: 5, 2: 1, 4: 0}),
    "coverprofile": ("example.org/shop/till.go", {3: 5, 4: 5, 5: 5, 6: 0}),
    "Cobertura": ("/build/src/till.rs", {3: 2, 4: 0}),
    "JaCoCo": ("org/shop/Till.java", {7: 3, 8: 0}),
    "coverage.py JSON": ("src/till.py", {1: 1, 2: 1, 3: 0}),
    "coverage.py data": ("/app/till.py", {1: 1, 9: 1, 3: 1}),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_tells_which_lines_ran(name: str) -> None:
    coverage = read_coverage([SAMPLES[name]])
    assert coverage.format == name
    assert [(file.path, dict(file.hits)) for file in coverage.files] == [HITS[name]]


def test_tests_are_known_where_the_report_tells_them() -> None:
    def lines(name: str) -> dict[str, set[int]]:
        (file,) = read_coverage([SAMPLES[name]]).files
        return {test: set(lines_of_bits(bits)) for test, bits in file.tests.items()}

    assert lines("lcov") == {"adds": {1, 2}, "pays": {1}}
    assert lines("coverage.py JSON") == {"test_till.py::test_add": {2}}
    assert lines("coverage.py data") == {"test_add": {1, 9}}


def test_data_of_several_processes_and_of_branches_add_up() -> None:
    parts = [data_file(("a.py", "t", {1, 2})), data_file(("a.py", "t", {2, 70}), arcs=True)]
    (file,) = read_coverage(parts).files
    assert lines_of_bits(file.tests["t"]) == {1, 2, 70}
    assert file.covered == {1, 2, 70}


@given(st.sets(st.integers(0, 5000)))
def test_bits_are_the_lines_that_were_put_in(lines: set[int]) -> None:
    assert lines_of_bits(bits_of(lines)) == lines


@pytest.mark.parametrize(
    "text",
    [
        b'<coverage clover="3.2"><project><file path="a.ts"><line num="1" count="1"/></file></project></coverage>',
        b"        -:    0:Source:till.c\n        4:    2:int add(int a) {\n",
    ],
)
def test_formats_that_are_not_read_are_refused(text: bytes) -> None:
    with pytest.raises(TerselyError, match="invalid_report"):
        read_coverage([text])


def test_xml_that_declares_anything_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret", "utf-8")
    entities = ('<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">', f'<!ENTITY a SYSTEM "{secret.as_uri()}">')
    for declared in (
        *entities,
        '<!ATTLIST class name CDATA "a long text for each of many">',
        '<!ENTITY % a "">',
    ):
        text = f"<!DOCTYPE coverage [{declared}]><coverage><source>&a;</source></coverage>"
        with pytest.raises(TerselyError) as refusal:
            read_coverage([text.encode()])
        assert refusal.value.code == "invalid_report"


ENDLESS = "with recursive c(x) as (select 1 union all select x + 1 from c)"
TABLES = {
    "file": "create table file (id integer primary key, path text)",
    "context": "create table context (id integer primary key, context text)",
    "line_bits": "create table line_bits (file_id integer, context_id integer, numbits blob)",
}


@pytest.mark.parametrize(
    ("table", "planted"),
    [
        (
            "file",
            f"create view file as {ENDLESS} select 1 as id, 'a.py' as path from c where x < 0",
        ),
        (
            "line_bits",
            f"create view line_bits as {ENDLESS} select 1 file_id, 1 context_id, zeroblob(9) numbits from c",
        ),
        (
            "file",
            "create table file (id integer primary key, path text as (hex(zeroblob(200000000))))",
        ),
        ("file", "create virtual table file using fts5(id, path)"),
        (
            "line_bits",
            "create table line_bits (file_id, context_id, numbits as (zeroblob(100000)) stored)",
        ),
    ],
)
def test_data_that_would_be_a_program_is_refused(table: str, planted: str) -> None:
    connection = apsw.Connection(":memory:")
    for name, sql in (TABLES | {table: planted}).items():
        connection.execute(sql)
        if sql == TABLES[name]:
            values = {"file": "(1, 'a.py')", "context": "(1, '')", "line_bits": "(1, 1, x'06')"}[
                name
            ]
            connection.execute(f"insert into {name} values {values}")
    with pytest.raises(TerselyError) as refusal:
        read_coverage([connection.serialize("main")])
    assert refusal.value.code == "invalid_report"


def test_rows_that_would_multiply_do_not() -> None:
    """With the same number for all of them, three small tables would be a product of a thousand
    million rows.
    """
    connection = apsw.Connection(":memory:")
    for sql in TABLES.values():
        connection.execute(sql.replace(" integer primary key", ""))
    connection.executemany(
        "insert into file values (1, ?)", [(f"{number}.py",) for number in range(1_000)]
    )
    connection.executemany(
        "insert into context values (1, ?)", [(f"test {number}",) for number in range(1_000)]
    )
    connection.executemany("insert into line_bits values (1, 1, ?)", [(bits_of({1}),)] * 1_000)
    (file,) = read_coverage([connection.serialize("main")]).files
    assert (file.hits, len(file.tests)) == ({1: 1}, 1)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0" * 99,
        b"hello",
        b"<coverage",
        b"<coverage>" * 300,
        b"<html></html>",
        b"{}",
        b'{"files": []}',
        b"[" * 100_000,
        b'{"files": ' + b"[" * 100_000,
        b"SF:a\nDA:1,1\n",
        b"SF:a\nDA:x,1\nend_of_record\n",
        b"SF:a\nDA:%d,1\nend_of_record\n" % (MAX_COVERED_LINE + 1),
        b"mode: set\na.go:1.1,99999999999.1 1 1\n",
        b"SQLite format 3\x00" + b"\0" * 2000,
        data_file(("a.py", "", {1}))[:5000],
    ],
)
def test_what_is_no_report_is_one_clear_error(text: bytes) -> None:
    with pytest.raises(TerselyError) as refusal:
        read_coverage([text])
    assert refusal.value.code == "invalid_report"
    assert "\n" not in refusal.value.message


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_damaged_reports_are_read_or_refused(name: str, data: st.DataObject) -> None:
    text = bytearray(SAMPLES[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text) - 1))
        size = data.draw(st.integers(0, 12))
        text[at : at + size] = data.draw(st.binary(max_size=12))
        if not text:
            return
    try:
        coverage = read_coverage([bytes(text)])
    except TerselyError as error:
        assert error.code == "invalid_report"
    else:
        for file in coverage.files:
            assert all(0 <= line <= MAX_COVERED_LINE for line in file.hits)
