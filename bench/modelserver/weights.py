"""A model that is written, not trained, and says what a script says.

It is a tiny model of the Llama architecture, so that llama.cpp tokenizes, evaluates, caches,
samples and streams as it does with any other. Weights are 32-bit floats, and bytes where there are
many and little depends on them.

**The scripted model** gives reply `k` after the special token `<|reply k|>`, which the chat
template writes where an assistant's message begins, followed by `<|clock|>`. What it says next is a
function of `k` and of the distance `d` to that clock alone, so replies may repeat themselves and
each other. One layer does it:

- Every query is the same, and only marks have keys. A pair of dimensions that turns very slowly
  makes the latest mark
  win: its score falls with the distance, steeply enough that an older one has no weight (RECENCY).
- Two heads for each of some frequencies ask with another phase how far the clock's key has been
  turned by the rotary
  position embedding: the weights of clock and mark, one token apart, are a sigmoid of `cos(w d +
  phase)`. All these
  weights together are a code of `d`.
- One head prefers the mark to its clock and reads from it the code of `k`.
- The feed-forward layer has one unit for each token of the script. It fires where both codes are
  its own, and writes
  the code of the token that comes next, which the output layer compares with all tokens.

After the last token of a reply comes the one that ends messages. The numbers below are chosen so
that codes of other places stay well below the threshold; `_feed_forward` compares the codes that
the model will compute, and refuses a script for which they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize
from numpy.typing import NDArray

from bench.modelserver.vocabulary import CLOCK, END, MOST_REPLIES, Tokens, reply_mark, tokens

Floats = NDArray[np.float32]
LONGEST_WINDOW_TOKENS = 32_768
PLAIN_TOKENS = 6_000

# The scripted model's dimensions
HEAD = 32  # of which each two turn together
FREQUENCIES = 14  # of the clock; two heads each
HEADS = 2 * FREQUENCIES + 1
TURN_CODE = 31
TOKEN_CODE = 128
CONSTANT, IS_CLOCK, IS_MARK = 0, 1, 2  # dimensions of the residual stream
TURN_AT = 3
DISTANCE_AT = TURN_AT + TURN_CODE  # one a head
READ_AT = DISTANCE_AT + 2 * FREQUENCIES  # the code of the turn as attention read it
TOKEN_AT = READ_AT + TURN_CODE
WIDTH = TOKEN_AT + TOKEN_CODE + (-(TOKEN_AT + TOKEN_CODE)) % 32
PREFER_PAIR, RECENT_PAIR = HEAD // 2 - 2, HEAD // 2 - 1

SWING = 1.5  # how far the scores of clock and mark move against each other
RECENCY = 120_000.0
SLOW = 0.9 / LONGEST_WINDOW_TOKENS  # radians a token, of the pair that tells the latest
PREFERENCE = 40.0  # of one head for the mark
BALANCE = 1.2  # what the clock is nearer by than its mark
LOUD = 30.0  # of the constant, which keeps the norm of every residual nearly the same
GAIN = 400.0
# Of those that were tried, those whose codes are the most different.
TURNING_SEED, SIGNS_SEED = 30, 12


class Shape(NamedTuple):
    """The sizes of a model."""

    width: int
    heads: int
    key_heads: int
    head: int
    hidden: int
    layers: int = 1


def scripted_model(path: Path, template: str, replies: Sequence[Sequence[int]]) -> None:
    """The model that gives these replies, each as its tokens; raises ValueError where it could
    confuse two places.
    """
    if len(replies) > MOST_REPLIES:
        raise ValueError(f"{len(replies)} replies; a scripted model has at most {MOST_REPLIES}")
    words = tokens(PLAIN_TOKENS)
    made = np.random.default_rng(SIGNS_SEED)
    turns = _signs(made, MOST_REPLIES, TURN_CODE)
    spoken = _signs(made, len(words.texts), TOKEN_CODE)
    end = words.id_of(END)
    places = [
        (turn, at, token)
        for turn, reply in enumerate(replies)
        for at, token in enumerate((*reply, end))
    ]
    hidden = len(places) + (-len(places)) % 32
    shape = Shape(WIDTH, HEADS, 1, HEAD, hidden)
    embedded = np.zeros((len(words.texts), WIDTH), np.float32)
    embedded[:, CONSTANT] = LOUD
    embedded[words.id_of(CLOCK), IS_CLOCK] = 1
    for turn in range(MOST_REPLIES):
        mark = words.id_of(reply_mark(turn))
        embedded[mark, IS_MARK] = 1
        embedded[mark, TURN_AT:DISTANCE_AT] = turns[turn]
    output = np.zeros((len(words.texts), WIDTH), np.float32)
    output[:, TOKEN_AT : TOKEN_AT + TOKEN_CODE] = spoken
    weights = {
        "token_embd.weight": embedded,
        "output.weight": output,
        "rope_freqs.weight": _frequency_factors(),
    }
    weights |= _attention() | _feed_forward(places, hidden, turns, spoken)
    write_model(path, "scripted", template, words, shape, weights)


def _signs(made: np.random.Generator, count: int, size: int) -> Floats:
    return (made.integers(0, 2, (count, size)) * 2 - 1).astype(np.float32)


def _turning() -> NDArray[np.float64]:
    """Radians a token, of each pair of dimensions of a head."""
    made = np.random.default_rng(TURNING_SEED)
    fast = np.sort(made.uniform(0.02, 3.0, FREQUENCIES))
    still = np.full(HEAD // 2 - FREQUENCIES, SLOW)
    return np.concatenate([fast, still])


def _frequency_factors() -> Floats:
    """What llama.cpp divides the usual frequencies by, so that each pair turns as `_turning` says."""
    usual = 10_000.0 ** (-np.arange(HEAD // 2) * 2 / HEAD)
    return (usual / _turning()).astype(np.float32)


# What a query is turned ahead by. The slow pairs stay within a quarter turn for every distance in
# the window.
_AHEAD = 0.3


def _attention() -> dict[str, Floats]:
    """Queries of the constant, keys and values of clocks and marks."""
    scale = np.sqrt(WIDTH)  # what the constant of a plain token is after the norm
    clock = scale / np.sqrt(LOUD**2 + 1)  # what a 1 of the clock's embedding is after it
    mark = scale / np.sqrt(LOUD**2 + 1 + TURN_CODE)
    root = np.sqrt(HEAD)  # by which llama.cpp divides scores
    queries = np.zeros((HEADS, HEAD, WIDTH), np.float64)
    keys = np.zeros((HEAD, WIDTH), np.float64)
    values = np.zeros((HEAD, WIDTH), np.float64)
    keys[2 * RECENT_PAIR, IS_CLOCK] = 1 / clock
    keys[2 * RECENT_PAIR, IS_MARK] = 1 / mark
    keys[2 * PREFER_PAIR, IS_MARK] = 1 / mark
    keys[0 : 2 * FREQUENCIES : 2, IS_CLOCK] = 1 / clock
    queries[:, 2 * RECENT_PAIR, CONSTANT] = RECENCY * root * np.cos(_AHEAD) / scale
    queries[:, 2 * RECENT_PAIR + 1, CONSTANT] = RECENCY * root * np.sin(_AHEAD) / scale
    for head in range(2 * FREQUENCIES):
        pair, phase = head // 2, np.pi / 2 * (head % 2)
        queries[head, 2 * pair, CONSTANT] = SWING * root * np.cos(phase) / scale
        queries[head, 2 * pair + 1, CONSTANT] = SWING * root * np.sin(phase) / scale
        queries[head, 2 * PREFER_PAIR, CONSTANT] = BALANCE * root / scale
    queries[-1, 2 * PREFER_PAIR, CONSTANT] = PREFERENCE * root / scale
    values[0, IS_CLOCK] = 1 / clock
    values[1 : 1 + TURN_CODE, TURN_AT:DISTANCE_AT] = np.eye(TURN_CODE) / mark
    joined = np.zeros((WIDTH, HEADS, HEAD), np.float64)
    for head in range(2 * FREQUENCIES):
        joined[DISTANCE_AT + head, head, 0] = 1
    joined[READ_AT : READ_AT + TURN_CODE, -1, 1 : 1 + TURN_CODE] = np.eye(TURN_CODE)
    made = {
        "q": queries.reshape(-1, WIDTH),
        "k": keys,
        "v": values,
        "output": joined.reshape(WIDTH, -1),
    }
    return {f"blk.0.attn_{name}.weight": weight.astype(np.float32) for name, weight in made.items()}


def distance_codes(longest: int) -> NDArray[np.float64]:
    """The code of each distance below `longest`, one a row: what the heads of the clock will read
    there.
    """
    turning = np.repeat(_turning()[:FREQUENCIES], 2)
    phases = np.tile([0.0, np.pi / 2], FREQUENCIES)
    distances = np.arange(longest)[:, None]
    swing = SWING * np.cos(turning * distances + phases)
    # The mark is one token further away than the clock, and the slow pair tells so.
    lead = RECENCY * (np.cos(SLOW * distances + _AHEAD) - np.cos(SLOW * (distances + 1) + _AHEAD))
    lead -= BALANCE * np.cos(SLOW * (distances + 1))
    weight: NDArray[np.float64] = 1 / (1 + np.exp(-(swing + lead)))
    return weight


def _feed_forward(
    places: Sequence[tuple[int, int, int]], hidden: int, turns: Floats, spoken: Floats
) -> dict[str, Floats]:
    """One unit for each place of the script: `turn`, distance to the clock, and the token that is
    said there.
    """
    distances = distance_codes(max(at for _, at, _ in places) + 1)
    middle = distances.mean(axis=0)
    centred = distances - middle
    own = centred / (centred**2).sum(axis=1, keepdims=True)  # own[d] @ centred[d] == 1
    margin = 1 - max(_likeness(own, centred), _likeness(turns / TURN_CODE, turns))
    if margin < 0.1:
        raise ValueError(f"two places of the script differ by {margin:.3f} of a code")
    gate = np.zeros((hidden, WIDTH), np.float32)
    down = np.zeros((WIDTH, hidden), np.float32)
    gate[:, CONSTANT] = -1  # units of no place stay silent
    threshold = 2 - margin / 2
    gain = GAIN / np.sqrt(WIDTH) * LOUD
    for unit, (turn, at, token) in enumerate(places):
        gate[unit, DISTANCE_AT:READ_AT] = gain * own[at]
        gate[unit, READ_AT:TOKEN_AT] = gain * turns[turn] / TURN_CODE
        gate[unit, CONSTANT] = -gain * (threshold + own[at] @ middle) / LOUD
        down[TOKEN_AT : TOKEN_AT + TOKEN_CODE, unit] = spoken[token] * (10 / (GAIN * margin))
    up = np.zeros((hidden, WIDTH), np.float32)
    up[:, CONSTANT] = 1 / np.sqrt(WIDTH)
    return {"blk.0.ffn_gate.weight": gate, "blk.0.ffn_up.weight": up, "blk.0.ffn_down.weight": down}


def _likeness(asked: NDArray[np.floating], others: NDArray[np.floating]) -> float:
    """How much the most similar one of the others resembles what is asked for, where 1 is the same;
    rows are codes.
    """
    most = -1.0
    for start in range(0, len(asked), 512):
        alike = asked[start : start + 512] @ others.T
        own = np.arange(start, start + len(alike))
        alike[np.arange(len(alike)), own] = -1
        most = max(most, float(alike.max()))
    return most


def write_model(
    path: Path, name: str, template: str, words: Tokens, shape: Shape, weights: dict[str, Floats]
) -> None:
    """Write a model of the Llama architecture to a GGUF file."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_name(name)
    writer.add_context_length(LONGEST_WINDOW_TOKENS)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_heads)
    writer.add_key_length(shape.head)
    writer.add_value_length(shape.head)
    writer.add_rope_dimension_count(shape.head)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-9)
    _add_vocabulary(writer, template, words)
    ones = np.ones(shape.width, np.float32)
    norms = {
        f"blk.{layer}.{kind}_norm.weight": ones
        for layer in range(shape.layers)
        for kind in ("attn", "ffn")
    }
    for label, weight in {**weights, **norms, "output_norm.weight": ones}.items():
        if ".ffn_" in label and label not in norms:
            kind = GGMLQuantizationType.Q8_0
            writer.add_tensor(label, quantize(weight, kind), raw_dtype=kind)
        else:
            writer.add_tensor(label, weight)
    _write(writer)


def _add_vocabulary(writer: GGUFWriter, template: str, words: Tokens) -> None:
    writer.add_vocab_size(len(words.texts))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-4o")
    writer.add_token_list(words.texts)
    writer.add_token_merges(words.merges)
    special = len(words.texts) - words.plain
    writer.add_token_types([TokenType.NORMAL] * words.plain + [TokenType.CONTROL] * special)
    end = words.id_of(END)
    writer.add_eos_token_id(end)
    writer.add_bos_token_id(end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(template)


def _write(writer: GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
