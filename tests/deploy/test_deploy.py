"""What `deploy/` has, as far as a machine without containers can try it: the proxy with two relays
behind it, the files that name each other, and the unit of systemd.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import certificate
from tests.cli.relay_home import Home, home_of
from tests.doors.free_port import free_port
from tests.own_postgres import Server

from tersely.client import relay_process
from tersely.client.peer import Peer

DEPLOY = Path(__file__).parents[2] / "deploy"
END_SECONDS = 60


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def _replaced(name: str, *pairs: tuple[str, str]) -> str:
    """A file of the folder with places of this machine; each has to be in it."""
    text = (DEPLOY / name).read_text()
    for before, after in pairs:
        assert before in text, before
        text = text.replace(before, after)
    return text


@contextmanager
def _proxy(folder: Path, port: int, relays: list[int]) -> Iterator[str]:
    """nginx with the configuration of the folder; the file of its certificate."""
    made = certificate.make(folder / "tls", "127.0.0.1")
    site = _replaced(
        "nginx.conf",
        ("listen 8443", f"listen 127.0.0.1:{port}"),
        ("/etc/nginx/tls", str(folder / "tls")),
        ("127.0.0.1:7474", f"127.0.0.1:{relays[0]}"),
        ("127.0.0.1:7475", f"127.0.0.1:{relays[1]}"),
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; user root; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {places}\n{site}}}\n"
    )
    command = ["nginx", "-p", folder, "-c", folder / "nginx.conf", "-e", folder / "error.log"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    with subprocess.Popen(command) as process:
        try:
            yield str(made.certificate)
        finally:
            process.terminate()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx here")
def test_two_relays_behind_the_proxy_are_one_and_one_may_go(
    postgres: Server, tmp_path: Path
) -> None:
    ports, entry = [free_port(), free_port()], free_port()
    homes = [Home(tmp_path / f"relay{port}", tmp_path) for port in ports]
    for home, port in zip(homes, ports, strict=True):
        home.home.mkdir(mode=0o700)
        home.environment["TERSELY_STORE"] = postgres.url
        config = _replaced("config.toml", ("relay.example", "127.0.0.1"))
        (home.home / "config.toml").write_text(config)
        home.ok("up", "--no-tcp", "--listen", f"127.0.0.1:{port}")
    (tmp_path / "proxy").mkdir()
    with (
        home_of(tmp_path / "near", tmp_path) as near,
        _proxy(tmp_path / "proxy", entry, ports) as authority,
    ):
        try:
            code = homes[0].ok("relay", "token", "new", "ann").splitlines()[0]
            near.environment["SSL_CERT_FILE"] = authority
            near.ok("join", f"https://127.0.0.1:{entry}", input=code)
            assert asyncio.run(_talked(near, homes[1])) == "through the proxy"
            relay_process.stop(homes[0].home)
            near.ok("send", "ann", "from the one that is left")
            assert "from the one that is left" in near.ok("inbox", "ann")
        finally:
            for home in homes:
                relay_process.stop(home.home)


async def _talked(near: Home, far: Home) -> str:
    """What is delivered over a WebSocket through the proxy, of who is at a relay itself."""
    async with asyncio.timeout(END_SECONDS):
        eva = await Peer.connect("eva", home=near.home)
        ned = await Peer.connect("ned", home=far.home)
        async with eva, ned:
            await ned.send("eva", "through the proxy", queue=True)
            async for delivery in eva.deliveries():
                await eva.ack(delivery)
                return delivery.body
    return ""


def test_a_relay_that_stays_ends_with_its_command_and_the_other_way_round(tmp_path: Path) -> None:
    home = Home(tmp_path / "home", tmp_path)
    with _staying(home) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_SECONDS) == 0
        assert relay_process.running(home.home) is None
    with _staying(home) as process:
        relay_process.stop(home.home)
        assert process.wait(END_SECONDS) == 3
        assert process.stderr is not None
        assert "the relay has ended" in process.stderr.read()


@contextmanager
def _staying(home: Home) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tersely", "up", "--stay", "--no-tcp"]
    with subprocess.Popen(
        command, cwd=home.root, env=home.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            assert "started" in process.stderr.readline()
            yield process
        finally:
            process.kill()
            relay_process.stop(home.home)


def test_the_files_of_compose_name_what_is_there() -> None:
    compose: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services, kept = compose["services"], compose["volumes"]
    places = [one.split(":") for service in services.values() for one in service.get("volumes", ())]
    own = {source for source, *_ in places if source.startswith("./")} - {"./tls"}
    assert all((DEPLOY / source).is_file() for source in own)
    assert {source for source, *_ in places if not source.startswith("./")} == set(kept)
    listened = [service["command"][-1] for name, service in services.items() if "relay" in name]
    proxied = re.findall(r"server (127\.0\.0\.1:\d+);", (DEPLOY / "nginx.conf").read_text())
    assert listened == proxied
    assert services["relay-1"]["network_mode"] == "service:proxy"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "tersely.service"
    program = Path(sys.executable).with_name("tersely")
    unit.write_text(_replaced("tersely.service", ("/usr/local/bin/tersely", str(program))))
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert "tersely.service" not in done.stderr
