"""An inbox under all who use it: what was appended is taken once, by one."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.ai_talk.talking import Talk

from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.inbox import Kept, append, changing, is_unread, peek, taking
from tersely.ai_talk.place import TalkPlace

PORT = 9001
LOOK_SECONDS = 0.2
PROCESSES = 4
EACH = 60

APPENDS = """
import sys
from pathlib import Path
from tersely.ai_talk.failures import TalkError
from tersely.ai_talk.inbox import append
from tersely.ai_talk.place import TalkPlace
at = TalkPlace(Path(sys.argv[1]), 9001)
for number in range(int(sys.argv[3])):
    while True:
        try:
            append(at, {"message": f"{sys.argv[2]}-{number}"}, 20)
            break
        except TalkError as error:
            assert error.code == "INBOX_FULL", error
"""
TAKES = """
import json, sys
from pathlib import Path
from tersely.ai_talk.inbox import taking
from tersely.ai_talk.place import TalkPlace
at, most = TalkPlace(Path(sys.argv[1]), 9001), int(sys.argv[2])
while True:
    with taking(at, lambda _: True, most, remove=True) as found:
        print(json.dumps([one["message"] for one in found]), flush=True)
    if not found and Path(sys.argv[1], "done").exists():
        break
"""


@pytest.fixture
def place(home: Path) -> TalkPlace:
    found = TalkPlace(home, PORT)
    found.file("").mkdir()
    return found


def texts(kept: list[Kept]) -> list[Any]:
    return [one["message"] for one in kept]


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_many_append_and_many_take(
    home: Path, place: TalkPlace
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
    assert peek(place.inbox) == []
    assert not place.file("callback").exists()
    for messages in taken:  # of one sender, what was sent first comes first
        assert all(
            _in_order([one for one in messages if one[0] == str(sender)])
            for sender in range(PROCESSES)
        )


def _in_order(messages: list[str]) -> bool:
    numbers = [int(one.partition("-")[2]) for one in messages]
    return numbers == sorted(numbers)


def keep(place: TalkPlace, text: object, most: int = 100) -> int:
    """Append a message as a listener does."""
    return append(place, {"message": text}, most)


def take(
    place: TalkPlace, most: int | None = None, *, remove: bool = True
) -> AbstractContextManager[list[Kept]]:
    """Take messages as `check` does."""
    return taking(place, lambda _: True, most, remove=remove)


def test_what_could_not_be_printed_stays(place: TalkPlace) -> None:
    keep(place, "a")
    with pytest.raises(BrokenPipeError), take(place):
        raise BrokenPipeError
    assert [(one["message"], is_unread(one)) for one in peek(place.inbox)] == [("a", True)]


def test_what_comes_while_messages_are_taken_stays(place: TalkPlace) -> None:
    keep(place, "a")
    with take(place) as found:
        keep(place, "b")
    assert texts(found) == ["a"]
    assert texts(peek(place.inbox)) == ["b"]
    assert place.file("callback").exists()


def test_a_line_that_is_being_written_is_not_taken_by_half(place: TalkPlace) -> None:
    taken, has_looked = [], threading.Event()

    def wanted(_: Kept) -> bool:
        has_looked.set()
        return True

    def read() -> None:
        with taking(place, wanted, None, remove=True) as found:
            taken.extend(texts(found))

    keep(place, "a")
    line = place.inbox.read_bytes()
    with changing(place.inbox):
        place.inbox.write_bytes(line[:-4])
        reader = threading.Thread(target=read)
        reader.start()
        has_looked.wait(LOOK_SECONDS)  # in vain
        place.inbox.write_bytes(line)
    reader.join()
    assert taken == ["a"]


def test_a_second_reader_waits_for_the_first(place: TalkPlace) -> None:
    taken = []

    def second() -> None:
        with take(place) as found:
            taken.append(found)

    keep(place, "a")
    with take(place):
        other = threading.Thread(target=second)
        other.start()
    other.join()
    assert taken == [[]]


def test_a_full_inbox_says_so_until_there_is_room(place: TalkPlace) -> None:
    assert [keep(place, text, 2) for text in "ab"] == [1, 2]
    with pytest.raises(TalkError, match="INBOX_FULL"):
        keep(place, "c", 2)
    with take(place, 1):
        pass
    assert keep(place, "d", 2) == 2
    assert texts(peek(place.inbox)) == ["b", "d"]


@pytest.mark.parametrize("text", ["not json", "[1]", '{"message": "cut', "\x00\xff", "[" * 90_000])
def test_a_line_of_somebody_else_is_shown_as_it_stands(place: TalkPlace, text: str) -> None:
    place.inbox.write_text(text)
    keep(place, "b")
    with take(place) as found:
        assert texts(found) == [text, "b"]
        assert found[0]["unreadable"] is True
    assert peek(place.inbox) == []


@pytest.mark.parametrize("name", ["inbox.jsonl", "callback", "inbox.jsonl.lock"])
def test_links_are_not_followed_and_what_is_refused_is_not_kept(
    place: TalkPlace, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    place.file(name).symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        keep(place, "a")
    assert victim.read_text() == "precious\n"
    place.file(name).unlink()
    assert peek(place.inbox) == []


def test_a_pipe_in_the_place_of_an_inbox_holds_nobody_up(place: TalkPlace) -> None:
    os.mkfifo(place.inbox)
    with pytest.raises(OSError, match="inbox"):
        keep(place, "a")


def test_what_is_kept_is_for_this_user_alone(place: TalkPlace) -> None:
    keep(place, "a")
    modes = {stat.S_IMODE(one.stat().st_mode) for one in place.file("").iterdir()}
    assert modes == {0o600}


def test_a_full_disk_leaves_no_half_line(place: TalkPlace) -> None:
    keep(place, "a")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (place.inbox.stat().st_size + 5, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            keep(place, "b")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    keep(place, "c")
    assert place.inbox.read_text() == '{"message": "a"}\n{"message": "c"}\n'


@given(st.text())
def test_messages_stay_one_line_whatever_they_say(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    place = TalkPlace(tmp_path_factory.mktemp("home"), PORT)
    place.file("").mkdir()
    message = text.encode("utf-8", "replace").decode()
    keep(place, message)
    assert texts(peek(place.inbox)) == [message]


class Inboxes(RuleBasedStateMachine):
    """An inbox beside a plain list."""

    @initialize(home=st.builds(lambda: None))
    def begin(self, home: None) -> None:
        import tempfile

        self._directory = tempfile.TemporaryDirectory()
        self.place = TalkPlace(Path(self._directory.name), PORT)
        self.place.file("").mkdir()
        self.expected: list[tuple[int, bool]] = []
        self.count = 0

    def teardown(self) -> None:
        self._directory.cleanup()

    @rule()
    def append(self) -> None:
        self.count += 1
        try:
            keep(self.place, self.count, 5)
        except TalkError as error:
            assert error.code == "INBOX_FULL"
            assert len(self.expected) == 5
        else:
            self.expected.append((self.count, False))

    @rule(limit=st.integers(0, 3), remove=st.booleans(), unread=st.booleans())
    def take(self, limit: int, remove: bool, unread: bool) -> None:
        wanted = is_unread if unread else lambda _: True
        with taking(self.place, wanted, limit, remove=remove) as chosen:
            meant = [one for one in self.expected if not (unread and one[1])][:limit]
            assert texts(chosen) == [number for number, _ in meant]
        numbers = {number for number, _ in meant}
        left = [one for one in self.expected if not (remove and one[0] in numbers)]
        self.expected = [(number, was_read or number in numbers) for number, was_read in left]

    @rule()
    def somebody_else_appends(self) -> None:
        if len(self.expected) < 5:
            self.count += 1
            with self.place.inbox.open("a") as file:
                file.write(json.dumps({"message": self.count}) + "\n")
            self.place.file("callback").touch()
            self.expected.append((self.count, False))

    @invariant()
    def is_as_expected(self) -> None:
        kept = peek(self.place.inbox)
        assert [(one["message"], not is_unread(one)) for one in kept] == self.expected
        has_unread = any(not was_read for _, was_read in self.expected)
        assert self.place.file("callback").exists() == has_unread


TestInboxes = Inboxes.TestCase


def test_check_prints_hidden_characters_as_escapes(
    talk: Talk, place: TalkPlace, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(place, "a\x1b[2J\u202eb")
    assert talk("check", "--port", PORT)["messages"][0]["message"] == "a\x1b[2J\u202eb"
    from tersely.ai_talk.commands import main

    main(["check", "--port", str(PORT)])
    assert "\x1b" not in capsys.readouterr().out
