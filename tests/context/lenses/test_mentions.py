"""Which classes and values the text of a symbol depends on."""

from __future__ import annotations

import pytest
from tests.context.planted import Planted, plant

from tersely.context.lenses.mentions import declared_in, mentioned

SOURCE = """
LIMIT = 3
NAMES = ["a"]

class Base: ...
class Token: ...
class Broken(Exception): ...

class Session(Base):
    token: Token

    def validate(self, token: Token) -> bool:
        if len(token) > LIMIT or self.NAMES:
            raise Broken
        return helper() and Session.check(token)

def helper(): return LIMIT
"""


@pytest.fixture
def planted() -> Planted:
    return plant({"a.py": SOURCE})


def used(planted: Planted, name: str) -> list[tuple[str, str]]:
    symbol = planted[f"a.py:{name}"]
    source = planted.sources["a.py"]
    signature = source[symbol.start_byte : symbol.signature_end_byte].decode()
    body = source[symbol.signature_end_byte : symbol.end_byte].decode()
    found = mentioned(symbol, signature, body, declared_in(planted.by_path["a.py"]).get)
    return [(other.name, reason) for other, reason in found]


def test_types_and_constants_in_order_of_mention(planted: Planted) -> None:
    # Not `Session`, which holds the method, nor `NAMES`, which is a member of something here.
    assert used(planted, "Session.validate") == [
        ("Token", "type"),
        ("LIMIT", "constant"),
        ("Broken", "type"),
    ]


def test_what_a_class_declares_itself_by_is_its_base(planted: Planted) -> None:
    assert used(planted, "Session")[:2] == [("Base", "base"), ("Token", "type")]


def test_functions_are_the_business_of_the_call_graph(planted: Planted) -> None:
    assert "helper" not in [name for name, _ in used(planted, "Session.validate")]
