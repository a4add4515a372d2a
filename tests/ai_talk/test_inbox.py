"""An inbox under all who use it: what was appended is taken once, by one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.ai_talk.talking import Talk

from tersely.ai_talk.checking import Wanted, checked
from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.inbox import Box, Kept, peek, taking
from tersely.ai_talk.place import Place

PORT = 9001
PROCESSES = 4
EACH = 60

APPENDS = """
import sys
from pathlib import Path
from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.inbox import Box
from tersely.ai_talk.place import Place
box = Box(Place.of(Path(sys.argv[1]), 9001).inbox_shelf, 20)
for number in range(int(sys.argv[3])):
    while True:
        try:
            box.append({"message": f"{sys.argv[2]}-{number}"})
            break
        except TalkError as error:
            assert error.code == "INBOX_FULL", error
"""
TAKES = """
import json, sys
from pathlib import Path
from tersely.ai_talk.checking import Wanted, checked
from tersely.ai_talk.place import Place
place = Place.of(Path(sys.argv[1]), 9001)
while True:
    with checked(place, Wanted(limit=int(sys.argv[2]), clear=True)) as (result, _):
        print(json.dumps([one["message"] for one in result["messages"]]), flush=True)
    if not result["messages"] and Path(sys.argv[1], "done").exists():
        break
"""


@pytest.fixture
def place(home: Path) -> Place:
    found = Place.of(home, PORT)
    found.directory.mkdir()
    return found


def texts(kept: list[Kept]) -> list[Any]:
    return [one.message["message"] for one in kept]


def test_nothing_is_lost_or_doubled_when_many_append_and_many_take(
    home: Path, place: Place
) -> None:
    def started(program: str, *words: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, str(home), *map(str, words)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    takers = [started(TAKES, limit) for limit in (1, 3, 100)]
    senders = [started(APPENDS, number, EACH) for number in range(PROCESSES)]
    assert [one.communicate(timeout=120)[0] for one in senders] == [""] * PROCESSES
    assert [one.returncode for one in senders] == [0] * PROCESSES
    (home / "done").touch()
    taken = [
        json.loads(line) for one in takers for line in one.communicate(timeout=120)[0].splitlines()
    ]
    found = [message for messages in taken for message in messages]
    assert sorted(found) == sorted(
        f"{sender}-{number}" for sender in range(PROCESSES) for number in range(EACH)
    )
    assert peek(place.inbox_shelf) == []
    assert not (place.directory / "callback").exists()
    for messages in taken:  # of one sender, what was sent first comes first
        assert all(
            _in_order([one for one in messages if one[0] == str(sender)])
            for sender in range(PROCESSES)
        )


def _in_order(messages: list[str]) -> bool:
    numbers = [int(one.partition("-")[2]) for one in messages]
    return numbers == sorted(numbers)


def test_what_could_not_be_printed_stays(place: Place) -> None:
    Box(place.inbox_shelf, 100).append({"message": "a"})
    with pytest.raises(BrokenPipeError), checked(place, Wanted(clear=True)):
        raise BrokenPipeError
    assert [(one.message["message"], one.was_read) for one in peek(place.inbox_shelf)] == [
        ("a", False)
    ]


def test_what_comes_while_messages_are_taken_stays(place: Place) -> None:
    box = Box(place.inbox_shelf, 100)
    box.append({"message": "a"})
    with checked(place, Wanted(clear=True)) as (result, _):
        box.append({"message": "b"})
    assert result["message_count"] == 1
    assert texts(peek(place.inbox_shelf)) == ["b"]
    assert (place.directory / "callback").exists()


def test_a_second_reader_waits_for_the_first(place: Place) -> None:
    box, found = Box(place.inbox_shelf, 100), []

    def take() -> None:
        with checked(place, Wanted(clear=True)) as (result, _):
            found.append(result["message_count"])

    box.append({"message": "a"})
    with checked(place, Wanted(clear=True)):
        other = threading.Thread(target=take)
        other.start()
    other.join()
    assert found == [0]


def test_a_full_inbox_says_so_until_there_is_room(place: Place) -> None:
    box = Box(place.inbox_shelf, 2)
    assert [box.append({"message": text}) for text in "ab"] == [1, 2]
    with pytest.raises(TalkError, match="INBOX_FULL"):
        box.append({"message": "c"})
    with checked(place, Wanted(limit=1, clear=True)):
        pass
    assert box.append({"message": "d"}) == 2
    assert texts(peek(place.inbox_shelf)) == ["b", "d"]


@pytest.mark.parametrize("text", ["not json", "[1]", '{"message": "cut', "\x00\xff", "[" * 90_000])
def test_a_line_of_somebody_else_is_shown_as_it_stands(place: Place, text: str) -> None:
    place.inbox.write_text(text)
    Box(place.inbox_shelf, 100).append({"message": "b"})
    with checked(place, Wanted(clear=True)) as (result, _):
        assert [one["message"] for one in result["messages"]] == [text, "b"]
        assert result["messages"][0]["unreadable"] is True
    assert peek(place.inbox_shelf) == []


@pytest.mark.parametrize("name", ["inbox.jsonl", "callback", "check.lock", "seen.json"])
def test_links_are_not_followed(place: Place, tmp_path: Path, name: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    (place.directory / name).symlink_to(victim)
    box = Box(place.inbox_shelf, 100)

    def use() -> None:
        box.append({"message": "a"})
        with checked(place, Wanted(clear=True)):
            pass

    with pytest.raises(TalkError, match="UNSAFE_PATH"):
        use()
    assert victim.read_text() == "precious\n"


def test_what_is_refused_is_not_kept(place: Place, tmp_path: Path) -> None:
    (place.directory / "callback").symlink_to(tmp_path / "victim")
    with pytest.raises(TalkError, match="UNSAFE_PATH"):
        Box(place.inbox_shelf, 100).append({"message": "a"})
    assert peek(place.inbox_shelf) == []


def test_a_pipe_in_the_place_of_an_inbox_holds_nobody_up(place: Place) -> None:
    os.mkfifo(place.inbox)
    with pytest.raises(TalkError, match="UNSAFE_PATH"):
        Box(place.inbox_shelf, 100).append({"message": "a"})


def test_an_inbox_that_cannot_be_written_is_said(place: Place) -> None:
    place.inbox.mkdir()
    with pytest.raises(TalkError, match="UNSAFE_PATH"):
        Box(place.inbox_shelf, 100).append({"message": "a"})


def test_a_full_disk_leaves_no_half_line(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    box = Box(place.inbox_shelf, 100)
    box.append({"message": "a"})
    real = os.write

    def short(descriptor: int, data: bytes) -> int:
        if len(data) <= 5:
            raise OSError(28, "No space left on device")
        return real(descriptor, data[:5])

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", short)
        with pytest.raises(TalkError, match="STORAGE_FAILED"):
            box.append({"message": "b"})
        assert place.inbox_shelf.callback is not None
        assert place.inbox_shelf.callback.exists()  # for the first one
        other = Place.of(place.home, PORT + 1)
        other.directory.mkdir()
        with pytest.raises(TalkError, match="STORAGE_FAILED"):
            Box(other.inbox_shelf, 100).append({"message": "b"})
        assert not (other.directory / "callback").exists()
    box.append({"message": "c"})
    assert texts(peek(place.inbox_shelf)) == ["a", "c"]


@given(st.text())
def test_messages_stay_one_line_whatever_they_say(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    place = Place.of(tmp_path_factory.mktemp("home"), PORT)
    place.directory.mkdir()
    message = text.encode("utf-8", "replace").decode()
    Box(place.inbox_shelf, 100).append({"message": message})
    assert texts(peek(place.inbox_shelf)) == [message]


class Inboxes(RuleBasedStateMachine):
    """An inbox beside a plain list."""

    @initialize(home=st.builds(lambda: None))
    def begin(self, home: None) -> None:
        import tempfile

        self._directory = tempfile.TemporaryDirectory()
        self.place = Place.of(Path(self._directory.name), PORT)
        self.place.directory.mkdir()
        self.box = Box(self.place.inbox_shelf, 5)
        self.expected: list[tuple[int, bool]] = []
        self.count = 0

    def teardown(self) -> None:
        self._directory.cleanup()

    @rule()
    def append(self) -> None:
        self.count += 1
        try:
            self.box.append({"message": self.count})
        except TalkError as error:
            assert error.code == "INBOX_FULL"
            assert len(self.expected) == 5
        else:
            self.expected.append((self.count, False))

    @rule(limit=st.integers(0, 3), remove=st.booleans(), unread=st.booleans())
    def take(self, limit: int, remove: bool, unread: bool) -> None:
        wanted = Wanted(limit, unread=unread)
        with taking(
            self.place.inbox_shelf, lambda kept: wanted.of(kept)[:limit], remove=remove
        ) as chosen:
            meant = [one for one in self.expected if not (unread and one[1])][:limit]
            assert texts(chosen) == [number for number, _ in meant]
        numbers = {number for number, _ in meant}
        left = [one for one in self.expected if not (remove and one[0] in numbers)]
        self.expected = [(number, was_read or number in numbers) for number, was_read in left]

    @rule()
    def somebody_else_appends(self) -> None:
        if len(self.expected) < 5:
            self.count += 1
            Box(self.place.inbox_shelf, 5).append({"message": self.count})
            self.expected.append((self.count, False))

    @invariant()
    def is_as_expected(self) -> None:
        kept = peek(self.place.inbox_shelf)
        assert [(one.message["message"], one.was_read) for one in kept] == self.expected
        has_unread = any(not was_read for _, was_read in self.expected)
        assert (self.place.directory / "callback").exists() == has_unread


TestInboxes = Inboxes.TestCase


def test_check_prints_hidden_characters_as_escapes(
    talk: Talk, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    Box(place.inbox_shelf, 100).append({"message": "a\x1b[2J\u202eb"})
    assert talk("check", "--port", PORT)["messages"][0]["message"] == "a\x1b[2J\u202eb"
    from tersely.ai_talk.commands import main

    main(["check", "--port", str(PORT)])
    assert "\x1b" not in capsys.readouterr().out
