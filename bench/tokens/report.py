"""The tables of `bench/RESULTS.md` that are about tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
README = Path(__file__).parent.parent.parent / "README.md"
BEGIN, END = "<!-- tokens: written by bench.tokens -->\n", "<!-- tokens: end -->\n"
KINDS: Mapping[str, str] = {
    "symbol": "A function that a commit touches is given",
    "subject": "The subject of a commit is given",
    "half": "Half of a commit is made, and its subject given to those who take words",
}
GIVEN: Mapping[str, str] = {"symbol": "a touched function", "subject": "the subject", "half": "half of the change"}
WHOLE = 0


def report(record: Row) -> Iterator[str]:
    """The means over repositories, then those of each repository."""
    yield from ("## Tokens", "", "`make bench-tokens CLONES=DIR PEERS=DIR`", "")
    rows = record["rows"]
    names = sorted({row["repository"] for row in rows})
    facts = record["machine"]
    yield f"{facts['date']}, revision {facts['revision']}: {record['cases']} commits each of {', '.join(names)}."
    yield (
        "Touched / called: which part of what the commit goes on to touch, and of what its new lines call, can be seen "
        "in an answer of at most so many tokens, by its signature or its body; then, of what it touches, the part "
        "whose body can be seen. Answers of ways without a budget are cut off; *whole* is what they are uncut, with "
        "its tokens. What counts as seen is in `bench/tokens/covered.py`."
    )
    packs = sum(one["packs"] for one in record["checked"].values())
    larger = sum(len(one["violations"]) for one in record["checked"].values())
    yield from ("", f"{packs:,} packs were counted; {larger} are larger than their budget or than their files.")
    yield from ("", "### All repositories", "", *summary(record))
    for kind, title in KINDS.items():
        yield from _table(title, [row for row in record["means"] if row["question"] == kind])
    for kind, title in KINDS.items():
        for name in names:
            listed = [row for row in rows if row["question"] == kind and row["repository"] == name]
            yield from _table(f"{name}: {title[0].lower()}{title[1:]}", listed)


def summary(record: Row) -> Iterator[str]:
    """One table over all repositories: what is touched and can be seen, and in brackets with its body."""
    rows = [row for row in record["means"] if row["budget"] != WHOLE]
    budgets = sorted({row["budget"] for row in rows})
    repositories = {row["repository"] for row in record["rows"]}
    asked = {kind: max(row["asked"] for row in rows if row["question"] == kind) for kind in KINDS}
    yield (
        f"Of what a commit goes on to touch, the part that can be seen in an answer of so many tokens, by signature or "
        f"body, and in brackets with its body: means over {len(repositories)} repositories with up to "
        f"{record['cases']} commits each."
    )
    yield from (
        "",
        f"| given | way | {' | '.join(f'{budget:,}' for budget in budgets)} |",
        "|---|---|" + "--:|" * len(budgets),
    )
    for kind in KINDS:
        of_kind = [row for row in rows if row["question"] == kind]
        given = f"{GIVEN[kind]} ({asked[kind]} times)"
        for way in sorted(dict.fromkeys(row["way"] for row in of_kind), key=lambda way: -_most(of_kind, way)):
            cells = {row["budget"]: row for row in of_kind if row["way"] == way}
            told = (f"{_percent(cells[one]['touched'])} ({_percent(cells[one]['shown'])})" for one in budgets)
            yield f"| {given} | {way} | {' | '.join(told)} |"
            given = ""
    yield ""


def _most(rows: Sequence[Row], way: str) -> float:
    """What a way shows of the need, all budgets together: the order of the summary."""
    return sum((row["touched"] or 0.0) + (row["shown"] or 0.0) for row in rows if row["way"] == way)


def write_summary(record: Row, page: Path = README) -> None:
    """Put the summary between its marks in a page that has them."""
    text = page.read_text("utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if end:
        page.write_text(before + begin + "\n" + "\n".join(summary(record)) + end + after, "utf-8")


def _table(title: str, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    budgets = sorted({row["budget"] for row in rows} - {WHOLE})
    yield from (f"### {title}", "", f"| | asked | {' | '.join(f'{budget:,}' for budget in budgets)} | whole |")
    yield "|---|--:|" + "---|" * (len(budgets) + 1)
    for way in dict.fromkeys(row["way"] for row in rows):
        cells = {row["budget"]: row for row in rows if row["way"] == way}
        told = [_cell(cells[budget]) if budget in cells else "" for budget in budgets]
        whole = f"{_cell(cells[WHOLE])} ({cells[WHOLE]['tokens']:,.0f} tokens)" if WHOLE in cells else ""
        yield f"| {way} | {next(iter(cells.values()))['asked']} | {' | '.join(told)} | {whole} |"
    yield ""


def _cell(row: Row) -> str:
    return f"{_percent(row['touched'])} / {_percent(row['called'])}, {_percent(row['shown'])}"


def _percent(part: float | None) -> str:
    return "–" if part is None else f"{part:.0%}"
