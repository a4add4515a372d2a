"""What a task says, and what follows from the evidence for it."""

from __future__ import annotations

import pytest

from tersely.code.lenses.candidate import Candidate
from tersely.code.lenses.task.clues import Place, file_meant, read_task
from tersely.code.lenses.task.evidence import Hit, Sources, gather
from tersely.code.lenses.task.look import Operator, look
from tersely.code.symbols import Kind, Symbol
from tersely.foundation.errors import TerselyError


def symbol(path: str, name: str, first: int = 1, last: int = 9, kind: Kind = Kind.FUNCTION) -> Symbol:
    return Symbol(
        f"{path}:{name}", path, "python", kind, name, name, path, first, last, first, 0, 200, 20, 0, 0
    )  # fmt: skip


SEND, RETRY, PARSE = (
    symbol("net/http.py", "send", 1, 20),
    symbol("net/retry.py", "retry"),
    symbol("net/url.py", "parse"),
)
EVERY = [SEND, RETRY, PARSE]


def sources(hits: list[Symbol], near: dict[str, Candidate] | None = None) -> Sources:
    return Sources(
        lambda question, limit: [] if question.startswith('"') else [Hit(one, 0.5) for one in hits][:limit],
        lambda name: [one for one in EVERY if one.name == name],
        lambda path: [one for one in EVERY if one.path == path],
        [one.path for one in EVERY],
        lambda seed: [near[seed.id]] if near and seed.id in near else [],
    )


TRACEBACK = """Retry fails
Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/net/http.py", line 12, in send
ValueError: "the socket went away"
"""


def test_a_task_is_taken_apart() -> None:
    clues = read_task(TRACEBACK + "see `Session.send` and read_all()")
    assert clues.title == "Retry fails"
    assert Place("/usr/lib/python3/site-packages/net/http.py", 12) in clues.places
    assert {"Session.send", "read_all"} <= set(clues.names)
    assert "the socket went away" in clues.quoted


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("at send (net/http.py:12:5)", Place("net/http.py", 12)),
        ("net/http.py#L12 is wrong", Place("net/http.py", 12)),
        ("panic at C:\\lib\\net\\http.py(12)", Place("C:/lib/net/http.py", 12)),
        ("look at net/http.py", Place("net/http.py", 0)),
    ],
)
def test_places_are_read_as_programs_print_them(said: str, place: Place) -> None:
    assert place in read_task(said).places


def test_a_task_without_words_is_refused() -> None:
    with pytest.raises(TerselyError, match="has no words"):
        read_task('"!!"')


@pytest.mark.parametrize(
    ("path", "meant"),
    [("/opt/a/net/url.py", "net/url.py"), ("url.py", "net/url.py"), ("web/url.py", ""), ("other.py", ""), ("/", "")],
)
def test_a_path_of_another_machine_means_the_file_that_ends_it(path: str, meant: str) -> None:
    assert file_meant(path, ["net/http.py", "net/url.py"]) == meant


def test_a_symbol_at_a_place_of_a_traceback_comes_before_an_equal_one() -> None:
    found = look(gather(read_task(TRACEBACK), sources([])))
    assert found.view.candidates[0].symbol == SEND
    assert found.operators[SEND.id] is Operator.PLACES


def test_what_is_named_has_a_better_chance_than_what_is_only_found() -> None:
    plain = look(gather(read_task("make parse and others faster"), sources([SEND, PARSE])))
    named = look(gather(read_task("make `parse` and others faster"), sources([SEND, PARSE])))
    before, after = ({one.symbol.id: one.score for one in found.view.candidates} for found in (plain, named))
    assert after[PARSE.id] > before[PARSE.id]
    assert after[SEND.id] == before[SEND.id]


def test_neighbours_say_what_they_are_neighbours_of() -> None:
    near = {SEND.id: Candidate(RETRY, 0.6, "callee", SEND.id)}
    found = look(gather(read_task("send fails at times"), sources([SEND], near)))
    retry = next(one for one in found.view.candidates if one.symbol == RETRY)
    assert (retry.reason, retry.of, found.operators[RETRY.id]) == ("callee", SEND.id, Operator.CONTEXT)


def test_scores_are_chances_and_their_order_is_total() -> None:
    first, second = (look(gather(read_task(TRACEBACK), sources(EVERY))) for _ in range(2))
    assert first == second
    scores = [one.score for one in first.view.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


def test_a_long_function_is_cut_down_to_its_slice() -> None:
    found = look(gather(read_task(TRACEBACK), sources([])), {SEND.id: ((3, 4), (12, 12))})
    best = found.view.candidates[0]
    assert best.parts == ((3, 4), (12, 12))
    assert found.operators[SEND.id] is Operator.SLICE
    assert SEND.path in found.view.apart
