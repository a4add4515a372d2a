"""The reference that token counts are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken
from tiktoken_ext import openai_public

from tersely.foundation.text import tokens
from tersely.foundation.text.vocabulary import Vocabulary

VOCABULARY_FILE = Path(tokens.__file__).with_name("o200k.bin")


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary(str(VOCABULARY_FILE))


@pytest.fixture(scope="session")
def ranks(vocabulary: Vocabulary) -> dict[bytes, int]:
    return {vocabulary.token(rank): rank for rank in range(vocabulary.size)}


@pytest.fixture(scope="session")
def reference(ranks: dict[bytes, int]) -> tiktoken.Encoding:
    """tiktoken's o200k_base, its pattern and all, with our ranks in place of the file that it would
    download.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
        return tiktoken.Encoding(**openai_public.o200k_base())
