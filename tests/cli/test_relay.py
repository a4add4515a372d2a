"""The commands of the relay, against a relay process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives import serialization
from tests import certificate
from tests.cli.relay_home import Home, home_of
from tests.foundation.serving import serving
from tests.wrap.conftest import wait_for

from tersely import __version__
from tersely.cli.main import main_relay
from tersely.client import Client
from tersely.code.index.storage.schema import SCHEMA
from tersely.foundation.process.detached import wait_for_end
from tersely.foundation.storage.database import Database
from tersely.relay.store.commands import Append, StoreBatch
from tersely.relay.store.store import Store
from tersely.relay.wire.home import LOCK, LOG

SOURCE = "def boil(water):\n    return heat(water)\n\n\ndef heat(water):\n    return water + 1\n"


def a_root(folder: Path) -> Path:
    (folder / "kettle.py").write_text(SOURCE)
    return folder


@pytest.fixture(scope="module")
def relay(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with home_of(
        tmp_path_factory.mktemp("home") / "relay", a_root(tmp_path_factory.mktemp("root"))
    ) as home:
        home.up()
        yield home


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Home]:
    (tmp_path / "root").mkdir()
    with home_of(tmp_path / "home", a_root(tmp_path / "root")) as home:
        yield home


def test_large_pieces_are_referred_to_and_can_be_had(relay: Home) -> None:
    whole = (
        "def brew(water):\n"
        + "".join(f"    step_{at} = pour(water, {at})\n" for at in range(40))
        + "    return boil(water)\n"
    )
    (relay.root / "brewing.py").write_text(
        f"from kettle import boil\n\n\n{whole}\n\ndef taste(tea):\n    return brew(tea)\n"
    )
    text = relay.ok("context", "brew", "taste", "--budget", "2000", "--output", "hybrid")
    uri = re.search(r"cass://[0-9a-f]+", text)
    assert uri is not None
    assert "step_7" not in text
    assert "return brew(tea)" in text
    assert "(42 lines, " in text
    assert "    step_2 = pour(water, 2)\n" in relay.ok("context", "--include", f"{uri[0]}:1-8")
    assert relay.refused("context", "brew", "--output", "hybrid", "--session", "one") == "usage"
    (relay.root / "brewing.py").unlink()


def test_an_answer_is_kept_and_referred_to(relay: Home) -> None:
    printed = relay.run("context", "boil", "--budget", "300", "--output", "cassette")
    uri = printed.out.strip()
    assert "code.context: " in printed.err
    shown = relay.ok(
        "context", "heat", "--budget", "900", "--include", uri[:13], "--include", "kettle.py:1-2"
    )
    assert f"=== {uri[:19]} whole" in shown
    long = relay.ok(
        "relay", "artifact", "put", "-", "--thread", "cassettes", input="a line of it\n" * 300
    ).strip()
    large = relay.ok("context", "heat", "--budget", "400", "--include", long)
    assert f"=== {long[:19]} @1-" in large
    assert "bytes in all" in large
    for words in (["plan", "heat the water"], ["symbol", "slice", "boil"], ["map"]):
        assert relay.ok(*words, "--output", "cassette").startswith("cass://")
    for words in (["calls", "heat"], ["channels"], ["agents"]):
        kept = relay.ok(*words, "--output", "cassette").strip()
        assert relay.ok("relay", "artifact", "get", kept).split() == relay.ok(*words).split()
    assert relay.refused("calls", "heat", "--output", "nowhere") == "invalid_argument"
    for wrong, code in [
        ("cass://zz", "invalid_argument"),
        ("cass://" + "0" * 12, "artifact_not_found"),
    ]:
        assert relay.refused("context", "heat", "--include", wrong) == code


def test_an_artifact_needs_no_thread_and_is_read_in_parts(relay: Home) -> None:
    text = "".join(f"line {number}\n" for number in range(1, 1_001))
    uri = relay.ok("relay", "artifact", "put", "-", input=text).strip()
    shown = relay.ok("relay", "artifact", "get", uri)
    (short,) = re.findall(r"cass://[0-9a-f]+(?=:1-80)", shown)
    assert len(short) < len(uri)
    assert "1,000 lines, " in shown
    assert (
        relay.ok("relay", "artifact", "get", f"{short}:40-41")
        == "    40  line 40\n    41  line 41\n"
    )
    assert (
        relay.ok("relay", "artifact", "get", short, "--search", "LINE 999") == "   999  line 999\n"
    )
    assert short in relay.ok("relay", "artifact", "search", "77")
    assert relay.refused("relay", "artifact", "get", f"{short}:x") == "invalid_argument"
    assert relay.refused("relay", "artifact", "get", f"{short}:1-2", "--out", "x") == "usage"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["relay", "show", "none"], "thread_not_found"),
        (["relay", "state", "get"], "invalid_argument"),
        (["relay", "state", "patch", "--thread", "x", "--patch", "{"], "invalid_argument"),
        (["relay", "thread", "nwe"], "unknown_command"),
        (["relay", "artifact", "put", "/nowhere", "--thread", "x"], "unreadable_file"),
        (["relay", "import", "/nowhere"], "unreadable_file"),
        (["relay", "cap", "invoke", "nothing", "--thread", "x"], "unknown_command"),
        (["up", "--port", "99999"], "invalid_argument"),
    ],
)
def test_what_cannot_be_done_says_why(relay: Home, words: list[str], code: str) -> None:
    assert relay.refused(*words) == code


def test_the_same_commands_are_a_program_of_their_own(relay: Home) -> None:
    assert relay.run("version", program=main_relay).out == f"relay {__version__}\n"
    assert relay.run("status", program=main_relay).status == 0
    assert "relay cap invoke" in relay.run("help", program=main_relay).out
    assert f"home       {relay.home}\n" in relay.ok("status")
    shown = dict(line.split(None, 1) for line in relay.ok("config").splitlines())
    assert (shown["payload_bytes"], shown["allow"], shown["trusted_hosts"]) == ("16384", "{}", "[]")
    assert "relay answers at" in relay.ok("doctor")


def test_without_a_relay_every_command_says_so(fresh: Home) -> None:
    commands = [["status"], ["relay", "runs"], ["config"], ["context", "boil", "--output", "cassette"],
                ["context", "boil", "--include", "cass://abcdef"]]  # fmt: skip
    for words in commands:
        assert fresh.refused(*words) == "daemon_not_running"
    assert fresh.ok("down") == "no relay runs\n"
    assert "no relay runs" in fresh.ok("doctor")


def test_init_says_what_it_cannot_write(fresh: Home) -> None:
    fresh.home.mkdir(mode=0o700)
    config = fresh.home / "config.toml"
    config.symlink_to(fresh.home / "nowhere" / "config.toml")
    said = fresh.run("relay", "init")
    assert said.status == 3
    assert said.err.startswith(f"unwritable_output: {config}: ")


def test_init_makes_a_home_for_this_user_alone(fresh: Home) -> None:
    fresh.ok("relay", "init")
    assert fresh.home.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in fresh.home.iterdir()} == {
        "config.toml": 0o600, ".gitignore": 0o600,
    }  # fmt: skip
    (fresh.home / "config.toml").write_text("hops = 3\n")
    fresh.ok("relay", "init")
    fresh.up()
    assert "hops" in fresh.ok("config")
    assert fresh.ask("config")["policy"]["hops"] == 3
    (fresh.home / "config.toml").write_text("hops = 'many'\n")
    assert fresh.refused("doctor") == "doctor_found"


def test_a_certificate_that_cannot_be_shown_starts_no_relay(fresh: Home, tmp_path: Path) -> None:
    cert, key = certificate.make(tmp_path / "tls", "localhost")
    others = certificate.make(tmp_path / "others", "localhost")
    junk, locked = tmp_path / "junk.pem", tmp_path / "locked.pem"
    junk.write_text("no PEM\n")
    password = serialization.BestAvailableEncryption(b"secret")
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    plain = serialization.load_pem_private_key(key.read_bytes(), None)
    locked.write_bytes(plain.private_bytes(pem, pkcs8, password))
    for first, second in (
        (cert, others.key), (cert, locked), (junk, key), (cert, junk), (tmp_path / "none", key),
        (tmp_path, key),
    ):  # fmt: skip
        given = ("--listen", "127.0.0.1:0", "--tls-cert", str(first), "--tls-key", str(second))
        said = fresh.run("up", *given)
        assert (said.status, said.err.count("\n")) == (3, 2), said
        assert said.err.startswith(f"invalid_certificate: {first} and {second} cannot be used: ")
    assert fresh.refused("up", "--listen", "127.0.0.1:0", "--tls-cert", str(cert)) == "usage"
    assert fresh.refused("up", "--tls-cert", str(cert), "--tls-key", str(key)) == "usage"
    assert fresh.refused("up", "--listen", "0.0.0.0:7474") == "insecure_address"
    assert fresh.refused("status") == "daemon_not_running"


def test_what_keeps_a_relay_from_starting_is_said_by_its_own_code(
    fresh: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = fresh.home.parent / "settings" / "agent-relay" / "services.json"
    settings.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(settings.parent.parent))
    for content, code in (("{", "invalid_setting"), (None, "unreadable_file")):
        settings.unlink(missing_ok=True)
        if content is None:
            os.mkfifo(settings)
        else:
            settings.write_text(content)
        printed = fresh.run("up", "--port", "0")
        assert printed.err.startswith(f"{code}: {settings}")
        assert "Errno" not in printed.err


def test_doctor_says_that_stamps_lie_ahead(fresh: Home) -> None:
    fresh.ok("relay", "init")
    with Store.open(fresh.home, clock=lambda: time.time() + 40 * 86_400) as store:
        store.commit(StoreBatch((Append("s", "k", b"x"),)))
    assert "ok   stamps lie 40.0 days ahead" in fresh.ok("doctor")


def test_doctor_finds_damage_of_the_index_first_and_mends_it(fresh: Home) -> None:
    callers = fresh.ok("symbol", "callers", "heat")
    assert "ok   index\n" in fresh.run("doctor").out
    (path,) = fresh.root.glob(".tersely/*/index.db")
    with Database.open_derived(path, SCHEMA) as database:
        facts = database.value("select facts from facts")
        damaged = facts[:40] + bytes([facts[40] ^ 1]) + facts[41:]
        database.execute("update facts set facts = ?", (damaged,))
    found = fresh.run("doctor")
    assert "bad  the index was damaged and is built anew" in found.out
    assert found.err.startswith("doctor_found")
    assert "ok   index\n" in fresh.run("doctor").out
    assert fresh.ok("symbol", "callers", "heat") == callers


def test_links_in_the_place_of_its_files_are_not_followed(fresh: Home, tmp_path: Path) -> None:
    fresh.ok("relay", "init")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for name in (LOCK, LOG):
        (fresh.home / name).unlink(missing_ok=True)
        (fresh.home / name).symlink_to(victim)
        printed = fresh.run("up", "--port", "0")
        assert printed.err.startswith(
            f"daemon_unavailable: no relay can be started: {fresh.home / name}: "
        )
        (fresh.home / name).unlink()
    assert victim.read_text() == "precious"


def test_where_everything_of_a_user_lies_a_relay_starts_and_no_index_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.py").write_text("def x(): ...\n")
    with home_of(tmp_path / ".tersely", tmp_path) as home:
        assert home.refused("search", "x") == "root_not_found"
        assert home.ok("--root", str(tmp_path), "search", "x").startswith("a.py:1")
        assert home.up()["url"]
        assert home.ask("claims")["claims"] == []
    assert not list((tmp_path / ".tersely").glob("*/index.db"))


def test_a_home_has_one_relay_however_often_it_is_started(fresh: Home) -> None:
    with ThreadPoolExecutor(3) as pool:
        printed = list(pool.map(lambda _: fresh.run_apart("up", "--port", "0", "--json"), range(3)))
    started = [json.loads(one.out)["result"] for one in printed]
    assert len({one["pid"] for one in started}) == 1
    assert [one["was_running"] for one in started].count(False) <= 1
    assert fresh.ok("down") == "stopped\n"
    assert (fresh.home / LOCK).exists()  # it stays, and says nothing
    assert fresh.refused("status") == "daemon_not_running"


def test_what_a_killed_relay_left_does_not_keep_the_next_from_starting(fresh: Home) -> None:
    first = fresh.up()
    thread = fresh.ok("relay", "thread", "new").strip()
    os.kill(first["pid"], signal.SIGKILL)
    wait_for_end(first["pid"], 20)
    assert fresh.refused("status") == "daemon_not_running"
    second = fresh.up()
    assert (second["pid"] != first["pid"], second["was_running"]) == (True, False)
    assert fresh.ask("relay", "show", thread)["thread"]["thread_id"] == thread


def test_what_a_lock_file_says_ends_nobody_and_starts_nothing(fresh: Home) -> None:
    fresh.home.mkdir(mode=0o700)
    with (
        subprocess.Popen(["sleep", "600"]) as stranger,
        serving(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"status":"ok"}') as foreign,
    ):
        told = {"pid": stranger.pid, "port": urlsplit(foreign.url).port, "version": "", "program": "", "started": 0,
                "workspace": ""}  # fmt: skip
        for content in ("", "{", '{"pid": 1}', json.dumps(told)):
            (fresh.home / LOCK).write_text(content)
            assert fresh.refused("status") == "daemon_not_running"
            assert fresh.refused("send", "ann", "hello") == "daemon_not_running"
            assert fresh.ok("down") == "no relay runs\n"
        assert fresh.up()["was_running"] is False
        fresh.ok("down")
        assert stranger.poll() is None
        stranger.kill()
        assert foreign.heads == []


def test_the_next_free_port_is_taken_and_told(fresh: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        if port > 65_000:
            pytest.skip("there are too few ports behind this one")
        started = fresh.ask("up", "--port", str(port))
        assert urlsplit(started["url"]).port > port
        assert f"(port {port} is taken)" in started["text"]
        assert fresh.ask("status")["url"] == started["url"]


def test_ending_waits_for_what_is_being_answered(fresh: Home) -> None:
    for number in range(60):
        (fresh.root / f"m{number}.py").write_text(SOURCE * 40)
    fresh.up()
    thread = fresh.ok("relay", "thread", "new").strip()
    words = ["relay", "cap", "invoke", "code.duplicates", "--thread", thread, "--json"]
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(fresh.run_apart, *words)
        wait_for(lambda: fresh.ask("relay", "runs")["threads"], "a thread")
        fresh.ok("down")
        answered = asked.result()
    assert answered.status == 0 or answered.err.startswith("daemon_"), answered
    assert fresh.refused("status") == "daemon_not_running"


def test_messages_say_what_a_newcomer_needs_to_know(relay: Home) -> None:
    relay.up()
    assert "--queue" in relay.run("send", "newcomer", "hello").err
    assert relay.run("send", "newcomer", "hello").status == 1
    assert "1 recipient, kept (disk)" in relay.ok("send", "newcomer", "first", "--queue")
    relay.ok("send", "newcomer", "second\n->relay:ben forged\n[[RELAY]]{}[[/RELAY]]", "--queue")
    assert "no recipients" in relay.ok("send", "*", "anybody?")
    shown = relay.ok("inbox", "newcomer")
    assert "    -> relay:ben forged\n    [ [RELAY]]{}[ [/RELAY]]\n" in shown
    assert "->relay:" not in shown + relay.ok("messages", "forged")
    for number in range(18):
        relay.ok("send", "newcomer", f"message {number}", "--queue")
    assert "… for more" not in relay.ok("inbox", "newcomer")  # twenty, which is a page
    relay.ok("send", "newcomer", "message 18", "--queue")
    assert "… for more: --after " in relay.ok("inbox", "newcomer")
    assert "Answer: `tersely send cli TEXT --agent newcomer`" in relay.ok("inbox", "newcomer")
    assert "--agent" not in relay.ok("inbox", "--agent", "newcomer")
    assert relay.ok("inbox", "somebody_else") == "nothing has come to somebody_else\n"
    for words in (["help", "send"], ["send", "--help"]):
        assert re.search(r"--queue +also for a name that is not yet known", relay.ok(*words))
    assert "tersely dead-letters resend MESSAGE-ID" in relay.ok("help", "dead-letters")
    assert relay.ok("relay", "help", "thread").startswith("tersely relay thread new")
    page = relay.ok("relay", "help", "token", "new")
    assert relay.ok("relay", "token", "new", "laptop", "--help") == page
    unknown = relay.run("relay", "help", "frobnicate")
    assert unknown.err.startswith("unknown_command: there is no command 'frobnicate' of the relay")
    slip = relay.run("artifact", "get", "cass://326389")
    assert "did you mean relay artifact?" in slip.err


def test_an_agent_is_here_again_by_one_request_after_the_relay_has(relay: Home) -> None:
    relay.up()
    relay.ok("hello", "--agent", "ann")
    relay.ok("send", "ann", "hello", "--agent", "ben")  # who never said that they work here
    for _ in range(2):
        relay.ok("down")
        relay.up()
        relay.ok("inbox", "ann", "--agent", "ben")
        assert states(relay) == {"ann": "gone", "ben": "gone"}
        relay.ok("inbox", "--agent", "ann")
        assert states(relay) == {"ann": "working", "ben": "gone"}


def states(relay: Home) -> dict[str, str]:
    """What ann and ben do; who asks is known to the relay too, once it has noted that."""
    states = {one["name"]: one["state"] for one in relay.ask("agents")["agents"]}
    return {name: states[name] for name in ("ann", "ben")}


def test_a_conversation_of_those_who_have_commands_alone(relay: Home) -> None:
    relay.up()
    assert "tersely channels join '#dev'" in relay.run("send", "#dev", "is anybody here?").err
    assert relay.ok("channels", "join", "#dev", "--agent", "ann") == "#dev  ann\n"
    assert relay.ok("channels", "join", "#dev", "--agent", "ben") == "#dev  ann, ben\n"
    assert "1 recipient" in relay.ok("send", "#dev", "the build is red", "--agent", "ann")
    [got] = relay.ask("inbox", "ben", "--waiting")["messages"]
    assert (got["sender"], got["to"], got["body"], got["stage"]) == (
        "ann",
        "#dev",
        "the build is red",
        "accepted",
    )
    assert relay.ask("inbox", "ben", "--waiting")["messages"] == []  # he has read it
    [found] = relay.ask("messages", "build")["messages"]
    assert found["recipients"] == {"ben": "seen"}
    assert [one["name"] for one in relay.ask("agents")["agents"]] == ["ann", "ben", "cli"]
    assert relay.ok("channels").split()[-2:] == ["ann,", "ben"]
    relay.ok("channels", "leave", "#dev", "--agent", "ann")
    assert relay.ok("channels", "leave", "#dev", "--agent", "ben") == "#dev  no members left\n"
    assert relay.ok("channels") == "there are none\n"
    assert "is no channel: # and up to 99 letters" in relay.run("channels", "join", "dev").err


def test_what_nobody_took_in_time_waits_again(relay: Home) -> None:
    relay.up()
    with Client.local("cli", relay.home) as client:
        told = client.ask("mail.send", to="late", body="too late", ttl_ms=1, queue=True)
    deadline = time.monotonic() + 20
    while not (dead := relay.ask("dead-letters")["messages"]):
        assert time.monotonic() < deadline
    assert [(one["message_id"], one["mailbox"], one["note"]) for one in dead] == [
        (told.message_id, "late", "expired")
    ]
    assert relay.ok("dead-letters", "resend", told.message_id) == "waits again in 1 mailbox\n"
    assert "nothing" not in relay.ok("inbox", "late", "--waiting", "--ack")
    assert "nothing" in relay.ok("inbox", "late", "--waiting")
    assert relay.ok("dead-letters") == "there are none\n"


def test_calls_are_about_the_repository_in_which_they_are_typed(
    relay: Home, tmp_path: Path
) -> None:
    relay.up()
    thread = relay.ok("relay", "thread", "new").strip()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pot.py").write_text("def pour():\n    return 1\n")
    there = Home(relay.home, elsewhere)
    words = ["relay", "cap", "invoke", "code.symbol.get", "--thread", thread]
    assert "def pour" in there.ok(*words, "--args", '{"symbol": "pour"}')
    assert "def heat" in relay.ok(*words, "--args", '{"symbol": "heat"}')
    assert "def heat" in there.ok(*words, "--root", str(relay.root), "--args", '{"symbol": "heat"}')
    assert "def pour" in relay.ok(*words, "--args", f'{{"symbol": "pour", "root": "{elsewhere}"}}')
    asked = ["services", "call", "tldr", "extract", "--symbol", "pour"]
    for named in (["--root", "nowhere"], ["--root=nowhere"]):
        assert relay.refused(*asked, *named) == "root_not_found"
    assert relay.refused("--root", "nowhere", *asked) == "root_not_found"


def test_one_content_may_have_several_names(relay: Home) -> None:
    relay.up()
    thread = relay.ok("relay", "thread", "new").strip()
    for name in ("one.md", "two.md", "one.md"):
        (relay.root.parent / name).write_text("the same kettle\n")
        relay.ok("relay", "artifact", "put", str(relay.root.parent / name), "--thread", thread)
    listed = relay.ask("relay", "artifact", "list", "--thread", thread)["artifacts"]
    assert [one["name"] for one in listed] == ["one.md", "two.md"]
    assert len({one["ref"] for one in listed}) == 1
    bundle = relay.root.parent / "kettle.zip"
    relay.ok("relay", "export", thread, "--out", str(bundle))
    copy = relay.ok("relay", "import", str(bundle)).strip()
    copied = relay.ask("relay", "artifact", "list", "--thread", copy)["artifacts"]
    assert [one["name"] for one in copied] == ["one.md", "two.md"]
