"""Two homes as two machines, with a proxy of our own between them: one has joined the relay of the
other.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import certificate
from tests.cli.relay_home import Home
from tests.client import one_thread
from tests.doors.free_port import free_port
from tests.link import Link

from tersely.cli.builtin.daemon import ANSWER_WORDS
from tersely.client import Client, ask, joining, relay_process
from tersely.client.peer import Peer
from tersely.doors.gateway.requests import waiting
from tersely.doors.listening import read_address
from tersely.foundation.clock import Stopwatch
from tersely.foundation.errors import TerselyError
from tersely.foundation.process import detached
from tersely.relay.wire.addresses import Address
from tersely.relay.wire.home import NO_PORT

pytest.importorskip("websockets")

WORK_ROUNDS = 6  # of each of those who work on one thread


class Machines:
    """The relay's machine, and one that joins it through the link."""

    def __init__(self, far: Home, near: Home, address: Address, link: Link) -> None:
        self.far, self.near, self.address, self.link = far, near, address, link
        self.url = f"https://127.0.0.1:{link.port}"

    def serve(self) -> None:
        relay_process.start(self.far.home, NO_PORT, str(self.far.root), ANSWER_WORDS, self.address)

    def kill(self) -> None:
        """End the relay without a word, and have another in its place."""
        told = relay_process.running(self.far.home)
        assert told is not None
        with detached.process(told.pid) as relay:
            relay.signal(signal.SIGKILL)
            relay.wait(60)
        self.serve()

    def code(self, identity: str, *more: str) -> str:
        return self.far.ok("relay", "token", "new", identity, *more).splitlines()[0]


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    far_home, near_home = tmp_path_factory.mktemp("far"), tmp_path_factory.mktemp("near")
    shop = tmp_path_factory.mktemp("work") / "shop"
    shop.mkdir()
    (shop / "till.py").write_text("def total(prices):\n    return sum(prices)\n")
    made = certificate.make(tmp_path_factory.mktemp("tls"), "127.0.0.1")
    address = read_address(f"127.0.0.1:{free_port()}", str(made.certificate), str(made.key))
    link = Link(address.port)
    far, near = Home(far_home, far_home), Home(near_home, shop)
    near.environment["TERSELY_DAEMON"] = "use"
    near.environment["SSL_CERT_FILE"] = str(made.certificate)
    found = Machines(far, near, address, link)
    try:
        found.serve()
        near.ok("join", found.url, "--machine", "laptop", "--share", input=found.code("ann"))
        yield found
    finally:
        near.run("daemon", "stop")
        relay_process.stop(near_home)
        relay_process.stop(far_home)
        link.close()


@pytest.fixture
def whole(machines: Machines) -> Iterator[Machines]:
    """The machines, whatever a test does to them, in order afterwards."""
    yield machines
    machines.link.mend()
    machines.serve()


def test_tools_of_the_machine_use_the_other_relay(machines: Machines) -> None:
    thread = machines.near.ok("relay", "thread", "new", "--name", "prices").strip()
    assert thread in machines.far.ok("relay", "runs")
    machines.far.ok("send", "ann", "hello from afar")
    assert "hello from afar" in machines.near.ok("inbox")
    machines.near.ok("claim", "till.py")
    # as one of the relay's machine sees them
    claims = Home(machines.far.home, machines.near.root).ok("claims")
    assert ("till.py" in claims, "ann" in claims) == (True, True)


def test_code_is_answered_where_it_is(machines: Machines) -> None:
    watch = Stopwatch()
    while "shop@laptop" not in machines.far.ok("services"):
        # it is offered soon after the machine has joined
        assert watch.seconds() < 20
    asked = ("services", "call", "shop@laptop", "search", "--query", "total")
    assert "total" in machines.far.ok(*asked)
    # nobody else chooses what is read
    assert "total" in machines.far.ok(*asked, "--root", str(machines.far.home))


def test_what_is_sent_without_a_network_is_kept_and_sent(whole: Machines) -> None:
    whole.far.ok("send", "ann", "first")  # so that both are known
    whole.link.cut()
    said = [whole.near.ok("send", "cli", f"kept {number}") for number in range(3)]
    assert "kept on this machine" in said[0]
    assert waiting(whole.near.home) == 3
    failed = whole.near.run("agents")
    assert failed.status == 3
    assert "relay_unreachable" in failed.err
    whole.link.mend()
    whole.near.ok("send", "cli", "kept 3")  # which goes behind those that wait
    found = [line.strip() for line in whole.far.ok("inbox").splitlines() if "kept" in line]
    assert found == [f"kept {number}" for number in range(4)]
    assert waiting(whole.near.home) == 0


class Talk:
    """One sends from the relay's machine, the other receives on the one that has joined; both come
    again when lost.
    """

    def __init__(self, machines: Machines, thread: str, sent: list[str]) -> None:
        self.machines, self.thread, self.sent = machines, thread, sent
        self.came: list[str] = []

    async def run(self) -> list[str]:
        far = await Peer.connect("eva", home=self.machines.far.home)
        near = await Peer.connect("ned", home=self.machines.near.home)
        async with asyncio.timeout(60), far, near:
            await asyncio.gather(self.receiving(near), self.sending(far))
        return self.came

    async def receiving(self, peer: Peer) -> None:
        while self.came != self.sent:
            try:
                await self.taking(peer)
            except TerselyError:
                await again(peer)

    async def taking(self, peer: Peer) -> None:
        async for delivery in peer.deliveries():
            if delivery.body not in self.came:
                self.came.append(delivery.body)
            await peer.ack(delivery)
            if self.came == self.sent:
                return

    async def sending(self, peer: Peer) -> None:
        cut = len(self.sent) // 3
        happens = {
            cut: self.machines.link.cut,
            cut + 3: self.machines.link.mend,
            2 * cut: self.machines.kill,
        }
        for number, body in enumerate(self.sent):
            await asyncio.to_thread(happens.get(number, lambda: None))
            while not await self.is_taken(peer, f"id-{number}", body):
                await again(peer)

    async def is_taken(self, peer: Peer, sent_id: str, body: str) -> bool:
        try:
            await peer.send("ned", body, thread=self.thread, id=sent_id)
        except TerselyError:
            return False
        return True


async def again(peer: Peer) -> None:
    """Connect, however long there is nobody; the pause is for others to have the machine meanwhile."""
    while True:
        try:
            await peer.resume()
        except TerselyError:
            await asyncio.sleep(0.05)
        else:
            return


def test_nothing_is_lost_while_the_link_drops_and_the_relay_is_killed(whole: Machines) -> None:
    with Client.local("eva", home=whole.far.home) as local:
        thread = local.ask("thread.new", name="both").thread_id
    sent = [f"step {number}" for number in range(30)]
    assert asyncio.run(Talk(whole, thread, sent).run()) == sent
    # who was written to of a thread is a member of it
    assert "both" in whole.near.ok("relay", "show", thread)


def test_agents_of_both_machines_work_on_one_thread(whole: Machines) -> None:
    thread = whole.near.ok("relay", "thread", "new", "--name", "work").strip()
    with Client.local("checker", home=whole.far.home) as checker:
        first = [{"op": "add", "path": "/facts/-", "value": one_thread.COUNTER}]
        checker.ask("state.patch", thread=thread, patch=first)
        names = ("fay", "nell", "finn", "nick")
        homes = (whole.far.home, whole.near.home) * 2
        steps = 5 * len(names) * WORK_ROUNDS
        course = one_thread.Course({
            steps // 6: whole.link.cut, steps // 4: whole.link.mend, steps // 2: whole.kill,
        })  # fmt: skip
        colleagues = (*names[1:], names[0])
        one_thread.work(
            [
                one_thread.Worker(name, home, colleague, thread, course)
                for name, home, colleague in zip(names, homes, colleagues, strict=True)
            ],
            WORK_ROUNDS,
        )
        assert course.told.complaints(checker, thread) == []
    # it was as bad as it was meant to be
    assert {"relay_unreachable", "version_conflict"} <= course.told.answers.keys()


def test_a_certificate_is_believed_where_the_trust_store_has_its_authority(
    machines: Machines, tmp_path: Path
) -> None:
    other = Home(tmp_path, tmp_path)
    unknown = other.run("join", machines.url, input="CODE")
    assert (unknown.status, unknown.err.count("\n")) == (3, 2)
    assert unknown.err.startswith("invalid_certificate: ")
    assert "is not believed" in unknown.err
    assert "SSL_CERT_FILE" in unknown.err.splitlines()[1]
    for store in ("missing.pem", "empty.pem"):
        (tmp_path / "empty.pem").touch()
        other.environment["SSL_CERT_FILE"] = str(tmp_path / store)
        said = other.run("join", machines.url, input="CODE")
        assert (said.status, said.err.count("\n")) == (3, 2), said
        assert said.err.startswith("invalid_certificate: no trust store can be read: ")
    other.environment["SSL_CERT_FILE"] = machines.near.environment["SSL_CERT_FILE"]
    assert "used before" in other.run("join", machines.url, input="CODE").err
    assert "without TLS" in other.run("join", "http://relay.example", input="CODE").err
    assert joining.load(tmp_path) is None


def test_a_code_in_a_file_is_of_this_user_alone(machines: Machines, tmp_path: Path) -> None:
    other = Home(tmp_path / "home", tmp_path)
    other.environment["SSL_CERT_FILE"] = machines.near.environment["SSL_CERT_FILE"]
    code = tmp_path / "code"
    code.write_text(machines.code("ivy"))
    code.chmod(0o644)
    given = ("join", machines.url, "--code-file", str(code))
    assert "chmod 600" in other.run(*given).err
    code.chmod(0o600)
    try:
        other.ok(*given)
        assert (other.home / "joined.json").stat().st_mode & 0o077 == 0
        assert "already" in other.run("join", machines.url, input="x").err
        assert "the token of this machine is revoked" in other.ok("leave")
    finally:
        relay_process.stop(other.home)
    assert "ivy" not in machines.far.ok("relay", "token", "list")
    with Client.local(home=machines.far.home) as local:
        assert [
            one.identity for one in local(ask("token_list")).tokens if one.identity == "ivy"
        ] == []


_STRANGER = """
import json, os, socket, stat, sys
names, pids = json.load(sys.stdin), sys.argv[1:]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
found = []
def tried(what, do):
    try:
        do()
        found.append(what)
    except PermissionError:
        pass
for name, mode in names:
    if stat.S_ISSOCK(mode):
        tried(name, lambda: socket.socket(socket.AF_UNIX).connect(name))
    elif stat.S_ISDIR(mode):
        tried(name, lambda: os.listdir(name))
        tried(name, lambda: open(name + "/new", "x"))
    else:
        tried(name, lambda: open(name, "rb"))
        tried(name, lambda: open(name, "r+b"))
for pid in pids:
    print(open(f"/proc/{pid}/cmdline").read())
    tried(pid, lambda: open(f"/proc/{pid}/environ").read(1))
print("found", found)
"""
# what a home has once all of it was used
_KEPT = {
    "relay.db", "relay.lock", "relay.log", "relay.sock", "http.sock", "token", "joined.json", "backup.json",
    "unsent", "big.tar",
}  # fmt: skip


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_finds_nothing(whole: Machines) -> None:
    membership = joining.load(whole.near.home)
    assert membership is not None
    blobs = _use_everything(whole)
    homes = (whole.near.home, whole.far.home)
    pids = [str(told.pid) for told in map(relay_process.running, homes) if told is not None]
    names = [(str(path), path.lstat().st_mode) for home in homes for path in _inside(home)]
    assert {Path(name).name for name, _ in names} >= _KEPT | blobs
    above = {path for home in homes for path in (home, *home.parents) if path != Path("/")}
    modes = [(path, path.stat().st_mode) for path in above]
    for path, mode in modes:
        path.chmod(mode | 0o011)  # so that nothing but what is in a home itself is in the way
    try:
        asked = [sys.executable, "-I", "-c", _STRANGER, *pids]
        done = subprocess.run(
            asked, input=json.dumps(names), capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        for path, mode in modes:
            path.chmod(mode)
    assert done.stdout.splitlines()[-1:] == ["found []"], done
    assert membership.token not in done.stdout


def _use_everything(machines: Machines) -> set[str]:
    """Have everything kept that is: an artifact of its own file, a backup, a message that waits;
    the names of the files of artifacts.
    """
    thread = machines.far.ok("relay", "thread", "new").strip()
    with Client.local("eva", home=machines.far.home) as local:
        ref = local.upload(thread, io.BytesIO(b"secret" * 100_000)).ref
    (machines.far.home / "kept").mkdir(mode=0o700, exist_ok=True)
    machines.far.ok("relay", "backup", str(machines.far.home / "kept/big.tar"))
    machines.link.cut()
    machines.near.ok("send", "cli", "kept")
    return {ref}


def _inside(home: Path) -> Iterator[Path]:
    return (
        path for path in home.rglob("*") if not path.name.endswith(("-shm", "-wal", "-journal"))
    )
