"""Units and questions as texts for a model."""

from __future__ import annotations

from collections.abc import Iterable

from tersely.code.search.query import Query
from tersely.code.search.storage.segment import Text
from tersely.foundation.limits import EMBEDDED_CHARACTERS


def unit_texts(texts: Iterable[Text]) -> list[str]:
    """Where it is and what it is called, what is said of it, and the beginning of its code."""
    return [f"{text.heading}\n{text.doc}\n{text.code}"[:EMBEDDED_CHARACTERS] for text in texts]


def question_text(query: Query) -> str:
    """The question as it was asked."""
    return query.text[:EMBEDDED_CHARACTERS]
