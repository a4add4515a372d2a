"""Embedders, which make vectors of units and of questions: the built-in word table, or a server
that the user names.
"""

from __future__ import annotations

from collections.abc import Callable

from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.query import Query
from tersely.code.search.storage.segment import Embed
from tersely.foundation.arrays import Floats
from tersely.foundation.errors import TerselyError
from tersely.foundation.types import frozen

NONE = "none"  # the value of a setting that is not set


@frozen
class Choice:
    """A model and the server that runs it; the word table where neither is set."""

    url: str = NONE  # of an API compatible with OpenAI's, such as http://127.0.0.1:11434/v1
    model: str = NONE
    key: str = NONE  # the server's API key


@frozen
class Embedder:
    """Makes vectors. Those of two identities are not to be compared."""

    identity: str
    embed_units: Embed
    embed_question: Callable[[Query], Floats]


def chosen_embedder(choice: Choice) -> Embedder:
    """The embedder for a choice; `invalid_setting` for a server without a model or a model without
    a server.
    """
    if choice.url == NONE and choice.model == NONE:
        return word_embedder()
    if NONE in {choice.url, choice.model}:
        hint = "Set both, or neither to search with the built-in word table."
        raise TerselyError(
            "invalid_setting", "embedder_url and embedder_model need each other", hint
        )
    from tersely.code.search.embedding.remote import server_embedder

    return server_embedder(choice.url, choice.model, "" if choice.key == NONE else choice.key)


def word_embedder() -> Embedder:
    """Vectors from the word table that comes with the program."""
    table = shipped_table()
    return Embedder(
        f"words {table.identity}",
        lambda batch: table.embed_bags(batch.pieces(table)),
        lambda query: table.embed_pieces(query.pieces),
    )
