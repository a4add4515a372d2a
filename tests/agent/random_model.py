"""A model that says anything, for servers of tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from bench.modelserver.vocabulary import Tokens, tokens
from bench.modelserver.weights import (
    Floats,
    RecurrentShape,
    Shape,
    write_model,
    write_recurrent_model,
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


def write_random_recurrent(path: Path, seed: int = 0) -> None:
    """The same with a state for the whole prompt, as Mamba has it."""
    made = np.random.default_rng(seed)
    words = fuzz_tokens()
    shape = RecurrentShape(width=64, inner=128, state=16, kernel=4, step_rank=8, layers=2)

    def some(*size: int) -> Floats:
        return made.standard_normal(size, dtype=np.float32) / np.float32(np.sqrt(size[-1]))

    ones = np.ones(shape.width, np.float32)
    weights = {
        "token_embd.weight": some(len(words.texts), 64) * 8,
        "output.weight": some(len(words.texts), 64) * 2,
    }
    weights["output_norm.weight"] = ones
    decays = -np.tile(np.arange(1, shape.state + 1, dtype=np.float32), (shape.inner, 1))
    for layer in range(shape.layers):
        at = f"blk.{layer}."
        weights |= {
            f"{at}attn_norm.weight": ones,
            f"{at}ssm_a": decays,
            f"{at}ssm_d": np.ones(128, np.float32),
        }
        weights |= {f"{at}ssm_in.weight": some(256, 64), f"{at}ssm_out.weight": some(64, 128)}
        weights |= {
            f"{at}ssm_conv1d.weight": some(128, 4),
            f"{at}ssm_conv1d.bias": np.zeros(128, np.float32),
        }
        weights |= {f"{at}ssm_x.weight": some(40, 128), f"{at}ssm_dt.weight": some(128, 8)}
        weights[f"{at}ssm_dt.bias"] = np.full(128, -2, np.float32)
    write_recurrent_model(path, PLAIN_TEMPLATE, words, shape, weights)
