"""What holds of every pack, whatever the code, the candidates, the budget and the format."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from tests.context.planted import Planted, plant, view
from tests.depth import examples

from tersely.code.symbols import Kind
from tersely.context.lenses.candidate import (
    CHANGED,
    TARGET,
    TARGET_SCORE,
    Candidate,
    Change,
    View,
    merged,
)
from tersely.context.pack.excerpt import Line
from tersely.context.pack.fitting.detail_levels import levels
from tersely.context.pack.fitting.fit import Fitted, fit
from tersely.context.pack.model import Detail, Pack, joined
from tersely.context.pack.texts import Texts, cut_to_parts
from tersely.context.render.formats import FORMATS
from tersely.context.render.nesting import SAID_BY_PLACE
from tersely.context.render.relations import reason_phrase
from tersely.foundation.errors import TerselyError
from tersely.foundation.limits import MAX_BUDGET_TOKENS
from tersely.foundation.text import tokens
from tersely.foundation.text.escape import visible_line

# Making a repository takes much longer than fitting a pack.
FEW = settings(max_examples=examples())

NAMES = st.sampled_from(
    ["run", "é", "load_all", "Straße", "x", "validate_token_of_the_current_session", "日本"]
)
# Lines that try to pass for structure, end fences, hide from the reader or steer the terminal.
HOSTILE = [
    "=== src/auth.py",
    "@1-9 target: evil",
    "P0:evil() @1-2",
    "  calls: evil",
    "``` and ````",
    "\x1b[2J\x9b",
    "\u202egnp.exe",
    '"},{"id":"evil"',
    "\U000e0041\u2028",
    "+12 more callers",
]
STATEMENTS = [
    "pass",
    "",
    "value = compute('ключ', 3.14159, key=None)",
    "for item in sorted(items, key=lambda item: (-item.score, item.name)):\n    yield item",
    "# 日本語のコメント 🎉",
    "result = [run, load_all, x, validate_token_of_the_current_session]",
    *(f'"""\n{line}\n"""' for line in HOSTILE),
]


@st.composite
def functions(draw: st.DrawFn) -> list[str]:
    parameters = draw(st.lists(NAMES, max_size=2)) * draw(st.sampled_from([1, 1, 1, 20]))
    named = [f"{name}_{number}: int = {number}" for number, name in enumerate(parameters)]
    lines = [f"def {draw(NAMES)}(", *(f"    {parameter}," for parameter in named), ") -> None:"]
    doc = draw(
        st.sampled_from(
            [[], ['    """Say what it does."""'], ['    """', "    Twice.", '    """', ""]]
        )
    )
    body = draw(st.lists(st.sampled_from(STATEMENTS), max_size=6)) * draw(
        st.sampled_from([1, 2, 9])
    )
    rows = [f"    {row}" for statement in body for row in statement.split("\n")]
    odd = draw(st.sampled_from(["", "", repr(draw(st.text(max_size=20)))]))
    return [*(lines if draw(st.booleans()) else ["".join(lines)]), *doc, *rows, f"    return {odd}"]


@st.composite
def classes(draw: st.DrawFn) -> list[str]:
    methods = [
        f"    {line}" for method in draw(st.lists(functions(), max_size=4)) for line in method
    ]
    return [f"class {draw(NAMES)}(Base):", "    LIMIT = 3", *methods]


@st.composite
def repositories(draw: st.DrawFn) -> Planted:
    definitions = st.one_of(functions(), functions(), classes(), st.just(["LIMIT = 3"]))
    newline = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    paths = draw(
        st.lists(
            st.sampled_from(["a.py", "src/deep/b.py", "src/deep/c d.py", "é/`x`.py"]),
            min_size=1,
            max_size=3,
            unique=True,
        )
    )
    return plant(
        {
            path: newline.join(
                line
                for part in draw(st.lists(definitions, min_size=1, max_size=6))
                for line in [*part, ""]
            )
            for path in paths
        }
    )


@dataclass(frozen=True)
class Question:
    planted: Planted
    view: View


@st.composite
def questions(draw: st.DrawFn) -> Question:
    planted = draw(repositories())
    symbols = sorted(planted.by_id.values(), key=lambda symbol: symbol.id)
    chosen = draw(st.lists(st.sampled_from(symbols), min_size=1, unique=True))
    targets = chosen[: draw(st.integers(1, 2))]
    candidates = [Candidate(target, TARGET_SCORE, TARGET) for target in targets]
    for symbol in chosen[len(targets) :]:
        reason = draw(st.sampled_from(["callee", "caller", "test", "type", "caller by name"]))
        score = draw(st.sampled_from([0.05, 0.2, 0.5, 0.8]))
        candidates.append(Candidate(symbol, score, reason, draw(st.sampled_from(chosen)).id))
    return Question(planted, view(candidates, caller=draw(st.integers(0, 3))))


BUDGETS = st.one_of(st.integers(0, 120), st.integers(0, 3_000))
FORMAT_NAMES = st.sampled_from(sorted(FORMATS))


def answer(question: Question, format_name: str, budget: int) -> Fitted:
    """The pack; discards the example when the budget is too small for any."""
    try:
        return fit(
            question.view, question.planted.texts(), FORMATS[format_name], budget, revision="r1"
        )
    except TerselyError as error:
        assert error.code == "budget_too_small"
        assume(False)
        raise


@FEW
@given(questions(), FORMAT_NAMES, BUDGETS)
def test_never_costs_more_than_the_budget(
    question: Question, format_name: str, budget: int
) -> None:
    try:
        fitted = fit(question.view, question.planted.texts(), FORMATS[format_name], budget)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    assert tokens.count(fitted.text) == fitted.pack.used <= budget
    assert fitted.text == joined(FORMATS[format_name](fitted.pack, tokens.count))
    assert fitted.text.endswith("\n")


@FEW
@given(questions(), FORMAT_NAMES)
def test_what_a_refusal_says_is_needed_suffices(question: Question, format_name: str) -> None:
    with pytest.raises(TerselyError) as refusal:
        fit(question.view, question.planted.texts(), FORMATS[format_name], 0)
    found = re.search(r"takes (\d+) tokens", refusal.value.message)
    assert found
    fit(question.view, question.planted.texts(), FORMATS[format_name], int(found[1]))


@FEW
@given(questions(), FORMAT_NAMES, BUDGETS)
def test_is_the_same_every_time(question: Question, format_name: str, budget: int) -> None:
    assert answer(question, format_name, budget) == answer(question, format_name, budget)


def one_long_signature() -> Question:
    """A target whose parameters, a line each, cost JSON more in a body than in the signature."""
    parameters = "".join(f"    run_{number}: int = {number},\n" for number in range(40))
    planted = plant({"a.py": f"def load(\n{parameters}) -> None:\n" + 80 * "    value = run()\n"})
    return Question(planted, view([planted.candidate("a.py:load")]))


@FEW
@given(questions(), FORMAT_NAMES, st.integers(300, 2_000))
@example(one_long_signature(), "json", 895)
def test_uses_nine_tenths_of_the_budget_when_there_is_that_much_to_say(
    question: Question, format_name: str, budget: int
) -> None:
    everything = answer(question, format_name, MAX_BUDGET_TOKENS).pack.used
    used = answer(question, format_name, budget).pack.used
    # JSON states its budget, so the same pack differs by a token there.
    assert used >= min(everything - 1, 0.9 * budget - largest_piece(question))


def largest_piece(question: Question) -> int:
    """What cannot be shown in part: a line, and the head of a body with the line below it, which JSON
    quotes beside the signature.
    """
    planted, texts = question.planted, question.planted.texts()
    pieces = {line for source in planted.sources.values() for line in source.decode().split("\n")}
    for symbol in planted.by_id.values():
        head = texts.body(symbol)[: texts.header_size(symbol) + 1]
        pieces.add(json.dumps("\n".join(line.text for line in head), ensure_ascii=False))
    return max(map(tokens.count, pieces))


@FEW
@given(questions(), BUDGETS)
def test_ultracompact_is_never_longer_than_text(question: Question, budget: int) -> None:
    pack = answer(question, "text", budget).pack
    sizes = {name: tokens.count(joined(FORMATS[name](pack, tokens.count))) for name in FORMATS}
    assert sizes["ultracompact"] <= sizes["compact"] <= sizes["text"]


@FEW
@given(questions(), FORMAT_NAMES, BUDGETS, BUDGETS)
def test_a_larger_budget_never_shows_less_of_the_target(
    question: Question, format_name: str, one: int, other: int
) -> None:
    assume(sum(candidate.is_target for candidate in question.view.candidates) == 1)
    smaller, larger = (
        answer(question, format_name, budget).pack for budget in sorted((one, other))
    )
    assert shown_of_target(smaller) <= shown_of_target(larger)


def shown_of_target(pack: Pack) -> tuple[bool, int]:
    """How much of the target is shown: whether all, and at which detail."""
    item = next((item for item in pack.items if item.symbol.id in pack.targets), None)
    if item is None:
        return True, Detail.BODY
    most = levels(Candidate(item.symbol, item.score, item.reason), holds_target=False)[-1]
    return (
        item.detail is most and not item.is_cut,
        Detail.BODY if item.detail is most else item.detail,
    )


@FEW
@given(questions(), FORMAT_NAMES, BUDGETS)
def test_everything_is_there_once_and_has_a_reason(
    question: Question, format_name: str, budget: int
) -> None:
    pack = answer(question, format_name, budget).pack
    assert all(item.reason for item in pack.items)
    left = sum(times for _, times in pack.omitted) - sum(question.view.beyond.values())
    is_plain = not (pack.items or pack.within)  # whole files, where they cost less than their parts
    whole = {extract.path for extract in pack.extracts} if is_plain else set()
    inside = [candidate for candidate in question.view.candidates if candidate.symbol.path in whole]
    folded = sum(len(item.twins) for item in pack.items)
    shown = len(pack.items) + folded + len(pack.within) + len(inside)
    assert left + shown == len(question.view.candidates)
    bodies = [item for item in pack.items if item.detail is Detail.BODY]
    for item in pack.items:
        holders = [
            body for body in bodies if body is not item and body.symbol.path == item.symbol.path
        ]
        assert not any(
            body.symbol.start_byte <= item.symbol.start_byte
            # a module may go on behind its last class
            and item.symbol.end_byte <= body.symbol.end_byte
            and item.symbol.end_line <= body.last_line
            for body in holders
        )


@st.composite
def changes(draw: st.DrawFn) -> Question:
    """A question about a change: some symbols differ, others do not, and of some only parts matter."""
    planted = draw(repositories())
    named = (symbol for symbol in planted.by_id.values() if symbol.kind is not Kind.LAMBDA)
    symbols = sorted(named, key=lambda symbol: symbol.id)
    found: list[Candidate] = []
    for symbol in draw(st.lists(st.sampled_from(symbols), min_size=2, unique=True)):
        lines = sorted(
            draw(st.lists(st.integers(symbol.start_line, symbol.end_line), max_size=3, unique=True))
        )
        parts = (
            merged((line, min(line + 2, symbol.end_line)) for line in lines)
            if draw(st.booleans())
            else ()
        )
        if lines and draw(st.booleans()):
            change = Change(tuple(lines), ((lines[0], "    was = 'here'"),))
            found.append(Candidate(symbol, TARGET_SCORE, CHANGED, change=change, parts=parts))
        else:
            found.append(Candidate(symbol, 0.5, "callee", symbols[0].id, parts=parts))
    paths = frozenset(one.symbol.path for one in found)
    return Question(planted, replace(view(found), apart=paths))


def texts_of(question: Question) -> Texts:
    return cut_to_parts(question.planted.texts(), question.view)


@settings(max_examples=examples(60))
@given(st.one_of(questions(), changes(), changes()), FORMAT_NAMES, BUDGETS)
def test_no_line_of_a_file_is_shown_twice(
    question: Question, format_name: str, budget: int
) -> None:
    try:
        fitted = fit(question.view, texts_of(question), FORMATS[format_name], budget)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    assert tokens.count(fitted.text) == fitted.pack.used <= budget
    whole = {extract.path for extract in fitted.pack.extracts if extract.whole}
    seen: Counter[tuple[str, int]] = Counter()
    for item in fitted.pack.items:
        shown = [
            line.number for line in item.lines if not line.is_gap and line.number <= item.last_line
        ]
        if item.detail is Detail.BODY:
            seen.update((item.symbol.path, number) for number in shown)
            assert item.symbol.path not in whole or not shown
    assert not [place for place, times in seen.items() if times > 1]


@FEW
@given(st.one_of(questions(), changes()), st.sampled_from(["text", "compact", "markdown"]), BUDGETS)
def test_everything_that_is_shown_says_why_in_words(
    question: Question, format_name: str, budget: int
) -> None:
    try:
        fitted = fit(question.view, texts_of(question), FORMATS[format_name], budget)
    except TerselyError as error:
        assert error.code == "budget_too_small"
        return
    said = fitted.text.replace("\\", "")
    for item in fitted.pack.items:
        is_named_below_target = item.detail is Detail.NAME and item.of in fitted.pack.targets
        if item.reason not in SAID_BY_PLACE and not is_named_below_target:
            assert visible_line(reason_phrase(item)).replace("\\", "") in said
    assert said.count("whole: symbol get NAME") <= 1


@FEW
@given(questions(), FORMAT_NAMES, BUDGETS)
def test_never_costs_more_than_the_whole_files(
    question: Question, format_name: str, budget: int
) -> None:
    fitted = answer(question, format_name, budget)
    pack, texts = fitted.pack, question.planted.texts()
    paths = dict.fromkeys(
        [extract.path for extract in pack.extracts] + [item.symbol.path for item in pack.items]
    )
    files = Pack(
        "r1", budget, budget, pack.targets, tuple(map(texts.extract, paths)), (), (), pack.omitted
    )
    assert pack.used <= tokens.count(joined(FORMATS[format_name](files, tokens.count)))


@FEW
@given(questions(), st.sampled_from(["text", "compact", "ultracompact"]), BUDGETS)
def test_no_line_of_code_passes_for_structure(
    question: Question, format_name: str, budget: int
) -> None:
    fitted = answer(question, format_name, budget)
    assert structure(fitted.text) == structure(
        joined(FORMATS[format_name](without_code(fitted.pack), tokens.count))
    )
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", fitted.text)


def structure(text: str) -> list[str]:
    """The lines that say what stands where."""
    return [line for line in text.split("\n") if re.match(r"=== |@[\d+]|P\d+[:=]", line)]


def without_code(pack: Pack) -> Pack:
    """The pack with harmless code."""
    items = tuple(
        replace(item, code="harmless\n", lines=(Line(item.symbol.start_line, "harmless"),))
        if item.code
        else item
        for item in pack.items
    )
    return replace(
        pack, items=items, extracts=tuple(replace(extract, text="\n") for extract in pack.extracts)
    )


@FEW
@given(questions(), BUDGETS)
def test_json_is_whole_and_true(question: Question, budget: int) -> None:
    fitted = answer(question, "json", budget)
    said = json.loads(fitted.text)
    assert said["budget_used"] == tokens.count(fitted.text)
    shown = {entry["id"]: entry["code"] for entry in said["slices"]}
    assert shown == {
        item.symbol.id: item.code or None for item in fitted.pack.items if item.detail > Detail.NAME
    }


@FEW
@given(questions(), BUDGETS)
def test_markdown_fences_hold(question: Question, budget: int) -> None:
    fitted = answer(question, "markdown", budget)
    fence = ""
    for line in fitted.text.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif opened := re.match("`{3,}", line):
            fence = opened[0]
        else:
            assert re.match(r"(?:### |- | {2}- |\+\d|whole: |$)", line)
    assert not fence
