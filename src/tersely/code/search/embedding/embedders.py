"""What makes vectors of units and of questions: the word table, or a model that the user has chosen.

A choice is written `name` or `name:model`. Only the chosen one is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tersely.code.search.embedding.table import shipped_table
from tersely.code.search.embedding.vectors import Floats
from tersely.code.search.query import Query
from tersely.code.search.storage.segment import Embed
from tersely.foundation.errors import TerselyError

USUAL = "usual"  # where such a server listens when nobody has said otherwise
NO_KEY = "none"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which model, and how to reach it."""

    name: str = "words"  # `words`, `ollama:nomic-embed-text`, `openai:text-embedding-3-small`, …
    url: str = USUAL  # of the server, where there is one
    key: str = NO_KEY  # what the server knows the user by


@dataclass(frozen=True, slots=True)
class Embedder:
    """Makes vectors. Those of two identities are not to be compared."""

    identity: str
    embed_units: Embed
    embed_question: Callable[[Query], Floats]


def word_embedder() -> Embedder:
    """Vectors from the word table that comes with the program."""
    table = shipped_table()
    return Embedder(
        f"words {table.identity}",
        lambda batch: table.embed_bags(batch.pieces(table)),
        lambda query: table.embed_pieces(query.pieces),
    )


def _ollama(model: str, choice: Choice) -> Embedder:
    from tersely.code.search.embedding.remote import ollama

    return ollama(model, _url(choice))


def _openai(model: str, choice: Choice) -> Embedder:
    from tersely.code.search.embedding.remote import openai

    return openai(model, _url(choice), "" if choice.key == NO_KEY else choice.key)


def _url(choice: Choice) -> str:
    """The place of the server, "" for the usual one."""
    return "" if choice.url == USUAL else choice.url


def _onnx(model: str, choice: Choice) -> Embedder:
    from tersely.code.search.embedding.local import onnx

    return onnx(model)


def _fastembed(model: str, choice: Choice) -> Embedder:
    from tersely.code.search.embedding.local import fastembed

    return fastembed(model)


# By name: how it is made, and the model that is taken when none is named ("" if one must be).
MODELS: Mapping[str, tuple[Callable[[str, Choice], Embedder], str]] = {
    "ollama": (_ollama, "nomic-embed-text"),
    "openai": (_openai, "text-embedding-3-small"),
    "onnx": (_onnx, ""),
    "fastembed": (_fastembed, "BAAI/bge-small-en-v1.5"),
}


def chosen_embedder(choice: Choice) -> Embedder:
    """The embedder that was chosen; `invalid_setting` for one that there is not."""
    name, _, model = choice.name.partition(":")
    if choice.name == "words":
        return word_embedder()
    if name not in MODELS:
        raise TerselyError(
            "invalid_setting", f"embedder cannot be {choice.name!r}", f"One of: words, {', '.join(MODELS)}."
        )
    make, usual = MODELS[name]
    if not model and not usual:
        raise TerselyError("invalid_setting", f"embedder {name!r} needs a model", f"Write {name}:MODEL.")
    return make(model or usual, choice)
