"""The last screen of a wrapped program is on its page, for the person alone, and never markup."""

from __future__ import annotations

import http.client
import sys
from contextlib import closing
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from tests.cli.relay_home import Home
from tests.own_terminal import IS_TOLD_APART, at_terminal
from tests.wrap.conftest import Tmux, wait_for

HOSTILE = r'printf "\033[31m<img src=x onerror=alert(1)>\033[0m kettle \342\200\256gnp.exe\n"; exec sleep 60'


class Browser:
    """What is asked for with a cookie; one whose ticket was made at a terminal is the person's."""

    def __init__(self, relay: Home, *, is_person: bool) -> None:
        source = "from tersely.client import Client; print(Client.local('cli').page(''))"
        url = urlsplit(
            at_terminal(
                sys.executable, "-c", source, has_one=is_person, TERSELY_HOME=str(relay.home)
            )
        )
        self._host = url.netloc
        fields = urlencode({"ticket": parse_qs(url.query)["ticket"][0]})
        self._cookie = ""
        cookie, _ = self._ask("POST", "/ui/login", fields)
        self._cookie = cookie.partition(";")[0]

    def page(self, path: str) -> str:
        return self._ask("GET", path)[1]

    def _ask(self, method: str, path: str, body: str = "") -> tuple[str, str]:
        """The cookie and the text of an answer."""
        headers = {
            "Origin": f"http://{self._host}",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        with closing(http.client.HTTPConnection(self._host, timeout=60)) as connection:
            connection.request(method, path, body, {**headers, "Cookie": self._cookie})
            answer = connection.getresponse()
            return answer.getheader("set-cookie") or "", answer.read().decode()


@pytest.mark.slow
@pytest.mark.skipif(not IS_TOLD_APART, reason="persons cannot be told from agents here")
def test_the_person_sees_the_last_screen_of_an_agent(relay: Home, tmux: Tmux) -> None:
    tmux.run("kit", "sh", "-c", HOSTILE)
    person, other = Browser(relay, is_person=True), Browser(relay, is_person=False)
    path = "/ui/agent?name=kit"
    page = wait_for(lambda: text if "kettle" in (text := person.page(path)) else "", "the screen")
    assert "&lt;img src=x onerror=alert(1)&gt; kettle \\u202egnp.exe" in page
    assert "\x1b" not in page
    assert "kettle" not in other.page(path)
    assert "shown to the person alone" in other.page(path)
    tmux.ask("kill-session", "-t", "tersely-kit:")
    wait_for(lambda: "<dd>gone</dd>" in person.page(path), "its end")
    assert "kettle" in person.page(path)
