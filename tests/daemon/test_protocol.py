"""What may come over the socket, and what goes back."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from tests.daemon.asking import Talk


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON",
        b"[]",
        b"{}",
        b'"ping"',
        b'{"cmd": 1}',
        b'{"cmd": "ping"',
        b"\xff\xfe",
        b'{"cmd": "ping", "id": NaN}',
        b'{"cmd": "ping", "id": 1e999}',
        b'{"cmd": "ping", "id": {}}',
        b'{"cmd": "ping", "id": "' + b"x" * 300 + b'"}',
        b'{"cmd": "ping", "timeout_ms": "soon"}',
        b'{"cmd": "ping", "timeout_ms": 0}',
        b'{"cmd": "ping", "x": 1}',
        b'{"cmd": "fly"}',
        b'{"cmd": "impact", "target": 5}',
        b'{"cmd": "impact", "target": ["a"]}',
        b'{"cmd": "impact", "target": "validate", "speed": 3}',
        b'{"cmd": "impact"}',
        b'{"cmd": "words"}',
        b'{"cmd": "invalidate", "path": 3}',
        b'{"cmd": "cancel"}',
        b"[" * 100_000,
        b'{"cmd": "' + b"x" * 10_000_000 + b'"}',
    ],
    ids=lambda line: repr(line[:40]),
)
def test_what_cannot_be_answered_gets_one_error_and_the_connection_stays(
    talk: Talk, line: bytes
) -> None:
    talk.send_bytes(line + b"\n")
    reply = talk.receive()
    assert reply["success"] is False
    assert reply["error"]
    assert reply["code"]
    assert talk.ask(cmd="ping", id=7) == {"id": 7, "success": True}


def test_an_id_comes_back_as_it_was_even_with_an_error(talk: Talk) -> None:
    for request_id in ("a", 0, 1.5, "ü\n\ud800"):
        assert talk.ask(cmd="ping", id=request_id)["id"] == request_id
        assert talk.ask(cmd="fly", id=request_id)["id"] == request_id
    assert "id" not in talk.ask(cmd="ping")


def test_requests_may_come_all_at_once_and_in_pieces(talk: Talk) -> None:
    lines = b"".join(
        json.dumps({"cmd": "code.symbol.find", "queries": "validate", "id": n}).encode() + b"\n\n"
        for n in range(50)
    )
    talk.send_bytes(lines[:33])
    talk.send_bytes(lines[33:])
    replies = [talk.receive() for _ in range(50)]
    assert sorted(reply["id"] for reply in replies) == list(range(50))
    assert all(reply["result"]["symbols"]["total"] == 2 for reply in replies)


def test_too_many_requests_at_once_are_refused_one_by_one(talk: Talk) -> None:
    stopped = stop_analysis(talk)
    try:
        for number in range(70):
            talk.send(cmd="code.stats", id=number)
        refused = [talk.receive() for _ in range(6)]
        assert {reply["code"] for reply in refused} == {"busy"}
        assert sorted(reply["id"] for reply in refused) == list(range(64, 70))
    finally:
        resume(stopped)


def stop_analysis(talk: Talk) -> list[int]:
    """Make every question take forever."""
    talk.ask(cmd="warm")
    pids = [process["pid"] for process in talk.ask(cmd="status")["processes"]]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    return pids


def resume(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            continue


def test_a_question_that_takes_long_delays_nobody(shop: Path, talk: Talk) -> None:
    stopped = stop_analysis(talk)
    talk.send(cmd="code.stats", id="slow")
    with Talk(shop) as other, Talk(shop):  # and one that says nothing at all
        assert other.ask(cmd="ping")["success"]
        assert other.ask(cmd="code.symbol.find", queries="checkout")["success"]
        assert len(other.ask(cmd="status")["processes"]) > 1
        assert talk.ask(cmd="ping", id="quick")["id"] == "quick"
    resume(stopped)
    assert talk.receive()["id"] == "slow"


def test_a_question_may_take_only_so_long(talk: Talk) -> None:
    stop_analysis(talk)
    assert talk.ask(cmd="code.stats", timeout_ms=50)["code"] == "timed_out"
    assert talk.ask(cmd="code.stats")["success"]


def test_a_question_can_be_cancelled(talk: Talk) -> None:
    stop_analysis(talk)
    talk.send(cmd="code.stats", id="long")
    talk.send(cmd="cancel", request="long", id="cancel")
    replies = {reply["id"]: reply for reply in (talk.receive(), talk.receive())}
    assert replies["long"]["code"] == "cancelled"
    assert replies["cancel"]["result"] == {"cancelled": 1}
    assert talk.ask(cmd="code.stats")["success"]


def test_an_analysis_that_is_killed_is_begun_again(talk: Talk) -> None:
    for pid in stop_analysis(talk):
        os.kill(pid, signal.SIGKILL)
    assert talk.ask(cmd="code.stats")["success"]


def test_an_answer_that_is_not_taken_does_not_keep_others_waiting(shop: Path, talk: Talk) -> None:
    for number in range(60):
        talk.send(cmd="code.extract", path="src/shop/money.py", id=number)
    with Talk(shop) as other:
        assert other.ask(cmd="code.extract", path="src/shop/orders.py")["success"]
    assert {talk.receive()["id"] for _ in range(60)} == set(range(60))
