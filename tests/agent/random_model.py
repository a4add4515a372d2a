"""A model that says anything, for servers of tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bench.modelserver.vocabulary import Tokens, tokens
from bench.modelserver.weights import (
    Floats,
    Shape,
    write_model,
)

FUZZ_TOKENS = 800
PLAIN_TEMPLATE = (
    "{%- for message in messages -%}<|{{ message.role }}|>{{ message.content }}<|end|>{%- endfor -%}"
    "{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}"
)
LINE_END, CALL, CALL_END = "\n", "\n<call", "\n</call>"


def fuzz_tokens() -> Tokens:
    """The tokenizer of models that say anything. They can begin and end a call at one go."""
    return tokens(FUZZ_TOKENS, (CALL, CALL_END))


def write_random(path: Path, seed: int = 0) -> None:
    """Write a model to a GGUF file whose answers depend on what went before, and mean nothing."""
    made = np.random.default_rng(seed)
    words = fuzz_tokens()
    shape = Shape(width=64, heads=4, key_heads=2, head=16, hidden=128, layers=2)

    def some(*size: int) -> Floats:
        return made.standard_normal(size, dtype=np.float32) / np.float32(np.sqrt(size[-1]))

    weights = {
        "token_embd.weight": some(len(words.texts), 64) * 8,
        "output.weight": some(len(words.texts), 64) * 2,
    }
    for layer in range(shape.layers):
        at = f"blk.{layer}."
        weights |= {
            f"{at}attn_{name}.weight": some(size, 64)
            for name, size in (("q", 64), ("k", 32), ("v", 32))
        }
        weights |= {f"{at}attn_output.weight": some(64, 64), f"{at}ffn_down.weight": some(64, 128)}
        weights |= {f"{at}ffn_{name}.weight": some(128, 64) for name in ("gate", "up")}
    write_model(path, "random", PLAIN_TEMPLATE, words, shape, weights)
