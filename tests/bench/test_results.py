"""Records as data, and the page that is made of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.results import MEASURED, PAGE, Table, load_tables, page, report

from bench import machine, results

TABLE = Table(
    "Figures", "python -m bench.figures", "name|share:.1%|count:,|listed", "What they are."
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(results, "PAGE", tmp_path / "RESULTS.md")
    return tmp_path


def test_the_page_of_the_records_is_the_one_that_is_there() -> None:
    assert without_doubts(PAGE.read_text("utf-8")) == without_doubts(page())


def without_doubts(text: str) -> str:
    """The page without what every change of the measured code makes true: each would have to write
    it anew.
    """
    return re.sub(r"^\*\*To be measured again: .*\n\n", "", text, flags=re.MULTILINE)


def test_every_record_is_on_the_page() -> None:
    assert {path.stem for path in results.FOLDER.glob("*.json")} <= set(MEASURED)
    assert all(
        table["machine"]["revision"] and table["command"]
        for record in MEASURED
        for table in load_tables(record)
    )


def test_a_table_is_rendered_by_the_formats_of_its_columns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"name": "a_b", "share": 0.5, "count": 1234, "listed": ["x", "y"], "hidden": 1},
        {"name": "c"},
    ]
    rows.append({"name": "d", "share": [0.25, 0.5]})
    report("slices", [TABLE.filled(rows, "Here.")], keep=True)
    text = (folder / "RESULTS.md").read_text("utf-8")
    assert "## Figures\n\n`python -m bench.figures`\n" in text
    assert (
        "\n\nHere.\n\nWhat they are.\n\n| name | share | count | listed |\n|---|--:|--:|---|\n"
        in text
    )
    assert "| a_b | 50.0% | 1,234 | x, y |\n| c |  |  |  |\n| d | 25.0%, 50.0% |  |  |\n" in text
    assert "| a_b | 50.0% |" in capsys.readouterr().out
    assert load_tables("slices")[0]["rows"] == rows


def test_nothing_is_kept_unless_it_is_asked_for(folder: Path) -> None:
    report("slices", [TABLE.filled([])], keep=False)
    assert list(folder.iterdir()) == []


def test_tables_and_rows_of_other_names_stay(folder: Path) -> None:
    other = TABLE._replace(title="Others")
    report(
        "slices",
        [TABLE.filled([{"name": "a", "count": 1}, {"name": "b"}]), other.filled([])],
        keep=True,
    )
    report(
        "slices",
        [TABLE.filled(TABLE.merged("slices", [{"name": "a", "count": 2}, {"name": "c"}]))],
        keep=True,
    )
    figures, untouched = load_tables("slices")
    assert figures["rows"] == [{"name": "a", "count": 2}, {"name": "b"}, {"name": "c"}]
    assert untouched["title"] == "Others"


def test_a_table_that_is_older_than_the_code_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = folder / "sources"
    sources.joinpath("code").mkdir(parents=True)
    monkeypatch.setattr(machine, "SOURCES", sources)
    monkeypatch.setattr(machine, "_revision", lambda: "0123456")
    report("slices", [TABLE.filled([{"name": "a"}])], keep=True)
    assert "To be measured again" not in page()
    (sources / "code" / "new.py").write_text("1\n", "utf-8")
    assert "**To be measured again: the code that it measures has changed since.**" in page()
    report(
        "slices", [TABLE.filled(TABLE.merged("slices", [{"name": "b"}, {"name": "c"}]))], keep=True
    )
    assert [row["name"] for row in load_tables("slices")[0]["rows"]] == ["a", "b", "c"]
    older = "**To be measured again: the code that it measures has changed since (of 1 of 3 rows, the first is a).**"
    assert older in page()
    assert TABLE.merged("slices", [{"name": "a"}])[0] == {"name": "a"}


def test_a_table_of_no_commit_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_revision", lambda: f"0123456{machine.DIRTY}")
    report("slices", [TABLE.filled([])], keep=True)
    assert "**To be measured again: measured with changes that no commit has.**" in page()


def test_every_record_names_code_that_is_there() -> None:
    folders = {folder for named in MEASURED.values() for folder in named.split()}
    assert [folder for folder in folders if not (machine.SOURCES / folder).is_dir()] == []


def test_rows_of_repositories_that_models_know_are_marked(folder: Path) -> None:
    table = TABLE._replace(columns="repository|share:.1%")
    rows = [
        {"repository": name}
        for name in ("pallets+flask", "pallets/click", "nobody/nothing", "CoSQA")
    ]
    report("slices", [table.filled(rows)], keep=True)
    text = page()
    assert "| pallets+flask |" in text
    assert "| CoSQA |" in text
    assert "| pallets/click (models are fitted on it) |" in text
    assert "| nobody/nothing (on neither list) |" in text
