"""Scripts of the scripted model: which reply is given when, as a chat template, and the tokens of
replies.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.modelserver import weights
from bench.modelserver.vocabulary import CLOCK, END, merged, reply_mark, source_vocabulary
from tersely.foundation.text import tokens as counting

ENDED = "The script has ended."


class Reply(NamedTuple):
    """What the model says: after a message that has `when` in it, or, without one, in its turn.

    Turns count the messages of the assistant in the request, so what follows a compaction wants a
    `when`.
    """

    text: str
    when: str = ""


def write_scripted(path: Path, script: Sequence[Reply | str], *, has_tools: bool = False) -> None:
    """Write the model that replays a script to a GGUF file; `has_tools`: its template has Hermes'
    form of calls.
    """
    replies = [Reply(reply) if isinstance(reply, str) else reply for reply in script]
    texts = [*(reply.text for reply in replies), ENDED]
    weights.scripted_model(
        path, template_of(replies, has_tools=has_tools), [tokens_of(text) for text in texts]
    )


_FUNCTIONS = (
    "{%- if tools -%}<|system|>Call a function as <tool_call>\n"
    '{"name": "function-name", "arguments": {"argument": "value"}}\n</tool_call>\n<tools>'
    f"{{%- for tool in tools -%}}{{{{ tool | tojson }}}}\n{{%- endfor -%}}</tools>{END}{{%- endif -%}}"
)
_CALLS = (
    "{%- for call in message.tool_calls or [] -%}{%- set function = call.function or call -%}\n<tool_call>\n"
    '{"name": "{{ function.name }}", "arguments": {{ function.arguments | tojson }}}\n</tool_call>{%- endfor -%}'
)


def template_of(replies: Sequence[Reply], *, has_tools: bool = False) -> str:
    """The chat template that marks each message of the assistant with the reply that belongs there.

    Messages that were answered are marked by the same rule as the one that is to come, so a request
    begins with the tokens of the request before.
    """
    rules = "".join(
        f"{{%- elif {json.dumps(reply.when)} in before -%}}{reply_mark(number)}"
        for number, reply in enumerate(replies)
        if reply.when
    )
    in_turn = [reply_mark(number) for number, reply in enumerate(replies) if not reply.when]
    turns = "".join(f"{{%- elif turn == {turn} -%}}{mark}" for turn, mark in enumerate(in_turn))
    marked = f"{{%- if false -%}}{rules}{turns}{{%- else -%}}{reply_mark(len(replies))}{{%- endif -%}}{CLOCK}"
    return (
        f"{{%- set ns = namespace(before='', turn=0) -%}}{_FUNCTIONS if has_tools else ''}"
        f"{{%- macro mark(before, turn) -%}}{marked}{{%- endmacro -%}}"
        "{%- for message in messages -%}<|{{ message.role }}|>"
        "{%- if message.role == 'assistant' -%}"
        "{{ mark(ns.before, ns.turn) }}{%- set ns.turn = ns.turn + 1 -%}{%- endif -%}"
        f"{{{{ message.content or '' }}}}{_CALLS if has_tools else ''}{END}"
        "{%- set ns.before = message.content or '' -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}<|assistant|>{{ mark(ns.before, ns.turn) }}{%- endif -%}"
    )


def tokens_of(text: str) -> list[int]:
    """A text in the tokens of `vocabulary.tokens(PLAIN_TOKENS)`, as llama.cpp's tokenizer makes
    them.
    """
    source = source_vocabulary()
    found: list[int] = []
    start = 0
    for end, _ in counting._pieces().ends(text):
        found += map(source.rank, merged(text[start:end].encode(), source, weights.PLAIN_TOKENS))
        start = end
    return found
